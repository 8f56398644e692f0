"""A CREATE or REPLACE plan as a page of text: what it does, what is there before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from console.cli.sheet import QUIET
from console.cli.view_plan import BOLD, ERROR, OK, POINTER, WARNING, facts, policy, signed, table, undo
from console.words.create_sentences import DOES, changes, columns, committing, headline, rows_written
from console.words.format import duration, local_time, number, short_id
from console.words.glyphs import Glyphs
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan


def summary(plan: CreatePlan, glyphs: Glyphs) -> RenderableType:
    """What a person must know before it runs."""
    return Group(Text(headline(plan), BOLD), Text(""), *_verdict(plan, glyphs))


def page(plan: CreatePlan, glyphs: Glyphs) -> RenderableType:
    """The whole plan."""
    spent = sum(plan.timings.values())
    took = f" {glyphs.dot} planned in {duration(spent)}" if spent else ""
    origin = f"  plan {short_id(plan.plan_id)} {glyphs.dot} {local_time(plan.created_at, zone=True)}{took}"
    parts: list[RenderableType] = [summary(plan, glyphs), Text(origin, QUIET)]
    if plan.after is not None:
        parts += [Text(""), Text("Columns", BOLD), Padding(_columns(plan, glyphs), (0, 0, 0, 2))]
        parts += [Text(""), Text("Table", BOLD), Padding(facts(changes(plan, glyphs.becomes)), (0, 0, 0, 2))]
    if plan.promise and plan.refused is None:
        promised = {name: f"{number(value)} {glyphs.exact} exact" for name, value in plan.promise.items()}
        parts += [Text(""), Text("Promise", BOLD), Padding(facts(promised), (0, 0, 0, 2))]
    return Group(*parts)


def _verdict(plan: CreatePlan, glyphs: Glyphs) -> Iterator[RenderableType]:
    if plan.refused is not None:
        yield signed(glyphs.error, ERROR, f"[{visible(plan.refused.condition)}] {visible(plan.refused.message)}")
        yield signed(" ", QUIET, visible(plan.refused.hint))
        return
    yield signed(glyphs.ok, OK, DOES[plan.effect])
    yield signed(glyphs.points_to, POINTER, committing(plan))
    yield signed(glyphs.points_to, POINTER, visible(plan.because))
    if rows := rows_written(plan):
        yield signed(glyphs.points_to, POINTER, rows)
    for step in plan.post_commit:
        yield signed(glyphs.points_to, POINTER, f"then {visible(step)}")
    yield from policy(plan, glyphs)
    yield from undo(plan, glyphs)
    for one in plan.warnings:
        yield signed(glyphs.warning, WARNING, f"[{visible(one.code)}] {visible(one.sentence)} {visible(one.evidence)}")


def _columns(plan: CreatePlan, glyphs: Glyphs) -> RenderableType:
    found = table("", "column", "type", "", "comment")
    for column in columns(plan, glyphs.becomes):
        found.add_row(*column)
    return found
