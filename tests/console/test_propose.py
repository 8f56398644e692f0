"""A whole MERGE proposed from two tables: the key, the columns that both have, and what is to be known of the rest."""

from __future__ import annotations

import pytest
import sqlglot
from textual.widgets import OptionList

from console.dialogs.pick import Choice, PickDialog
from console.statements.forms import FORMS, proposed
from console.statements.templates import TEMPLATES, Sides, sides
from engine.model.browse import Column
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend


def columns(*names: str, of: str = "string") -> tuple[Column, ...]:
    return tuple(
        Column(name=name.strip("!*"), type=of, nullable="!" not in name, is_partition="*" in name) for name in names
    )


ORDER_COLUMNS = columns("order_id!", "customer_id", "order_date*", "status")


async def propose_the_feed(operator: Operator) -> None:
    """A merge of sales.orders_feed into sales.orders, as it is proposed."""
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "m")
    await operator.sees("sales.orders_feed")
    await operator.press(*"ordf", "enter")
    await operator.sees("USING sales.orders_feed AS s")


async def test_m_on_a_table_asks_for_the_source_and_writes_the_whole_merge(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "m")
        await operator.sees("Merge into sales.orders", "sales.orders_feed  not Delta", "a query or a path")
        await operator.until(lambda: operator.app.screen.query_one("#choices", OptionList).highlighted == 0)
        await operator.press(*"ordf", "enter")
        await operator.sees("MERGE INTO sales.orders AS t", "USING sales.orders_feed AS s")
        text = operator.merge.editor.text
        assert "ON t.order_id = s.order_id\n" in text
        assert "-- AND t.order_date = s.order_date skips files" in text
        assert "-- sales.orders_feed has no note" in text
        assert "UPDATE SET order_date = s.order_date, status = s.status" in text
        assert "INSERT (order_id, order_date, status, amount)" in text


