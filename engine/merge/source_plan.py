"""The source's analyzed plan, read from EXPLAIN: what Delta walks in the JVM, as far as it is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.spark.confs import STATS_SKIPPING, confs_set, without_rules
from engine.spark.explain import Explained, Node, explain, one_line_names, tree
from engine.spark.not_understood import not_understood
from engine.sql.names import quote
from engine.sql.sql_text import called_functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Without these rules the optimizer keeps every scan of the source in its plan, however it is filtered.
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
    # what is put together of literals could look like a part of the plan
    "ConstantFolding",
)
NOT_FUNCTIONS = frozenset(
    (
        *("all", "and", "any", "as", "by", "case", "cast", "distinct", "else", "except", "exists", "from", "having"),
        *("in", "intersect", "join", "lateral", "not", "on", "or", "over", "select", "table", "then", "union"),
        *("using", "values", "when", "where"),
    )
)
RELATION = re.compile(r"^Relation (?P<name>[^\[]+)?\[(?P<columns>.*)\] (?P<format>\S+)$", re.DOTALL)
PATH = re.compile(r"^SubqueryAlias (?:\w+\.)?(?P<name>delta\.`.*`)$", re.DOTALL)
SCAN = re.compile(r"FileScan \S+ [^\[]*\[([^\]]*)\].*?Location: (\w+)")
FIRST_ID = re.compile(r"#(\d+)")
HINT = re.compile(r"^'UnresolvedHint (\w+)")
CTE_ID = re.compile(r"^CTERelation(?:Def|Ref) (\d+)")
NON_DETERMINISTIC_LATERAL = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.NON_DETERMINISTIC_LATERAL_SUBQUERIES"


@dataclass(frozen=True)
class SourcePlan:
    """``before`` and ``source`` make a query of it: ``{before}SELECT … FROM {source}``.

    ``root`` is None where the print cannot be read as a tree (a view's literal with line breaks that look like one).
    ``functions`` are called in its text; ``hints`` stand on its own path there, outside the subqueries of expressions.
    ``unused_with``: there is a WITH that nothing uses; ``root`` is without it, Spark's answers are not. ``analyzed`` is
    the whole print; ``volatile`` is what gives other values each time, see :mod:`engine.merge.volatile_parts`.
    ``with_read`` are the queries of the WITH before the MERGE that it reads.
    """

    before: str
    source: str
    root: Node | None
    functions: frozenset[tuple[str, ...]]
    hints: tuple[str, ...]
    unused_with: bool
    analyzed: str = field(default="", compare=False, repr=False)
    volatile: tuple[str, ...] = ()
    with_read: frozenset[str] = frozenset()
    providers: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """By table, what Spark was asked already."""


def source_plan(spark: SparkSession, merge: AnalyzedMerge) -> SourcePlan:
    """The plan of a MERGE's source. Raises EngineError for one that Delta could not run."""
    plan = query_plan(spark, merge.statement.before_select, merge.source_sql)
    refuse_with_left_outside(merge.plan.analyzed, plan.with_read)
    return plan


def refuse_with_left_outside(analyzed: str, read: frozenset[str]) -> None:
    """Raise if the MERGE, ``analyzed``, has queries that its source reads outside of its command.

    Spark puts the queries of a WITH where a command reads them (CTESubstitution), but for those of a WITH RECURSIVE
    and all inside of it, which stay around the command. Delta runs the source alone, where nothing defines them.
    """
    # a line of names stands before the tree
    root = tree(analyzed.partition("\n")[2])
    if read and root is None:
        raise not_understood(analyzed, "a plan")
    missing = sorted(read & {name for name, _ in with_queries(root).values()})
    if missing:
        raise EngineError(
            "WITH_RECURSIVE_BEFORE_MERGE",
            f"The source reads {', '.join(missing)}: with a WITH RECURSIVE in the statement, a WITH before MERGE stays"
            " outside of it, and Delta runs the source without that.",
            "Put no WITH before MERGE: write each in the brackets where it is read.",
        )


def query_plan(spark: SparkSession, before: str, source: str) -> SourcePlan:
    """Ask Spark to analyze ``{before}SELECT … FROM {source}``; nothing is optimized, so no table's log is read."""
    query = f"{before}SELECT 1 AS one FROM {source}"
    explained = explain_view(spark, query)
    text = one_line_names(query, query)
    written = query_tree(explained, query)
    root = inlined(written) if written else None
    return SourcePlan(
        before=before,
        source=source,
        root=root,
        functions=frozenset(parts for parts in called_functions(query) if parts[-1] not in NOT_FUNCTIONS),
        hints=tuple(hints(tree(explained.parsed.replace(text, "")))),
        unused_with=bool(written and root and uses(written) - uses(root)),
        analyzed=explained.analyzed,
        with_read=with_queries_read(written) if written else frozenset(),
    )


def explain_view(spark: SparkSession, query: str) -> Explained:
    """Explain a view of ``query``: analyzed as a command's query is, and left alone."""
    return explain(spark, f"CREATE OR REPLACE TEMPORARY VIEW __dm_probe AS {query}")


def query_tree(explained: Explained, query: str) -> Node | None:
    """The analyzed tree of a query, out of :func:`explain_view`."""
    # the command prints its text, whatever lines that has
    command = tree(explained.analyzed.replace(one_line_names(query, query), ""))
    return command.subqueries[0] if command and command.subqueries else None


def is_deterministic(spark: SparkSession, plan: SourcePlan) -> bool | None:
    """Whether all expressions of the source are deterministic; None where Spark does not say.

    Spark refuses a lateral subquery that is not (CheckAnalysis), and so tells what no print does: a function's body
    is not printed, nor whether a user's function is deterministic.
    """
    if not plan.functions:
        return True
    try:
        explain_view(
            spark,
            f"{plan.before}SELECT 1 AS one FROM (VALUES (1), (2)) AS __dm_rows(__dm_row), "
            f"LATERAL (SELECT * FROM {plan.source})",
        )
    except EngineError as error:
        return False if error.condition == NON_DETERMINISTIC_LATERAL else None
    return True


def explain_scans(spark: SparkSession, plan: SourcePlan) -> Explained:
    """The optimized and physical plan, with every scan kept and cached data put in its place."""
    query = f"{plan.before}SELECT * FROM {plan.source}"
    kept = without_rules(spark, KEEP_SCANS)
    try:
        # data skipping would read the tables' logs, for a plan that never runs
        with confs_set(spark, {**kept, STATS_SKIPPING: "false"}):
            return explain(spark, query)
    except (CancelledError, UnreachableError):
        raise
    except EngineError:
        # but without it Delta plans no read of a table that may have deletion vectors (ScanWithDeletionVectors)
        with confs_set(spark, {**kept, STATS_SKIPPING: "true"}):
            return explain(spark, query)


def inlined(node: Node, ctes: dict[str, Node] | None = None, in_subquery: bool = False) -> Node:
    """``node`` with its CTEs put where they are used, as in a MERGE: Delta sees no unused one.

    A WITH inside a view or inside a subquery of an expression stays as it is, there as in a MERGE.
    """
    ctes = ctes or {}
    if node.name == "View":
        return node
    reference = CTE_ID.match(node.text)
    if node.name == "CTERelationRef" and reference and reference.group(1) in ctes:
        return ctes[reference.group(1)]
    if node.name == "WithCTE" and not in_subquery:
        ctes = dict(ctes)
        for definition in node.children[:-1]:
            of = CTE_ID.match(definition.text)
            if of and definition.children:
                ctes[of.group(1)] = inlined(definition.children[0], ctes)
        return inlined(node.children[-1], ctes)
    return Node(
        node.text,
        tuple(inlined(child, ctes, in_subquery) for child in node.children),
        tuple(inlined(child, ctes, True) for child in node.subqueries),
    )


def with_queries(root: Node | None) -> dict[str, tuple[str, Node]]:
    """By number, (name, plan) of the queries of the WITH that is around a whole plan."""
    queries = {}
    for definition in root.children[:-1] if root and root.name == "WithCTE" else ():
        number = CTE_ID.match(definition.text)
        if number and definition.children:
            named = definition.children[0]
            queries[number[1]] = (named.text.removeprefix("SubqueryAlias "), named)
    return queries


def with_queries_read(root: Node) -> frozenset[str]:
    """The names of the queries of the WITH around ``root`` that it reads, by itself or through one of them."""
    queries = with_queries(root)
    todo = [root.children[-1]] if queries else []
    read = set()
    while todo:
        for node in todo.pop().walk():
            number = CTE_ID.match(node.text)
            if number and node.name == "CTERelationRef" and number[1] in queries:
                name, plan = queries.pop(number[1])
                read.add(name)
                todo.append(plan)
    return frozenset(read)


def uses(node: Node) -> set[str]:
    """The lines of a plan, those of WITH itself left out."""
    return {below.text for below in node.walk() if "CTE" not in below.name}


def hints(parsed: Node | None) -> Iterator[str]:
    """The hints of a plan before analysis. A WITH prints its queries as subqueries."""
    if parsed is None:
        return
    match = HINT.match(parsed.text)
    if match:
        yield match.group(1)
    for below in (*parsed.children, *(parsed.subqueries if parsed.name == "CTE" else ())):
        yield from hints(below)


def leaves(node: Node, parent: Node | None = None) -> Iterator[tuple[Node, Node | None]]:
    """(leaf, what is right above it), those of the plan before those of its subqueries."""
    if not node.children:
        yield node, parent
    for below in (*node.children, *node.subqueries):
        yield from leaves(below, node)


def is_delta(spark: SparkSession, plan: SourcePlan, leaf: Node, parent: Node | None) -> bool:
    """Whether a leaf is a Delta table's LogicalRelation, which prints as Parquet."""
    relation = RELATION.match(leaf.text)
    if relation is None or relation["format"] != "parquet":
        return False
    if relation["name"]:
        name = quoted(relation["name"])
        if name not in plan.providers:
            plan.providers[name] = provider(spark, name)
        return plan.providers[name] == "delta"
    if parent is not None and PATH.match(parent.text):
        return True
    first = FIRST_ID.search(relation["columns"])
    scans = delta_scan_ids(explain_scans(spark, plan).physical)
    return first is not None and scans.get(int(first.group(1)), False)


def delta_tables(spark: SparkSession, plan: SourcePlan) -> tuple[str, ...]:
    """The Delta tables that the source reads, as names for SQL, each once."""
    names: dict[str, None] = {}
    for leaf, parent in leaves(plan.root) if plan.root else ():
        relation = RELATION.match(leaf.text)
        path = PATH.match(parent.text) if parent else None
        if relation and (relation["name"] or path) and is_delta(spark, plan, leaf, parent):
            names[quoted(relation["name"]) if relation["name"] else path["name"] if path else ""] = None
    return tuple(names)


def quoted(name: str) -> str:
    """A catalog's name as it is printed, whose parts hold no dots."""
    parts = name.strip().split(".")
    return ".".join(part if re.fullmatch(r"[A-Za-z_]\w*", part) else quote(part) for part in parts)


def delta_scan_ids(physical: str) -> dict[int, bool]:
    """First column id of each file scan → whether a Delta index lists its files."""
    ids = {}
    for columns, index in SCAN.findall(physical):
        first = FIRST_ID.search(columns)
        if first:
            ids[int(first.group(1))] = "Delta" in index or index.startswith("Tahoe")
    return ids


def provider(spark: SparkSession, name: str) -> str:
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    return next((str(row[1]).lower() for row in rows if row[0] == "Provider"), "")


def root_hint(plan: SourcePlan) -> str | None:
    """EliminateResolvedHint.extractHintsFromPlan: the topmost join hint on the source's own path, as SQL writes it."""
    node = plan.root
    while node is not None and (len(node.children) == 1 or node.name in ("Except", "Intersect")):
        hint = re.match(r"^ResolvedHint \(strategy=(\w+)", node.text)
        if hint:
            return hint.group(1).upper()
        node = node.children[0]
    return None
