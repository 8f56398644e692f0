"""The form of the Merge place: it edits the operator's own statement, part by part, and says what it cannot."""

from __future__ import annotations

from typing import cast

import pytest

from console.dialogs.clause import ClauseDialog
from console.dialogs.help import HelpDialog
from console.drafts import Draft, DraftStore
from console.statements.clause_text import column_set
from console.statements.merge_form import Part
from console.widgets.column_rows import ColumnRows
from engine.model.browse import Column
from engine.model.errors import EngineError
from engine.sql.resolve import TARGET, Side
from tests.console.drive import Clock, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

OWN = f"SET a = 1;  -- mine\n{MERGE_SQL}-- the end\n"


async def form_of(operator: Operator, sql: str) -> None:
    """The form of a statement, its columns known."""
    await operator.warm()
    await operator.write(sql)
    await operator.sees("Spark accepts it" if sql else "Type a MERGE")
    await operator.press("ctrl+t")
    await operator.sees("source")


def text(operator: Operator) -> str:
    return operator.merge.pane.text


async def in_box(operator: Operator, part: Part, *keys: str) -> None:
    operator.merge.form_pane.box(part).focus()
    await operator.press("end", *keys)


async def dialog(operator: Operator, is_open: bool = True) -> None:
    await operator.until(lambda: (len(operator.app.screen_stack) > 1) is is_open, "a dialog")


async def test_what_is_typed_replaces_its_part_and_undo_and_the_draft_know_of_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await form_of(operator, OWN)
        await operator.sees("sales.orders", "AS s", "1  matched", "s.op = 'D'  DELETE", "3  not matched  ", "INSERT *")
        checks = len(backend.called("validate"))
        await in_box(operator, "source", *"_v2")
        changed = OWN.replace("orders_feed", "orders_feed_v2")
        await operator.until(lambda: text(operator) == changed)
        await in_box(operator, "source_alias", "backspace", "n")
        await operator.until(lambda: "USING orders_feed_v2 AS n\n" in text(operator))
        await operator.until(lambda: len(backend.called("validate")) > checks)
        await operator.until(lambda: DraftStore(backend.home).load("merge-1").sql == text(operator))
        await operator.press("ctrl+t")
        # what is typed quickly is taken back together
        for _ in range(6):
            if text(operator) != OWN:
                await operator.press("ctrl+z")
        assert text(operator) == OWN
        await operator.press("ctrl+t")
        assert operator.merge.form_pane.box("source").text == "orders_feed"


