"""Target rows that several source rows match."""

from __future__ import annotations

from engine.model.value import Cells, Value


class ConflictKey(Value):
    """Source rows that match the same target row: the values of the source's columns in ON, and how many there are.

    ``rivals`` are some of these rows, the columns that the MERGE uses; ``differing`` the columns in which they differ.
    """

    key: Cells
    source_rows: int
    target_rows: int = 1
    rivals: tuple[Cells, ...] = ()
    differing: tuple[str, ...] = ()


class Dedupe(Value):
    """The source with one row for each key: ``sql`` is to stand after USING, its alias included.

    ``choice`` says which row of a key stays; ``order_by`` is the column that decides, "" where none was found. Counted
    over the frozen source: ``rows_dropped``, target rows that are still matched twice (``conflicts_left``), and those
    that nothing matches any more (``matches_lost``).
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

    ``dedupe`` is None where there is no conflict, or ON has no equality to key by.
    """

    count: int = 0
    true_count: int = 0
    keys: tuple[ConflictKey, ...] = ()
    dedupe: Dedupe | None = None
