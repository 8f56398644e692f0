"""Composing a merge: Spark checks the text when the typing stops, and nothing typed is ever lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import EngineError
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def test_the_text_is_checked_once_after_a_pause_and_not_at_every_key(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.places.compose.VALIDATE_AFTER_SECONDS", 0.4)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("Type a MERGE statement")
        await operator.press(*"merge")
        assert not backend.called("validate")
        await operator.sees("Spark accepts it: MERGE into sales.orders @ v41", "source would be materialized")
        assert backend.called("validate") == [("merge", {})]


async def test_an_error_is_told_in_place_and_f8_goes_to_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL.replace("orders_feed", "nowhere"))
        await operator.sees(
            "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found [/x].",
            "Check the name",
            "line 2, column 7",
            "F8 to the error",
        )
        await operator.press("f8")
        assert operator.merge.editor.cursor_location == (1, 6)


async def test_the_answer_about_an_older_text_is_dropped(backend: FakeBackend) -> None:
    backend.hold("validate")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO nowhere")
        await operator.until(lambda: len(backend.called("validate")) == 1)
        operator.merge.editor.replace_all("MERGE INTO sales.orders")
        # while the text is another already, Spark answers for the old one
        await operator.pilot.pause()
        backend.release("validate")
        await operator.sees("Spark accepts it")
        assert "TABLE_OR_VIEW_NOT_FOUND" not in operator.screen
        assert len(backend.called("validate")) == 2


async def test_what_is_no_merge_or_nothing_at_all_is_told_so(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("SELECT 1")
        await operator.sees("This is no MERGE: there is nothing to plan.")
        operator.merge.editor.replace_all("")
        await operator.press("ctrl+r")
        await operator.sees("There is no statement to plan yet.")
        assert not backend.called("plan")


async def test_markers_get_an_input_each_and_their_values_go_to_spark(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO sales.orders AS t USING s ON t.day = :day")
        await operator.sees(":day")
        operator.app.screen.query_one("Parameters Input").focus()
        await operator.press(*"2026")
        await operator.until(
            lambda: (
                ("validate", {"day": "2026"})
                in [(name, arguments[1]) for name, arguments in backend.calls if name == "validate"]
            )
        )


async def test_a_plan_that_spark_refuses_leaves_the_text_and_says_why(backend: FakeBackend) -> None:
    backend.errors["plan"] = EngineError("DELTA_MERGE_UNRESOLVED", "no such column", "Look at it.", line=3, column=6)
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r")
        await operator.sees("[DELTA_MERGE_UNRESOLVED] no such column", "line 3, column 6")
        assert operator.merge.editor.text == MERGE_SQL


async def test_the_draft_survives_a_restart_of_the_console(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2", *"merge into t")
        await operator.press("ctrl+q")
    async with console(FakeBackend(backend.home)) as operator:
        await operator.press("2")
        await operator.sees("merge into t")


async def test_a_proposal_does_not_swallow_what_was_typed(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.write("my own text")
        await operator.press("alt+1")
        await operator.sees("orders_feed")
        await operator.press("down", "m")
        await operator.sees("Merge into default.scratch", "sales.orders_feed")
        await operator.press(*"feed", "enter")
        await operator.sees("MERGE INTO default.scratch", "is kept")
        kept = Path(backend.home, "drafts", "merge-1.before-1.sql")
        assert kept.read_text() == "my own text"
        await operator.press("ctrl+z")
        await operator.sees("my own text")
