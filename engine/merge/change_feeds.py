"""A table that a statement reads as it is, and its change data feed as well: Spark takes one for the other.

Within one statement Spark 4.2 finds a table once, and gives what it found to each mention of its name: a
``table_changes`` of it, or a read ``WITH ('readChangeFeed' = 'true')``, gives the table's rows of now, or the table the
feed. The parts of a MERGE that are asked or frozen by themselves are read as they are meant: something else would be
committed, or promised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from engine.merge.session_definitions import NAME, NAMES
from engine.model.errors import EngineError
from engine.sql.names import unquoted

RELATION = re.compile(r"(TimeTravel\b[^\n]*)?\bUnresolvedRelation \[([^\]]*)\], \[([^\]]*)\]")
FUNCTION = re.compile(r"\bUnresolvedTableValuedFunction \[(?:[^\]]*, )?table_changes\], \[([^\n]*)\]", re.IGNORECASE)
CALL = re.compile(r"\btable_changes\s*\(\s*(['\"])(.+?)\1([^)]*)\)", re.IGNORECASE)
"""In the text of a view or a function."""
FOUND = re.compile(rf"\bRelation ({NAMES})\[[^\n]*\] (DeltaCDFRelation\b)?")
"""In an analyzed plan, which shows what views read."""
WITH = re.compile(r"\bCTE \[([^\]]*)\]")
OF_FEED = re.compile(r"\breadChange(?:Feed|Data)=true\b", re.IGNORECASE)
ANY_PART = "any part"


def refuse_beside_feed(parsed: str, analyzed: str, bodies: Sequence[str], catalog: str, schema: str) -> None:
    """Raise EngineError if a statement names a table and its feed, or two parts of it.

    ``parsed`` is its print as Spark parsed it, ``analyzed`` its analyzed plans, ``bodies`` are the texts of the views
    and functions that it reads; ``catalog`` and ``schema`` are where its names are found.
    """
    named = [*_mentions((parsed, *bodies))]
    named += [(match[1], ANY_PART if match[2] else "") for match in FOUND.finditer(analyzed)]
    parts_of: dict[tuple[str, ...], set[str]] = {}
    for name, part in named:
        parts = tuple(unquoted(one).casefold() for one in re.findall(NAME, name))
        whole = ((catalog.casefold(), schema.casefold())[: max(3 - len(parts), 0)]) + parts
        parts_of.setdefault(whole, set()).add(part)
    for table, asked in parts_of.items():
        feeds = asked - {""}
        are_several = "" in asked or len(feeds - {ANY_PART}) > 1
        if feeds and (are_several or any(_names(body, table[-1]) for body in bodies)):
            raise EngineError(
                "TABLE_BESIDE_ITS_FEED",
                f"The statement reads {'.'.join(table)} and its change data feed, or two parts of that: Spark takes one"
                " for the other.",
                "Name the feed by the table's path: table_changes_by_path('…', …).",
            )


def _names(body: str, table: str) -> bool:
    """Whether the text of a view may read a table: of a view over it, no plan says which of the two it is."""
    return re.search(rf"(?<!\w){re.escape(table)}(?!\w)", CALL.sub("", body), re.IGNORECASE) is not None


def _mentions(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(The name of a table, "" or which part of its feed is read)."""
    for text in texts:
        defined = {name for match in WITH.finditer(text) for name in match[1].split(", ")}
        for travels, name, options in RELATION.findall(text):
            if not travels and name not in defined:
                yield name.replace(", ", "."), options if OF_FEED.search(options) else ""
        for arguments in FUNCTION.findall(text):
            name, _, part = arguments.partition(", ")
            yield name, part or ANY_PART
        for _, name, part in CALL.findall(text):
            yield name, part.strip(" ,") or ANY_PART
