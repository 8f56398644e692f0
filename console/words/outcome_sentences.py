"""What was done, in sentences: a commit, a rehearsal, an operation in the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from console.words import expectation_sentences
from console.words.format import count, number
from console.words.glyphs import Glyphs
from console.words.plan_summary import DELETED, INSERTED, NO_VERSION, UPDATED, WRITTEN
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from engine.model.operation import Deviation, Operation, Outcome, Rehearsal
    from engine.model.plans import AnyPlan


def deviated(found: Sequence[Deviation]) -> str:
    """``DEVIATED in 2 numbers``; in parts, if one is no number."""
    are_numbers = all(isinstance(one.promised, int) for one in found)
    return f"DEVIATED in {count(len(found), 'number' if are_numbers else 'part')}"


def outcome(result: Outcome, plan: AnyPlan, dot: str = "·") -> str:
    """What a commit did, in one line: the version that it made, as the table may be at another one by now. One that was
    made before, and is taken back now, did not stay as it was."""
    from console.words.format import duration

    if result.already_applied and result.version is None:
        return "was applied already: nothing changed now"
    if result.committed_nothing:
        return nothing_committed(plan)
    kept = "kept its promise" if result.kept else deviated(result.deviations)
    if result.already_applied:
        unchanged = f"was committed already, as v{result.version}: nothing changed now"
        text = unchanged if result.undone_as is None else f"was committed before, as v{result.version}"
        return text if result.kept else f"{kept} {dot} {text}"
    table, version = table_name(plan.target.name), f"v{'?' if result.version is None else result.version}"
    parts = [
        kept,
        f"made {version} of {table}",
        # the commit that makes a table reads none, and Delta then reports no version
        read(NO_VERSION if result.version == 0 and result.read_version is None else result.read_version),
        duration(result.duration_ms),
    ]
    return f" {dot} ".join(parts)


def committed_already(result: Outcome) -> str:
    """That there is nothing left to commit of a plan."""
    at = result.version
    return f"This plan is committed already, as v{at}." if at is not None else "This plan is applied already."


def became(what: str, one: Operation | None, *, ended: bool) -> str:
    """What became of work that the console was left in. ``what`` begins the sentence, ``one`` is what the ledger has of
    it; ``ended``: whether the work had ended by then, so that it will have no more."""
    from engine.ledger.history_rows import COMMITTED

    status = "" if one is None else one.status
    if one is not None and one.committed_nothing:
        return f"{what} had nothing to commit."
    if one is not None and status in COMMITTED:
        version = "" if one.version is None else f", as v{one.version}"
        return f"{what} was applied{version}{', and DEVIATED from its promise' if one.kept is False else ''}."
    if status in ("failed", "lost"):
        return f"{what} failed; the history says how."
    if status in ("cancelled", "not_committed"):
        return f"{what} was cancelled: nothing was written."
    if ended and status != "running":
        return f"{what} had not begun: nothing was written."
    return f"{what} was to be cancelled; whether it was applied is not known yet: the history says it later."


NO_COMMIT = "no commit"


def without_commit(one: Operation) -> str:
    """The status of an operation that was applied and committed nothing."""
    return "registered" if one.registered else NO_COMMIT


def status(one: Operation) -> str:
    """The status in words; a commit says as well whether it kept its promise."""
    if one.program_gone:
        return "unfinished"
    if one.status == "lost":
        return "LOST"
    if one.committed_nothing:
        return without_commit(one)
    if one.status == "applied" and one.kept is not None:
        return "applied, kept" if one.kept else "applied, DEVIATED"
    return one.status.replace("_", " ")


def sign(one: Operation, glyphs: Glyphs) -> str:
    """The sign before :func:`status`."""
    if one.program_gone:
        return glyphs.warning
    if one.committed_nothing and not one.registered:
        return glyphs.off
    if one.status == "applied":
        return glyphs.error if one.kept is False else glyphs.ok
    return {
        "running": glyphs.points_to,
        "cancelled": glyphs.warning,
        "undone": glyphs.warning,
        "overwritten": glyphs.warning,
        "planned": glyphs.off,
    }.get(one.status, glyphs.error)


def nothing_committed(plan: AnyPlan) -> str:
    """What applying a plan did that made no version."""
    if plan.kind == "create_table" and plan.registers:
        return f"{table_name(plan.target.name)} is in the catalog; nothing was committed"
    return "nothing to commit: it changes nothing"


def rehearsal(result: Rehearsal) -> str:
    """What a rehearsal measured and how it compares with the plan, in one line."""
    from console.words.format import duration

    measured = f"measured: {duration(result.duration_ms)} on a clone"
    if not result.kept:
        return f"{measured}, {deviated(result.deviations)}"
    if result.refused:
        return f"{measured}, refused by Delta as the plan says: {visible(result.refused)}"
    rows = ", and every row" if result.rows_compared else ""
    return f"{measured}, all {count(len(result.promise), 'metric')} as promised{rows}"


def stale(result: Rehearsal) -> str:
    """That the plan which was rehearsed is stale, and why; "" if it is not."""
    return f"The plan is stale, and apply refuses it: {visible(result.stale)}" if result.stale else ""


def past_rehearsal(result: Rehearsal) -> str:
    """A rehearsal in the history, in one line: when, how it compares with the plan, and what differs."""
    from console.words.format import local_time, number

    def text(value: int | str | None) -> str:
        return visible(value) if isinstance(value, str) else number(value)

    line = f"rehearsed {local_time(result.started_at, zone=True)}: {rehearsal(result)}"
    differing = [f"{visible(one.metric)} {text(one.actual)} for {text(one.promised)}" for one in result.deviations]
    line = f"{line}: {', '.join(differing)}" if differing else line
    return f"{line}; {expectation_sentences.summary(result.expectations)}" if result.expectations else line


def went_well(result: Rehearsal) -> bool:
    """Whether a rehearsal kept the promise, and what is expected holds."""
    return result.kept and not any(map(expectation_sentences.is_bad, result.expectations))


def taken_back(undo: Operation) -> str:
    """By what an operation was taken back, and when."""
    from console.words.format import local_time

    at = local_time(undo.finished_at or undo.started_at, zone=True)
    version = "" if undo.version is None else f", as v{undo.version}"
    return f"taken back {at} by operation {visible(undo.op_id)}{version}"


PROGRAM_GONE = (
    "its program is gone, or lost Spark; what became of it is found out when the Spark that it ran on is next connected"
)
"""Of an operation that runs by the ledger's word alone."""


