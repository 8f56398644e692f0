"""What a commit did: each promised number beside the actual one, then the sentence, then how to take it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from console.cli.sheet import QUIET
from console.cli.view_plan import (
    ALWAYS_TOLD,
    BOLD,
    ERROR,
    OK,
    WARNING,
    expectations,
    others_are_zero,
    table,
    to_copy,
    worst_sign,
)
from console.words import expectation_sentences, outcome_sentences, undo_sentences
from console.words.format import number
from console.words.glyphs import Glyphs
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.operation import Outcome, Rehearsal, UndoPlan
    from engine.model.plans import AnyPlan


def page(outcome: Outcome, plan: AnyPlan, glyphs: Glyphs, undo: str) -> RenderableType:
    """The outcome of applying ``plan``. ``undo`` is the command that takes it back."""
    if outcome.committed_nothing and not outcome.already_applied:
        if plan.kind == "create_table" and plan.registers:
            return Text(f"{glyphs.ok} {outcome_sentences.nothing_committed(plan)}.")
        return Text("Nothing to commit: the plan changes nothing.")
    parts = expected(outcome, glyphs)
    parts += [verdict(outcome.kept, outcome_sentences.outcome(outcome, plan, glyphs.dot), glyphs)]
    if plan.promise or outcome.deviations:
        parts += ["", promise_and_actual(outcome, plan.promise, glyphs), ""]
    if outcome.verdict == "disjoint":
        moved = "The table moved since the plan, in rows that this merge does not write; its source is as planned:"
        parts.append(Text.assemble((f"{glyphs.warning} ", WARNING), moved))
        parts += [Padding(Text(visible(line), QUIET), (0, 0, 0, 4)) for line in outcome.moved_by]
    if outcome.undone_as is not None:
        # a RESTORE that deviated has said so by itself
        parts.append(Text(f"taken back, by v{outcome.undone_as}"))
    elif outcome.version is not None and not outcome.already_applied:
        parts += taking_back(plan, outcome, undo)
    return Group(*parts)


def undo_page(undo_plan: UndoPlan, outcome: Outcome, glyphs: Glyphs) -> RenderableType:
    """The outcome of an undo."""
    parts = [verdict(outcome.kept, undo_sentences.done(undo_plan, outcome, glyphs.dot), glyphs)]
    if undo_plan.promise:
        parts += ["", promise_and_actual(outcome, undo_plan.promise, glyphs)]
    return Group(*parts)


def rehearsal_page(rehearsal: Rehearsal, glyphs: Glyphs) -> RenderableType:
    """What Delta's MERGE did on a clone, beside the plan."""
    parts = [*expected(rehearsal, glyphs), verdict(rehearsal.kept, outcome_sentences.rehearsal(rehearsal), glyphs)]
    if rehearsal.refused is None or rehearsal.deviations:
        promise = {} if rehearsal.refused else rehearsal.promise
        parts += ["", promise_and_actual(rehearsal, promise, glyphs)]
    if rehearsal.stale:
        parts.append(Text.assemble((f"{glyphs.warning} ", WARNING), outcome_sentences.stale(rehearsal)))
    parts.append(Text(outcome_sentences.clone_is_dropped(rehearsal), QUIET))
    return Group(*parts)


def expected(outcome: Outcome | Rehearsal, glyphs: Glyphs) -> list[RenderableType]:
    """What the expectations came to, first of all: nothing if none was checked."""
    if not outcome.expectations:
        return []
    worst = worst_sign(outcome.expectations, glyphs)
    return [
        Text.assemble((f"{worst[0]} ", worst[1]), expectation_sentences.summary(outcome.expectations)),
        *(Padding(one, (0, 0, 0, 2)) for one in expectations(outcome.expectations, glyphs)),
        "",
    ]


def verdict(kept: bool, text: str, glyphs: Glyphs) -> RenderableType:
    """Whether it is as promised, in one line. A broken promise is in the colour of errors."""
    sign, sign_style, style = (glyphs.ok, OK, BOLD) if kept else (glyphs.error, ERROR, ERROR)
    return Text.assemble((f"{sign} ", sign_style), (text, style))


def taking_back(plan: AnyPlan, outcome: Outcome, undo: str) -> list[RenderableType]:
    """The command that takes the commit back, its statement, and until when it does."""
    possible, until = undo_sentences.made(plan, outcome)
    if not possible:
        return [Text(f"undo is {until}", QUIET)]
    how_long = undo_sentences.as_long_as(plan) or ", and all that comes after it"
    by_hand = [
        Text(f"or by hand{undo_sentences.left(plan)}:", QUIET),
        to_copy(undo_sentences.statement(plan, outcome.version), QUIET),
    ]
    return [
        Text(f"to take it back{how_long}:", QUIET),
        to_copy(visible(undo), QUIET),
        *([] if undo_sentences.needs_undo(plan) else by_hand),
        Text(until, QUIET),
    ]


def _told(value: int | str | None) -> str:
    return visible(value) if isinstance(value, str) else number(value)


def promise_and_actual(outcome: Outcome | Rehearsal, promise: Mapping[str, int], glyphs: Glyphs) -> RenderableType:
    """metric | promised | actual. What deviates beside the metrics (the version read) has a row too."""
    found = table("metric", "promised", "actual", "", right=("promised", "actual"))
    promised = {**promise, **{one.metric: one.promised for one in outcome.deviations}}
    actual = {**outcome.metrics, **{one.metric: one.actual for one in outcome.deviations}}
    deviating = {one.metric for one in outcome.deviations}
    zeros = 0
    for metric, value in promised.items():
        if not value and metric not in ALWAYS_TOLD | deviating:
            zeros += 1
            continue
        sign = Text(f"{glyphs.error} deviates", ERROR) if metric in deviating else Text(glyphs.ok, OK)
        found.add_row(visible(metric), _told(value), _told(actual.get(metric)), sign)
    if zeros:
        found.add_row(Text(others_are_zero(zeros, glyphs), QUIET), "", "", Text(glyphs.ok, OK))
    return found
