"""Whether Delta materializes the source, and why: MergeIntoMaterializeSource.shouldMaterializeSource.

Delta walks the analyzed source plan in the JVM. Over SQL only its printed form can be had, so the rules are
applied to that: in Delta's order, on the tree of the analyzed plan, with the physical plan telling a Delta
scan from a plain Parquet one. Where the print is ambiguous the answer is marked ``inferred``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.analyze import AnalyzedMerge
from engine.confs import confs_set, read_confs, without_rules
from engine.explain import Explained, Node, explain, nodes
from engine.sql_text import function_names, string_literals
from engine.values import Decision

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODE = "spark.databricks.delta.merge.materializeSource"
STORAGE_LEVEL = "spark.databricks.delta.merge.materializeSource.rddStorageLevel"
OPTIMIZE_INSERT_ONLY = "spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled"
UNREADABLE = "spark.databricks.delta.merge.forceSourceMaterializationWithUnreadableFilesConfig"
CACHED = "spark.databricks.delta.merge.materializeCachedSource"
IGNORE_CONFS = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")

# Without these rules the optimizer keeps every scan of the source in the physical plan, however it is filtered.
KEEP_SCANS = (
    "PruneFilters",
    "PropagateEmptyRelation",
    "ConvertToLocalRelation",
    "OptimizeLimitZero",
    "ColumnPruning",
    "LimitPushDown",
    "EliminateLimits",
    "ReplaceExceptWithFilter",
    "RewriteExceptAll",
    "CombineUnions",
    "OptimizeOneRowPlan",
    "InferFiltersFromConstraints",
)
# DeltaSparkPlanUtils.findFirstNonDeterministicNode lets only these through. A CTE is inlined before Delta looks.
DETERMINISTIC_NODES = frozenset(
    (
        "Distinct",
        "Project",
        "Filter",
        "Union",
        "SubqueryAlias",
        "Relation",
        "OneRowRelation",
        "WithCTE",
        "CTERelationDef",
        "CTERelationRef",
    )
)
LEAVES_OF_DATA = frozenset(
    (
        "LocalRelation",
        "Range",
        "LogicalRDD",
        "RelationV2",
        "HiveTableRelation",
        "InMemoryRelation",
        "StreamingRelation",
        "DataSourceV2Relation",
        "ExternalRDD",
        "ResolvedInlineTable",
        "UnresolvedInlineTable",
        "OneRowRelation",
        "Relation",
        "Scan",
        "EmptyRelation",
        "PythonDataSource",
    )
)
RANDOM = frozenset(("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle"))
NON_DETERMINISTIC = RANDOM | {
    *("monotonically_increasing_id", "spark_partition_id"),
    *("input_file_name", "input_file_block_start", "input_file_block_length"),
    *("reflect", "java_method", "try_reflect"),
}
RELATION = re.compile(r"^Relation (?:(?P<name>[^\[]+))?\[(?P<columns>.*)\] (?P<format>\S+)$", re.DOTALL)
SCAN = re.compile(r"FileScan \S+ [^\[]*\[([^\]]*)\].*?Location: (\w+)")
FIRST_ID = re.compile(r"#(\d+)")


@dataclass(frozen=True)
class SourcePlan:
    """The source's plan as printed, and what the session says besides."""

    nodes: tuple[Node, ...]
    explained: Explained
    functions: frozenset[str]
    literals: tuple[str, ...]
    user_functions: frozenset[str]


