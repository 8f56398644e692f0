"""Sentences that are longer than the room they get are scrolled by the usual keys."""

from __future__ import annotations

from console.widgets.editor import SqlView
from engine.model.plan import Plan, Remark, Splice
from tests.console import samples
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend


def a_plan_of_many_splices() -> Plan:
    plan = samples.a_plan()
    splice = Splice(start=0, end=5, text="late s", why="a reason that takes a line of a narrow screen, or two")
    last = splice.model_copy(update={"why": "the last reason"})
    return plan.model_copy(update={"splices": (*[splice] * 10, last)})


async def test_the_usual_keys_scroll_what_is_said_above_sql_where_it_is_cut_at_80x24(backend: FakeBackend) -> None:
    backend.plans = [a_plan_of_many_splices()]
    async with console(backend) as operator:
        await operator.plan(samples.MERGE_SQL)
        operator.merge.preview.turn_to("sql")
        await operator.sees("11 changes to the text as typed")
        assert "the last reason" not in operator.screen
        await operator.press("end")
        await operator.sees("the last reason")
        await operator.press("home")
        await operator.sees("11 changes to the text as typed")
        await operator.press("tab")
        assert isinstance(operator.app.focused, SqlView)


async def test_sql_below_what_is_seen_at_once_has_the_focus(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(samples.MERGE_SQL)
        operator.merge.preview.turn_to("sql")
        await operator.until(lambda: isinstance(operator.app.focused, SqlView))
        before = operator.app.focused
        await operator.press("tab")
        assert operator.app.focused is before


async def test_a_verdict_that_is_longer_than_its_part_of_the_screen_is_scrolled(backend: FakeBackend) -> None:
    plan = samples.a_plan()
    remarks = tuple(Remark(code=f"CODE_{n}", sentence=f"Sentence {n}.", evidence="") for n in range(12))
    backend.plans = [plan.model_copy(update={"warnings": remarks})]
    async with console(backend) as operator:
        await operator.plan(samples.MERGE_SQL)
        await operator.sees("Sentence 0.")
        assert "Sentence 11." not in operator.screen
        await operator.press("shift+tab", "end")
        await operator.sees("Sentence 11.")
