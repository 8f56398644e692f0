"""Does the SQL of an expectation read the target by a name of its own? A plan has it as it was, the commit as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from engine.expect.queries import in_brackets
from engine.expect.target_name import is_table_at
from engine.merge.planning_state import function_definitions
from engine.merge.session_definitions import body_of
from engine.merge.source_plan import delta_tables, query_plan
from engine.model.errors import EngineError
from engine.spark.explain import Node, parsed_plan, tree
from engine.spark.not_understood import not_understood
from engine.sql.names import ABSOLUTE, quote
from engine.table.table_state import MISSING
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RELATIONS: Final = frozenset(("before", "after", "changes", "source"))
"""The names that an expectation's SQL reads the rows of a MERGE by."""
# a version stands around it in the same line: RelationTimeTravel
NAMED: Final = re.compile(r"'UnresolvedRelation \[(.*)\], \[.*\], (?:true|false)", re.DOTALL)
WITH: Final = re.compile(r"CTE \[(.*)\]", re.DOTALL)
COMPUTED: Final = "a table by a computed IDENTIFIER"


def read_by(spark: SparkSession, sql: str, parsed: str, path: str, functions: Sequence[str]) -> str | None:
    """The name by which a query, ``sql`` as Spark has ``parsed`` it, reads the table at ``path``, be it through a view
    or in the body of a function; None if by none. One that says the version means that one; a name that is computed
    may be any. ``functions``: see Surroundings."""
    names = [*_names(_root(parsed), RELATIONS), *_names_in_functions(spark, functions, (sql, parsed))]
    return next((name for name in names if name == COMPUTED or _reads(spark, name, path)), None)


def _root(parsed: str) -> Node:
    root = tree(parsed)
    if root is None:
        raise not_understood(parsed, "a plan")
    return root


def _names_in_functions(spark: SparkSession, functions: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    """Those in the bodies of the SQL functions that are called, and of those that they call. No name stands for the
    rows of a MERGE there."""
    for definition in function_definitions(spark, functions, texts).values():
        if body := body_of(definition).strip():
            yield from _names(_root(parsed_plan(spark, f"SELECT {in_brackets(body)}")), frozenset())


def _names(node: Node, known: frozenset[str]) -> Iterator[str]:
    """The tables that are named below ``node``, as SQL; ``known`` are the names that stand for queries there."""
    named, queries = NAMED.fullmatch(node.text), WITH.fullmatch(node.text)
    if named and named[1].lower() not in known:
        yield ".".join(map(quote, _parts(named[1])))
    if node.name == "PlanWithUnresolvedIdentifier":
        yield COMPUTED
    if queries is None:
        below = (*node.children, *node.subqueries)
    else:
        # each knows those before it, and not itself
        for name, query in zip(queries[1].split(", "), node.subqueries, strict=False):
            yield from _names(query, known)
            known |= {name.lower()}
        below = node.children
    for one in below:
        yield from _names(one, known)


def _parts(printed: str) -> list[str]:
    """The parts of a name as it is printed, bare: a path may hold commas."""
    first, _, rest = printed.partition(", ")
    return [first, rest] if ABSOLUTE.match(rest) else printed.split(", ")


def _reads(spark: SparkSession, name: str, path: str) -> bool:
    try:
        tables = delta_tables(spark, query_plan(spark, "", name))
    except EngineError as error:
        if error.condition in MISSING:
            return False  # its query says so
        raise
    return any(is_table_at(spark, name_parts(one), path) for one in tables)
