"""What is looked for is found from where one is: files, tables, merges, operations, help, a theme."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from console.dialogs.pick import Choice, PickDialog
from console.drafts import Draft, DraftStore
from console.places.history.history import HistoryPlace
from console.places.statement.plan_pages import rows_page
from console.places.tables.tables import TablesPlace
from console.widgets.grid import Grid
from console.words.glyphs import UNICODE
from console.words.outcome_sentences import status
from engine.model.browse import TableRef
from tests.console import samples
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def test_the_demos_merges_and_a_file_are_opened_from_a_plain_start(backend: FakeBackend) -> None:
    folder = backend.home / "demo"
    folder.mkdir()
    (folder / "1-daily-upsert.sql").write_text(MERGE_SQL)
    (folder / "other.sql").write_text("﻿-- é\nMERGE INTO other USING s ON 1 = 1", encoding="utf-8")
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("ctrl+o opens one")
        await operator.press("ctrl+o")
        await operator.sees("1-daily-upsert  of the demo", "another file of SQL")
        await operator.press(*"daily-up", "enter")
        await operator.until(lambda: operator.merge.editor.text == MERGE_SQL)
        await operator.press("ctrl+o", *"sql file", "enter")
        await operator.sees("Open a file of SQL")
        await operator.press(*str(folder / "othe"), "enter")
        await operator.sees("There is no such file.")
        await operator.press(*"r.sql", "enter")
        await operator.until(lambda: operator.merge.editor.text.startswith("-- é\nMERGE INTO other"))
        assert not backend.called("plan")


async def test_choices_that_come_late_do_not_change_what_the_cursor_is_on(backend: FakeBackend) -> None:
    for name in ("a", "b", "c"):
        DraftStore(backend.home, "merges").save(name, Draft(f"MERGE INTO {name} USING s ON true"), 0)
    backend.hold("history")
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("2", "escape", "o")
        await operator.sees("Reading the history…")
        await operator.press("down")
        backend.release("history")
        await operator.misses("Reading the history…")
        await operator.press("enter")
        await operator.until(lambda: operator.merge.editor.text == "MERGE INTO b USING s ON true")


async def test_a_choice_that_is_listed_twice_is_one_row(backend: FakeBackend) -> None:
    choices = [Choice("a", "alpha"), Choice("b", "beta"), Choice("a", "alpha again")]
    async with console(backend) as operator:
        dialog = PickDialog("Which", "One of these.", choices, typed=lambda _: Choice("b", "beta, typed"))
        operator.app.push_screen(dialog)
        await operator.sees("alpha", "beta")
        dialog.add([Choice("b", "beta again"), Choice("c", "gamma")])
        await operator.sees("gamma")
        assert [one.label for one in dialog._shown] == ["alpha", "beta", "gamma"]


async def test_a_path_that_is_typed_into_the_list_is_a_choice(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(backend.home)
    Path("mine.sql").write_text(MERGE_SQL)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("ctrl+o opens one")
        await operator.press("ctrl+o", *"nowhere")
        await operator.sees("Nothing fits.")
        await operator.press(*["backspace"] * 7, *"~nobody/")
        await operator.sees("~nobody/  the file of this path")
        await operator.press(*["backspace"] * 8, *"mine.sql")
        await operator.sees("mine.sql  the file of this path")
        await operator.press("enter")
        await operator.until(lambda: operator.merge.editor.text == MERGE_SQL)


async def test_a_file_that_is_no_text_is_refused_in_words(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a long path would wrap the sentence in the notice
    monkeypatch.chdir(backend.home)
    Path("x.sql").write_bytes(b"\xff\xfe")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+o", *"sql file", "enter")
        await operator.sees("Open a file of SQL")
        await operator.press(*"x.sql", "enter")
        await operator.sees("is not UTF-8")
        assert operator.merge.editor.text == MERGE_SQL


async def test_the_palette_jumps_to_a_table_a_merge_and_an_operation(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press("slash", *"feed", "enter")
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+p")
        await operator.until(lambda: operator.app.recent and operator.app.catalog.known_tables())
        await operator.press(*"table: sales.customers")
        await operator.sees("Table: sales.customers")
        await operator.press("down", "enter")
        await operator.until(lambda: isinstance(operator.app.screen, TablesPlace))
        await operator.sees("bigint")
        assert backend.called("table_detail") == [("sales.customers",)]
        assert operator.app.screen.query_one("#filter", Input).value == "", "it is in the list"
        # as one that is opened in the list: its rows have the focus
        await operator.until(lambda: isinstance(operator.app.screen.focused, Grid), "the focus on its rows")

        wanted = backend.ledger[2]
        await operator.press("ctrl+p", *f"history {wanted.op_id}")
        await operator.sees(wanted.op_id, status(wanted))
        await operator.press("down", "enter")
        await operator.until(lambda: isinstance(operator.app.screen, HistoryPlace))
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        await operator.until(lambda: place.detail is not None and place.detail.operation.op_id == wanted.op_id)

        await operator.press("ctrl+p", *"merge 1: sales")
        await operator.sees("Merge 1: sales.orders")
        await operator.press("down", "enter")
        await operator.until(lambda: operator.merge.editor.text == MERGE_SQL)


async def test_the_palette_finds_a_table_that_another_program_has_made_since(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("ctrl+p")
        await operator.until(operator.app.catalog.known_tables)
        await operator.press("escape")
        backend.new_tables = [TableRef(name="sales.zebra", table="zebra")]
        await operator.press("ctrl+p")
        await operator.until(lambda: any(one.table == "zebra" for one in operator.app.catalog.known_tables()))
        await operator.press(*"zebra")
        await operator.sees("Table: sales.zebra")


def test_the_columns_that_change_come_right_behind_the_key_in_the_rows() -> None:
    sample = samples.a_plan().samples[0]
    assert sample.before is not None
    assert sample.after is not None
    changed = [name for name in sample.before if sample.before[name] != sample.after[name]]
    keys = ["order_id", "order_date"]
    same = [name for name in sample.before if name not in (*keys, *changed)]
    assert changed
    page = rows_page(samples.a_plan().model_copy(update={"samples": (sample,)}), UNICODE)
    assert page.table is not None
    assert [column.label for column in page.table.columns][3:] == [*keys, *changed, *same]


async def test_the_help_is_searched(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("2", "escape", "question_mark")
        await operator.sees("/ search", "Merge: type a MERGE statement")
        await operator.press("slash", *"clause down")
        await operator.sees("Move the clause under the cursor down", "merge.move_down")
        assert "type a MERGE statement" not in operator.screen
        await operator.press("x", "x")
        await operator.sees("Nothing in the help says that.")
        await operator.press(*["backspace"] * 20, *"take back")
        await operator.sees("In History", "Take ")


@pytest.mark.parametrize("keys", [("slash",), ("slash", *"undo"), ("slash", *"undo", "enter")])
async def test_esc_ends_the_search_of_the_help_first_and_then_closes_it(
    backend: FakeBackend, keys: tuple[str, ...]
) -> None:
    async with console(backend) as operator:
        await operator.press("2", "escape")
        dialog = await operator.help("question_mark")
        whole = operator.screen
        await operator.press(*keys)
        if keys != ("slash",):
            await operator.misses("Merge: type a MERGE statement")
        await operator.press("escape")
        await operator.until(lambda: operator.screen == whole)
        assert operator.app.screen is dialog
        await operator.press("j")
        await operator.until(lambda: operator.screen != whole)
        await operator.press("escape")
        await operator.until(lambda: len(operator.app.screen_stack) == 1)


async def test_help_in_a_dialog_finds_the_keys_of_the_place_below_it_too(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan")
        await operator.help()
        await operator.press("slash", *"merge.find_key")
        await operator.sees("In Merge", "Find ")


async def test_a_theme_is_shown_while_it_is_chosen_and_esc_goes_back(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        before = operator.app.theme
        operator.app.action_change_theme()
        await operator.sees("The console shows the theme under the cursor.")
        await operator.press("down", "down")
        await operator.until(lambda: operator.app.theme != before)
        await operator.press("escape")
        await operator.until(lambda: operator.app.theme == before)
        operator.app.action_change_theme()
        await operator.sees("The console shows the theme under the cursor.")
        await operator.press(*"nord", "enter")
        await operator.sees('To keep it, write theme = "nord"')
        assert operator.app.theme == "nord"


async def test_the_server_is_stopped_from_the_session_after_a_question(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("5")
        await operator.sees("Spark is warm at")
        await operator.press("s")
        await operator.sees("Every console that uses it loses Spark", "ctrl+y  stop it")
        await operator.press("enter")
        assert not backend.called("stop_server")
        await operator.press("s")
        await operator.sees("ctrl+y  stop it")
        await operator.press("ctrl+y")
        await operator.sees("F9 starts it again")
        assert operator.app.status.spark == "lost"


async def test_the_server_is_not_stopped_while_spark_works(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r")
        await operator.until(lambda: backend.called("plan"))
        await operator.press("escape", "5", "s")
        await operator.sees("Spark is planning: wait for it, or cancel it first.")
        assert len(operator.app.screen_stack) == 1
        backend.release("plan")
