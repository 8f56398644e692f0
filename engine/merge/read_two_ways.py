"""A table that a statement reads in two ways: as it is, and its change data feed or with other options.

Within one statement Spark 4.2 finds a table once, by its name alone, and gives what it found to each mention of it: a
``table_changes`` of it, or a read ``WITH ('option' = 'value')``, gives the table as it is, or the other way round. The
parts of a MERGE that are asked or frozen by themselves are read as they are meant: something else would be committed,
or promised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.merge.session_definitions import NAME
from engine.model.errors import EngineError
from engine.spark.explain import parsed_plan
from engine.sql.names import unquoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RELATION = re.compile(r"(TimeTravel\b[^\n]*)?\bUnresolvedRelation \[([^\]]*)\], \[([^\]]*)\]")
FUNCTION = re.compile(r"\bUnresolvedTableValuedFunction \[(?:[^\]]*, )?table_changes\], \[([^\n]*)\]", re.IGNORECASE)
WITH = re.compile(r"\bCTE \[([^\]]*)\]")
PRIVILEGES = "__required_write_privileges__"
VERSION = re.compile(r"\b(?:version|timestamp)AsOf=", re.IGNORECASE)
ASKS_MORE = re.compile(r"\btable_changes\b|\bWITH\b", re.IGNORECASE)
AS_IT_IS = ""


def refuse_two_ways(spark: SparkSession, parsed: str, found_in: str, bodies: Sequence[tuple[str, str]]) -> None:
    """Raise EngineError if a statement reads a table in two ways. A version of it is none, nor what a view without a
    text reads: those Spark keeps apart.

    ``parsed`` is its print as Spark parsed it, ``found_in`` the schema in which its names are found; ``bodies`` are the
    texts of the views and functions that it reads, and the schema of each.
    """
    mentions = [*_mentions(parsed, found_in)]
    # most statements read in one way, and Spark is to read each body
    if all(way == AS_IT_IS for _, way in mentions) and not any(ASKS_MORE.search(text) for text, _ in bodies):
        return
    for text, schema in bodies:
        mentions += _mentions(parsed_plan(spark, f"SELECT ({text}\n)"), schema)
    ways_of: dict[tuple[str, ...], set[str]] = {}
    for table, way in mentions:
        ways_of.setdefault(table, set()).add(way)
    if two := next((table for table, ways in ways_of.items() if len(ways) > 1), None):
        raise EngineError(
            "TABLE_READ_TWO_WAYS",
            f"The statement reads {'.'.join(two)} in two ways, with other options or its change data feed: Spark takes "
            "one for the other.",
            "Name one of them by the path of the table: delta.`…`, table_changes_by_path('…', …).",
        )


def _mentions(parsed: str, found_in: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """(The whole name of a table, in which way it is read)."""
    defined = {name for match in WITH.finditer(parsed) for name in match[1].split(", ")}
    for travels, name, options in RELATION.findall(parsed):
        if not travels and name not in defined and not VERSION.search(options):
            way = AS_IT_IS if options.startswith(PRIVILEGES) else options
            yield _whole(name.split(", "), found_in), way
    for arguments in FUNCTION.findall(parsed):
        name, _, part = arguments.partition(", ")
        yield _whole(_parts(name), found_in), f"table_changes {part}"


def _whole(parts: Sequence[str], found_in: str) -> tuple[str, ...]:
    schema = _parts(found_in)
    whole = (*schema[: max(len(schema) + 1 - len(parts), 0)], *parts)
    return tuple(part.casefold() for part in whole)


def _parts(name: str) -> list[str]:
    return [unquoted(part) for part in re.findall(NAME, name)]
