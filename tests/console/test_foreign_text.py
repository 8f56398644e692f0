"""Text that is not ours is shown as it is: never as markup, never as a command to the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model.browse import TableRef
from engine.model.errors import EngineError
from tests.console import samples
from tests.console.drive import ORDERS, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

NASTY = "[/x] [bold]b[/bold] \x1b[31mred\x1b[0m \u202eevil"
SHOWN = "[/x] [bold]b[/bold] \\x1b[31mred\\x1b[0m \\u202eevil"


async def test_names_comments_and_rows_of_a_table(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("order lines [/x]")
        await operator.press(*ORDERS, "enter")
        await operator.sees("\\x1b[31mmay hold")
        await operator.press("left_square_bracket")
        await operator.sees("[/x] \\x1b[2J")
        assert "\x1b" not in operator.screen


async def test_an_error_of_spark_in_a_page_and_in_the_log(backend: FakeBackend) -> None:
    backend.errors["table_detail"] = EngineError("TABLE_OR_VIEW_NOT_FOUND", NASTY, NASTY)
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees(f"[TABLE_OR_VIEW_NOT_FOUND] {SHOWN}")
        await operator.press("6")
        await operator.sees(f"[TABLE_OR_VIEW_NOT_FOUND] {SHOWN}")
        assert "\x1b" not in operator.screen


async def test_a_plan_and_its_dialog_and_a_notice(backend: FakeBackend) -> None:
    plan = samples.a_warned_plan()
    warning = plan.warnings[0].model_copy(update={"sentence": NASTY})
    target = plan.target.model_copy(update={"name": "t[/x]\x07"})
    backend.plans = [plan.model_copy(update={"warnings": (warning,), "target": target})]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("MERGE into t[/x]\\x07", SHOWN)
        await operator.press("c")
        await operator.sees("t[/x]\\x07  v41", SHOWN)
        operator.app.notify(NASTY)
        await operator.sees("\\x1b[31mred")
        assert not any(character in operator.screen for character in "\x1b\x07\u202e")


async def test_the_palette_lists_names_as_they_are_and_goes_on_behind_them(backend: FakeBackend) -> None:
    backend.new_tables = [TableRef(name=name, table=name) for name in ("delta.`/[old]/t`", "sales.\u0130\u0130")]
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+p")
        await operator.until(lambda: operator.app.recent and len(operator.app.catalog.known_tables()) > 2)
        await operator.press(*"sales")
        await operator.sees("Table: sales.`order lines [/x]`", "Table: sales.\u0130\u0130", "Merge 1: sales.orders")
        await operator.sees("History: sales.orders")
        await operator.press(*["backspace"] * 5, *"/t")
        await operator.sees("Table: delta.`/[old]/t`")


async def test_the_palette_marks_a_name_that_is_longer_in_lower_case(backend: FakeBackend) -> None:
    backend.new_tables = [TableRef(name="sales.\u0130\u0130x", table="x")]
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("ctrl+p")
        await operator.until(operator.app.catalog.known_tables)
        await operator.press("x")
        await operator.sees("Table: sales.\u0130\u0130x")


@pytest.mark.parametrize("name", ["delta.`/d/{app.quit}/t`", "delta.`/d/{env.name}/{merge.plan}`"])
async def test_a_name_is_no_sentence_of_ours_after_its_commit(backend: FakeBackend, name: str) -> None:
    plan = samples.a_plan()
    backend.plans = [plan.model_copy(update={"target": plan.target.model_copy(update={"name": name})})]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.until(lambda: operator.merge.committed is not None and operator.merge.operation is None)
        await operator.press("escape")
        await operator.sees(f"made v42 of {name}", "v shows it.")


async def test_the_editor_shows_that_something_cannot_be_seen(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO t -- \x1b[31m [/x]")
        await operator.sees("The text holds characters that cannot be seen.", "␛[31m [/x]")
        assert operator.merge.editor.text == "MERGE INTO t -- \x1b[31m [/x]"


async def test_the_form_of_a_table_like_one_with_such_text_keeps_it_and_does_not_show_it(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "n")
        await operator.sees("sales.orders_like")
        form = operator.create.form_pane
        columns = tuple(replace(one, comment=NASTY) for one in form.form.columns)
        operator.create.use_form(replace(form.form, comment=NASTY, columns=columns))
        await operator.sees("signs that cannot be seen: edit it in the SQL", SHOWN[:30])
        assert "\x1b" not in operator.screen
        form.columns_view.focus_page()
        await operator.press("enter")
        await operator.until(lambda: len(operator.app.screen_stack) == 2)
        assert "\x1b" not in operator.screen
        await operator.press("ctrl+y")
        await operator.until(lambda: len(operator.app.screen_stack) == 1)
        assert operator.create.form_pane.form.columns == columns
        assert operator.create.form_pane.form.comment == NASTY
