"""What was measured → whether it is as expected. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

from engine.expect.expectation import Bounds, Expectation

Judged = tuple[Literal["pass", "fail", "unknown"], str, str]
"""(status, value, sentence)."""
Cell = str | None


def judge(expectation: Expectation, cells: Sequence[Cell]) -> Judged:
    """``cells`` are those of the query's one row: two for each number or time."""
    pairs = list(zip(cells[::2], cells[1::2], strict=True))
    if expectation.rows is not None:
        judged = [_bounded("rows", expectation.rows, *pairs[0])]
    elif expectation.sum is not None:
        judged = [
            _bounded(f"sum of {c}", b, *pair) for (c, b), pair in zip(expectation.sum.items(), pairs, strict=True)
        ]
    else:
        judged = [_fresh(name, *pair) for name, pair in zip(expectation.freshness or (), pairs, strict=True)]
    status = next((one for one in ("fail", "unknown") if any(found[0] == one for found in judged)), "pass")
    telling = [found for found in judged if found[0] == status]
    return telling[0][0], "; ".join(found[1] for found in judged), " ".join(found[2] for found in telling)


def _bounded(what: str, bounds: Bounds, after: Cell, before: Cell) -> Judged:
    is_count = what == "rows"
    new, old = _number(after), _number(before)
    told = [_shown(number, cell) for number, cell in ((old, before), (new, after))]
    value = " -> ".join(told) if bounds.change is not None else told[1]
    if new is None:
        if old is None and bounds.min is None and bounds.max is None:
            return "unknown", value, f"{what}: {told[0]} before and {told[1]} after the MERGE cannot be compared."
        return "fail", value, f"{what}: {told[1]} after the MERGE, which is no number."
    if bounds.min is not None and new < bounds.min:
        return "fail", value, f"{what}: {_shown(new)} is below the least, {_shown(bounds.min)}."
    if bounds.max is not None and new > bounds.max:
        return "fail", value, f"{what}: {_shown(new)} is above the most, {_shown(bounds.max)}."
    if bounds.change is None:
        return "pass", value, f"{what}: {_shown(new)}."
    if not old:
        return "unknown", value, f"{what}: there {'were none' if is_count else 'was no sum'} before to compare with."
    share = abs(new - old) / abs(old)
    text = f"{what}: {_shown(old)} before, {_shown(new)} after, {_percent(share)} {'more' if new > old else 'less'}"
    text = text if new != old else f"{what}: {_shown(new)}, as before"
    if share > bounds.change:
        return "fail", value, f"{text}; at most {_percent(bounds.change)} is expected."
    return "pass", value, f"{text}."


def _fresh(name: str, latest: Cell, is_fresh: Cell) -> Judged:
    if latest is None:
        return "fail", "NULL", f"{name} has no value."
    if is_fresh == "true":
        return "pass", latest, f"the latest {name} is {latest}."
    return "fail", latest, f"the latest {name} is {latest}, which is too old."


def _number(cell: Cell) -> Decimal | None:
    try:
        number = Decimal(cell) if cell is not None else None
    except InvalidOperation:
        return None
    return number if number is None or number.is_finite() else None


def _shown(number: Decimal | None, cell: Cell = None) -> str:
    """The number; of what is none (NaN, Infinity) the cell."""
    return cell or "NULL" if number is None else f"{number:,f}"


def _percent(share: Decimal) -> str:
    return f"{float(share * 100):.3g} %" if share < 10 else f"{share * 100:,.0f} %"
