"""What is told of a change, a cancelled plan and an error is in sight, and hides nothing."""

from __future__ import annotations

import csv

import pytest
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets._toast import Toast

from console.dialogs.dialog import Dialog
from console.widgets.lines import KeyLine
from console.widgets.sentences import Sentences
from engine.model.errors import EngineError
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

WITH_PARAMETERS = MERGE_SQL.replace("s.op = 'D'", "s.op = :op AND s.day = :day")


def covered(operator: Operator) -> list[Widget]:
    """What is below a notice of what is read or typed."""
    screen = operator.app.screen
    seen = [*screen.query(Input), *screen.query(Sentences), *screen.query(KeyLine), *screen.query("Button")]
    toasts = [toast.region for toast in screen.query(Toast)]
    assert toasts
    return [one for one in seen if one.region.area and any(one.region.overlaps(region) for region in toasts)]


def noticed(operator: Operator) -> str:
    """What can be read of the notices."""
    return " ".join(operator.screen.replace("▌", " ").split())


async def test_a_reason_of_five_lines_is_read_whole_in_a_narrow_console(backend: FakeBackend) -> None:
    later = "v1 WRITE by somebody at 2026-11-28 08:15:02 UTC, application nightly-load-of-orders"
    reason = f"sales.orders_of_november has commits since it was made ({later}, …): DROP would lose them."
    hint = "If the table is to go all the same: DROP TABLE sales.orders_of_november, which nothing brings back."
    backend.errors["plan_undo"] = EngineError("COMMITTED_SINCE", reason, hint)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("sales.orders")
        await operator.press("u")
        await operator.until(lambda: f"[COMMITTED_SINCE] {reason} {hint}" in noticed(operator))