def should_materialize_source(spark: SparkSession, merge: AnalyzedMerge, source: SourcePlan | None = None) -> Decision:
    """Delta's decision for this source under the session's confs (rules 1–10 of MergeIntoMaterializeSource).

    ``source`` is its plan where it is known already.
    """
    confs = read_confs(spark, (MODE, STORAGE_LEVEL, OPTIMIZE_INSERT_ONLY, UNREADABLE, CACHED, *IGNORE_CONFS))
    mode = confs.get(MODE, "auto").lower()
    level = confs.get(STORAGE_LEVEL, "DISK_ONLY")

    def decided(materialize: bool, reason: str, because: str, avoid: str = "", inferred: bool = False) -> Decision:
        return Decision(
            mode=mode,
            materialize=materialize,
            reason=reason,
            because=because,
            avoid=avoid,
            certainty="inferred" if inferred else "exact",
            storage_level=level if materialize else None,
        )

    if mode == "all":
        return decided(True, "MATERIALIZE_ALL", f"{MODE} is all.", f"Set {MODE} to auto.")
    if mode == "none":
        return decided(False, "NOT_MATERIALIZED_NONE", f"{MODE} is none: a source that changes is read as it changes.")
    if merge.statement.insert_only and is_on(confs, OPTIMIZE_INSERT_ONLY):
        return decided(
            False, "NOT_MATERIALIZED_AUTO_INSERT_ONLY", "The MERGE only inserts, so its source is read once."
        )
    source = source or source_plan(spark, merge)
    doubtful = bool([text for text in source.literals if "\n" in text or "\\n" in text])

    leaf = first_non_delta_scan(spark, source)
    if leaf is not None:
        return decided(
            True,
            "NON_DETERMINISTIC_SOURCE_NON_DELTA",
            f"The source reads {leaf}, which is not a Delta table: nothing pins what a second read would give.",
            "Load it into a Delta table and merge from that table.",
            doubtful,
        )
    node = first_non_deterministic_node(source)
    if node is not None:
        return decided(True, "NON_DETERMINISTIC_SOURCE_OPERATORS", *node, doubtful)
    if is_on(confs, UNREADABLE):
        ignoring = next((conf for conf in IGNORE_CONFS if is_on(confs, conf, default="false")), None)
        if ignoring:
            return decided(
                True,
                "IGNORE_UNREADABLE_FILES_CONFIGS_ARE_SET",
                f"{ignoring} is on: a file may be left out of one read and not of the next.",
                f"Set {ignoring} to false.",
                doubtful,
            )
    udf = sorted(source.functions & source.user_functions)
    if udf:
        return decided(
            True,
            "NON_DETERMINISTIC_SOURCE_WITH_DETERMINISTIC_UDF",
            f"The source calls the user-defined function {udf[0]}, whose results nothing guarantees.",
            "Use built-in functions, or store its result in a Delta table.",
            doubtful,
        )
    if is_on(confs, CACHED) and "InMemoryRelation" in source.explained.optimized:
        return decided(
            True,
            "SOURCE_CACHED",
            "The source uses cached data, and a cache does not pin the version of its tables.",
            "UNCACHE the table before merging.",
            doubtful or any(node.depth and "[" in node.name for node in source.nodes),
        )
    return decided(
        False,
        "NOT_MATERIALIZED_AUTO",
        "The source only filters and projects Delta tables, so a second read gives the same rows.",
        inferred=doubtful,
    )


def is_on(confs: dict[str, str], key: str, default: str = "true") -> bool:
    return confs.get(key, default).lower() == "true"


def source_plan(spark: SparkSession, merge: AnalyzedMerge) -> SourcePlan:
    """Explain ``SELECT * FROM source`` with every scan kept visible."""
    query = f"{merge.statement.before_select}SELECT * FROM {merge.source_sql}"
    with confs_set(spark, without_rules(spark, KEEP_SCANS)):
        explained = explain(spark, query)
    functions = function_names(query)
    tree = tuple(nodes(explained.analyzed.partition("\n")[2]))
    return SourcePlan(
        nodes=tree,
        explained=explained,
        functions=functions,
        literals=string_literals(query),
        user_functions=session_functions(spark, functions) if functions else frozenset(),
    )


def session_functions(spark: SparkSession, called: frozenset[str]) -> frozenset[str]:
    """Lower-case names of the user-defined functions among ``called``; SQL functions are inlined and not of them."""
    rows = spark.sql("SHOW USER FUNCTIONS").collect()
    names = {str(row[0]).rpartition(".")[2].lower() for row in rows} & called
    return frozenset(name for name in names if not is_sql_function(spark, name))


def is_sql_function(spark: SparkSession, name: str) -> bool:
    text = "\n".join(str(row[0]) for row in spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect())
    return bool(re.search(r"^(Body|Language: *SQL)", text, re.MULTILINE))


def first_non_delta_scan(spark: SparkSession, source: SourcePlan) -> str | None:
    """DeltaSparkPlanUtils.findFirstNonDeltaScan: the first leaf that is no Delta table, in words; subqueries last."""
    delta = delta_scan_ids(source.explained.physical)
    leaves: list[tuple[bool, str]] = []
    for node, parent, in_subquery in with_parents(source.nodes):
        if node.name == "OneRowRelation" or node.name not in LEAVES_OF_DATA:
            continue
        relation = RELATION.match(node.text)
        if node.name == "Relation" and relation and is_delta(spark, relation, parent, delta):
            continue
        leaves.append((in_subquery, describe_leaf(node, relation)))
    return min(leaves, key=lambda leaf: leaf[0])[1] if leaves else None


