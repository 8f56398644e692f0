"""That a plan was committed elsewhere, or a table of it was committed to since, which may make it stale: as far as the
ledger knows, or Spark said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from console.words import undo_sentences
from console.words.format import parse_time
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.model.operation import Operation
    from engine.model.plans import AnyPlan


@dataclass(frozen=True)
class Moved:
    """``now`` is the newest version that is known, None if the table was dropped. ``is_target``: the plan writes it.
    ``own`` is the commit of the plan itself, which another console or the command line made as version ``now``.
    ``is_stale``: apply refuses the plan for certain, whatever rows changed."""

    table: str
    planned: int
    now: int | None
    is_target: bool
    own: Operation | None = None
    is_stale: bool = False


def moved_since(plan: AnyPlan, began: datetime, history: Callable[[str], Iterable[Operation]]) -> Moved | None:
    """The plan's own commit since planning ``began``, else the first table that moved: the plan's target, or one that
    its source reads.

    ``history`` gives the operations of a table by its name or path, newest first."""
    from engine.ledger.history_rows import COMMITTED

    tables = [(plan.target.path, plan.target.name, plan.target.version)]
    if plan.kind == "merge":
        tables += [(name, name, version) for name, version in plan.source.pinned_versions.items()]
    for key, name, planned in tables:
        later = [one for one in history(key) if _is_later(one, began)]
        own = next((one for one in later if one.plan_id == plan.plan_id and one.status in COMMITTED), None)
        others = [one for one in later if one.plan_id != plan.plan_id and _moves(one, planned)]
        newest = own or next(iter(others), None)
        if newest is not None:
            is_target = name == plan.target.name
            return Moved(name, planned, newest.version, is_target, own, is_target and _is_stale(plan, others))
    return None


def moved_to(plan: AnyPlan, version: int) -> Moved | None:
    """The plan's target at a ``version`` that Spark told of, whoever committed it; None if that is not newer."""
    planned = plan.target.version
    if version <= planned:
        return None
    return Moved(plan.target.name, planned, version, is_target=True, is_stale=_is_stale(plan))


def _is_stale(plan: AnyPlan, others: Iterable[Operation] = ()) -> bool:
    """Whether any commit to its target makes the plan stale, or one of ``others`` put another table in its place."""
    if plan.kind == "create_table" or any(one.kind != "merge" for one in others):
        return True
    return any(clause.kind == "not_matched_by_source" for clause in plan.statement.clauses)


def sentence(moved: Moved) -> str:
    """What happened, and what it means for the plan."""
    if moved.own is not None:
        at = f", as v{moved.now}" if moved.now is not None else ""
        gone = undo_sentences.GONE.get(moved.own.status, "")
        return f"This plan was committed already{at}, by another console or the command line. {gone}".rstrip()
    table = table_name(moved.table)
    if moved.now is None:
        return f"{table} was dropped since this plan: stale."
    if not moved.is_target:
        return f"{table}, which it reads, is at v{moved.now} by now: this plan is of its v{moved.planned}."
    was = f"from v{moved.planned} " if moved.planned >= 0 else ""
    unless = "" if moved.is_stale else ", unless other rows changed"
    return f"{table} moved {was}to v{moved.now} since this plan: stale{unless}."


def no_drop(one: Operation, operations: Sequence[Operation]) -> str:
    """Why an undo of a CREATE would be refused, as far as all ``operations`` of the ledger tell; "" if they do not."""
    if one.kind != "create_table" or one.version != 0 or one.status != "applied":
        return ""
    table = table_name(one.table)
    newest = newest_since(one.op_id, [each for each in operations if table_name(each.table) == table])
    return "" if newest is None else undo_sentences.no_drop(one.table, newest)


def newest_since(op_id: str, listed: Sequence[Operation]) -> int | None:
    """The newest version that was committed to a table after the operation ``op_id``, as far as its operations tell."""
    own = next((one for one in listed if one.op_id == op_id), None)
    ended = None if own is None else parse_time(own.finished_at or "")
    if ended is None:
        return None
    later = (one for one in listed if one.op_id != op_id and one.status == "applied" and _is_later(one, ended))
    return max((one.version for one in later if one.version is not None), default=None)


def _is_later(one: Operation, began: datetime) -> bool:
    """A table that was dropped and made again had versions of its own before."""
    ended = parse_time(one.finished_at or "")
    return ended is not None and ended >= began


def _moves(one: Operation, planned: int) -> bool:
    return one.version > planned if one.version is not None else (one.kind, one.status) == ("drop", "applied")
