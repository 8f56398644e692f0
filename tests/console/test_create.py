"""Create: a form and its SQL, two views of one statement that is planned and committed as a merge is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from console.drafts import Draft
from console.places.create.create_form import FormPane
from console.places.merge.saved import draft_of
from console.statements.table_form import TableForm, to_sql
from console.widgets.grid import Grid
from engine.model.browse import TableRef
from engine.model.errors import EngineError
from engine.model.identity import Identity
from engine.model.operation import Operation
from engine.model.plans import OperationDetail
from tests.console import samples
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend


async def like_orders(operator: Operator) -> None:
    """The form of a table like sales.orders."""
    await operator.warm()
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "n")
    await operator.sees("sales.orders_like", "Spark accepts it")


async def test_what_is_typed_in_the_form_is_written_as_sql(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("No columns yet: a adds one.", "Name a table and add columns")
        # a digit is typed here: the way out is said
        assert operator.keys.startswith(" esc leave the field")
        await operator.press(*"db.t", "tab", "space", "space", "tab", "right", "tab", *"id", "escape", "a")
        await operator.sees("New column")
        await operator.press("enter")
        await operator.sees("A column needs a name and a type.")
        await operator.press(*"id", "tab", *"bigint", "tab", "space", "tab", "space", "enter")
        await operator.sees("The expression is missing")
        await operator.press("tab", *"7", "tab", *"its key", "ctrl+y")
        await operator.sees("id", "bigint", "not null", "DEFAULT 7", "its key")
        await operator.press("ctrl+t")
        await operator.sees("CREATE OR REPLACE TABLE db.t (", "Spark accepts it: replaces sales.orders @ v41.")
        assert operator.create.pane.text == (
            "CREATE OR REPLACE TABLE db.t (\n  id bigint NOT NULL DEFAULT 7 COMMENT 'its key'\n)\n"
            "USING delta\nPARTITIONED BY (id)\n"
        )


async def test_a_field_keeps_what_is_typed_while_what_it_held_before_is_written(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("No columns yet: a adds one.")
        pane = operator.create.form_pane
        for name in ("name", "layout_by", "properties"):
            # as under load: the form of the first keys comes when more are typed
            pane._text(name).value = "default"
            operator.create._form_changed(FormPane.Changed(replace(pane.form, **{name: "de"})))
            await operator.until(lambda name=name: getattr(pane.form, name) == "default", "the rest is written")
            assert pane._text(name).value == "default"
        assert operator.create.pane.text == to_sql(pane.form)


async def test_what_stands_in_an_empty_field_is_an_example(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("e.g. sales.orders", "e.g. 'delta.enableDeletionVectors' = 'true'", "e.g. order_date")
        field = operator.create.form_pane._text("properties")
        assert field.get_component_rich_style("input--placeholder").italic
        assert not field.get_component_rich_style("input--selection").italic
        await operator.press("escape", "a")
        await operator.sees("New column", "e.g. bigint, string, decimal(12,2)")


async def test_a_choice_that_a_short_line_would_cut_is_shown_when_it_is_chosen(backend: FakeBackend) -> None:
    async with console(backend, size=(80, 24)) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.press("escape", "a")
        await operator.sees("New column", "● none", "○ GENERATED AS")
        await operator.press("tab", "tab", "tab", *["right"] * 4)
        await operator.sees("● IDENTITY BY DEFAULT", "○ IDENTITY ")
        await operator.misses("○ none")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("CREATE TABLE t (a INT)", "Spark accepts it: creates sales.orders. ctrl+r plans it."),
        ("CREATE TABLE IF NOT EXISTS t (a INT)", "Spark accepts it: changes nothing of sales.orders @ v41."),
        ("CREATE OR REPLACE TABLE t (a INT)", "Spark accepts it: replaces sales.orders @ v41."),
        ("CREATE TABLE sales.orders (a INT)", "Spark accepts it, and it cannot run: ctrl+r says why."),
    ],
)
async def test_what_a_statement_does_is_said_while_it_is_typed(backend: FakeBackend, sql: str, told: str) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("4", "ctrl+t")
        operator.create.editor.replace_all(sql)
        await operator.sees(told)


async def test_columns_are_edited_moved_and_removed_where_the_cursor_is(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        operator.create.form_pane.columns_view.focus_page()
        await operator.press("down", "enter")
        await operator.until(lambda: len(operator.app.screen_stack) == 2)
        await operator.press("end", *"_2", "enter")
        await operator.sees("order_date_2")
        await operator.press("J")
        await operator.until(lambda: operator.create.form_pane.form.columns[2].name == "order_date_2")
        await operator.until(lambda: operator.create.form_pane.at == 2)
        await operator.press("d")
        await operator.misses("order_date_2")
        assert [one.name for one in operator.create.form_pane.form.columns] == [
            *("order_id", "status", "amount", "note", "year")
        ]
        assert operator.create.pane.text == to_sql(operator.create.form_pane.form)


async def test_no_command_of_a_place_runs_below_a_dialog(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        operator.create.form_pane.columns_view.focus_page()
        await operator.press("end", "enter")
        await operator.until(lambda: len(operator.app.screen_stack) == 2)
        dialog, columns = operator.app.screen, operator.create.form_pane.form.columns
        await operator.press("ctrl+p")
        await operator.sees("close the dialog first")
        assert operator.app.screen is dialog
        await operator.press("escape", "ctrl+p")
        await operator.until(lambda: len(operator.app.screen_stack) == 2)
        assert operator.create.form_pane.form.columns == columns


async def test_a_query_gives_the_columns(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        operator.create.form_pane._text("query").focus()
        await operator.press(*"SELECT 1")
        await operator.sees("The query gives the columns")
        await operator.until(lambda: operator.create.pane.text.endswith("AS\nSELECT 1\n"))
        assert "order_id" not in operator.create.pane.text
        await operator.press("escape", "a")
        await operator.sees("empty it to write them here")


async def test_a_text_that_was_edited_by_hand_is_never_replaced_unasked(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        await operator.press("ctrl+t")
        operator.create.editor.move_cursor(operator.create.editor.document.end)
        await operator.press(*"-- mine")
        by_hand = operator.create.pane.text
        assert by_hand.endswith("-- mine")
        await operator.press("escape", "f")
        await operator.sees("The SQL was edited by hand: it runs as it is.")
        await operator.press("x")
        await operator.sees("Keep the SQL", "ctrl+y  replace it")
        # the focus is on the button that changes nothing
        await operator.press("enter")
        await operator.misses("Keep the SQL")
        assert operator.create.pane.text == by_hand
        assert operator.create.form_pane._text("name").value == "sales.orders_like"
        await operator.press("x")
        await operator.sees("Keep the SQL")
        await operator.press("ctrl+y")
        await operator.sees("The text before is kept")
        assert operator.create.pane.text == to_sql(operator.create.form_pane.form)
        assert operator.create.form_pane.form.name != "sales.orders_like"
        kept = (backend.home / "drafts").glob("create-1.before-*.sql")
        assert [path.read_text() for path in kept] == [by_hand]
        await operator.press("y")
        assert "Keep the SQL" not in operator.screen


async def test_a_column_that_was_not_taken_out_stays_the_one_under_the_cursor(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        last = operator.create.form_pane.form.columns[-1].name
        await operator.press("ctrl+t")
        operator.create.editor.move_cursor(operator.create.editor.document.end)
        await operator.press(*"-- mine", "escape", "f")
        operator.create.form_pane.query_one(Grid).focus()
        await operator.press("end")
        await operator.until(lambda: operator.create.form_pane.at == len(operator.create.form_pane.form.columns) - 1)
        await operator.press("d")
        await operator.sees("Keep the SQL")
        await operator.press("escape")
        await operator.misses("Keep the SQL")
        await operator.press("d")
        await operator.sees("Keep the SQL")
        await operator.press("ctrl+y")
        await operator.sees("The text before is kept")
        assert last not in [one.name for one in operator.create.form_pane.form.columns]


async def test_the_form_takes_a_text_up_again_that_it_can_say_all_of(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        own = operator.create.pane.text
        operator.create.editor.replace_all(own.replace("order_id bigint", "key string"))
        await operator.until(lambda: operator.create.form_pane.form.columns[0].name == "key")
        assert "edited by hand" not in operator.screen
    async with console(FakeBackend(backend.home), size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("4")
        # and so it does on another day
        await operator.sees("sales.orders_like", "key", "string")
        assert "edited by hand" not in operator.screen


async def test_a_clone_to_rehearse_on_is_of_the_version_that_is_looked_at(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "c")
        await operator.sees("SHALLOW CLONE sales.orders VERSION AS OF 41", "CREATE TABLE sales.orders_rehearsal")
        await operator.press("escape", "f")
        await operator.sees("The form cannot show this SQL and is empty; the SQL runs as it is.")


async def test_the_form_is_empty_as_long_as_it_cannot_show_the_sql(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await like_orders(operator)
        form = operator.create.form_pane.form
        await operator.press("escape", "1")
        await operator.sees("orders_feed")
        await operator.press("c")
        await operator.sees("SHALLOW CLONE")
        await operator.press("escape", "f")
        await operator.sees("The form cannot show this SQL and is empty", "No columns yet")
        assert operator.create.form_pane.form == TableForm()
        assert operator.create.form_pane._text("name").text == ""
        clone = operator.create.pane.text
        await operator.press("x")
        await operator.sees("Keep the SQL")
        await operator.press("escape")
        await operator.misses("Keep the SQL")
        assert operator.create.pane.text == clone
        assert operator.create.form_pane._text("name").text == ""
        # a text that it can show is shown again
        operator.create.editor.replace_all(to_sql(form))
        await operator.sees("sales.orders_like", "order_id")
        assert "cannot show" not in operator.screen


async def test_undo_in_the_form_goes_back_to_what_it_held_though_nobody_could_read_its_text(
    backend: FakeBackend,
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("Name a table and add columns")
        # no name yet: this is no CREATE TABLE
        held = []
        for name in ("id", "day"):
            await operator.press("escape", "a")
            await operator.sees("New column")
            await operator.press(*name, "tab", *"date", "ctrl+y")
            await operator.sees(name)
            held.append(operator.create.form_pane.form)
        await operator.press("ctrl+z")
        await operator.misses("day")
        assert operator.create.form_pane.form == held[0]
        assert operator.create.is_the_forms_own
        assert "cannot show" not in operator.screen


async def test_a_table_that_cannot_be_taken_for_a_pattern_says_why(backend: FakeBackend) -> None:
    backend.errors["table_state"] = EngineError("DELTA_TABLE_ONLY_OPERATION", "[/x] is not a Delta table.", "")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "n")
        await operator.sees("[DELTA_TABLE_ONLY_OPERATION] [/x] is not a Delta table.")


async def test_an_identity_counts_on_in_a_table_like_another_and_in_the_form(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = samples.a_state()
    counted = Identity(start=5, step=2, always=False)
    first = state.columns[0].model_copy(update={"identity": True, "counted": counted})
    state = state.model_copy(update={"columns": (first, *state.columns[1:])})
    monkeypatch.setattr(samples, "a_state", lambda: state)
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        written = "GENERATED BY DEFAULT AS IDENTITY (START WITH 5 INCREMENT BY 2)"
        assert written in operator.create.pane.text
        await operator.sees("IDENTITY BY DEFAULT START WITH 5")
        operator.create.form_pane.columns_view.focus_page()
        await operator.press("enter")
        await operator.until(lambda: len(operator.app.screen_stack) == 2)
        await operator.press("end", *"_2", "enter")
        await operator.sees("order_id_2")
        assert written in operator.create.pane.text


async def test_a_plan_tells_effect_and_every_part_before_and_after(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        await operator.press("ctrl+r")
        await operator.sees(
            *("✔ replaces the table\n", "is in the catalog, so OR REPLACE"),
            *("history will say CREATE OR REPLACE TABLE", "40 files (934 MB) leave the table"),
            *("reader 1, writer 7", "reader 3, writer 7", "9 parts of 10 change"),
        )
        await operator.press("right_square_bracket")
        await operator.sees("decimal(12,2) → decimal(14,2)", "default 'new'", "goes")
        await operator.press("right_square_bracket")
        await operator.sees("Such a commit reports no metrics.")
        await operator.press("right_square_bracket", "right_square_bracket")
        await operator.sees("This runs as typed.", "USING delta")
        await operator.press("y")
        await operator.sees("Copied the plan as text.")
        assert "location: /warehouse" in operator.app.clipboard
        await operator.press("Y")
        await operator.until(lambda: operator.app.clipboard.startswith("### CREATE OR REPLACE TABLE"))
        await operator.press("escape")
        await operator.sees("if it exists")


async def test_a_refused_plan_says_why_and_cannot_be_committed(backend: FakeBackend) -> None:
    backend.plans = [samples.a_refused_create()]
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        await operator.press("ctrl+r")
        await operator.sees("[TABLE_OR_VIEW_ALREADY_EXISTS] Cannot create the table [/x]", "Write OR REPLACE")
        await operator.press("c")
        await operator.sees("Cannot be committed")
        assert not backend.called("apply")
        await operator.press("escape")
        operator.create.show_view("preview")
        operator.create.preview.turn_to("promise")
        await operator.sees("Nothing is promised: this cannot be committed.")
        for view in ("advice", "sql"):
            operator.create.preview.turn_to(view)
            await operator.sees("It would be refused, so nothing of it runs.")
            assert "nothing to advise" not in operator.screen


async def test_enter_on_the_open_dialog_creates_nothing_and_ctrl_y_creates(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await like_orders(operator)
        await operator.press("ctrl+r")
        await operator.sees("replaces the table")
        await operator.press("c")
        await operator.sees("sales.orders  v41 → v42", "undo: RESTORE TABLE sales.orders TO VERSION AS OF 41")
        assert operator.app.focused is not None
        assert operator.app.focused.id == "refuse"
        await operator.press("enter")
        await operator.sees("Nothing was committed.")
        assert not backend.called("apply")
        await operator.commit()
        await operator.sees("kept its promise · made v42 of sales.orders", "clusteringColumns", "✔ kept")
        assert len(backend.called("apply")) == 1


async def test_a_table_that_was_made_is_in_the_list_of_tables(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(backend) as operator:
        await like_orders(operator)
        await operator.press("ctrl+r")
        await operator.sees("replaces the table")
        made = TableRef(name="sales.orders_like", table="orders_like", is_delta=True)
        before = samples.some_tables
        monkeypatch.setattr(samples, "some_tables", lambda schema: [*before(schema), *[made][: schema == "sales"]])
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("1")
        await operator.sees("orders_like")


async def test_a_part_that_is_not_as_promised_is_told_by_name(backend: FakeBackend) -> None:
    backend.deviates = True
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        await operator.press("ctrl+r")
        await operator.sees("replaces the table")
        await operator.commit()
        await operator.sees("DEVIATED in 1 part", "[/x] of another", "✖ DEVIATED")


async def test_x_cancels_a_plan_and_an_error_is_shown_in_place(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await like_orders(operator)
        await operator.press("ctrl+r")
        await operator.sees("5 of 10 tasks")
        await operator.press("escape", "x")
        await operator.sees("The plan was cancelled. Nothing was written.")
        backend.release("plan")
        backend.errors["plan"] = EngineError("PARSE_SYNTAX_ERROR", "near [/x]", "Look there.", line=2, column=3)
        await operator.press("ctrl+r")
        await operator.sees("[PARSE_SYNTAX_ERROR] near [/x]", "F8 goes there")
        await operator.press("f8")
        await operator.until(lambda: operator.create.view == "compose")
        assert operator.create.editor.cursor_location == (1, 2)


async def test_the_history_offers_to_take_a_replace_back_and_to_edit_it_again(backend: FakeBackend) -> None:
    backend.ledger = [
        Operation(
            op_id="01JCM5C0", plan_id="e4d1c2b3a495", kind="create_table", table="sales.orders",
            sql=samples.CREATE_SQL, status="applied", version=42, started_at="2026-11-20T12:05:02Z",
            finished_at="2026-11-20T12:05:04Z", kept=True,
        )
    ]  # fmt: skip
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("3")
        await operator.sees("u takes it back: RESTORE TABLE sales.orders", "clusteringColumns", "u undo")
        await operator.press("e")
        await operator.sees("CREATE OR REPLACE TABLE sales.orders (")
        assert operator.create.pane.text == samples.CREATE_SQL
        await operator.press("escape", "f")
        await operator.sees("decimal(14,2)")
        assert "edited by hand" not in operator.screen


def test_the_history_brings_back_the_text_of_a_create_with_its_parameters() -> None:
    operation = Operation(
        op_id="01JCM5C0", plan_id="e4d1c2b3a495", kind="create_table", table="t", sql="CREATE TABLE t AS SELECT 7",
        status="applied", started_at="2026-11-20T12:05:02Z",
    )  # fmt: skip
    typed, params = "SET a = b; CREATE TABLE t AS SELECT :n", {"n": "7"}
    plan = samples.a_create_plan()
    kept = {"setup": ("SET a = b",), "sql": operation.sql, "params": params}
    for template, text in ((typed, typed), ("", "SET a = b;\nCREATE TABLE t AS SELECT 7")):
        statement = plan.statement.model_copy(update={**kept, "template": template})
        detail = OperationDetail(operation=operation, plan=plan.model_copy(update={"statement": statement}))
        assert draft_of(detail) == Draft(text, params)


async def test_the_cursor_stays_on_its_column_when_another_is_written_before_it_in_the_sql(
    backend: FakeBackend,
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await like_orders(operator)
        operator.create.form_pane.columns_view.focus_page()
        await operator.press("down", "down")
        await operator.until(lambda: operator.create.form_pane.at == 2)
        await operator.press("ctrl+t")
        before = operator.create.pane.text
        operator.create.editor.replace_all(before.replace("(\n", "(\n  first int,\n", 1))
        await operator.press("escape", "f")
        await operator.sees("first")
        assert operator.create.form_pane.at == 3


async def test_what_is_typed_and_would_not_be_in_the_sql_is_told(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.press("4")
        await operator.sees("Name a table and add columns")
        await operator.press(*"db.t", "tab", "tab", "tab", *"day")
        await operator.sees("No layout is chosen, so the columns beside it are not in the SQL")
        await operator.press("escape", "a")
        await operator.sees("New column")
        await operator.press(*"id", "tab", *"date", "tab", "tab", "tab", *"current_date()", "enter")
        await operator.sees("What is the expression for?")
        await operator.press("shift+tab", "space", "enter")
        await operator.sees("DEFAULT current_date()")