def with_parents(tree: Sequence[Node]) -> list[tuple[Node, Node | None, bool]]:
    """(node, its parent, whether it is inside a subquery expression's plan).

    A subquery's plan is printed as an extra child before the real ones, which the print cannot tell apart; a
    node with one input and two printed children has one.
    """
    result: list[tuple[Node, Node | None, bool]] = []
    path: list[tuple[Node, bool]] = []
    children = [sum(1 for d in _children(tree, i)) for i in range(len(tree))]
    seen: dict[int, int] = {}
    for index, node in enumerate(tree):
        path = path[: node.depth]
        parent, inside = path[-1] if path else (None, False)
        if parent is not None:
            at = max(i for i in range(index) if tree[i] is parent)
            seen[at] = seen.get(at, 0) + 1
            inside = inside or (parent.name in UNARY and seen[at] < children[at])
        result.append((node, parent, inside))
        path.append((node, inside))
    return result


UNARY = frozenset(("Project", "Filter", "Aggregate", "Sort", "Generate", "Window", "Distinct", "SubqueryAlias"))


def _children(tree: Sequence[Node], index: int) -> list[int]:
    depth, found = tree[index].depth, []
    for later in range(index + 1, len(tree)):
        if tree[later].depth <= depth:
            break
        if tree[later].depth == depth + 1:
            found.append(later)
    return found


def delta_scan_ids(physical: str) -> dict[int, bool]:
    """First column id of each file scan → whether a Delta index lists its files."""
    found = {}
    for columns, index in SCAN.findall(physical):
        first = FIRST_ID.search(columns)
        if first:
            found[int(first.group(1))] = "Delta" in index or index.startswith(("Tahoe", "Cdc"))
    return found


def is_delta(spark: SparkSession, relation: re.Match[str], parent: Node | None, scans: dict[int, bool]) -> bool:
    if relation["format"] != "parquet":
        return False
    first = FIRST_ID.search(relation["columns"])
    if first and int(first.group(1)) in scans:
        return scans[int(first.group(1))]
    if relation["name"]:
        return provider(spark, relation["name"].strip()) == "delta"
    return parent is not None and ".delta.`" in parent.text


def provider(spark: SparkSession, name: str) -> str:
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    return next((str(row[1]).lower() for row in rows if row[0] == "Provider"), "")


def describe_leaf(node: Node, relation: re.Match[str] | None) -> str:
    if relation:
        name = (relation["name"] or "").strip().removeprefix("spark_catalog.")
        return f"{name} ({relation['format']})" if name else f"{relation['format']} files"
    return {
        "LocalRelation": "literal rows (VALUES)",
        "Range": "range(…)",
        "LogicalRDD": "rows of a DataFrame or checkpoint",
        "InMemoryRelation": "cached rows",
        "HiveTableRelation": "a Hive table",
    }.get(node.name, node.name)


WORDS = {
    "View": ("a view", "Name the view's query in USING (…), or its table."),
    "Aggregate": ("an aggregate (GROUP BY)", "Store the aggregate in a Delta table first."),
    "Window": ("a window function", "Store the deduplicated rows in a Delta table first."),
    "Sort": ("ORDER BY", "Leave ORDER BY out: MERGE ignores the order."),
    "GlobalLimit": ("LIMIT", "Filter by a column instead of LIMIT."),
    "LocalLimit": ("LIMIT", "Filter by a column instead of LIMIT."),
    "Offset": ("OFFSET", "Filter by a column instead of OFFSET."),
    "Join": ("a join", "Store the joined rows in a Delta table first."),
    "Generate": ("explode or another generator", "Store the exploded rows in a Delta table first."),
    "Sample": ("TABLESAMPLE", "Filter by a column instead of sampling."),
    "ResolvedHint": ("a hint", "Leave the hint out."),
    "UnresolvedHint": ("a hint", "Leave the hint out."),
    "Except": ("EXCEPT", "Use NOT IN over Delta tables, or a Delta table."),
    "Intersect": ("INTERSECT", "Use IN over Delta tables, or a Delta table."),
    "Pivot": ("PIVOT", "Store the result in a Delta table first."),
}


def first_non_deterministic_node(source: SourcePlan) -> tuple[str, str] | None:
    """DeltaSparkPlanUtils.findFirstNonDeterministicNode: (sentence, what avoids it), or None."""
    for node in source.nodes:
        if node.name not in DETERMINISTIC_NODES:
            words, avoid = WORDS.get(node.name, (node.name, "Store the result in a Delta table first."))
            return f"The source has {words}, which Delta does not trust to give the same rows twice.", avoid
        if node.name in ("Project", "Filter"):
            text = node.text
            for content in source.literals:
                text = text.replace(content, "") if content else text
            if "outer(" in text:
                return (
                    "The source has a correlated subquery, which Delta treats as a join.",
                    "Use IN with an uncorrelated subquery.",
                )
            called = [f for f in re.findall(r"(\w+)\(", text) if f.lower() in NON_DETERMINISTIC]
            if called:
                return (
                    f"The source calls {called[0]}(), which gives another value each time it is read.",
                    "Store its result in a Delta table, or compute it in SET.",
                )
    return None
