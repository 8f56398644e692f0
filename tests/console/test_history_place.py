"""History: the ledger, newest first, and of each operation what was promised and what happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from console.places.history.history import HistoryPlace
from console.places.history.history_pages import Group, short_result
from console.places.merge.merge import MergePlace
from console.status import Job
from console.widgets.grid import Grid
from console.widgets.parameters import Parameters
from engine.commit.policy import Policy
from engine.ledger.history import History
from engine.model.errors import EngineError, RefusedError
from engine.model.operation import UndoPlan, UndoRefused
from engine.model.plans import OperationDetail
from engine.recovery.rebuild_ledger import UNKNOWN_SQL
from engine.session.store_watch import Silence
from tests.console import samples
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def test_the_ledger_is_listed_newest_first_with_what_came_of_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("✔ kept", "failed", "cancelled", "✖ DEVIATED")
        rows = [line for line in operator.screen.splitlines() if line.startswith(" 11-")]
        assert [row.split()[1] for row in rows[:4]] == ["12:05", "11:40", "09:00", "22:15"]
        # the rows that changed, of what was committed alone
        assert ["+220 ~1,204 -3" in row for row in rows[:4]] == [True, False, False, True], rows


async def test_what_came_of_an_operation_is_readable_at_80_columns_however_long_a_table_s_name_is(
    backend: FakeBackend,
) -> None:
    first, failed, *_ = backend.ledger
    long = "spark_catalog.warehouse_production.customer_orders_daily_snapshot"
    backend.ledger = [first.model_copy(update={"table": long}), failed]
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("✔ kept", "v42  +220 ~1,204 -3", "MULTIPLE_SOURCE")
        # what tells a table from another is at its end
        await operator.sees("shot  merge")


async def test_what_another_program_did_is_shown_without_a_key(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("✔ kept")
        await operator.press("down")
        operator.app._ledger_stamped(0)
        backend.ledger = [one.model_copy(update={"status": "undone"}) for one in backend.ledger]
        operator.app._ledger_stamped(1)
        await operator.sees("undone")
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        assert place.op_id == "01JCM3QK"


async def test_an_order_that_was_chosen_and_the_cursor_stay_when_the_ledger_is_written(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("✔ applied, kept")
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        # by table
        await operator.press("greater_than_sign", "greater_than_sign")
        await operator.sees("table▲")
        await operator.press("home", "down", "down", "down")
        await operator.until(lambda: place.op_id == "01JCM3QK", place.op_id)
        operator.app._ledger_stamped(0)
        new = backend.ledger[0].model_copy(update={"op_id": "new", "table": "aa.first"})
        backend.ledger = [new, *backend.ledger]
        operator.app._ledger_stamped(1)
        await operator.sees("aa.first")
        await operator.until(lambda: not place.is_asking("history"))
        assert place.op_id == "01JCM3QK"
        rows = [line.split()[2] for line in operator.screen.splitlines() if line.startswith(" 2026-11-")]
        assert rows == sorted(rows)
        assert len(rows) == 5
        await operator.press("slash", *"customers")
        await operator.until(lambda: len(place.listed) == 2)
        await operator.press("enter", "down", "down")
        await operator.misses("aa.first")


def test_a_result_is_shortened_to_what_tells_most() -> None:
    assert short_result("+30,167 ~1,204 -129,001") == "+30.2k ~1,204 -129k"
    assert short_result("[DELTA_CONCURRENT_APPEND] Files were added.") == "CONCURRENT_APPEND"
    assert short_result("rehearsed, DEVIATED") == "rehearsed, DEVIATED"


@pytest.mark.parametrize("words", ["1 of 3 expectations fails: rows_2024, id_007", "localhost:15002 +12,345 is gone"])
def test_a_number_in_words_is_not_rounded_it_may_be_a_name_s(words: str) -> None:
    assert short_result(words) == words


async def test_a_time_of_another_year_keeps_its_year_at_80_columns(backend: FakeBackend) -> None:
    first, second, *_ = backend.ledger
    backend.ledger = [first, second.model_copy(update={"started_at": "2025-11-20T11:40:00Z"})]
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("✔ kept", " 11-20 12:05 ", " 2025-11-20 11:40 ")


async def test_the_operation_under_the_cursor_shows_promise_against_actual(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("promised", "actual", "numTargetRowsCopied", "869,298")
        await operator.press("down", "down", "down")
        await operator.sees("869,305", "DEVIATED")


async def test_what_is_said_of_an_operation_takes_all_that_its_metrics_can_spare_at_80x24(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The focus is in the table below it."""
    row, plan = backend.ledger[0], samples.a_plan()
    outcome = samples.an_outcome(plan).model_copy(update={"moved_by": ("v8 WRITE now", "v7 OPTIMIZE before")})
    monkeypatch.setattr(backend, "_detail", lambda _: OperationDetail(operation=row, plan=plan, outcome=outcome))
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("meanwhile: v8 WRITE now", "meanwhile: v7 OPTIMIZE before", "u takes it back", "numTarget")


