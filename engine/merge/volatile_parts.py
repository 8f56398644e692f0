"""What gives other values each time it is read: in a text, and in the views and functions behind a query."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.merge.planning_state import function_definitions, user_functions
from engine.merge.session_definitions import body_of
from engine.merge.should_materialize_source import JAVA_CALLS, RANDOM
from engine.spark.explain import explain
from engine.sql.sql_text import SPECIAL_TIME, all_function_names, called_without_arguments, special_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KLL_TYPES = ("bigint", "float", "double")
CLOCK = {
    *("current_timestamp", "now", "localtimestamp", "unix_timestamp"),
    *("current_date", "curdate", "current_time"),
}
CALLED_DETERMINISTIC = {
    # a random initialization vector, unless one is given
    "aes_encrypt",
    # DataSketches' KLL drops items by chance
    *(f"kll_{what}_{type_}" for what in ("sketch_agg", "sketch_merge", "merge_agg") for type_ in _KLL_TYPES),
}
"""Functions whose values differ each time though Spark calls them deterministic."""
VOLATILE = RANDOM | JAVA_CALLS | CLOCK | CALLED_DETERMINISTIC
CLOCK_WITHOUT_ARGUMENTS = frozenset(("unix_timestamp",))
"""Functions that ask the time only where they are called without arguments: Spark prints current_timestamp() then."""
CALLED = re.compile(rf"\b({'|'.join(sorted(VOLATILE - CLOCK_WITHOUT_ARGUMENTS))})\(")
SAMPLED = "TABLESAMPLE"
SAMPLE = re.compile(r"\bSample (?!0\.0, 1\.0,)\S+, \S+, (?:true|false)(?!, -?\d+, [A-Z])")
"""Some rows of a table, drawn anew each time: without the seed of a REPEATABLE. Spark 4.0 and 4.1 print a seed for
each, so that nothing tells whether one was given."""
LIMITED = "LIMIT without ORDER BY"
UNORDERED_LIMIT = re.compile(
    r"^[\s:|+-]*(?:LocalLimit|Offset) [^\n]*\n"
    r"(?:[\s:|+-]*(?:Project|SubqueryAlias|LocalLimit|Offset)\b[^\n]*\n)*"
    r"[\s:|+-]*(?!Project|SubqueryAlias|LocalLimit|Offset|Sort \[[^\n]*\], true|Aggregate (?![^\n]*\], \[))\w",
    re.MULTILINE,
)
"""Some rows, which Spark takes as they come: no ORDER BY is below, nor one row of an aggregate without GROUP BY."""
CAST_TIME = re.compile(rf"\bcast\(\s*({SPECIAL_TIME.pattern})\s* as (?:timestamp|date)", re.IGNORECASE)


def clock_parts(sql: str, printed: str = "") -> frozenset[str]:
    """The functions and literals in ``sql`` that give the time, which Delta fixes anew for each MERGE.

    ``printed`` is the analyzed plan that ``sql`` is part of: it shows the texts that Spark casts unasked.
    """
    return (volatile_functions(sql) & CLOCK) | special_times(sql) | (special_times(sql, any_text=True) & _cast(printed))


def volatile_parts(sql: str) -> frozenset[str]:
    """The functions and literals in ``sql`` that give other values each time."""
    return volatile_functions(sql) | special_times(sql)


def volatile_functions(sql: str) -> frozenset[str]:
    """The functions that ``sql`` calls and that give other values each time."""
    return (all_function_names(sql) & VOLATILE) - (CLOCK_WITHOUT_ARGUMENTS - called_without_arguments(sql))


def by_chance(parts: str) -> bool:
    """Whether any of such parts, in one text, gives other values than the time."""
    return bool(all_function_names(parts) - CLOCK) or SAMPLED in parts


def volatile_behind(spark: SparkSession, sql: str, analyzed: str, user: Iterable[str]) -> tuple[str, ...]:
    """:func:`volatile_parts` of a query, of the views in its ``analyzed`` plan and of the functions it calls.

    A text in the plan that looks like a call is taken for one: its values are then called unknown, which is no promise.
    ``user``: see :func:`user_functions`. Raises EngineError.
    """
    parts = volatile_parts(sql) | set(CALLED.findall(analyzed)) | _cast(analyzed)
    if SAMPLE.search(analyzed):
        parts |= {SAMPLED}
    for definition in function_definitions(spark, user, (sql, analyzed)).values():
        parts |= volatile_parts(body_of(definition))
    return tuple(sorted(parts))


def volatile_subquery(spark: SparkSession, before: str, text: str) -> tuple[str, ...]:
    """:func:`volatile_behind` of a query in brackets; ``before`` is the WITH it stands under. Raises EngineError."""
    if parts := volatile_parts(text):
        return tuple(sorted(parts))
    query = f"{before}SELECT * FROM {text}"
    return volatile_behind(spark, query, explain(spark, query).analyzed, user_functions(spark))


def volatile_source(spark: SparkSession, sql: str, analyzed: str, user: Iterable[str]) -> tuple[str, ...]:
    """:func:`volatile_behind` of the source of a MERGE, which reads it twice, and its columns alone: a LIMIT may take
    other rows each time. Raises EngineError."""
    limited = (LIMITED,) if UNORDERED_LIMIT.search(analyzed) else ()
    return (*volatile_behind(spark, sql, analyzed, user), *limited)


def _cast(printed: str) -> frozenset[str]:
    return frozenset(f"'{match[1].lower()}'" for match in CAST_TIME.finditer(printed))
