"""That a table was committed to since a plan was made, which may make it stale: as far as the ledger knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from console.words.format import parse_time
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.model.operation import Operation
    from engine.model.plans import AnyPlan


@dataclass(frozen=True)
class Moved:
    """``now`` is the newest version that is known, None if the table was dropped. ``is_target``: the plan writes it."""

    table: str
    planned: int
    now: int | None
    is_target: bool


def moved_since(plan: AnyPlan, began: datetime, history: Callable[[str], Iterable[Operation]]) -> Moved | None:
    """The first table that moved since planning ``began``: the plan's target, or one that its source reads.

    ``history`` gives the operations of a table by its name or path, newest first."""
    tables = [(plan.target.path, plan.target.name, plan.target.version)]
    if plan.kind == "merge":
        tables += [(name, name, version) for name, version in plan.source.pinned_versions.items()]
    for key, name, planned in tables:
        for one in history(key):
            if one.plan_id != plan.plan_id and _is_later(one, began) and _moves(one, planned):
                return Moved(name, planned, one.version, is_target=name == plan.target.name)
    return None


def sentence(moved: Moved) -> str:
    """What happened, and what it means for the plan."""
    table = table_name(moved.table)
    if moved.now is None:
        return f"{table} was dropped since this plan: stale."
    if not moved.is_target:
        return f"{table}, which it reads, is at v{moved.now} by now: this plan is of its v{moved.planned}."
    was = f"from v{moved.planned} " if moved.planned >= 0 else ""
    return f"{table} moved {was}to v{moved.now} since this plan: stale, unless other rows changed."


def _is_later(one: Operation, began: datetime) -> bool:
    """A table that was dropped and made again had versions of its own before."""
    ended = parse_time(one.finished_at or "")
    return ended is not None and ended >= began


def _moves(one: Operation, planned: int) -> bool:
    return one.version > planned if one.version is not None else (one.kind, one.status) == ("drop", "applied")