async def test_what_is_said_of_an_operation_without_metrics_takes_all_lines_at_80x24(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = samples.a_ledger()[0].model_copy(update={"status": "failed", "error": "word " * 300})
    backend.ledger = [one]
    monkeypatch.setattr(backend, "_detail", lambda _: OperationDetail(operation=one, plan=None, outcome=None))
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("✖ word word word")
        assert operator.screen.splitlines()[-2].strip().startswith("word word")


async def test_the_filter_takes_several_words(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("slash", *"customers cancel")
        await operator.misses("DEVIATED")
        await operator.sees("cancelled")
        assert "sales.orders  " not in operator.screen
        await operator.press(*" zzz")
        await operator.sees("Nothing matches the filter.")


async def test_the_filter_finds_an_id_by_its_beginning_alone(backend: FakeBackend) -> None:
    plan_id = backend.ledger[0].plan_id
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("slash", *plan_id[:9])
        await operator.misses("cancelled")
        rows = [line.split()[2] for line in operator.screen.splitlines() if line.startswith(" 2026-11-")]
        assert len(rows) == sum(one.plan_id == plan_id for one in backend.ledger)
        await operator.press("ctrl+u", *plan_id[3:9])
        await operator.sees("Nothing matches the filter.")


async def test_rehearsals_are_shown_with_their_plan(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = samples.a_plan()
    row = backend.ledger[0].model_copy(update={"status": "planned", "version": None, "rehearsed": False})
    told = (samples.a_rehearsal(plan), samples.a_rehearsal(plan, deviates=True))
    backend.ledger = [row]
    monkeypatch.setattr(backend, "_detail", lambda _: OperationDetail(operation=row, plan=plan, rehearsals=told))
    async with console(backend, size=(160, 36)) as operator:
        await operator.press("3")
        await operator.sees("rehearsed, DEVIATED", "measured: 12.3 s on a clone", "as promised, and every row")
        await operator.sees("DEVIATED in 1 number: numTargetRowsCopied")


async def test_an_empty_ledger_says_so(backend: FakeBackend) -> None:
    backend.ledger = []
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("Nothing was planned or committed yet.")


async def test_e_puts_the_sql_of_an_operation_back_into_the_editor(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("u takes it back: RESTORE TABLE")
        await operator.press("e")
        await operator.sees("WHEN NOT MATCHED THEN INSERT *")
        assert operator.merge.editor.text == MERGE_SQL


@pytest.mark.parametrize(
    ("kind", "offered"), [("restore", False), ("drop", False), ("create_table", True), ("merge", True)]
)
async def test_e_is_offered_where_its_sql_can_be_planned(backend: FakeBackend, kind: str, offered: bool) -> None:
    backend.ledger = [backend.ledger[0].model_copy(update={"kind": kind})]
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.until(lambda: "y copy SQL" in operator.keys)
        assert ("e edit again" in operator.keys) is offered
        assert ("p plan again" in operator.keys) is (kind == "merge")


@pytest.mark.parametrize("key", ["e", "p"])
async def test_a_merge_of_the_history_does_not_replace_the_text_of_another(backend: FakeBackend, key: str) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO my.own")
        await operator.press("escape", "3")
        await operator.sees("u takes it back")
        await operator.press(key)
        await operator.until(lambda: isinstance(operator.app.screen, MergePlace) and operator.merge.number == 2)
        await operator.until(lambda: operator.merge.editor.text == MERGE_SQL)
        await operator.sees("merge 1 my.own", "merge 2 sales.orders")
        # the same once more is there already
        await operator.press("escape", "3")
        await operator.sees("u takes it back")
        await operator.press("e")
        await operator.until(lambda: isinstance(operator.app.screen, MergePlace))
        await operator.pilot.pause()
        assert operator.merge.number == 2


async def test_a_commit_shows_up_without_being_asked_for(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("h")
        await operator.until(lambda: len(backend.called("history")) >= 2)


@pytest.mark.parametrize("key", ["r", "b"])
async def test_the_cursor_stays_on_its_operation_when_the_ledger_is_read_again(backend: FakeBackend, key: str) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("down", "down", "down")
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        await operator.until(lambda: place.selected is place.operations[3], "the fourth operation")
        below = place.operations[3]
        backend.ledger.insert(0, backend.ledger[0].model_copy(update={"op_id": "newest"}))
        await operator.press(key)
        await operator.until(lambda: len(place.listed) > len(samples.a_ledger()), "the new list")
        assert place.selected == below
        grid = place.list_view.query_one(Grid)
        assert place.listed[grid.cursor] == below
        assert place.detail is not None
        assert place.detail.operation == below


async def test_the_commit_is_under_the_cursor_that_was_elsewhere(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("down", "down")
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("h")
        await operator.until(lambda: len(backend.called("history")) >= 2)
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        await operator.until(
            lambda: place.selected is not None and place.selected.op_id == samples.an_outcome(samples.a_plan()).op_id
        )


async def test_u_shows_what_comes_back_and_enter_undoes_nothing(backend: FakeBackend) -> None:
    backend.later_commits = ("v43 WRITE 2026-11-21 12:30",)
    async with console(backend, size=(110, 36)) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees(
            "Undo operation", "2,000,217 rows now", "2,000,000 afterwards", "1 later commit would be lost"
        )
        await operator.sees("v43 WRITE", "ctrl+y  undo")
        assert operator.app.focused is not None
        assert operator.app.focused.id == "refuse"
        await operator.press("u", "enter")
        await operator.sees("Nothing was undone.")
        assert not backend.called("undo")


async def test_ctrl_y_undoes_and_the_ledger_shows_it(backend: FakeBackend) -> None:
    async with console(backend, size=(110, 36)) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees("Undo operation")
        await operator.press("ctrl+y")
        await operator.sees("undone, as promised", "made v43 of sales.orders")
        assert len(backend.called("undo")) == 1
        await operator.until(lambda: "undone" in operator.screen)
        # what is undone is not undone again
        await operator.until(lambda: "u takes it back" not in operator.screen)
        await operator.press("u")
        assert len(backend.called("plan_undo")) == 1


async def test_an_undo_that_retention_refuses_shows_what_is_raised_first(backend: FakeBackend) -> None:
    backend.undo_plan = samples.a_raising_undo("0a0a")
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees(
            "ALTER TABLE sales.orders SET TBLPROPERTIES",
            "RESTORE TABLE sales.orders TO VERSION AS OF 41",
            "refused by retention: v41 was committed 10 days ago",
            "as v44",
            "ctrl+y  undo",
        )


async def test_the_files_of_a_dropped_table_are_said_to_stay(backend: FakeBackend) -> None:
    backend.undo_plan = samples.a_dropping_undo("0a0a")
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees("DROP TABLE sales.orders", "its files stay in /data/orders")
        await operator.press("ctrl+y")
        await operator.sees("sales.orders is dropped")


async def test_b_groups_by_table_then_by_day_then_not_at_all(backend: FakeBackend) -> None:
    async with console(backend, size=(110, 36)) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("b")
        await operator.sees("Grouped by table.", "▸ ")
        lines = [line.split() for line in operator.screen.splitlines()]
        assert ["▸", "sales.orders", "1", "applied,", "kept", "·", "1", "failed"] in lines
        assert ["▸", "sales.customers", "1", "cancelled", "·", "1", "applied,", "DEVIATED"] in lines
        # the newest of a group is looked at where the cursor is on its line
        await operator.sees("u takes it back")
        await operator.press("b")
        await operator.sees("▸ 2026-11-20", "▸ 2026-11-19", "▸ 2026-11-18")
        await operator.press("b")
        await operator.sees("Not grouped.")
        await operator.misses("▸ 2026-11-20")


async def test_what_the_merges_wrote_is_drawn_over_time_while_spark_is_down(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 40)) as operator:
        await operator.warm()
        backend.die()
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("right_square_bracket", "right_square_bracket")
        await operator.sees("The newest 2 merges of those listed", "1 of 2 broke their promise", "rows written")
        # 870,722 rows for 1,427 that changed
        await operator.sees("last 870,722, most 870,729", "610.2x", "━━━━")
        await operator.press("slash", *"customers", "enter")
        await operator.sees("The newest 1 merge of those listed")


async def test_plots_are_drawn_in_ascii_where_the_terminal_knows_no_more(backend: FakeBackend) -> None:
    from console.places.history.history_plots import levels
    from console.words.glyphs import ASCII, UNICODE

    assert levels([0, 1, 50, None, 100], UNICODE) == "▁▂▅?█"
    assert levels([0, 1, 50, None, 100], ASCII) == "_.+?@"
    async with console(backend, size=(120, 40), ascii=True) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("right_square_bracket", "right_square_bracket")
        await operator.sees("The newest 2 merges of those listed")
        assert operator.screen.isascii()


async def test_enter_goes_to_what_the_operation_did_and_esc_comes_back_to_the_list(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        assert "to the list" not in operator.keys
        await operator.press("enter")
        await operator.until(lambda: place.detail_view.has_focus_within)
        # the key line says where the focus is, with no colour at all
        await operator.until(lambda: "esc to the list" in operator.keys, operator.keys)
        await operator.press("escape")
        await operator.until(lambda: place.list_view.has_focus_within)
        assert "to the list" not in operator.keys


async def test_p_plans_the_merge_of_an_operation_again(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("p")
        await operator.until(lambda: backend.called("plan"))
        assert backend.called("plan")[0][0] == MERGE_SQL
        await operator.sees("updates 1,204")


def _keeps(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, **kept: object) -> None:
    """The history keeps this of every statement."""
    looked = backend.operation

    def operation(op_id: str) -> OperationDetail:
        detail = looked(op_id)
        assert detail.plan is not None
        statement = detail.plan.statement.model_copy(update=kept)
        return detail.model_copy(update={"plan": detail.plan.model_copy(update={"statement": statement})})

    monkeypatch.setattr(backend, "operation", operation)


@pytest.mark.parametrize(("before", "end"), [("USE sales", ";\n"), ("USE sales -- only today", " \n;\n")])
async def test_p_plans_what_ran_before_the_merge_too(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, before: str, end: str
) -> None:
    _keeps(backend, monkeypatch, setup=(before,))
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("p")
        await operator.until(lambda: backend.called("plan"))
        assert backend.called("plan")[0][0] == f"{before}{end}{MERGE_SQL}"


async def test_e_edits_what_ran_before_the_merge_too(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    _keeps(backend, monkeypatch, setup=("USE sales",))
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("e")
        await operator.until(lambda: operator.merge.editor.text == f"USE sales;\n{MERGE_SQL}")


async def test_e_brings_the_values_that_were_planned_and_tells_of_a_secret(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = f"SET a = b; -- of :day\n{MERGE_SQL} AND t.day = :day AND t.key = :key"
    filled = f"-- of :day\n{MERGE_SQL} AND t.day = '2026-10-01' AND t.key = '***'"
    params = {"day": "2026-10-01", "key": "***"}
    _keeps(backend, monkeypatch, setup=("SET a = b",), sql=filled, template=typed, params=params)
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO t USING s ON t.day = :day")
        await operator.sees(":day")
        operator.app.screen.query_one(Parameters).remember({"day": "2026-11-26"})
        await operator.press("escape", "3")
        await operator.sees("u takes it back")
        await operator.press("e")
        await operator.until(lambda: operator.merge.editor.text == typed)
        assert operator.merge.pane.params == {"day": "2026-10-01", "key": "***"}
        await operator.sees("A secret was left out of the history")


async def test_p_does_not_plan_a_text_that_a_secret_was_left_out_of(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    redacted = f"-- token=***\n{MERGE_SQL}"
    _keeps(backend, monkeypatch, sql=redacted)
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("p")
        await operator.sees("A secret was left out of the history")
        assert operator.merge.editor.text == redacted
        assert not backend.called("plan")


async def test_a_table_is_one_group_whether_its_catalog_is_named_or_not(backend: FakeBackend) -> None:
    backend.ledger[1] = backend.ledger[1].model_copy(update={"table": "spark_catalog.sales.orders"})
    async with console(backend, size=(110, 36)) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("b")
        await operator.sees("Grouped by table.", "▸ ")
        lines = [line.split() for line in operator.screen.splitlines()]
        assert ["▸", "sales.orders", "1", "applied,", "kept", "·", "1", "failed"] in lines


async def test_what_was_planned_meanwhile_is_listed_without_a_key(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("applied, kept")
        await operator.press("2")
        await operator.sees("Preview")
        # by another console, or the command line
        newest = backend.ledger[0].model_copy(update={"op_id": "f00d", "plan_id": "f00df00df00d", "status": "planned"})
        backend.ledger = [newest, *backend.ledger]
        await operator.press("escape", "3")
        await operator.sees("○ planned")


async def test_what_begins_or_ends_while_the_history_is_shown_is_listed(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("applied, kept")
        newest = backend.ledger[0].model_copy(update={"op_id": "f00d", "plan_id": "f00df00df00d", "status": "planned"})
        backend.ledger = [newest, *backend.ledger]
        operator.app.begin(Job("one", "planning"))
        await operator.sees("○ planned")


async def look_at_an_undo(operator: Operator) -> None:
    await operator.press("3")
    await operator.sees("u takes it back")
    await operator.press("u")
    await operator.until(lambda: "looking at an undo" in operator.first_line)


async def test_while_it_looks_at_an_undo_the_console_says_so(backend: FakeBackend) -> None:
    backend.hold("plan_undo")
    async with console(backend, size=(110, 36)) as operator:
        await look_at_an_undo(operator)
        backend.release("plan_undo")
        await operator.sees("Undo operation")
        assert "looking at an undo" not in operator.first_line


async def test_an_undo_says_that_the_store_does_not_answer(backend: FakeBackend) -> None:
    backend.hold("plan_undo")
    async with console(backend, size=(110, 36)) as operator:
        backend.silence = Silence("lake:9000", 20)
        await look_at_an_undo(operator)
        await operator.sees("The store at lake:9000 has not answered for 20 s")
        backend.silence = None
        backend.release("plan_undo")
        await operator.sees("Undo operation")
        await operator.until(lambda: "not answered" not in operator.screen)


async def test_a_look_at_an_undo_is_cancelled_in_spark(backend: FakeBackend) -> None:
    backend.hold("plan_undo")
    async with console(backend, size=(110, 36)) as operator:
        await look_at_an_undo(operator)
        await operator.press("ctrl+c")
        await operator.sees("Nothing was undone.")
        assert "looking at an undo" not in operator.first_line
        ((_, looking),) = backend.called("plan_undo")
        assert backend.called("cancel") == [(looking,)]


async def test_the_cursor_stays_on_the_line_of_a_group_and_shows_its_newest(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("applied, kept")
        await operator.press("b")
        await operator.sees("Grouped by table.")
        await operator.press("home")
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        await operator.until(lambda: isinstance(place.listed[place._row], Group))
        newest = backend.ledger[0].model_copy(update={"op_id": "f00d", "plan_id": "f00df00df00d", "status": "undone"})
        backend.ledger = [newest, *backend.ledger]
        await operator.press("r")
        await operator.until(lambda: place.op_id == "f00d", "the newest of the group")
        assert isinstance(place.listed[place._row], Group)


async def test_esc_leaves_the_filter_and_shows_all_again(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("slash", *"nothing like it")
        await operator.sees("Nothing matches the filter.")
        await operator.press("escape")
        await operator.sees("DEVIATED")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"status": "undone"}, "is taken back already."),
        ({"kind": "restore"}, "is an undo itself"),
        ({"status": "not_committed", "version": None}, "committed nothing (not committed)"),
    ],
)
async def test_u_says_why_there_is_nothing_to_take_back(backend: FakeBackend, row: dict[str, object], why: str) -> None:
    backend.ledger = [backend.ledger[0].model_copy(update=row)]
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("sales.orders")
        await operator.press("u")
        await operator.sees(why)
        assert not backend.called("plan_undo")


async def test_an_undo_that_was_found_not_possible_is_not_offered_again(backend: FakeBackend) -> None:
    gone = "v41 cannot be restored: 1 of its files is deleted."
    op_id = backend.ledger[0].op_id
    backend.errors["plan_undo"] = RefusedError("UNDO_NOT_POSSIBLE", gone)
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back")
        backend.undo_refused[op_id] = UndoRefused(at="2026-11-21T10:00:00.000Z", why=gone)
        await operator.press("u")
        await operator.sees("undo is NOT possible, as was found 2026-11-21")
        await operator.until(lambda: "u takes it back" not in operator.screen)
        await operator.press("u")
        await operator.sees("Nothing to undo", "The command `undo` looks again.")
        assert len(backend.called("plan_undo")) == 1


async def test_a_policy_that_forbids_to_write_offers_no_undo(backend: FakeBackend) -> None:
    backend.policy = Policy(read_only=True)
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("undo takes it back")
        assert "u takes it back" not in operator.screen
        assert "u undo" not in operator.keys
        await operator.press("u")
        await operator.sees("Nothing to undo", "read_only")
        assert not backend.called("plan_undo")


async def test_a_table_that_an_undo_drops_leaves_the_list_of_tables(backend: FakeBackend) -> None:
    backend.undo_plan = samples.a_dropping_undo("01JCM4Z7")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        listed = len(backend.called("list_tables"))
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("u")
        await operator.sees("Undo operation", "ctrl+y  undo")
        await operator.press("ctrl+y")
        await operator.until(lambda: len(backend.called("list_tables")) > listed, "the tables listed anew")


async def test_the_page_of_a_commit_says_that_it_was_taken_back(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("c")
        await operator.sees("Commit plan", "ctrl+y  commit")
        await operator.press("ctrl+y")
        await operator.sees("kept its promise", "undo: RESTORE TABLE")
        committed = operator.merge.committed
        assert committed is not None
        undone = {"op_id": committed.op_id, "status": "undone"}
        backend.ledger = [backend.ledger[0].model_copy(update=undone), *backend.ledger]
        operator.app.ledger_changed()
        await operator.sees("This commit is taken back.", "kept its promise · made v42 of sales.orders · read v41")
        assert "undo: RESTORE TABLE" not in operator.screen
        # taken back itself, the undo made another version
        backend.ledger = [backend.ledger[0].model_copy(update={"status": "applied"}), *backend.ledger[1:]]
        operator.app.ledger_changed()
        await operator.misses("This commit is taken back.")
        await operator.sees("made v42 of sales.orders")


@pytest.mark.parametrize("looked", [samples.an_undo, samples.a_dropping_undo])
async def test_the_policy_asks_for_the_tables_name_before_an_undo_too(
    backend: FakeBackend, looked: Callable[[str], UndoPlan]
) -> None:
    backend.policy = Policy(typed_confirmation=True)
    backend.undo_plan = looked("01JCM4Z7")
    async with console(backend, size=(110, 36)) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("u")
        await operator.sees("The policy asks for it (typed_confirmation)", "ctrl+y  undo")
        await operator.press("ctrl+y")
        await operator.sees("The table's name has to be typed first.")
        assert not backend.called("undo")
        await operator.press("shift+tab", *"sales.orders")
        await operator.press("ctrl+y")
        await operator.until(lambda: backend.called("undo"))


def breaks(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """This operation cannot be read."""
    looked = backend.operation

    def operation(op_id: str) -> OperationDetail:
        if op_id == broken:
            raise EngineError("BROKEN", "the plan of it cannot be read")
        return looked(op_id)

    monkeypatch.setattr(backend, "operation", operation)


async def test_an_operation_that_cannot_be_read_leaves_no_error_under_another(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(backend, monkeypatch, backend.ledger[1].op_id)
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("u takes it back")
        await operator.press("down")
        await operator.sees("the plan of it cannot be read")
        await operator.press("up")
        await operator.misses("the plan of it cannot be read")
        await operator.sees("u takes it back")


@pytest.mark.parametrize("key", [(), ("e",)])
async def test_an_operation_that_cannot_be_read_leaves_the_plots(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, key: tuple[str, ...]
) -> None:
    breaks(backend, monkeypatch, backend.ledger[1].op_id)
    async with console(backend, size=(120, 40)) as operator:
        await operator.press("3")
        await operator.sees("DEVIATED")
        await operator.press("right_square_bracket", "right_square_bracket")
        await operator.sees("The newest 2 merges of those listed")
        await operator.press("down", *key)
        await operator.sees("The operation cannot be read: [BROKEN]", "The newest 2 merges of those listed")
        # another view is of the operation again
        await operator.press("left_square_bracket")
        await operator.misses("The newest 2 merges of those listed")


async def test_an_operation_that_is_too_old_to_be_listed_is_told(backend: FakeBackend) -> None:
    one = backend.ledger[0]
    backend.ledger = [one.model_copy(update={"op_id": f"op{at}"}) for at in range(500)]
    async with console(backend, size=(120, 36)) as operator:
        await operator.press("3")
        await operator.sees("The newest 500 operations alone")
        place = operator.app.screen
        assert isinstance(place, HistoryPlace)
        place.show_operation("older")
        place.action_reload()
        await operator.sees("Operation older is not one of the newest 500")


def with_a_create(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that was made, and merged into since: the merge is the newer one."""
    replace = samples.a_create_plan
    monkeypatch.setattr(samples, "a_create_plan", lambda sql, plan_id: replace(sql, plan_id=plan_id, effect="create"))
    merge = backend.ledger[0].model_copy(update={"version": 1})
    made = {"op_id": "c4ea7e", "kind": "create_table", "sql": samples.CREATE_SQL, "version": 0}
    earlier = {"started_at": "2026-11-20T12:00:00Z", "finished_at": "2026-11-20T12:00:04Z"}
    backend.ledger = [merge, merge.model_copy(update={**made, **earlier})]


async def test_no_undo_of_a_create_is_offered_once_its_table_was_committed_to(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_create(backend, monkeypatch)
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3", "down")
        await operator.sees("v1 of sales.orders was committed since: `undo` does not drop the table any more.")
        assert "takes it back" not in operator.screen
        assert "u undo" not in operator.keys
        await operator.press("u")
        await operator.sees("Nothing to undo")
        assert not backend.called("plan_undo")


async def test_a_create_that_is_shown_is_not_to_be_undone_as_soon_as_its_table_is_committed_to(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_create(backend, monkeypatch)
    merge, made = backend.ledger
    backend.ledger = [made]
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back while nothing else is committed")
        assert "u undo" in operator.keys
        backend.ledger = [merge, made]
        operator.app.ledger_changed()
        await operator.sees("`undo` does not drop the table any more.")
        assert "u undo" not in operator.keys


async def test_what_an_undo_brought_back_is_its_result(
    backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = History(tmp_path / "ledger")
    looked = samples.a_raising_undo(ledger.record_planned(samples.a_plan()))
    op_id = ledger.begin_undo(looked)
    ledger.undone(op_id, samples.a_restore(looked))
    backend.ledger = ledger.list()
    monkeypatch.setattr(backend, "_detail", ledger.get)
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("restore  ✔ applied, kept  v43  back to v41")
        await operator.sees("v41 came back: 2 files came back (46 MB), 3 files went (47 MB)")


async def test_of_a_restore_whose_statement_is_lost_the_files_are_told(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = samples.an_undo("0a0a")
    lost = {"kind": "restore", "sql": UNKNOWN_SQL, "version": 43}
    row = backend.ledger[0].model_copy(update=lost)
    backend.ledger = [row]
    detail = OperationDetail(operation=row, plan=None, outcome=samples.a_restore(looked))
    monkeypatch.setattr(backend, "_detail", lambda _: detail)
    async with console(backend) as operator:
        await operator.press("3")
        await operator.sees("restore  ✔ applied, kept  v43  2 files back")
        await operator.sees("2 files came back (46 MB), 3 files went (47 MB)")
