"""Whether Delta materializes the source, and why: MergeIntoMaterializeSource.shouldMaterializeSource.

Delta walks the analyzed source plan in the JVM. Over SQL only its print is available, so the rules are applied to
that, in Delta's order; Spark is asked for what the print leaves out. If it stays ambiguous, the answer is marked
``inferred``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from engine.merge.analyze import AnalyzedMerge
from engine.merge.source_plan import (
    RELATION,
    SourcePlan,
    explain_scans,
    is_delta,
    is_deterministic,
    leaves,
    source_plan,
)
from engine.model.errors import CancelledError, UnreachableError
from engine.model.plan import Decision
from engine.spark.confs import is_on, read_confs
from engine.spark.described_function import described_function
from engine.spark.explain import COLUMN_ID, Node, tree
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.sql.sql_text import called_functions, quoted_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODE = "spark.databricks.delta.merge.materializeSource"
STORAGE_LEVEL = "spark.databricks.delta.merge.materializeSource.rddStorageLevel"
OPTIMIZE_INSERT_ONLY = "spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled"
UNREADABLE = "spark.databricks.delta.merge.forceSourceMaterializationWithUnreadableFilesConfig"
CACHED = "spark.databricks.delta.merge.materializeCachedSource"
IGNORE_CONFS = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")

# DeltaSparkPlanUtils.findFirstNonDeterministicNode lets only these through.
DETERMINISTIC_NODES = frozenset(
    ("Distinct", "Project", "Filter", "Union", "SubqueryAlias", "Relation", "OneRowRelation"),
)
RANDOM = frozenset(("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle"))
JAVA_CALLS = frozenset(("reflect", "java_method", "try_reflect"))
# Only for words: Spark says whether there is one. These are all of Spark 4.2, found by its own examples.
NON_DETERMINISTIC = (
    RANDOM
    | JAVA_CALLS
    | {
        *("monotonically_increasing_id", "spark_partition_id"),
        *("input_file_name", "input_file_block_start", "input_file_block_length"),
    }
)
HINTS = frozenset(
    (
        *("BROADCAST", "BROADCASTJOIN", "MAPJOIN", "MERGE", "SHUFFLE_MERGE", "MERGEJOIN", "SHUFFLE_HASH"),
        *("SHUFFLE_REPLICATE_NL", "COALESCE", "REPARTITION", "REPARTITION_BY_RANGE", "REBALANCE"),
    )
)
OUTER = re.compile(rf"\bouter\(.+?{COLUMN_ID}\)(?!#)")


class Reason(NamedTuple):
    """The first rule that holds. ``avoid``: what to do to have the source not materialized."""

    code: str
    because: str
    avoid: str = ""
    materialize: bool = True
    inferred: bool = False


NOT_READ = Reason(
    "UNKNOWN",
    "Spark's plan of the source cannot be read: a text in it has lines that look like a plan.",
    "Write such a text without line breaks.",
    inferred=True,
)


def should_materialize_source(spark: SparkSession, merge: AnalyzedMerge, source: SourcePlan | None = None) -> Decision:
    """Delta's decision for this source under the session's confs (rules 1–10 of MergeIntoMaterializeSource).

    ``source`` is its plan if it is known already.
    """
    confs = read_confs(spark, (MODE, STORAGE_LEVEL, OPTIMIZE_INSERT_ONLY, UNREADABLE, CACHED, *IGNORE_CONFS))
    mode = confs.get(MODE, "auto").lower()
    reason = _by_statement(merge, mode, confs) or _by_source(spark, source or source_plan(spark, merge), confs)
    return Decision(
        mode=mode,
        materialize=reason.materialize,
        reason=reason.code,
        because=reason.because,
        avoid=reason.avoid,
        certainty="inferred" if reason.inferred else "exact",
        storage_level=confs.get(STORAGE_LEVEL, "DISK_ONLY") if reason.materialize else None,
    )


def _by_statement(merge: AnalyzedMerge, mode: str, confs: Mapping[str, str]) -> Reason | None:
    """The rules that need no plan of the source."""
    if mode == "all":
        return Reason("MATERIALIZE_ALL", f"{MODE} is all.", f"Set {MODE} to auto.")
    if mode == "none":
        because = f"{MODE} is none: a source that changes is read as it changes."
        return Reason("NOT_MATERIALIZED_NONE", because, materialize=False)
    if merge.statement.insert_only and is_on(confs, OPTIMIZE_INSERT_ONLY):
        because = "The MERGE only inserts, so its source is read once."
        return Reason("NOT_MATERIALIZED_AUTO_INSERT_ONLY", because, materialize=False)
    return None


def _by_source(spark: SparkSession, source: SourcePlan, confs: Mapping[str, str]) -> Reason:
    if source.root is None:
        return NOT_READ
    unchanging = Reason(
        "NOT_MATERIALIZED_AUTO",
        "The source only filters and projects Delta tables, or has no FROM, so a second read gives the same rows.",
        materialize=False,
    )
    rules = chain(_by_operators(spark, source, source.root), _by_functions(spark, source, source.root, confs))
    return next(rules, unchanging)


def _by_operators(spark: SparkSession, source: SourcePlan, root: Node) -> Iterator[Reason]:
    leaf = first_non_delta_scan(spark, source, root)
    if leaf is not None:
        yield Reason(
            "NON_DETERMINISTIC_SOURCE_NON_DELTA",
            f"The source reads {leaf}, which is not a Delta table: Delta trusts those alone to stay the same.",
            "Load it into a Delta table and merge from that table.",
        )
    operator = first_non_deterministic_operator(root)
    if operator is not None:
        yield Reason("NON_DETERMINISTIC_SOURCE_OPERATORS", *operator)
    hint = unknown_hint(source)
    if hint is not None:
        yield Reason(
            "NON_DETERMINISTIC_SOURCE_OPERATORS",
            f"The source has the hint {hint}, which Spark does not know: it stays in a MERGE's plan.",
            "Leave the hint out.",
            inferred=source.unused_with,
        )
    if has_outer_reference(root):
        yield Reason(
            "NON_DETERMINISTIC_SOURCE_OPERATORS",
            "The source has a correlated subquery, which Delta treats as a join.",
            "Use IN with a subquery that is not correlated.",
            inferred=any(OUTER.search(value) for value in quoted_values(source.source)),
        )


def _by_functions(spark: SparkSession, source: SourcePlan, root: Node, confs: Mapping[str, str]) -> Iterator[Reason]:
    """The functions that the source calls, the confs under which files may be left out, and cached data."""
    deterministic = is_deterministic(spark, source)
    calls = reached_calls(spark, source, root)
    random = next((call for call in calls if call.function in NON_DETERMINISTIC), None)
    udf = next((call for call in calls if call.user_defined), None)
    if not deterministic and not (source.unused_with and not random and not udf):
        yield Reason(
            "NON_DETERMINISTIC_SOURCE_OPERATORS",
            f"The source calls {random}, which gives another value each time it is read."
            if random
            else f"The source calls {udf or 'a function'}, which is registered as not deterministic.",
            "Store its result in a Delta table, or compute it in SET.",
            inferred=deterministic is None or source.unused_with,
        )
    ignoring = next((conf for conf in IGNORE_CONFS if is_on(confs, conf, default="false")), None)
    if is_on(confs, UNREADABLE) and ignoring:
        yield Reason(
            "IGNORE_UNREADABLE_FILES_CONFIGS_ARE_SET",
            f"{ignoring} is on: a file may be left out of one read and not of the next.",
            f"Set {ignoring} to false.",
        )
    if udf:
        yield Reason(
            "NON_DETERMINISTIC_SOURCE_WITH_DETERMINISTIC_UDF",
            f"The source calls the user-defined function {udf}, whose results nothing guarantees.",
            "Use built-in functions, or store its result in a Delta table.",
        )
    cached = is_on(confs, CACHED) and uses_cached_data(spark, source)
    if cached is None:
        yield NOT_READ
    elif cached:
        yield Reason(
            "SOURCE_CACHED",
            "The source uses cached data, and a cache does not pin the version of its tables.",
            "UNCACHE the table before merging.",
        )


def first_non_delta_scan(spark: SparkSession, source: SourcePlan, root: Node) -> str | None:
    """DeltaSparkPlanUtils.findFirstNonDeltaScan: the first leaf that is no Delta table, in words."""
    for leaf, parent in leaves(root):
        if leaf.name != "OneRowRelation" and not is_delta(spark, source, leaf, parent):
            return describe_leaf(leaf)
    return None


def describe_leaf(leaf: Node) -> str:
    relation = RELATION.match(leaf.text)
    if relation:
        name = (relation["name"] or "").strip().removeprefix("spark_catalog.")
        return f"{name} ({relation['format']})" if name else f"{relation['format']} files"
    if "DeltaCDFRelation" in leaf.text:
        return "a change data feed (table_changes)"
    return {
        "LocalRelation": "literal rows (VALUES)",
        "Range": "range(…)",
        "LogicalRDD": "rows of a DataFrame or checkpoint",
        "HiveTableRelation": "a Hive table",
        "CTERelationRef": "a WITH inside a subquery or view",
        "UnionLoopRef": "a recursive WITH",
    }.get(leaf.name, leaf.name)


STORED = "Store the result in a Delta table first."
WORDS = {
    "Aggregate": ("an aggregate (GROUP BY)", "Store the aggregate in a Delta table first."),
    "Window": ("a window function", "Store the deduplicated rows in a Delta table first."),
    "Sort": ("ORDER BY", "Leave ORDER BY out: MERGE ignores the order."),
    "GlobalLimit": ("LIMIT", "Filter by a column instead of LIMIT."),
    "LocalLimit": ("LIMIT", "Filter by a column instead of LIMIT."),
    "Offset": ("OFFSET", "Filter by a column instead of OFFSET."),
    "Join": ("a join", "Store the joined rows in a Delta table first."),
    "LateralJoin": ("a lateral join", "Store the joined rows in a Delta table first."),
    "Generate": ("explode or another generator", "Store the exploded rows in a Delta table first."),
    "Sample": ("TABLESAMPLE", "Filter by a column instead of sampling."),
    "ResolvedHint": ("a hint", "Leave the hint out."),
    "Except": ("EXCEPT", "Use NOT IN over Delta tables."),
    "Intersect": ("INTERSECT", "Use IN over Delta tables."),
    "Expand": ("UNPIVOT or grouping sets", STORED),
    "Repartition": ("a COALESCE or REPARTITION hint", "Leave the hint out."),
    "RepartitionByExpression": ("DISTRIBUTE BY or a REPARTITION hint", "Leave it out: MERGE places rows itself."),
    "RebalancePartitions": ("a REBALANCE hint", "Leave the hint out."),
    "SQLFunctionNode": ("a table function", "Put the function's query in USING (…)."),
}


def first_non_deterministic_operator(root: Node) -> tuple[str, str] | None:
    """The operators of DeltaSparkPlanUtils.findFirstNonDeterministicNode: (sentence, what avoids it), or None."""
    for node in root.walk():
        if node.name == "View":
            view = re.match(r"View \(`?(.*?)`?, \[", node.text)
            words, avoid = f"a view{f' ({view.group(1)})' if view else ''}", "Name the view's query in USING (…)."
        elif node.name not in DETERMINISTIC_NODES:
            words, avoid = WORDS.get(node.name, (node.name, STORED))
        else:
            continue
        return f"The source has {words}, which Delta does not trust to give the same rows twice.", avoid
    return None


def unknown_hint(source: SourcePlan) -> str | None:
    """A hint that Spark does not know leaves a query's plan but not a MERGE's, where Delta finds it."""
    return next((hint for hint in source.hints if hint.upper() not in HINTS), None)


@dataclass(frozen=True)
class Call:
    """A function that the source calls, or that the body of the SQL function ``through`` calls."""

    function: str
    through: str
    user_defined: bool

    def __str__(self) -> str:
        return f"{self.function}()" if self.through == self.function else f"{self.through}(), and so {self.function}()"


def reached_calls(spark: SparkSession, source: SourcePlan, root: Node) -> tuple[Call, ...]:
    """The functions that the analyzed source calls, those in the bodies of SQL functions with them."""
    text = "\n".join(node.text for node in root.walk()).lower()
    calls = []
    for called in sorted(source.functions):
        # a Hive function prints as its class; what an unused WITH calls is not in the plan
        if f"{called[-1]}(" not in text and "udf#" not in text:
            continue
        todo, seen = [called], {called}
        while todo:
            name = todo.pop()
            ours, body = described(spark, name)
            calls.append(Call(name[-1], called[-1], ours and body is None))
            inner = called_functions(body) - seen if body else frozenset()
            seen |= inner
            todo += sorted(inner)
    return tuple(calls)


def described(spark: SparkSession, name: tuple[str, ...]) -> tuple[bool, str | None]:
    """(whether a function is the user's, its body if it is an SQL function). The user's may hide built-in ones."""
    try:
        rows = spark.sql(f"DESCRIBE FUNCTION EXTENDED {'.'.join(quote(part) for part in name)}").collect()
    except Exception as error:
        if isinstance(reason := translate(error), (UnreachableError, CancelledError)):
            raise reason from error
        return False, None  # a word before a bracket that is no function: IN, VARCHAR
    text = described_function(rows)
    body = re.search(r"^Body: *(.*)", text, re.MULTILINE | re.DOTALL)
    built_in = re.search(
        r"^Class: (org\.apache\.spark\.sql\.catalyst\.|org\.apache\.spark\.sql\.delta\.|$)", text, re.MULTILINE
    )
    return not built_in, body.group(1) if body else None


def has_outer_reference(root: Node) -> bool:
    """Whether a subquery of an expression refers to the plan around it."""
    inside = [below for node in root.walk() for query in node.subqueries for below in query.walk()]
    return any(OUTER.search(node.text) for node in inside)


def uses_cached_data(spark: SparkSession, source: SourcePlan) -> bool | None:
    """DeltaSparkPlanUtils.planContainsCachedRelation, which does not look into subqueries: neither those of
    expressions nor those that the optimizer made a join of. None where the print cannot be read."""
    optimized = tree(explain_scans(spark, source).optimized)
    if optimized is None:
        return None
    nodes = [optimized]
    while nodes:
        node = nodes.pop()
        if node.name == "InMemoryRelation":
            return True
        nodes += node.children[:1] if node.name == "Join" else node.children
    return False
