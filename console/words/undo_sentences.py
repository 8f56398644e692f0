"""How a commit is taken back, and until when: as plain text, for the console and the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING

from console.words.format import count, local_time, number, parse_time, size
from console.words.outcome_sentences import deviated, read
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from engine.model.operation import ColumnsChange, Operation, Outcome, PartChange, UndoPlan, UndoRefused
    from engine.model.plan import Undo
    from engine.model.plans import AnyPlan

NOT_KNOWN = "until when Delta allows it is not known"
NO = "NOT possible"
GONE: Mapping[str, str] = MappingProxyType(
    {
        "undone": "This commit is taken back.",
        "overwritten": "This commit is gone: a RESTORE went to a version before it.",
    }
)
"""Of a commit that is in the table no more, by its status."""
TO_VERSION = re.compile(r"\bTO VERSION AS OF (\d+)\s*$")
"""The end of each RESTORE that an undo runs."""
DELETED = "its own files are deleted, also those that a shallow clone of it reads: no table knows its clones"
FILES_GONE = "unless VACUUM or the cleanup of the log was there first"


def undo(plan: AnyPlan, version: int | None = None) -> str:
    """The statement that takes the commit back, and what it leaves; ``version`` is the one that it made, if it is."""
    return f"{statement(plan, version)}{left(plan)}"


def left(plan: AnyPlan) -> str:
    """What the statement leaves, in brackets; "" if nothing."""
    if plan.kind == "create_table" and plan.effect in ("create", "adopt") and not plan.managed:
        return " (the files stay where they are)"
    return ""


def statement(plan: AnyPlan, version: int | None = None) -> str:
    """The statement alone, to be copied."""
    name = visible(plan.target.name)
    if plan.kind == "create_table" and plan.effect in ("create", "adopt"):
        return f"DROP TABLE {name}"
    before = plan.target.version if version is None else version - 1
    return f"RESTORE TABLE {name} TO VERSION AS OF {before}"


def as_long_as(plan: AnyPlan) -> str:
    """Until what happens the commit of a plan can be taken back; "" if later commits only go with it."""
    return " while nothing else is committed" if plan.kind == "create_table" and plan.effect == "create" else ""


def later(plan: AnyPlan, newest: int | None) -> str:
    """What an undo of a commit means by now, if a ``newest`` version was committed after it; else ""."""
    if newest is None:
        return ""
    if plan.kind == "create_table" and plan.effect == "create":
        return no_drop(plan.target.name, newest)
    return f"v{newest} of {table_name(plan.target.name)} was committed since: an undo takes that back, too."


def no_drop(table: str, newest: int) -> str:
    """Why an undo does not drop the table that a CREATE made: its ``newest`` version was committed after it."""
    return f"v{newest} of {table_name(table)} was committed since: `undo` does not drop the table any more."


def is_sure(plan: AnyPlan) -> bool:
    """Whether the statement alone takes the commit back."""
    found = plan.undo
    return found is None or (found.possible is True and not found.raise_retention)


def needs_undo(plan: AnyPlan, *, now: datetime | None = None) -> bool:
    """Whether Delta refuses the statement alone: until a property is raised, or by now."""
    found = plan.undo
    return found is not None and (bool(found.raise_retention) or _is_over(found, now or datetime.now(timezone.utc)))


def until(plan: AnyPlan) -> str:
    """Until when the commit that a plan would make can be taken back, and why."""
    found = plan.undo
    if found is None:
        return NOT_KNOWN
    why = visible(found.why)
    if found.possible is None:
        return f"not known whether it will be possible: {why}"
    if not found.possible:
        return f"will NOT be possible: {why}"
    if found.raise_retention:
        return f"refused by retention: {why}; the undo raises that to {visible(found.raise_retention[0].after)} first"
    if found.until is None:
        return f"possible right after the commit: {why}"
    return f"possible until {local_time(found.until, seconds=False)}: {why}"


def until_short(plan: AnyPlan) -> str:
    """The same without the reason, if there is nothing to think about."""
    found = plan.undo
    if found is not None and found.until is not None and is_sure(plan):
        return f"possible until {local_time(found.until, seconds=False)}"
    return until(plan)


def made(plan: AnyPlan, outcome: Outcome | None, *, now: datetime | None = None) -> tuple[str, str]:
    """The statement that takes a commit back, "" if none does; and until when it does."""
    text = after(plan, outcome, now=now)
    version = None if outcome is None else outcome.version
    return "" if text.startswith(NO) else undo(plan, version), text


def after(plan: AnyPlan, outcome: Outcome | None, *, now: datetime | None = None) -> str:
    """Until when a commit that is made can be taken back, as far as its plan knows."""
    found = plan.undo
    if found is None or (outcome is None and found.possible is not False):
        return f"{NOT_KNOWN}; `undo` looks"
    if (
        outcome is not None
        and outcome.version is not None
        and plan.target.version >= 0
        and outcome.version - 1 != plan.target.version
    ):
        # another commit came between, and its age is not the one that was judged
        return f"it goes back to v{outcome.version - 1}, which others committed after the plan; `undo` says until when"
    if found.possible is False:
        return f"{NO}: {visible(found.why)}"
    if found.raise_retention:
        names = " and ".join(one.name for one in found.raise_retention)
        return f"refused by retention: `undo` raises {visible(names)} first, {FILES_GONE}"
    return _still(found, now or datetime.now(timezone.utc))


def overwritten(restore: Operation) -> str:
    """By which RESTORE a commit is gone, when, and to which version that went back."""
    at, back = local_time(restore.finished_at or restore.started_at, zone=True), brought_back(restore.sql)
    version = "" if restore.version is None else f", as v{restore.version}"
    return f"gone {at} with the RESTORE{f' to {back}' if back else ''} of operation {visible(restore.op_id)}{version}"


def refused(found: UndoRefused) -> str:
    """That an undo was found not possible, when and why."""
    return f"undo is {NO}, as was found {local_time(found.at, zone=True)}: {visible(found.why)}"


def _is_over(found: Undo, now: datetime) -> bool:
    end = parse_time(found.until) if found.until else None
    return end is not None and end <= now


def _still(found: Undo, now: datetime) -> str:
    if found.until is None or parse_time(found.until) is None:
        return visible(found.why)
    if _is_over(found, now):
        ended = local_time(found.until, seconds=False)
        return f"was possible until {ended}; `undo` looks whether raising the retention helps, {FILES_GONE}"
    return f"possible until {local_time(found.until, seconds=False)}, {FILES_GONE}"


def page(undo_plan: UndoPlan) -> list[str]:
    """What an undo brings back, a sentence each."""
    table = table_name(undo_plan.table)
    if undo_plan.kind == "drop":
        stay = f"its files stay in {visible(undo_plan.path)}" if undo_plan.files_stay else DELETED
        return [f"{table} goes, which this operation made and nobody committed to since; {stay}"]
    promise = undo_plan.promise
    now = "row" if undo_plan.rows_now == 1 else "rows"
    rows = f"{number(undo_plan.rows_now)} {now} now, {number(undo_plan.rows_after)} afterwards"
    restored, removed = promise["numRestoredFiles"], promise["numRemovedFiles"]
    back = f"{count(restored, 'file')} {'comes' if restored == 1 else 'come'}"
    gone = f"{count(removed, 'file')} {'goes' if removed == 1 else 'go'}"
    becomes = undo_plan.version + 1 + bool(undo_plan.raise_retention)
    returning, going = size(promise["restoredFilesSize"]), size(promise["removedFilesSize"])
    lines = [
        f"v{undo_plan.to_version} of {table} comes back, as v{becomes}: {rows}",
        f"{back} back ({returning}), none is missing; {gone} ({going})",
    ]
    if undo_plan.columns is not None:
        lines.append(f"its columns change too: {_columns(undo_plan.columns)}")
    if undo_plan.parts:
        lines.append(f"it changes back too: {_parts(undo_plan.parts)}")
    if pairs := undo_plan.taken_back:
        in_pairs = "" if len(pairs) == 1 else " in pairs"
        lines.append(f"{2 * len(pairs)} later commits take each other back{in_pairs}: {'; '.join(map(visible, pairs))}")
    if undo_plan.raise_retention:
        lines += raising(undo_plan)
    elif undo_plan.until:
        lines.append(f"possible until {local_time(undo_plan.until, seconds=False)}: {visible(undo_plan.why)}")
    return lines


def brought_back(statement: str) -> str:
    """``v41``: the version that the RESTORE of an operation went back to; "" if its statement is not known."""
    found = TO_VERSION.search(statement)
    return f"v{found[1]}" if found else ""


def restored(statement: str, metrics: Mapping[str, int]) -> str:
    """What a RESTORE did, in a few words: the version, or where its statement is not known the files."""
    if version := brought_back(statement):
        return f"back to {version}"
    files = metrics.get("numRestoredFiles")
    return "" if files is None else f"{count(files, 'file')} back"


def restored_in_full(statement: str, metrics: Mapping[str, int]) -> str:
    """What a RESTORE did, in a sentence; "" if nothing of it is known."""
    version, files = brought_back(statement), ""
    if metrics.keys() >= {"numRestoredFiles", "restoredFilesSize", "numRemovedFiles", "removedFilesSize"}:
        back, gone = count(metrics["numRestoredFiles"], "file"), count(metrics["numRemovedFiles"], "file")
        returned, went = size(metrics["restoredFilesSize"]), size(metrics["removedFilesSize"])
        files = f"{back} came back ({returned}), {gone} went ({went})"
    return ": ".join(filter(None, (f"{version} came back" if version else "", files)))


def _columns(change: ColumnsChange) -> str:
    parts = (
        (change.back, "comes back", "come back"),
        (change.gone, "goes", "go"),
        (change.changed, "becomes what it was", "become what they were"),
    )
    return "; ".join(
        f"{', '.join(map(visible, names))} {one if len(names) == 1 else several}"
        for names, one, several in parts
        if names
    )


def _parts(changes: Iterable[PartChange]) -> str:
    return "; ".join(
        f"{one.name} {visible(one.before) or 'nothing'} again, instead of {visible(one.now) or 'nothing'}"
        for one in changes
    )


def raising(undo_plan: UndoPlan) -> list[str]:
    """What is raised first, and that it goes with the version."""
    changes = " and ".join(
        f"{visible(one.name)} from {visible(one.before or 'the default')} to {visible(one.after)}"
        for one in undo_plan.raise_retention
    )
    return [
        f"refused by retention: {visible(undo_plan.why)}",
        f"v{undo_plan.version + 1} raises {changes}; what v{undo_plan.to_version} has comes back with it",
    ]


def statements(undo_plan: UndoPlan) -> list[str]:
    """What is run, in order."""
    from engine.sql.undo_statements import undo_statements

    return [visible(sql) for sql in undo_statements(undo_plan)]


def lost(undo_plan: UndoPlan) -> str:
    """That later commits go too, which is no part of the operation."""
    return f"{count(len(undo_plan.lost), 'later commit')} would be lost as well:"


def done(undo_plan: UndoPlan, result: Outcome, dot: str = "·") -> str:
    """What an undo did, in one line."""
    table = table_name(result.table)
    if undo_plan.kind == "drop":
        stay = f" {dot} its files stay in {visible(undo_plan.path)}" if undo_plan.files_stay else ""
        return f"undone, {table} is dropped{stay}" if result.kept else f"{table} is still in the catalog"
    made = f"made v{'?' if result.version is None else result.version} of {table}"
    kept = "undone, as promised" if result.kept else f"{deviated(result.deviations)}, undone"
    parts = (kept, made, read(result.read_version), _parts(undo_plan.parts))
    return f" {dot} ".join(filter(None, parts))
