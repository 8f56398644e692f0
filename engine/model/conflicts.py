"""Target rows that several source rows match."""

from __future__ import annotations

from engine.model.value import Cells, Value


class ConflictKey(Value):
    """Source rows that match the same target row: the values of the source's columns in ON, and how many there are.

    ``rivals`` are some of these rows, with the columns that the MERGE uses; ``differing`` are the columns in which they
    differ.
    """

    key: Cells
    source_rows: int
    target_rows: int = 1
    rivals: tuple[Cells, ...] = ()
    differing: tuple[str, ...] = ()


class Dedupe(Value):
    """The source with one row for each key: ``sql`` belongs after USING, and has the alias.

    ``choice`` says which row of a key stays; ``order_by`` is the column that decides, "" if there is none. Counted
    over the frozen source: ``rows_dropped``, target rows that are still matched twice (``conflicts_left``), and those
    that no source row, or none that a clause takes, matches any more (``matches_lost``).
    """

    sql: str
    keys: tuple[str, ...]
    order_by: str
    choice: str
    rows_dropped: int
    conflicts_left: int
    matches_lost: int


class Conflicts(Value):
    """``count``: target rows as Delta counts them; ``true_count``: as they truly are.

    ``dedupe`` is None if there is no conflict, or if ON has no equality that gives a key.
    """

    count: int = 0
    true_count: int = 0
    keys: tuple[ConflictKey, ...] = ()
    dedupe: Dedupe | None = None