async def test_the_newest_of_many_notices_is_read_whole(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        texts = [f"{number} " * 150 for number in "123"]
        for text in texts:
            operator.app.notify(text, title="Something", severity="warning")
        await operator.until(lambda: texts[-1].strip() in noticed(operator))


@pytest.mark.parametrize("view", ["compose", "form"])
async def test_notices_cover_no_hint_no_field_and_no_check_line(backend: FakeBackend, view: str) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(WITH_PARAMETERS)
        await operator.sees("Spark accepts it")
        if view == "form":
            await operator.press("ctrl+t")
            await operator.sees("condition" if view == "compose" else "ON")
        for text in ("one", "two " * 40, "three"):
            operator.app.notify(text, title="Something", severity="warning")
        await operator.sees("three")
        assert not covered(operator)
        assert "Spark accepts it" in operator.screen


async def test_a_notice_is_read_to_its_end(backend: FakeBackend) -> None:
    """What to do stands last: of an undo that is refused, of a plan that cannot be committed."""
    async with console(backend) as operator:
        await operator.warm()
        operator.app.notify(f"{'words ' * 55} Replan.", title="Nothing to undo", severity="error")
        await operator.sees("Nothing to undo", "Replan.")
        operator.app.notify(f"{'again ' * 55} The last one.")
        await operator.sees("Replan.", "The last one.")


async def test_notices_cover_nothing_of_a_dialog(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("ctrl+y  commit")
        operator.app.notify("two " * 40, title="Something")
        await operator.sees("Something")
        assert isinstance(operator.app.screen, Dialog)
        assert not covered(operator)
        assert "ctrl+y  commit" in operator.screen


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_notice_is_drawn_once_above_a_dialog_and_again_below_it(
    backend: FakeBackend, size: tuple[int, int]
) -> None:
    async with console(backend, size=size) as operator:
        await operator.plan(MERGE_SQL)
        texts = [f"{number} " * 100 for number in "123"]
        for text in texts:
            operator.app.notify(text, title="Something")
        await operator.until(lambda: texts[-1].strip() in noticed(operator))
        below = operator.app.screen
        await operator.press("c")
        await operator.until(lambda: texts[-1].strip() in noticed(operator) and operator.app.screen is not below)
        await operator.until(lambda: not [one for one in below.query(Toast) if one.is_on_screen and one.region.area])
        await operator.press("escape")
        await operator.until(lambda: operator.app.screen is below)
        await operator.sees("Nothing was committed.")
        await operator.until(lambda: texts[-1].strip() in noticed(operator))


async def test_a_plan_again_that_is_cancelled_says_so_where_the_plan_before_is_shown(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan_again_and_wait(backend, MERGE_SQL)
        await operator.press("x")
        await operator.sees("The plan was cancelled. Nothing was written.")
        assert operator.merge.view == "preview"


async def test_an_error_of_a_text_that_was_edited_since_marks_no_place(backend: FakeBackend) -> None:
    backend.errors["plan"] = EngineError("X", "no such column", line=1, column=1)
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        # no answer comes in between
        operator.merge.action_plan()
        operator.merge.editor.replace_all(f"-- other\n{MERGE_SQL}")
        await operator.sees("no such column")
        assert operator.merge.pane.error_at is None


async def test_alt_v_goes_to_the_values_of_the_parameters_and_back(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(WITH_PARAMETERS)
        await operator.sees(":op", "alt+v values")
        await operator.press("alt+v", *"D1", "tab", *"2026")
        assert operator.merge.pane.params == {"op": "D1", "day": "2026"}
        await operator.press("alt+v")
        assert operator.app.focused is operator.merge.editor
        await operator.write(MERGE_SQL)
        await operator.misses("alt+v values")


async def test_a_clause_that_is_removed_is_told_of_and_comes_back(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.sees("Spark accepts it")
        await operator.press("ctrl+t", "escape")
        await operator.sees("1  matched")
        await operator.press("d", "d")
        await operator.sees("Clause 1 is removed: ctrl+z brings it back.")
        assert operator.merge.pane.text.count("WHEN") == 1
        await operator.press("ctrl+z")
        await operator.until(lambda: operator.merge.pane.text.count("WHEN") == 2)
        await operator.press("ctrl+z")
        await operator.until(lambda: operator.merge.pane.text == MERGE_SQL)
        await operator.sees("3  not matched")
        await operator.press("ctrl+z")
        await operator.until(lambda: operator.merge.pane.text != MERGE_SQL or "no change" in operator.screen)


async def test_a_column_that_is_removed_is_told_of_and_comes_back(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("No columns yet")
        await operator.press(*"new", "escape", "a")
        await operator.sees("New column")
        await operator.press(*"id", "tab", *"int")
        await operator.sees("ctrl+y  use it")
        await operator.press("enter")
        await operator.sees("1  id")
        operator.create.form_pane.columns_view.focus_page()
        await operator.press("d")
        await operator.sees("Column 1 is removed: ctrl+z brings it back.", "No columns yet")
        await operator.press("ctrl+z")
        await operator.sees("1  id")


async def test_the_focus_stays_in_a_predicate_that_is_wrong(backend: FakeBackend) -> None:
    backend.errors["explore_scan"] = EngineError("PARSE_SYNTAX_ERROR", "Syntax error at or near 'x'.")
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        await operator.press("e", *"amount >", "enter")
        await operator.sees("Syntax error at or near")
        del backend.errors["explore_scan"]
        await operator.press(*" 100", "enter")
        await operator.sees("14 files, 322 MB")
        assert backend.called("explore_scan")[-1] == ("sales.orders", "amount > 100", 41)
        assert not isinstance(operator.app.focused, Input)


async def type_in_vain(operator: Operator, backend: FakeBackend, directory: str) -> None:
    backend.errors["find_tables"] = EngineError("PATH_NOT_FOUND", "There is no such directory.")
    await operator.sees("orders_feed")
    await operator.press("o", *directory, "enter")
    await operator.sees("There is no such directory.")


async def test_a_directory_that_is_none_leaves_nothing_in_the_list(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await type_in_vain(operator, backend, "/nowhere")
        place = operator.app.screen_stack[0]
        assert not [one for one in place.query_one("#browser").groups if one.is_directory]  # type: ignore[attr-defined]


async def test_a_directory_that_could_not_be_opened_is_there_to_be_mended(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await type_in_vain(operator, backend, "/lak")
        del backend.errors["find_tables"]
        await operator.press("o", *"e", "enter")
        await operator.sees("/lake/ (1)")
        await operator.press("o", *"/other", "enter")
        await operator.sees("/other/ (1)")


async def test_an_export_of_files_has_numbers_that_a_program_reads(backend: FakeBackend) -> None:
    target = backend.home / "files.csv"
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        await operator.press("e", "escape")
        operator.app.screen.action_view("files")  # type: ignore[attr-defined]
        await operator.sees(" MB")
        operator.app.screen.query_one("#page").focus_page()  # type: ignore[attr-defined]
        await operator.press("greater_than_sign", "greater_than_sign")
        await operator.sees("▼")
        await operator.press("x")
        await operator.sees("sizes and texts are in full")
        operator.app.screen.query_one(Input).value = str(target)
        await operator.press("enter")
        await operator.sees("Written to")
    rows = list(csv.DictReader(target.open()))
    sizes = [int(row["size"]) for row in rows]
    assert sizes == [file.bytes for file in sorted(backend.table_files("sales.orders"), key=lambda one: -one.bytes)]
    assert all(row["rows"].isdigit() or not row["rows"] for row in rows)


async def test_what_is_told_of_work_goes_when_the_work_ends(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        backend.hold("plan_undo")
        backend.hold("cancel")
        await operator.press("3")
        await operator.sees("kept")
        await operator.press("u", "ctrl+c")
        await operator.sees("Looking at what would come back", "Cancelling")
        backend.release("cancel")
        await operator.sees("Nothing was undone.")
        assert "Cancelling" not in operator.screen
        assert "Looking at what would come back" not in operator.screen


async def test_a_failure_is_logged_once(backend: FakeBackend) -> None:
    errors = {"plan_undo": "COMMITTED_SINCE", "apply": "DISK_FULL", "rehearse": "NO_CLONE"}
    backend.errors |= {method: EngineError(condition, "It failed.") for method, condition in errors.items()}
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("R")
        await operator.sees("Rehearse")
        await operator.press("ctrl+y")
        await operator.sees("NO_CLONE")
        await operator.commit()
        await operator.sees("DISK_FULL")
        await operator.press("3")
        await operator.sees("kept")
        await operator.press("u")
        await operator.sees("COMMITTED_SINCE")
        told = [line.text for line in operator.app.log_lines]
    for condition in errors.values():
        assert sum(condition in text for text in told) == 1, condition