async def test_what_would_end_its_part_is_told_and_stays_out_of_the_statement(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await in_box(operator, "condition", *" --")
        await operator.sees("The condition as it is typed here is not in the SQL")
        assert text(operator) == OWN.replace("s.order_date\n", "s.order_date -\n")
        await operator.press("ctrl+r")
        await operator.sees("What is typed in the form is not all in the SQL yet.")
        assert not backend.called("plan")
        await operator.press("backspace", "backspace")
        await operator.misses("The condition as it is typed")
        assert text(operator) == OWN
        await operator.press("ctrl+r")
        await operator.sees("updates 1,204")
        await operator.press("escape")
        await operator.sees("target", "1  matched")


async def test_a_plan_that_becomes_ready_leaves_what_is_being_typed(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("ctrl+r")
        await operator.until(lambda: backend.called("plan"))
        await in_box(operator, "condition", "'")
        await operator.sees("The condition as it is typed here is not in the SQL")
        backend.release("plan")
        await operator.sees("is ready: v in the Merge place shows it.")
        await operator.press("1")
        assert operator.merge.view == "form"
        assert operator.merge.form_pane.box("condition").text.endswith("s.order_date'1")


async def test_what_is_offered_begins_with_what_was_typed(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await form_of(operator, "")
        await operator.sees("There is no statement yet")
        await operator.press(*"sales.orde", "down")
        await operator.sees("Into which table?", "sales.orders")
        await operator.misses("sales.customers")
        await operator.press("enter")
        await dialog(operator, False)
        assert operator.merge.form_pane.box("target").text == "sales.orders"
        # one that is there already is under the cursor, among the others
        await in_box(operator, "target", "down")
        await operator.sees("Into which table?", "sales.customers")
        await operator.press("enter")
        await dialog(operator, False)
        assert operator.merge.form_pane.box("target").text == "sales.orders"


async def test_a_statement_is_started_and_filled_by_what_is_offered(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await form_of(operator, "")
        await operator.sees("There is no statement yet")
        await operator.press("down")
        await operator.sees("Into which table?", "sales.customers")
        await operator.press(*"orders", "enter")
        await dialog(operator, False)
        await in_box(operator, "source", "down")
        await operator.sees("From which table?", "sales.orders_feed")
        await operator.press(*"feed", "enter")
        await dialog(operator, False)
        await in_box(operator, "condition", "down")
        await operator.sees("t.order_id = s.order_id  the key", "t.order_date = s.order_date", "both have it")
        await operator.press("down", "enter")
        await dialog(operator, False)
        assert text(operator) == (
            "MERGE INTO sales.orders AS t\nUSING sales.orders_feed AS s\n"
            "  ON t.order_id = s.order_id AND t.order_date = s.order_date\n"
            "WHEN MATCHED THEN UPDATE SET *\nWHEN NOT MATCHED THEN INSERT *\n"
        )
        # a name that is known is offered while one types
        await in_box(operator, "source", *["backspace"] * 5)
        await operator.press("_")
        await operator.until(lambda: operator.merge.form_pane.box("source")._suggestion == "sales.orders_feed")
        await operator.press("right")
        await operator.until(lambda: "USING sales.orders_feed AS s" in text(operator))


async def test_clauses_are_edited_added_moved_and_removed(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN.replace("orders_feed", "sales.orders_feed").replace("SET *", "SET * -- all"))
        await operator.press("escape", "down", "enter")
        await operator.sees("WHEN MATCHED", "all columns")
        await operator.press(*"s.x", "tab", "space", "tab", "tab", "tab", "space", *" + 1", "enter")
        await dialog(operator, False)
        await operator.sees("UPDATE SET status = s.status + 1")
        assert "WHEN MATCHED AND s.x THEN UPDATE SET status = s.status + 1 -- all\nWHEN NOT" in text(operator)
        await operator.press("K")
        await operator.until(lambda: text(operator).index("s.x") < text(operator).index("s.op"))
        assert operator.merge.form_pane.at == 0
        await operator.press("down", "d")
        await operator.until(lambda: "DELETE" not in text(operator))
        assert "-- all" in text(operator)
        await operator.press("a")
        await operator.sees("New clause")
        await operator.press("shift+tab", "shift+tab", "right", "right", "tab", "right", "enter")
        await dialog(operator, False)
        await operator.sees("not matched by source", "DELETE")
        assert text(operator).endswith("INSERT *\nWHEN NOT MATCHED BY SOURCE THEN DELETE\n-- the end\n")
        await operator.press("K")
        await operator.sees("Clauses of one kind stand together")


async def test_a_clause_that_cannot_be_taken_says_why_and_one_by_source_has_no_star(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a")
        await operator.sees("New clause")
        await operator.press(*"'open", "enter")
        await operator.sees("So it would not stay this clause")
        await operator.press(*["backspace"] * 5, "shift+tab", "shift+tab", "right", "right")
        await operator.misses("all columns (*)")
        await operator.sees("these columns", "order_date")
        assert "space: s." not in operator.screen
        await operator.press("enter")
        await operator.sees("Which columns?")
        await operator.press("escape")
        await dialog(operator, False)
        assert text(operator) == OWN


async def test_several_lines_are_shown_on_one_and_edited_in_full(backend: FakeBackend) -> None:
    query = "(SELECT *, '[/x]\x1b' AS x -- first\n  FROM feed)"
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN.replace("orders_feed", query))
        await operator.sees("2 lines, enter: (SELECT *, '[/x]\\x1b' AS x -- first FROM feed)")
        assert "\x1b" not in operator.screen
        await in_box(operator, "source", *"typed")
        assert query in text(operator)
        await operator.press("enter")
        await dialog(operator)
        await operator.sees("2    FROM feed)")
        await operator.press("backspace", "ctrl+y")
        await operator.sees("The source as it is typed here is not in the SQL")
        await operator.press(*" f)", "ctrl+y")
        await dialog(operator, False)
        assert text(operator) == OWN.replace("orders_feed", query.replace("feed)", "feed f)"))


async def test_a_template_is_shown_where_one_writes(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await form_of(operator, MERGE_SQL)
        await operator.press("ctrl+l", *"sync", "enter")
        await operator.until(lambda: "WHEN NOT MATCHED BY SOURCE THEN DELETE" in text(operator))
        assert "USING orders_feed AS s" in text(operator)
        await operator.sees("orders_feed", "UPDATE SET order_date = s.order_date")
        assert operator.merge.view == "form"


async def test_the_editor_changes_to_another_text_by_the_edit_that_makes_it(backend: FakeBackend) -> None:
    texts = [
        "",
        "a",
        "a\nb\n",
        "a\n\nb\n",
        "xa\n\nb",
        "a\nb\nb\nb\n",
        "b\nb\n",
        "aaaa",
        "aaa\r\naa\r\n",
        "aaa\r\na\r\n\r\n",
    ]
    async with console(backend) as operator:
        await operator.write("")
        editor = operator.merge.editor
        for before in texts:
            for after in texts:
                editor.load_text(before)
                editor.change_to(after)
                ends = (editor.document.newline, "\n")
                assert editor.text.replace(*ends) == after.replace("\r\n", "\n"), (before, after)
                if editor.text != before:
                    editor.undo()
                assert editor.text == before


async def test_a_text_that_is_no_merge_is_told_so_and_untouched(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write("MERGE INTO sales.orders USING")
        await operator.press("ctrl+t")
        await operator.sees("The text is no MERGE that a form can show.")
        await operator.press("escape", "a", "d", "J")
        assert "target" not in operator.screen
        assert text(operator) == "MERGE INTO sales.orders USING"
        # it is one as soon as the text is
        operator.merge.editor.replace_all(MERGE_SQL)
        await operator.sees("target", "3  not matched")


async def test_the_list_has_the_focus_once_a_clause_is_in_it(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a", "ctrl+y")
        await operator.sees("4  not matched")
        at = operator.merge.form_pane.at
        await operator.press("down")
        await operator.until(lambda: operator.merge.form_pane.at == at + 1)


async def test_the_form_shows_the_text_that_is_undone_to_whoever_wrote_it(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a", "ctrl+y")
        await operator.sees("4  not matched")
        await operator.press("d")
        await operator.until(lambda: text(operator) == OWN)
        # the clause that came last is back, and then is not there again
        await operator.press("ctrl+z", "ctrl+z")
        await operator.until(lambda: text(operator) == OWN)
        await operator.misses("4  not matched")
        await operator.press("down", "down", "d")
        await operator.until(lambda: text(operator).count("WHEN") == 2)


async def test_a_clause_of_a_wide_table_shows_a_few_columns_at_a_time_and_takes_any(backend: FakeBackend) -> None:
    wide = tuple(Column(name=f"c{at}", type="int") for at in range(1, 151))
    backend.table_columns = lambda _: wide  # type: ignore[method-assign]
    async with console(backend) as operator:
        await form_of(operator, OWN.replace("orders_feed", "sales.orders_feed"))
        await operator.press("escape", "down", "enter")
        await operator.sees("WHEN MATCHED", "all columns")
        assert len(operator.app.screen.query("*")) < 80
        await operator.press("tab", "space", "tab")
        await operator.sees("1 to 8 of 150 columns", "c8 ")
        await operator.press("space", *["pagedown"] * 30)
        await operator.sees("143 to 150 of 150 columns", "space: s.c150")
        await operator.press(*["down"] * 7, *"1 + 1", *["up"] * 8, "space", "enter")
        await dialog(operator, False)
        assert "UPDATE SET c1 = s.c1, c142 = s.c142, c150 = 1 + 1" in " ".join(text(operator).split())


QUERY = "(SELECT order_id, status, 1 AS own FROM x)"


async def test_of_a_query_the_columns_are_offered_that_it_has(backend: FakeBackend) -> None:
    of_target = backend.table_columns
    own = tuple(Column(name=name, type="string") for name in ("order_id", "status", "own"))
    backend.table_columns = lambda name: own if name == QUERY else of_target(name)  # type: ignore[method-assign]
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, MERGE_SQL.replace("orders_feed", QUERY))
        await in_box(operator, "condition", "down")
        await operator.sees("By what do rows of both belong together?", "t.status = s.status  both have it")
        # its own condition is behind the dialog
        assert operator.screen.count("s.order_date") == 1
        await operator.press("escape")
        await dialog(operator, False)
        operator.merge.form_pane.clauses_view.focus_page()
        await operator.press("down", "enter")
        await operator.sees("WHEN MATCHED", "all columns")
        await operator.press("tab", "space", "tab")
        await operator.sees("space: s.order_id", "space: s.status", "order_date", "note")
        assert "s.note" not in operator.screen


async def test_of_a_source_that_is_not_known_nothing_is_offered(backend: FakeBackend) -> None:
    of_target = backend.table_columns

    def columns(name: str) -> tuple[Column, ...]:
        if name == QUERY:
            raise EngineError("TABLE_OR_VIEW_NOT_FOUND", "There is no x.")
        return of_target(name)

    backend.table_columns = columns  # type: ignore[method-assign]
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, MERGE_SQL.replace("orders_feed", QUERY))
        await in_box(operator, "condition", "down")
        await operator.sees("The columns of both are not known")
        operator.merge.form_pane.clauses_view.focus_page()
        await operator.press("down", "enter")
        await operator.sees("WHEN MATCHED", "all columns")
        await operator.press("tab", "space", "tab")
        await operator.sees("order_id", "order_date", "note")
        assert "space: s." not in operator.screen


async def test_a_merge_from_elsewhere_stays_in_the_form_that_can_show_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await form_of(operator, OWN)
        operator.merge.use_draft(Draft(MERGE_SQL.replace("orders_feed", "other_feed")))
        await operator.until(lambda: operator.merge.form_pane.box("source").text == "other_feed")
        assert operator.merge.view == "form"


async def test_no_clause_is_opened_above_another_dialog(backend: FakeBackend) -> None:
    backend.hold("table_columns")
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a", "f1")
        help_dialog = operator.app.screen
        assert isinstance(help_dialog, HelpDialog)
        backend.release("table_columns")
        await operator.sees("The answer came while a dialog was open")
        assert operator.app.screen is help_dialog
        await operator.press("escape", "a")
        await operator.sees("New clause")


async def test_half_of_another_column_is_a_complaint_and_never_left_out(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "down", "enter")
        await operator.sees("WHEN MATCHED", "all columns")
        await operator.press("tab", "space", "tab", "space")
        for box, word in (("#more", "SQL"), ("#as", "name")):
            operator.app.screen.query_one(box).focus()
            await operator.press("a", "enter")
            await operator.sees(f"Another column has no {word}: write both, or neither.")
            await operator.press("backspace")
            await operator.misses("Another column has no")
        await operator.press("enter")
        await dialog(operator, False)


@pytest.mark.parametrize(("key", "title"), [("down", "ON"), ("a", "New clause")])
async def test_what_is_offered_late_takes_no_enter_before_it_could_be_read(
    backend: FakeBackend, key: str, title: str
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        clock = operator.app.clock
        assert isinstance(clock, Clock)
        await form_of(operator, MERGE_SQL)
        operator.app.catalog.forget()
        backend.hold("table_columns")
        if key == "down":
            await in_box(operator, "condition", key)
        else:
            operator.merge.form_pane.clauses_view.focus_page()
            await operator.press(key)
        await operator.until(lambda: operator.merge.is_asking("sides"))
        clock.stands = True
        backend.release("table_columns")
        await operator.sees(f"{title} …")
        await operator.press("enter")
        await dialog(operator, True)
        clock.seconds += 0.6
        await operator.press("enter")
        await dialog(operator, True)
        assert text(operator) == MERGE_SQL
        clock.seconds += 0.1
        await operator.misses(f"{title} …")
        await operator.press("enter")
        await dialog(operator, False)
        assert text(operator) != MERGE_SQL


async def test_the_cursor_stays_on_its_clause_when_another_is_written_before_it_in_the_sql(
    backend: FakeBackend,
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, MERGE_SQL)
        await operator.press("escape", "down")
        await operator.until(lambda: operator.merge.form_pane.at == 1)
        clause = operator.merge.form_pane.clause
        await operator.press("ctrl+t")
        added = MERGE_SQL.replace("WHEN MATCHED", "WHEN MATCHED AND s.x THEN DELETE\nWHEN MATCHED", 1)
        operator.merge.editor.change_to(added)
        await operator.press("ctrl+t")
        await operator.sees("s.x")
        assert (operator.merge.form_pane.at, operator.merge.form_pane.clause) == (2, clause)


@pytest.mark.parametrize(
    ("column", "is_set"),
    [
        ("`a.b`", "a.b"),
        ("t.`a.b`", "a.b"),
        ("addr.city", "addr"),
        ("T.addr.city", "addr"),
        ("db.t.City", "city"),
        ("case", "case"),
        # a field, and a column, that are called like the table
        ("addr.t.city", "addr"),
        ("t.x", "t"),
        ("t.t.city", "t"),
        ("t.city", "city"),
        ("no_such", ""),
        # literals, where no column is assigned
        ("true", "true"),
        ("NULL", "null"),
        ("t.false", "false"),
        ("current_date", ""),
    ],
)
def test_a_column_is_set_whole_or_by_one_of_its_fields(column: str, is_set: str) -> None:
    target = Side(
        TARGET, ("t",), has_alias=False, columns=("a.b", "addr", "city", "case", "t", "true", "false", "null")
    )
    assert column_set(column, target) == is_set


async def test_a_field_that_is_set_hides_no_column_of_its_name(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, MERGE_SQL.replace("UPDATE SET *", "UPDATE SET t.note.status = s.status", 1))
        operator.merge.form_pane.clauses_view.focus_page()
        await operator.press("down", "enter")
        await operator.sees("WHEN MATCHED", "t.note.status")
        listed = [column for column, _, _ in cast("ClauseDialog", operator.app.screen)._columns]
        assert listed[0] == "t.note.status"
        assert "status" in listed


async def test_space_keeps_the_choice_that_an_arrow_went_to_and_enter_takes_the_clause(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a")
        await operator.sees("New clause")
        await operator.press("shift+tab", "shift+tab", "right", "space")
        await operator.sees("● not matched   ○ not matched by source")
        await operator.press("right", "space", "tab", "right", "space", "enter")
        await dialog(operator, False)
        assert text(operator).endswith("WHEN NOT MATCHED BY SOURCE THEN DELETE\n-- the end\n")


async def test_columns_are_offered_of_the_table_that_use_gives(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(
            operator, "USE shop;\nMERGE INTO orders AS t USING shop.feed AS s ON t.id = s.id WHEN MATCHED THEN DELETE"
        )
        await operator.press("escape", "a")
        await operator.sees("New clause")
        asked = {name for (name,) in backend.called("table_columns")}
        assert "shop.orders" in asked
        assert "orders" not in asked


async def test_another_choice_keeps_the_expressions_that_are_typed(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "down", "enter")
        await operator.sees("WHEN MATCHED", "all columns")
        await operator.press("tab", "space", "tab", *"lower(s.note)", "shift+tab", "space")
        rows = operator.app.screen.query_one(ColumnRows)
        await operator.misses("lower(s.note)")
        await operator.press("space")
        await operator.sees("lower(s.note)")
        assert [expression for _, expression in rows.assignments] == ["lower(s.note)"]


async def test_space_alone_goes_from_choice_to_choice(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a")
        await operator.sees("New clause")
        await operator.press("shift+tab", "right", "tab", "shift+tab", "space")
        await operator.sees("● update")


async def test_a_choice_that_another_kind_of_clause_does_not_have_is_there_again_with_its_kind(
    backend: FakeBackend,
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await form_of(operator, OWN)
        await operator.press("escape", "a")
        await operator.sees("New clause", "● all columns (*)")
        # past the kind that has no star
        await operator.press("shift+tab", "shift+tab", "right", "right")
        await operator.misses("all columns (*)")
        await operator.press("left")
        await operator.sees("● not matched   ○", "● all columns (*)")
