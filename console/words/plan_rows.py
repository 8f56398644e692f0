"""The rows of a plan as text: how many are shown, a sample on one line, an estimate between its bounds."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import TYPE_CHECKING

from console.words.format import elide_end, number
from console.words.glyphs import Glyphs
from console.words.visible import cell as visible_cell
from console.words.visible import visible
from engine.sql.names import unquoted
from engine.sql.sql_text import key_names

if TYPE_CHECKING:
    from engine.model.plan import Estimate, Plan, Sample
    from engine.model.value import Cells

MAX_FILES = 12
MAX_SAMPLES = 20
MAX_IDENTIFYING = 3  # unchanged cells that show which row it is
CELL_WIDTH = 40
FAR_APART = 100
"""An upper bound that is more than so many times the lower one tells a person nothing."""


def estimated(estimate: int | Estimate) -> str:
    """``1,000``, or ``1 to 2`` if only bounds are known, or ``at least 1`` if these are far apart."""
    if isinstance(estimate, int):
        return number(estimate)
    if estimate.low == estimate.high:
        return number(estimate.low)
    if 0 < FAR_APART * estimate.low < estimate.high:
        return f"at least {number(estimate.low)}"
    return f"{number(estimate.low)} to {number(estimate.high)}"


def beside_promise(estimate: int | Estimate | None) -> tuple[str, str]:
    """What the plan says of a metric that it does not promise, and a word for it."""
    return ("-", "not promised") if estimate is None else (estimated(estimate), "estimated")


def file_counts(plan: Plan) -> tuple[str, ...]:
    """The rows of a file that are counted: what the MERGE does to them only if it can be committed."""
    return ("rows", "matched", *(("updated", "deleted", "copied") if plan.refused is None else ()))


def keys_first(plan: Plan, names: Collection[str]) -> list[str]:
    """The columns of the target, those that ON ties first: they tell which row it is."""
    return list(dict.fromkeys([*plan_keys(plan, names), *names]))


def plan_keys(plan: Plan, names: Collection[str]) -> tuple[str, ...]:
    """Those of the target's columns ``names`` that ON ties to the source."""
    return key_names(plan.statement.condition, _target(plan.statement.sql), names)


@functools.lru_cache(maxsize=16)
def _target(sql: str) -> str:
    """The name by which the MERGE calls its target's columns; "" if it cannot be read."""
    from engine.model.errors import EngineError
    from engine.sql.parse import parse_merge

    try:
        return unquoted(parse_merge(sql).target.reference)
    except EngineError:
        return ""


def sample_text(plan: Plan, sample: Sample, glyphs: Glyphs) -> str:
    """``id=7, name=x: price 1.00 → 2.00``: enough to tell the row, then what changes in it."""
    before, after = _keys_first(plan, sample.before), _keys_first(plan, sample.shown_after)
    if before is None or after is None:
        return pairs(before or after or {})
    changed = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    same = {name: value for name, value in before.items() if name not in changed}
    identity = pairs(dict(list(same.items())[:MAX_IDENTIFYING]))
    changes = ", ".join(
        f"{visible(name)} {cell(before.get(name))} {glyphs.becomes} {cell(after.get(name))}" for name in changed
    )
    return f"{identity}: {changes or 'written again unchanged'}" if identity else changes


def _keys_first(plan: Plan, cells: Cells | None) -> Cells | None:
    return cells and {name: cells[name] for name in keys_first(plan, cells)}


def pairs(cells: Cells) -> str:
    """The values of a row on one line: ``id=7, v=NULL``."""
    return ", ".join(f"{visible(name)}={cell(value)}" for name, value in cells.items())


def cell(value: str | None) -> str:
    """A value of a row on one line, cut if it is long."""
    return elide_end(visible_cell(value), CELL_WIDTH)
