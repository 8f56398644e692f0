"""What a plan changes, by column, as rows of a table and as sentences: the same on the screen and in a shell."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from console.words.format import count, number, share
from console.words.glyphs import Glyphs
from console.words.plan_rows import cell
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.changes import Changes, ColumnChange, Concentration

HEADERS = ("column", "rows", "to NULL", "from NULL", "sums, or commonest changes")
NUMBERS = HEADERS[1:4]


def conserved(changes: Changes) -> str:
    """``80 rows + 14 inserted - 12 deleted = 82 rows``."""
    change = f"{number(changes.inserted)} inserted - {number(changes.deleted)} deleted"
    return f"{count(changes.rows_before, 'row')} + {change} = {count(changes.rows_after, 'row')}"


def sentences(changes: Changes) -> Iterator[str]:
    """What the table of columns does not say."""
    yield conserved(changes)
    if changes.updated:
        where = " in the columns that are compared" if changes.not_compared else ""
        same = f", {number(changes.updated_same)} of them to the values that they have{where}"
        kept = same if changes.updated_same else ""
        yield f"{count(changes.updated, 'row')} updated{kept}"
    for one in changes.concentrations or ():
        yield concentrated(one, changes)


def concentrated(one: Concentration, changes: Changes) -> str:
    """``98 % of the 120 rows inserted or updated have country = 'DE', 4.9 times its share of the table (20 %)``."""
    kinds = {"inserted": changes.inserted, "updated": changes.updated, "deleted": changes.deleted}
    *others, last = (kind for kind, rows in kinds.items() if rows)
    changed = f"{', '.join(others)} or {last}" if others else last
    # an inserted row has no value before
    of = "updated rows " if changes.inserted else ""
    as_it_was = f" ({of}before the update)" if changes.updated else ""
    value = "IS NULL" if one.value is None else "= '" + visible(one.value).replace("'", "''") + "'"
    in_table = share(round(one.table_share * 1_000_000), 1_000_000)
    times = (
        f"{one.lift:,.1f} times its share of the table ({in_table})"
        if one.table_share
        else "which no row of the table has"
    )
    return (
        f"{share(one.rows, changes.rows_changed)} of the {count(changes.rows_changed, 'row')} {changed} have "
        f"{visible(one.column)} {value}{as_it_was}, {times}"
    )


def rows(changes: Changes, glyphs: Glyphs) -> list[tuple[str, str, str, str, str]]:
    """A row for each column that changes, then one for each that is not compared."""
    changed = [
        (
            visible(one.name),
            number(one.changed),
            number(one.to_null),
            number(one.from_null),
            _values(one, glyphs),
        )
        for one in changes.columns
    ]
    return changed + [
        (visible(name), glyphs.unknown, glyphs.unknown, glyphs.unknown, f"unknown: {visible(why)}")
        for name, why in changes.not_compared.items()
    ]


def _values(one: ColumnChange, glyphs: Glyphs) -> str:
    if one.sum_before is not None or one.sum_after is not None:
        about = f"{glyphs.estimated} " if one.sums == "estimated" else ""
        # a sum of no value is known; one that is too large is not
        before = "NULL" if one.from_null == one.changed else _sum(one.sum_before)
        after = "NULL" if one.to_null == one.changed else _sum(one.sum_after)
        return f"{about}{before} {glyphs.becomes} {after}"
    return ", ".join(
        f"{cell(change.before)} {glyphs.becomes} {cell(change.after)} ({number(change.rows)})"
        for change in one.transitions
    )


def _sum(text: str | None) -> str:
    if text is None:
        return "?"
    try:
        return f"{Decimal(text):,f}"
    except InvalidOperation:  # NaN and Infinity are numbers, but not for a format
        return text
