"""Composing a merge: Spark checks the text when the typing stops, and nothing typed is ever lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from console.app import DeltaMergeApp
from console.drafts import Draft, DraftStore
from console.places.merge.sql_files import open_file
from console.widgets.parameters import Parameters
from engine.model.errors import EngineError
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def test_the_text_is_checked_once_after_a_pause_and_not_at_every_key(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # longer than a busy machine takes for five keys
    monkeypatch.setattr("console.places.statement.statement_editor.VALIDATE_AFTER_SECONDS", 3.0)
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


async def test_what_spark_said_of_a_text_goes_as_soon_as_that_is_edited(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.sees("Spark accepts it")
        backend.hold("validate")
        await operator.press("x")
        await operator.sees("The text was edited; Spark has not checked it yet.")
        assert "Spark accepts it" not in operator.screen
        backend.release("validate")
        await operator.sees("Spark accepts it")


async def test_what_is_no_merge_or_nothing_at_all_is_told_so(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("SELECT 1")
        await operator.sees("This is no MERGE, CREATE or REPLACE TABLE: there is nothing to plan.")
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


async def test_a_marker_without_a_value_is_named_and_a_value_takes_the_error_away(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL.replace("orders_feed", "nowhere") + " AND t.day = :day")
        await operator.sees("⚠ :day has no value: alt+v goes there", "TABLE_OR_VIEW_NOT_FOUND", "F8")
        operator.app.screen.query_one("Parameters Input").focus()
        backend.hold("validate")
        await operator.press("2")
        await operator.until(lambda: operator.merge.pane.error_at is None)
        backend.release("validate")


async def test_a_value_that_was_typed_is_no_edit_of_the_text(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(f"{MERGE_SQL} AND t.day = :day")
        await operator.sees("Spark accepts it")
        operator.app.screen.query_one("Parameters Input").focus()
        backend.hold("validate")
        await operator.press("2")
        await operator.sees("A value was edited; Spark has not checked it yet.")
        backend.release("validate")
        await operator.sees("Spark accepts it")


async def test_of_a_marker_without_a_value_only_that_is_told(backend: FakeBackend) -> None:
    """Not what Spark has against the '' that nobody typed, nor how the command line gives a value."""
    backend.errors["validate"] = EngineError("UNBOUND_SQL_PARAMETER", "It has none.", "Give it with --param day=VALUE.")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(f"{MERGE_SQL} AND t.day = :day")
        await operator.sees("⚠ :day has no value: alt+v goes there")
        assert "--param" not in operator.screen
        assert "✖" not in operator.screen
        assert backend.called("validate")[-1][1] == {}


async def test_nothing_is_planned_while_a_marker_has_no_value(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(f"{MERGE_SQL} AND t.day = :day")
        await operator.sees("Spark accepts it", "⚠ :day has no value: alt+v goes there", "write ''")
        assert "ctrl+r plans it" not in operator.screen
        await operator.press("ctrl+r")
        await operator.sees("Nothing is planned: a parameter has no value.")
        assert not [name for name, _ in backend.calls if name == "plan"]
        operator.app.screen.query_one("Parameters Input").focus()
        await operator.press("2", "ctrl+r")
        await operator.until(lambda: "plan" in [name for name, _ in backend.calls])


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


async def test_python_is_told_from_sql_with_the_clauses_that_it_means(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write('DeltaTable.forName(spark, "t").merge(s, "a = b").whenMatchedUpdateAll().execute()')
        await operator.sees("This is Python's DeltaTable.merge", "WHEN MATCHED THEN UPDATE SET *", "ctrl+l writes")
        assert not backend.called("validate")


# $EDITOR


@pytest.fixture
def editor(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Makes $EDITOR a script; the terminal is not lent to it, as there is none: that it would come back is checked."""
    lent: list[bool] = []

    @contextmanager
    def suspend(_: DeltaMergeApp) -> Iterator[None]:
        lent.append(True)
        yield
        # as in Textual's own, not where the body raises
        lent.clear()

    monkeypatch.setattr(DeltaMergeApp, "suspend", suspend)
    monkeypatch.delenv("VISUAL", raising=False)

    def make(script: str) -> Path:
        path = backend.home / "my editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        monkeypatch.setenv("EDITOR", f"'{path}' --flag")
        return path

    yield make
    assert not lent, "the terminal did not come back"