async def test_the_tables_of_a_directory_that_was_opened_are_offered_too(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press("o", *"/lake", "enter")
        await operator.sees("/lake/ (1)")
        await operator.press(*ORDERS, "m")
        await operator.sees("Merge into sales.orders", "delta.`/lake/events`")
        await operator.press(*"events", "enter")
        await operator.sees("MERGE INTO sales.orders AS t", "USING delta.`/lake/events` AS s")


async def test_t_makes_another_kind_of_merge_of_the_same_tables(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await propose_the_feed(operator)
        await operator.press("ctrl+l")
        await operator.sees("What should the merge into sales.orders do?")
        await operator.press(*"sync", "enter")
        await operator.sees("WHEN NOT MATCHED BY SOURCE THEN DELETE")
        await operator.press("ctrl+l")
        await operator.sees("What should the merge into sales.orders do?", "CDC apply")
        await operator.press(*"cdc", "enter")
        await operator.sees("the last change of each key", "sales.orders needs updated_at")
        assert "-- sales.orders:\n-- - unique: [order_id]\n" in operator.merge.editor.text
        # what nobody edited is not kept
        assert not list((backend.home / "drafts").glob("*.before-*"))


async def test_t_offers_what_the_text_merges_into_whatever_was_proposed_before(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await propose_the_feed(operator)
        tables = "MERGE INTO sales.customers t USING sales.orders s"
        of_others = f"{tables} ON t.customer_id = s.customer_id WHEN MATCHED THEN DELETE"
        for text, target in ((of_others, "sales.customers"), ("MERGE INTO sales.orders USING", "sales.orders")):
            operator.merge.editor.replace_all(text)
            await operator.pilot.pause()
            await operator.press("ctrl+l")
            await operator.sees(f"What should the merge into {target} do?")
            await operator.press("escape")
        operator.merge.editor.replace_all(of_others)
        await operator.pilot.pause()
        await operator.press("ctrl+l")
        await operator.sees("What should the merge into sales.customers do?")
        await operator.press(*"sync", "enter")
        await operator.sees("MERGE INTO sales.customers AS t", "USING sales.orders AS s")
        operator.merge.editor.replace_all(" ")
        await operator.pilot.pause()
        await operator.press("ctrl+l")
        await operator.sees("Into which table?")


async def test_t_asks_for_the_tables_where_none_was_chosen(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("Type a MERGE statement")
        await operator.press("ctrl+l")
        await operator.sees("Into which table?", "sales.customers")
        await operator.press(*"cust", "enter")
        await operator.sees("Merge into sales.customers", "a query or a path")
        await operator.press(*"query", "enter")
        await operator.sees("What should the merge into sales.customers do?")
        await operator.press(*"only", "enter")
        await operator.sees("MERGE INTO sales.customers AS t", "USING changes AS s")
        await operator.misses("WHEN MATCHED")


async def test_a_proposal_is_made_of_the_columns_of_now(backend: FakeBackend) -> None:
    """Somebody may have altered the table since it was proposed for the last time."""
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS)
        for times in (1, 2):
            await operator.press("alt+1", "m")
            await operator.sees("Merge into sales.orders")
            await operator.press(*"ordf", "enter")
            await operator.until(lambda times=times: backend.called("table_columns").count(("sales.orders",)) == times)  # type: ignore[misc]
            await operator.sees("USING sales.orders_feed AS s")


async def test_what_this_console_changed_is_asked_for_again(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        catalog = operator.app.catalog
        for changed in (operator.app.ledger_changed, operator.app.tables_changed):
            catalog.try_columns("sales.orders")
            catalog.load_tables()
            changed()
            assert (catalog.known_columns("sales.orders"), catalog.known_tables()) == (None, [])


async def test_a_list_that_is_still_to_come_says_so(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("2")
        await operator.sees("Type a MERGE statement")
        backend.hold("list_tables")
        await operator.press("ctrl+l")
        await operator.sees("Into which table?", "Listing the tables…")
        await operator.press(*"cust", "enter")
        await operator.sees("Into which table?", "Listing the tables…")
        backend.release("list_tables")
        await operator.sees("sales.customers")
        await operator.misses("Listing the tables")
        await operator.press("enter")
        await operator.sees("Merge into sales.customers")


async def test_a_list_that_comes_while_its_dialog_is_laid_out_is_drawn(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        dialog = PickDialog("Target", "Into which table?", (), awaits="Listing the tables…")
        operator.app.push_screen(dialog)
        await operator.sees("Listing the tables…")
        # a change whose layout is due, the layout of all for something else, and only then the choices
        for part in ("#choices", "#content", "#box"):
            dialog.query_one(part).refresh(layout=True)
        for part in (*dialog.query("#content, #box"), dialog):
            part._clear_arrangement_cache()
        dialog._refresh_layout()
        dialog.add([Choice("a", "sales.customers")])
        await operator.sees("sales.customers")


async def test_a_source_whose_columns_spark_does_not_know_still_gives_a_statement(backend: FakeBackend) -> None:
    from engine.model.errors import EngineError

    backend.errors["table_columns"] = EngineError("UNABLE_TO_INFER_SCHEMA", "[/x]", "")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "m")
        await operator.sees("sales.orders_feed")
        await operator.press(*"ordf", "enter")
        await operator.sees("USING sales.orders_feed AS s", "[UNABLE_TO_INFER_SCHEMA] [/x]")


KEYS = [
    ("sales.orders", ("status", "order_id", "customer_id"), "order_id"),
    ("sales.orders", ("customer_id", "id"), "id"),
    ("companies", ("city", "company_key"), "company_key"),
    ("facts", ("value", "customer_id!", "shop_id"), "customer_id"),
    ("facts", ("shop_id", "customer_id!"), "customer_id"),
    ("facts", ("day", "value"), "day"),
]


@pytest.mark.parametrize(("table", "names", "key"), KEYS)
def test_the_key_is_the_column_that_is_called_like_one(table: str, names: tuple[str, ...], key: str) -> None:
    assert sides(table, columns(*names), "s", columns(*names)).key == key


def test_names_of_columns_match_whatever_their_case() -> None:
    known = sides("t", columns("Id", "Name"), "s", columns("ID", "extra"))
    assert (known.common, known.missing) == (("Id",), ("Name",))


def test_what_cannot_be_compared_is_left_out_of_the_comparison() -> None:
    known = sides("t", (*columns("id", "a"), *columns("m", of="map<string,int>")), "s", (*columns("id", "a", "m"),))
    assert known.comparable == ("a",)


@pytest.mark.parametrize("template", [*TEMPLATES, *FORMS])
@pytest.mark.parametrize(
    "of",
    [
        sides("db.orders", ORDER_COLUMNS, "db.feed", columns("order_id", "status", "updated_at")),
        sides("db.orders", ORDER_COLUMNS, "db.feed", ORDER_COLUMNS),
        sides("db.orders", ORDER_COLUMNS, None),
        sides("t", columns("id", "a b", "x\ny`"), "s", columns("id", "x\ny`")),
        sides("wide", columns(*(f"column_{n}" for n in range(40))), "s", columns(*(f"column_{n}" for n in range(30)))),
        Sides(target="delta.`/a b`", source="x"),
    ],
    ids=["some", "all", "query", "odd-names", "wide", "names-only"],
)
def test_every_template_is_one_statement_that_parses(template: str, of: Sides) -> None:
    sql = TEMPLATES[template][2](of) if template in TEMPLATES else proposed(template, of)
    (statement,) = sqlglot.parse(sql, read="databricks")
    assert isinstance(statement, sqlglot.exp.Merge)
    assert max(map(len, sql.splitlines())) <= 110


def test_the_templates_are_told_apart_by_their_clauses() -> None:
    of = sides("db.orders", ORDER_COLUMNS, "db.feed", (*ORDER_COLUMNS, *columns("updated_at")))
    made = {name: build(of) for name, (_, _, build) in TEMPLATES.items()}
    assert made["upsert"].endswith("WHEN MATCHED THEN UPDATE SET *\nWHEN NOT MATCHED THEN INSERT *\n")
    assert made["sync"].endswith("WHEN NOT MATCHED BY SOURCE THEN DELETE\n")
    assert "WHEN MATCHED" not in made["insert"]
