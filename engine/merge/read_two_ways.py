"""A table that a statement reads in two ways: as it is, and its change data feed or with other options.

Within one statement Spark 4.2 finds a table once, by its name alone, and gives what it found to each mention of it: a
``table_changes`` of it, or a read ``WITH ('option' = 'value')``, gives the table as it is, or the other way round. The
parts of a MERGE that are asked or frozen by themselves are read as they are meant: something else would be committed,
or promised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from engine.merge.session_definitions import NAME
from engine.model.errors import EngineError
from engine.sql.names import unquoted

RELATION = re.compile(r"(TimeTravel\b[^\n]*)?\bUnresolvedRelation \[([^\]]*)\], \[([^\]]*)\]")
FUNCTION = re.compile(r"\bUnresolvedTableValuedFunction \[(?:[^\]]*, )?table_changes\], \[([^\n]*)\]", re.IGNORECASE)
CALL = re.compile(r"\btable_changes\s*\(\s*(['\"])(.+?)\1([^)]*)\)", re.IGNORECASE)
"""In the text of a view or a function."""
WITH = re.compile(r"\bCTE \[([^\]]*)\]")
PRIVILEGES = "__required_write_privileges__"
VERSION = re.compile(r"\b(?:version|timestamp)AsOf=", re.IGNORECASE)
AS_IT_IS, ANY_PART = "", "any part of its feed"


def refuse_two_ways(parsed: str, bodies: Sequence[str], catalog: str, schema: str) -> None:
    """Raise EngineError if a statement reads a table in two ways. A version of it is none, nor what a view without a
    text reads: those Spark keeps apart.

    ``parsed`` is its print as Spark parsed it, ``bodies`` are the texts of the views and functions that it reads;
    ``catalog`` and ``schema`` are where its names are found.
    """
    ways_of: dict[tuple[str, ...], set[str]] = {}
    for name, way in _mentions((parsed, *bodies)):
        parts = tuple(unquoted(one).casefold() for one in re.findall(NAME, name))
        whole = ((catalog.casefold(), schema.casefold())[: max(3 - len(parts), 0)]) + parts
        ways_of.setdefault(whole, set()).add(way)
    for table, ways in ways_of.items():
        others = ways - {AS_IT_IS}
        are_two = AS_IT_IS in ways or len(others - {ANY_PART}) > 1
        if others and (are_two or any(_names(body, table[-1]) for body in bodies)):
            raise EngineError(
                "TABLE_READ_TWO_WAYS",
                f"The statement reads {'.'.join(table)} in two ways, with other options or its change data feed: Spark "
                "takes one for the other.",
                "Name one of them by the path of the table: delta.`…`, table_changes_by_path('…', …).",
            )


def _names(body: str, table: str) -> bool:
    """Whether the text of a view may read a table as it is: of a view, no plan says which of the two it is."""
    return re.search(rf"(?<!\w){re.escape(table)}(?!\w)", CALL.sub("", body), re.IGNORECASE) is not None


def _mentions(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(The name of a table, in which way it is read)."""
    for text in texts:
        defined = {name for match in WITH.finditer(text) for name in match[1].split(", ")}
        for travels, name, options in RELATION.findall(text):
            if not travels and name not in defined and not VERSION.search(options):
                yield name.replace(", ", "."), AS_IT_IS if options.startswith(PRIVILEGES) else options
        for arguments in FUNCTION.findall(text):
            name, _, part = arguments.partition(", ")
            yield name, part or ANY_PART
        for _, name, part in CALL.findall(text):
            yield name, part.strip(" ,") or ANY_PART