def rehearsed_as(one: Operation) -> str:
    """How the last rehearsal of its plan went, "" if there was none."""
    if one.rehearsed is None:
        return ""
    went = "rehearsed as promised" if one.rehearsed else "rehearsed, DEVIATED"
    return f"{went}, an expectation fails" if one.rehearsal_fails else went


def clone_is_dropped(result: Rehearsal) -> str:
    """What a rehearsal wrote."""
    return f"Nothing was written to {table_name(result.table)}; the clone of its v{result.version} is dropped."


def kind(one: Operation) -> str:
    """What an operation did: merge, create, replace, clone, restore, drop. A CREATE OR REPLACE that has committed
    nothing is called what it says."""
    if one.kind != "create_table":
        return visible(one.kind)
    from engine.model.errors import EngineError
    from engine.sql.parse_create import parse_create

    try:
        parsed = parse_create(one.sql)
    except EngineError:
        # a secret in it is masked
        return "replace" if one.version else "create"
    if parsed.form == "clone":
        return "clone"
    if parsed.mode == "Create" or one.version == 0:
        return "create"
    return "create or replace" if parsed.mode == "CreateOrReplace" and one.version is None else "replace"


def changed_rows(metrics: Mapping[str, int], glyphs: Glyphs) -> str:
    """``+9,000 ~6,064 -3``: the rows that a commit inserted, updated and deleted; "" where it counts none."""
    signs = ((glyphs.insert, INSERTED), (glyphs.update, UPDATED), (glyphs.delete, DELETED))
    counts = [f"{sign}{number(metrics[metric])}" for sign, metric in signs if metrics.get(metric)]
    if not counts and UPDATED not in metrics and metrics.get(WRITTEN):
        return f"{glyphs.insert}{number(metrics[WRITTEN])}"
    return " ".join(counts)


def read(version: int | None) -> str:
    """Which version a commit read; the one that makes a table reads none. A part of a sentence."""
    if version is None:
        return "read v?"
    return f"read v{version}" if version >= 0 else "the table is new"