async def test_the_text_goes_to_the_operators_editor_and_comes_back(
    backend: FakeBackend, editor: Callable[[str], Path]
) -> None:
    editor('grep -q "my own" "$2" && echo "MERGE INTO edited" > "$2"')
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("my own text")
        await operator.press("f4")
        await operator.sees("MERGE INTO edited", "Spark accepts it")
        assert not list((backend.home / "drafts").glob("*in-editor*"))
        await operator.press("ctrl+z")
        await operator.sees("my own text")


async def test_ctrl_c_in_the_editor_is_the_editors(backend: FakeBackend, editor: Callable[[str], Path]) -> None:
    editor('kill -INT $PPID; echo "MERGE INTO edited" > "$2"')
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("my own text")
        await operator.press("f4")
        await operator.sees("MERGE INTO edited", "Spark accepts it")


async def test_an_editor_that_fails_leaves_the_text_and_keeps_what_it_wrote(
    backend: FakeBackend, editor: Callable[[str], Path]
) -> None:
    editor('printf "half\\351\\n" > "$2"; exit 3')
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write("my own text")
        await operator.press("f4")
        await operator.sees("ended with 3")
        assert operator.merge.editor.text == "my own text"
        assert (backend.home / "drafts" / "merge-1.in-editor.sql").read_bytes() == b"half\xe9\n"
        # the next one does not overwrite it unseen
        editor("true")
        await operator.press("f4")
        await operator.sees("changed nothing")
        assert (backend.home / "drafts" / "merge-1.before-1.sql").read_bytes() == b"half\xe9\n"


async def test_without_an_editor_or_with_one_that_is_not_there_the_reason_is_told(
    backend: FakeBackend, editor: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write("my own text")
        await operator.press("f4")
        await operator.sees("/no/such/editor cannot be started")
        monkeypatch.delenv("EDITOR")
        monkeypatch.setenv("PATH", "")
        await operator.press("f4")
        await operator.sees("No editor is known: set EDITOR")
        assert operator.merge.editor.text == "my own text"


# Saved and recent merges


async def test_a_merge_is_saved_with_its_parameters_and_opened_again_on_another_day(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO sales.orders USING d WHERE day = :day")
        await operator.sees(":day")
        operator.app.screen.query_one(Parameters).remember({"day": "2026-11-20"})
        await operator.press("escape", "w")
        await operator.sees("Save this merge", ":day are kept too.")
        await operator.press(*"a/b", "enter")
        await operator.sees("A name begins with a letter")
        await operator.press("backspace", "backspace", "backspace", *"daily orders", "enter")
        await operator.sees("Saved as daily orders")
    async with console(FakeBackend(backend.home)) as operator:
        await operator.warm()
        await operator.write("something else")
        await operator.press("escape", "o")
        await operator.sees("daily orders  saved")
        await operator.press(*"daily", "enter")
        await operator.sees("MERGE INTO sales.orders USING d", "is kept", "2026-11-20")


async def open_saved(operator: Operator, name: str) -> None:
    """Open a saved merge from the text of another."""
    await operator.press("escape", "o")
    await operator.sees(f"{name}  saved")
    await operator.press(*name, "enter")


async def test_a_text_that_comes_back_has_the_values_that_it_had(backend: FakeBackend, tmp_path: Path) -> None:
    mine, theirs = "MERGE INTO a USING d ON t.day = :day", "MERGE INTO b USING d ON t.day = :day"
    DraftStore(backend.home, "merges").save("daily", Draft(theirs, {"day": "2025-01-01"}), 0)
    (tmp_path / "m.sql").write_text(f"{theirs} AND 1 = 1")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(mine)
        await operator.sees(":day")
        operator.app.screen.query_one(Parameters).remember({"day": "2026-11-26"})
        await open_saved(operator, "daily")
        await operator.sees("MERGE INTO b", "2025-01-01", "is kept")
        kept = Path(backend.home, "drafts", "merge-1.before-1.params.json")
        assert kept.read_text() == '{"day": "2026-11-26"}'
        await operator.press("ctrl+z")
        await operator.sees("MERGE INTO a", "2026-11-26")
        await operator.press("ctrl+y")
        await operator.sees("MERGE INTO b", "2025-01-01")
        await operator.press("ctrl+z")
        await operator.sees("MERGE INTO a", "2026-11-26")
        # a value that is typed since stays, though the text is another one for a moment
        operator.app.screen.query_one(Parameters).remember({"day": "2026-11-27"})
        operator.merge.editor.move_cursor(operator.merge.editor.document.end)
        operator.merge.editor.focus()
        await operator.press("x", "backspace")
        await operator.until(lambda: operator.merge.pane.text == mine)
        assert operator.merge.pane.params == {"day": "2026-11-27"}
        open_file(operator.merge, tmp_path / "m.sql")
        await operator.sees("1 = 1")
        assert operator.merge.pane.params == {"day": ""}


def test_a_text_without_values_holds_none() -> None:
    typed = Draft("q", {"day": "2026-11-26", "region": ""})
    assert not Draft("q", {}).holds(typed)
    assert Draft("q", {"day": "2026-11-26"}).holds(typed)


async def test_the_values_of_the_same_text_are_kept_when_it_is_opened_with_others(backend: FakeBackend) -> None:
    sql = "MERGE INTO a USING d ON t.day = :day"
    DraftStore(backend.home, "merges").save("daily", Draft(sql, {"day": "2025-01-01"}), 0)
    kept = Path(backend.home, "drafts", "merge-1.before-1.params.json")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(sql)
        await operator.sees(":day")
        operator.app.screen.query_one(Parameters).remember({"day": "2026-11-26"})
        await open_saved(operator, "daily")
        await operator.sees("2025-01-01", "The values before are kept: drafts/merge-1.before-1.params.json")
        assert kept.read_text() == '{"day": "2026-11-26"}'
        # opened once more as it is, nothing is lost
        await open_saved(operator, "daily")
        await operator.until(lambda: len(operator.app.screen_stack) == 1)
        assert len(list(kept.parent.glob("*before*.sql"))) == 1


async def test_values_typed_into_a_text_that_was_opened_are_kept_when_another_is(backend: FakeBackend) -> None:
    sql = "MERGE INTO a USING d ON t.day = :day"
    for name, text in (("daily", sql), ("other", f"{sql} AND 1 = 1")):
        DraftStore(backend.home, "merges").save(name, Draft(text, {"day": "2025-01-01"}), 0)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        for name, shown in (("daily", "2025-01-01"), ("other", "1 = 1")):
            await open_saved(operator, name)
            await operator.sees(shown)
            operator.app.screen.query_one(Parameters).remember({"day": "2026-11-26"})
        kept = Path(backend.home, "drafts", "merge-1.before-1.params.json")
        assert kept.read_text() == '{"day": "2026-11-26"}'


async def test_a_draft_that_is_not_utf_8_is_put_aside_to_the_byte(backend: FakeBackend) -> None:
    drafts = backend.home / "drafts"
    drafts.mkdir()
    (drafts / "merge-1.sql").write_bytes(b"MERGE INTO caf\xe9")
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("2")
        # a long path before it wraps, and what is beside the toast stands between its lines
        await operator.sees("UTF-8", "drafts/merge-1.before-1.sql.")
        await operator.write(MERGE_SQL)
        await operator.until(lambda: DraftStore(backend.home).load("merge-1").sql == MERGE_SQL)
    assert (drafts / "merge-1.before-1.sql").read_bytes() == b"MERGE INTO caf\xe9"


async def test_a_saved_merge_that_is_not_utf_8_or_is_gone_is_told_and_not_opened(backend: FakeBackend) -> None:
    merges = DraftStore(backend.home, "merges")
    merges.save("daily", Draft("MERGE INTO a"), 0)
    path = backend.home / "merges" / "daily.sql"
    path.write_bytes(b"MERGE INTO caf\xe9")
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write("mine")
        for reason in ("UTF-8", "such"):
            await operator.press("escape", "o")
            await operator.sees("daily  saved")
            if reason == "such":
                path.unlink()
            await operator.press(*"daily", "enter")
            await operator.sees(reason)
            assert operator.merge.editor.text == "mine"


async def test_a_draft_that_another_editor_wrote_begins_without_a_byte_order_mark(backend: FakeBackend) -> None:
    (backend.home / "drafts").mkdir()
    (backend.home / "drafts" / "merge-1.sql").write_text(f"\ufeff{MERGE_SQL}", encoding="utf-8")
    async with console(backend) as operator:
        await operator.press("2")
        await operator.until(lambda: operator.merge.editor.text == MERGE_SQL)


async def test_a_saved_merge_is_never_replaced_unasked(backend: FakeBackend) -> None:
    DraftStore(backend.home, "merges").save("daily", Draft("the old one"), 0)
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("the new one")
        await operator.press("escape", "w", *"daily", "enter")
        await operator.sees("There is one of that name: ctrl+y replaces it.")
        assert DraftStore(backend.home, "merges").load("daily").sql == "the old one"
        await operator.press("ctrl+y")
        await operator.sees("Saved as daily")
        assert DraftStore(backend.home, "merges").load("daily").sql == "the new one"


async def test_a_disk_that_takes_one_name_for_another_replaces_no_merge_unasked(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what is listed as daily is found as Daily too
    DraftStore(backend.home, "merges").save("Daily", Draft("the old one"), 0)
    monkeypatch.setattr(DraftStore, "names", lambda _: ["daily"])
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("the new one")
        await operator.press("escape", "w", *"Daily", "enter")
        await operator.sees("There is one of that name: ctrl+y replaces it.")


async def test_a_merge_that_was_planned_lately_can_be_run_again(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2", "escape", "o")
        # two operations of the ledger have the same text: it is listed once
        await operator.sees("sales.orders  2026-11-20 12:05", "applied  orders_feed AS s", "sales.customers")
        assert operator.screen.count("orders_feed AS s") == 1
        await operator.press("enter")
        await operator.sees("MERGE INTO sales.orders AS t", "Spark accepts it")


# Completion


async def test_tab_takes_the_rest_of_a_column_that_the_tables_of_the_text_have(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO sales.orders AS t USING sales.orders_feed AS s ON ")
        await operator.until(lambda: operator.app.catalog.known_columns("sales.orders_feed"))
        operator.merge.editor.action_cursor_line_end()
        await operator.press(*"t.or")
        await operator.sees("ON t.order_id", "order_date", "tab takes, ctrl+n next")
        assert operator.merge.editor.text.endswith("ON t.or")
        await operator.press("ctrl+n")
        await operator.sees("ON t.order_date", "order_id")
        await operator.press("tab")
        assert operator.merge.editor.text.endswith("ON t.order_date")
        await operator.misses("tab takes")
        # the source has a column of its own
        await operator.press(*" = s.up", "tab")
        assert operator.merge.editor.text.endswith("= s.updated_at")


async def test_moving_through_the_text_offers_nothing_and_tab_indents(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("mat mat")
        await operator.press("right", "right", "right")
        assert operator.merge.editor.suggestion == ""
        await operator.press("right", "tab")
        assert operator.merge.editor.text == "mat     mat"


async def test_a_text_keeps_the_file_that_it_was_opened_from_whose_expectations_hold_for_it(
    backend: FakeBackend, tmp_path: Path
) -> None:
    (tmp_path / "m.sql").write_text(MERGE_SQL)

    def planned_of() -> object:
        return backend.called("plan")[-1][3]

    async with console(backend) as operator:
        await operator.plan(MERGE_SQL.lower())
        assert planned_of() == ""
        open_file(operator.merge, tmp_path / "m.sql")
        await operator.until(lambda: operator.merge.editor.text == MERGE_SQL)
        await operator.press("ctrl+end", *" -- mine", "ctrl+r")
        await operator.until(lambda: len(backend.called("plan")) == 2)
        assert planned_of() == str(tmp_path / "m.sql")
        await operator.sees("Decision")
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2", "ctrl+r")
        await operator.until(lambda: len(backend.called("plan")) == 3)
        assert planned_of() == str(tmp_path / "m.sql"), "another day"
        await operator.sees("Decision")
        operator.merge.use_text("MERGE INTO another")
        assert operator.merge.pane.draft.file == ""
        await operator.press("ctrl+z")
        assert operator.merge.pane.draft.file == str(tmp_path / "m.sql")


@pytest.mark.parametrize("how", ["opened", "given"])
async def test_undo_does_not_go_back_past_a_text_that_was_loaded(
    backend: FakeBackend, tmp_path: Path, how: str
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.sql").write_text(f"MERGE INTO {name}")
    options = {"open_sql": "MERGE INTO second"} if how == "given" else {}
    async with console(backend, **options) as operator:
        await operator.press("2")
        await operator.sees("Preview")
        for name in ("first", "second") if how == "opened" else ():
            open_file(operator.merge, tmp_path / f"{name}.sql")
            await operator.sees(f"MERGE INTO {name}")
        await operator.press(*"-- ", "ctrl+z", "ctrl+z", "ctrl+z")
        assert operator.merge.editor.text == "MERGE INTO second"
        # the form says so too
        operator.merge.action_undo_change()
        await operator.sees("There is no change to take back.")


async def test_what_was_typed_comes_back_however_many_texts_were_loaded_since(
    backend: FakeBackend, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.sql").write_text(f"MERGE INTO {name}")
    async with console(backend) as operator:
        await operator.press("2", *"my own")
        for name in ("first", "second"):
            open_file(operator.merge, tmp_path / f"{name}.sql")
            await operator.sees(f"MERGE INTO {name}")
        await operator.press("ctrl+z", "ctrl+z")
        assert operator.merge.editor.text == "my own"


async def test_a_draft_of_another_day_comes_back_from_below_a_text_that_was_loaded(
    backend: FakeBackend, tmp_path: Path
) -> None:
    DraftStore(backend.home).save("merge-1", Draft("my own"), 0)
    (tmp_path / "m.sql").write_text("MERGE INTO other")
    async with console(backend) as operator:
        await operator.press("2")
        await operator.sees("my own")
        open_file(operator.merge, tmp_path / "m.sql")
        await operator.sees("MERGE INTO other", "is kept")
        await operator.press("ctrl+z")
        assert operator.merge.editor.text == "my own"


async def test_enter_in_a_value_goes_to_the_next_without_one_and_plans_when_each_has_one(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(f"{MERGE_SQL} AND t.a = :a AND t.b = :b AND t.c = :c")
        await operator.sees(":c")
        operator.app.screen.query_one(Parameters).remember({"b": "2"})
        await operator.press("alt+v", *"1", "enter", *"3")
        assert operator.merge.pane.params == {"a": "1", "b": "2", "c": "3"}
        await operator.press("shift+tab", "shift+tab", "backspace", "tab", "tab", "enter", *"4")
        assert operator.merge.pane.params == {"a": "4", "b": "2", "c": "3"}
        assert not backend.called("plan")
        await operator.press("enter")
        await operator.until(lambda: operator.merge.view == "preview")
        assert backend.called("plan")[0][1] == {"a": "4", "b": "2", "c": "3"}
