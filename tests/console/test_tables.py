"""Tables: what there is at the left, one table at the right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input

from console.places.statement.export import as_csv, as_json
from console.places.tables.favourites import change_marks, load_marks
from console.places.tables.scan_page import scan_page
from console.places.tables.statistics_page import ordering, statistics_page
from console.places.tables.table_pages import files_page, properties_page, versions_page, versions_table
from console.places.tables.table_shown import Shown
from console.places.tables.tables import TablesPlace, file_name
from console.widgets.grid import Grid
from console.widgets.page import Column as Shows
from console.widgets.page import Page, Table, row_again
from console.widgets.table_tree import TableTree, name_in
from engine.model.browse import Column, TableRef
from engine.model.errors import EngineError, UnreachableError
from engine.table.log_file import LogFile
from tests.console import samples
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend


async def test_the_tree_lists_schemas_and_their_tables(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("default (1)", "scratch", "sales (4)", "customers", "orders_feed not Delta")


async def test_while_spark_starts_the_tables_of_the_last_time_are_shown(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.until(lambda: backend.remembered)
    backend.hold("connect")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("sales (4)", "orders_feed", "these are the tables of the last time")
        await operator.press(*ORDERS, "m")
        await operator.sees("Spark is not up yet")
        await operator.press("enter")
        await operator.sees("the versions of sales.orders as of the last time", "980 updated, 201 inserted")
        assert not backend.called("table_detail")
        backend.release("connect")
        await operator.sees("v41 · 40 files", "decimal(12,2)")


async def test_what_is_gone_since_the_last_time_goes_from_the_list_when_spark_is_up(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.until(lambda: backend.remembered)
    backend.schemas = ["default"]
    backend.hold("connect")
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        backend.release("connect")
        await operator.until(lambda: "orders_feed" not in operator.screen)
        await operator.sees("scratch")


async def test_enter_opens_a_table_and_its_views_turn_with_brackets(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("sales.orders · v41 · 40 files · 934 MB · by order_date")
        # columns: name, type, whether it may be null, its part in the layout, its comment
        await operator.sees("order_id", "bigint", "not null", "partition", "decimal(12,2)")
        await operator.press("right_square_bracket")
        await operator.sees("Bounds out of the statistics")
        await operator.press("right_square_bracket")
        await operator.sees("/warehouse/sales.db/orders", "delta.logRetentionDuration", "Orders of the shop [BETA]")
        await operator.press("right_square_bracket")
        await operator.sees("DESCRIBE TABLE EXTENDED, by Spark itself.")
        await operator.press("right_square_bracket")
        await operator.sees("MERGE", "980 updated, 201 inserted", "OPTIMIZE", "2,000,000 written")
        await operator.press("right_square_bracket")
        await operator.sees("40 files, 921 MB in all.", "434,000")
        await operator.press("right_square_bracket")
        await operator.sees("Type what would stand after WHERE")
        await operator.press("right_square_bracket")
        await operator.sees("Many files are small", "OPTIMIZE sales.orders")
        await operator.press("right_square_bracket")
        await operator.sees("100 rows; there are more.", "NULL")
        # round again: what was asked once is known
        for _ in range(6):
            await operator.press("right_square_bracket")
        await operator.sees("40 files, 921 MB in all.")
        assert len(backend.called("table_files")) == 1


async def open_orders(operator: Operator) -> TablesPlace:
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "enter")
    await operator.sees("bigint", "v41")
    place = operator.app.screen
    assert isinstance(place, TablesPlace)
    return place


async def another_table(operator: Operator, place: TablesPlace, before: Table | None) -> Grid:
    """The grid as soon as it shows another table than ``before``: until then the old one is there, or none."""

    def shown() -> list[Grid]:
        now = place.page.page.table
        return [grid for grid in place.query(Grid) if grid.table is now is not before]

    await operator.until(shown, "another table")
    return shown()[0]


async def look_round(operator: Operator) -> TablesPlace:
    """The views whose pages are made of files and rows, and back to the columns."""
    place = await open_orders(operator)
    for view, words in (("files", "40 files, 921 MB"), ("rows", "100 rows; there are more."), ("columns", "bigint")):
        place.action_view(view)
        await operator.sees(words)
    return place


async def test_views_are_of_one_version_though_another_program_commits(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await look_round(operator)
        backend.table_update = {"version": 42, "num_files": 3, "num_bytes": 1024}
        place.action_view("rows")
        await operator.sees("v42 · 3 files · 1 kB")
        await operator.until(lambda: [call[2] for call in backend.called("table_rows")] == [41, 42])
        await operator.sees("100 rows; there are more.")
        place.action_view("files")
        await operator.sees("40 files, 921 MB")
        assert [call[2] for call in backend.called("table_files")] == [41, 42]


async def test_a_table_made_anew_under_its_name_keeps_no_column_of_the_old_one(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await look_round(operator)
        backend.table_update = {"table_id": "another", "columns": (Column(name="zebra", type="int"),)}
        place.action_view("columns")
        await operator.sees("zebra")
        assert "order_id" not in operator.screen


async def test_a_table_that_was_dropped_keeps_no_page_and_is_found_again(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await look_round(operator)
        backend.errors["table_detail"] = EngineError("TABLE_OR_VIEW_NOT_FOUND", "The table cannot be found.")
        place.action_view("rows")
        await operator.sees("TABLE_OR_VIEW_NOT_FOUND")
        assert "v41" not in operator.screen
        del backend.errors["table_detail"]
        place.action_view("columns")
        await operator.sees("v41", "bigint")


async def test_what_was_read_stays_while_spark_is_away(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await look_round(operator)
        backend.errors["table_detail"] = UnreachableError("SPARK_UNREACHABLE", "Spark does not answer any more.")
        place.action_view("rows")
        await operator.until(lambda: not place.is_asking("detail"))
        await operator.sees("v41", "100 rows; there are more.")


async def test_a_view_that_takes_long_is_asked_once_however_often_the_ledger_is_written(backend: FakeBackend) -> None:
    backend.hold("table_rows")
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("rows")
        for stamp in range(3):
            operator.app._ledger_stamped(stamp)
            await operator.until(lambda: not place.is_asking("detail"))
        backend.release("table_rows")
        await operator.sees("100 rows; there are more.")
        assert len(backend.called("table_rows")) == 1


async def test_a_write_to_the_ledger_while_the_table_is_asked_for_has_it_asked_for_again(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await look_round(operator)
        await operator.until(lambda: not place.is_asking("detail"))
        asked = len(backend.called("table_detail"))
        backend.hold("table_detail")
        for stamp in range(4):
            operator.app._ledger_stamped(stamp)
        backend.release("table_detail")
        await operator.until(lambda: len(backend.called("table_detail")) == asked + 2)
        await operator.until(lambda: not place.is_asking("detail"))
        assert len(backend.called("table_detail")) == asked + 2


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("sales.orders", "orders"),
        ("`my.cat`.sales.`order lines`", "order_lines"),
        ("delta.`/data/orders.v2`", "orders_v2"),
        ("delta.`s3a://lake/orders/`", "orders"),
    ],
)
def test_an_export_is_named_by_the_last_part_of_the_table(table: str, name: str) -> None:
    assert file_name(table) == name


async def test_an_error_stays_while_other_programs_write_to_the_ledger(backend: FakeBackend) -> None:
    backend.errors["table_rows"] = EngineError("FAILED_READ_FILE", "A file cannot be read.")
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("rows")
        await operator.sees("FAILED_READ_FILE")
        for stamp in range(3):
            operator.app._ledger_stamped(stamp)
            await operator.until(lambda: not place.is_asking("detail"))
        await operator.sees("FAILED_READ_FILE")
        assert len(backend.called("table_rows")) == 1


async def open_a_version(operator: Operator) -> None:
    """The rows of the version before the newest, from the list of versions."""
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "enter")
    await operator.sees("bigint")
    await operator.press(*["right_square_bracket"] * 4)
    await operator.sees("Enter shows the rows as of a version.")
    await operator.press("down", "enter")


async def test_enter_on_a_version_shows_the_rows_as_of_then(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await open_a_version(operator)
        await operator.until(lambda: backend.called("table_rows"))
        assert backend.called("table_rows")[0] == ("sales.orders", 100, 40, None)


async def test_on_a_narrow_screen_the_list_folds_and_esc_brings_it_back(backend: FakeBackend) -> None:
    async with console(backend, size=(80, 24)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint", "esc to the list")
        assert "customers" not in operator.screen
        await operator.press("escape")
        await operator.sees("customers")


async def test_the_schemas_of_another_catalog_stand_under_its_name(backend: FakeBackend) -> None:
    backend.schemas = ["sales", "`my.cat`.raw", "`my.cat`.`a.b`"]
    async with console(backend) as operator:
        await operator.sees("sales", "▼ `my.cat`", "▶ raw", "▶ `a.b`")
        await operator.press("down", "left")
        await operator.misses("▶ raw")
        await operator.press("right", "down", "enter")
        await operator.until(lambda: ("`my.cat`.raw",) in backend.called("list_tables"))


async def test_the_filter_looks_into_schemas_that_were_not_opened(backend: FakeBackend) -> None:
    backend.schemas = ["a", "b", "default", "sales"]
    async with console(backend) as operator:
        await operator.sees("sales")
        assert "customers" not in operator.screen
        await operator.press("slash", *"cust")
        await operator.sees("customers")
        await operator.misses("default")


async def test_a_schema_that_cannot_be_listed_says_why_where_it_is(backend: FakeBackend) -> None:
    backend.errors["list_tables"] = EngineError("SCHEMA_NOT_FOUND", "gone", "")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("[SCHEMA_NOT_FOUND] gone")


async def test_a_table_that_cannot_be_described_says_why_in_place(backend: FakeBackend) -> None:
    backend.errors["table_detail"] = EngineError("DELTA_TABLE_NOT_FOUND", "no log", "Was it dropped?")
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("[DELTA_TABLE_NOT_FOUND] no log", "Was it dropped?")


async def test_o_lists_the_delta_tables_of_a_directory(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press("o", *"/lake", "enter")
        await operator.sees("/lake/ (1)", "events")
        # and anew with all the rest
        await operator.press("r")
        await operator.until(lambda: len(backend.called("find_tables")) == 2)
        await operator.sees("/lake/ (1)", "events")
        await operator.misses("loading")


async def test_a_directory_that_is_opened_is_not_hidden_by_what_was_filtered_for_before(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press("slash", *"orders_feed", "enter", "o", *"/lake", "enter")
        await operator.sees("/lake/ (1)", "events", "customers")


async def test_a_directory_that_is_called_like_a_schema_is_listed_beside_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        backend.hold("list_tables")
        await operator.press("r")
        await operator.until(lambda: ("sales",) in backend.called("list_tables")[2:])
        await operator.press("o", *"sales", "enter")
        await operator.sees("sales/ (1)")
        backend.new_tables = [TableRef(name="sales.new_one", schema_name="sales", table="new_one", is_delta=True)]
        backend.release("list_tables")
        # the fake has it in both schemas
        await operator.until(lambda: operator.screen.count("new_one") == 2, "the tables of both schemas")


async def test_a_table_that_another_program_made_is_listed_and_the_cursor_stays(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS)
        tree = operator.app.screen.query_one(TableTree)
        chosen = tree.chosen_table
        assert chosen is not None

        async def stamped(stamp: int) -> None:
            operator.app._ledger_stamped(stamp)
            await operator.until(lambda: not operator.app.is_asking("tables made"))

        await stamped(0)
        listed = len(backend.called("list_schemas"))
        backend.new_tables = [TableRef(name="sales.a_new_one", schema_name="sales", table="a_new_one", is_delta=True)]
        merge = samples.a_ledger()[0].model_copy(update={"op_id": "merge"})
        backend.ledger = [merge, *backend.ledger]
        await stamped(1)
        assert len(backend.called("list_schemas")) == listed, "a merge makes no table"
        made = merge.model_copy(update={"op_id": "made", "kind": "create_table", "status": "running"})
        backend.ledger = [made, *backend.ledger]
        await stamped(2)
        assert len(backend.called("list_schemas")) == listed, "nor does one that runs yet"
        backend.ledger[0] = made.model_copy(update={"status": "applied"})
        await stamped(3)
        await operator.sees("a_new_one")
        await operator.until(lambda: tree.chosen_table == chosen, "the table under the cursor before")
        assert len(backend.called("list_schemas")) == listed + 1


async def test_the_filter_finds_names_by_letters_in_their_order(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press("slash", *"ordfd")
        await operator.misses("customers")
        assert "orders_feed" in operator.screen
        # the cursor is on the first table that is left
        tree = operator.app.screen.query_one(TableTree)
        await operator.until(lambda: _chosen(tree) == "orders_feed")
        await operator.press("enter")
        await operator.until(lambda: tree.has_focus)
        await operator.press("enter")
        await operator.sees("sales.orders_feed · ")


EXPORTED = {
    "rows.csv": ("order_id,order_date,status,amount,note\n10000,2026-11-19,paid,0.00,[/x] \x1b[2J\n10001,", 101),
    "rows.json": (
        '{"order_id": "10000", "order_date": "2026-11-19", "status": "paid", "amount": "0.00", "note": "[',
        100,
    ),
}


@pytest.mark.parametrize("name", EXPORTED)
async def test_x_writes_the_rows_that_are_shown_and_never_overwrites_unasked(backend: FakeBackend, name: str) -> None:
    target = backend.home / name
    target.write_text("what was there")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        await operator.press("left_square_bracket")
        await operator.sees("100 rows; there are more.")
        await operator.press("x")
        await operator.sees("Export 100 rows", "orders-rows.csv")
        path = operator.app.screen.query_one(Input)
        path.value = str(backend.home / "rows.txt")
        await operator.press("enter")
        await operator.sees("The name ends in .csv, .json or .parquet.")
        path.value = str(target)
        await operator.press("enter")
        await operator.sees("ctrl+y overwrites it")
        assert target.read_text() == "what was there"
        await operator.press("ctrl+y")
        await operator.sees("Written to")
    start, lines = EXPORTED[name]
    text = target.read_text()
    assert text.startswith(start)
    assert text.count("\n") == lines


async def test_favourites_and_what_was_opened_lately_are_listed_first_on_another_day(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "f")
        await operator.sees("favourites (1)", "sales.orders is now a favourite.")
        await operator.press("f")
        await operator.sees("no favourite any more")
        await operator.misses("favourites (1)")
        await operator.press("f")
        await operator.sees("favourites (1)")
        tree = operator.app.screen.query_one(TableTree)
        await operator.until(lambda: tree.chosen_table is not None and tree.chosen_table.name == "sales.orders")
        await operator.press("enter")
        await operator.sees("bigint")
        await operator.until(lambda: '"recent": [\n  "sales.orders"' in (backend.home / "tables.json").read_text())
    async with console(FakeBackend(backend.home)) as operator:
        await operator.sees("favourites (1)", "recent (1)", "sales.orders")
        await operator.press("down", "enter")
        await operator.sees("sales.orders · v41")


async def test_favourites_of_two_consoles_over_one_home_are_kept(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS)
        # another console marks one meanwhile
        change_marks(
            backend.home, [lambda marks: marks.with_favourite("sales.theirs", True).with_opened("sales.theirs")]
        )
        await operator.press("f")
        await operator.sees("sales.orders is now a favourite.")
        await operator.until(lambda: "sales.orders" in load_marks(backend.home).favourites)
        assert load_marks(backend.home).favourites == ("sales.theirs", "sales.orders")
        await operator.press("f")
        await operator.until(lambda: load_marks(backend.home).favourites == ("sales.theirs",))
        assert "sales.theirs" in load_marks(backend.home).recent


async def test_favourites_that_cannot_be_read_are_none(backend: FakeBackend) -> None:
    (backend.home / "tables.json").write_text('{"favourites": 7}')
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        assert "favourites" not in operator.screen


async def test_rows_are_exported_as_parquet_too(backend: FakeBackend) -> None:
    from pyarrow import parquet

    target = backend.home / "rows.parquet"
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        await operator.press("left_square_bracket")
        await operator.sees("100 rows")
        # as they are shown: in the order of a column
        await operator.press("greater_than_sign")
        await operator.sees("order_id▼")
        await operator.press("x")
        await operator.sees("Export 100 rows")
        operator.app.screen.query_one(Input).value = str(target)
        await operator.press("enter")
        await operator.sees("Written to")
    written = parquet.read_table(target)
    assert written.column_names == ["order_id", "order_date", "status", "amount", "note"]
    assert written.column("order_id").to_pylist() == [str(10_099 - number) for number in range(100)]
    assert written.column("note").to_pylist()[:2] == ["[/x] \x1b[2J", None]
    assert target.stat().st_mode & 0o777 == 0o600


async def test_a_row_in_full_is_copied_cell_by_cell(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        await operator.press("left_square_bracket")
        await operator.sees("100 rows")
        await operator.press("down", "enter")
        await operator.sees("c copies the cell, y the row", "order_id")
        await operator.press("down", "down", "c")
        await operator.sees("Copied status.")
        assert operator.app.clipboard == "paid"
        await operator.press("y")
        await operator.until(lambda: operator.app.clipboard != "paid")
        assert operator.app.clipboard.startswith("order_id\t10001\t10001\norder_date")


async def test_more_rows_are_fetched_on_demand_and_a_sample_is_drawn_by_chance(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("decimal(12,2)")
        operator.app.screen.action_view("rows")  # type: ignore[attr-defined]
        await operator.sees("100 rows; there are more", "+ more rows", "s sample")
        await operator.press("plus")
        await operator.sees("1,000 rows; there are more", "10100")
        await operator.press("s")
        await operator.sees("1,000 rows; drawn by chance of about 17,360,780")
        await operator.press("s")
        await operator.sees("1,000 rows; there are more")
        await operator.press("plus")
        await operator.sees("10,000 rows")
        await operator.press("plus")
        await operator.sees("No more than 10,000 rows are fetched")
        shares = [call[3] for call in backend.called("table_rows")]
        assert [share is None for share in shares] == [True, True, False, True, True]


async def test_a_table_without_statistics_gives_its_first_rows_for_a_sample_and_says_so(backend: FakeBackend) -> None:
    backend.files_have_statistics = False
    async with console(backend, size=(160, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("decimal(12,2)")
        operator.app.screen.action_view("rows")  # type: ignore[attr-defined]
        await operator.sees("100 rows; there are more")
        await operator.press("s")
        await operator.sees("100 rows; there are more; the first ones, not by chance: files without statistics")
        assert [call[3] for call in backend.called("table_rows")] == [None, None]


async def test_statistics_of_columns_and_files_come_out_of_the_log(backend: FakeBackend) -> None:
    async with console(backend, size=(160, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("decimal(12,2)")
        operator.app.screen.action_view("files")  # type: ignore[attr-defined]
        await operator.sees("2026-11-20 03:00:07  0 to 999")
        operator.app.screen.action_view("statistics")  # type: ignore[attr-defined]
        await operator.sees("order_id", "39999", "2026-11-30", "40 of 40 files", "0 of 40 files", "<1 %")
        operator.app.screen.action_view("describe")  # type: ignore[attr-defined]
        await operator.sees("# Detailed Table Information", "unique [/x]")


async def test_a_commit_that_ends_while_the_filter_is_typed_takes_no_key_of_it(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("decimal(12,2)")
        await operator.press("slash", *"cus")
        operator.app.ledger_changed()
        await operator.until(lambda: len(backend.called("table_detail")) == 2)
        await operator.press(*"tomers")
        await operator.sees("customers")
        assert operator.app.screen.query_one("#filter", Input).value == "customers"
        assert operator.app.screen.query_one("#filter").has_focus


def test_a_struct_has_statistics_of_its_fields_alone() -> None:
    struct = Column(name="s", type="struct<x:int>", nullable=True)
    detail = samples.a_detail("sales.orders").model_copy(update={"columns": (struct,)})
    one, *others = samples.some_files(3)
    page = statistics_page([one.model_copy(update={"null_counts": {"s.x": 0}}), *others], detail)
    assert page.table is not None
    assert page.table.rows[0] == ("s", "?", "?", "?", "", "of its fields: 1 of 3 files")


def test_numbers_are_bounded_by_value_and_what_some_files_do_not_say_is_unknown() -> None:
    detail = samples.a_detail("sales.orders")
    files = samples.some_files(11)
    page = statistics_page(files, detail)
    assert page.table is not None
    assert page.table.rows[0][:3] == ("order_id", "0", "10999")
    bare = files[0].model_copy(update={"min_values": {}, "max_values": {}, "null_counts": {}})
    page = statistics_page([bare, *files[1:]], detail)
    assert page.table is not None
    assert page.table.rows[0][1:5] == ("?", "?", "?", "")
    uncounted = files[0].model_copy(update={"rows": None})
    page = statistics_page([uncounted, *files[1:]], detail)
    assert page.table is not None
    assert page.table.rows[0][3:5] == ("0", "")


def test_rows_that_a_deletion_vector_marks_are_among_the_rows_that_nulls_are_a_part_of() -> None:
    columns = (Column(name="x", type="int"), Column(name="p", type="int"))
    update = {"columns": columns, "partition_columns": ("p",)}
    detail = samples.a_detail("sales.orders").model_copy(update=update)
    marked = {"rows": 50, "deletion_vector_rows": 50, "null_counts": {"x": 60}, "partition": {"p": None}}
    page = statistics_page([samples.some_files(1)[0].model_copy(update=marked)], detail)
    assert page.table is not None
    assert [row[3:5] for row in page.table.rows] == [("60", "60 %"), ("100", "100 %")]


def test_what_is_no_number_is_the_greatest_one() -> None:
    texts = ["NaN", "no number", "2", "Infinity", "10", "nan"]
    ordered = ["2", "10", "Infinity", "NaN", "nan", "no number"]
    assert sorted(texts, key=ordering("double")) == ordered
    files = [
        one.model_copy(update={"min_values": {"x": "NaN"}, "max_values": {"x": most}, "null_counts": {"x": 0}})
        for one, most in zip(samples.some_files(2), ("NaN", "3"), strict=True)
    ]
    detail = samples.a_detail("sales.orders").model_copy(update={"columns": (Column(name="x", type="double"),)})
    page = statistics_page(files, detail)
    assert page.table is not None
    assert page.table.rows[0][:3] == ("x", "NaN", "NaN")


async def test_rows_of_a_table_without_versions_are_read_each_time(backend: FakeBackend) -> None:
    backend.table_update = {"format": "parquet", "version": None, "num_files": None, "num_bytes": None}
    async with console(backend, size=(160, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint", "parquet, not Delta")
        place = operator.app.screen
        assert isinstance(place, TablesPlace)
        place.action_view("rows")
        await operator.sees("100 rows; there are more")
        assert len(backend.called("table_rows")) == 1
        place.action_view("columns")
        await operator.sees("decimal(12,2)")
        place.action_view("rows")
        await operator.sees("100 rows; there are more")
        await operator.until(lambda: len(backend.called("table_rows")) == 2)
        await operator.until(lambda: not place.is_asking("view") and not place.is_asking("detail"))
        place.look_for_changes()
        await operator.until(lambda: len(backend.called("table_rows")) == 3)
        await operator.sees("100 rows; there are more")


async def test_statistics_and_a_sample_of_a_table_whose_files_are_listed_in_part_say_so(backend: FakeBackend) -> None:
    backend.file_count, backend.table_update = 40, {"num_files": 4_000}
    async with console(backend, size=(160, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("statistics")
        await operator.sees("Of the first 40 files of 4,000 alone. Bounds out of the statistics")
        place.action_view("rows")
        await operator.sees("100 rows; there are more")
        await operator.press("s")
        # a file has 434,000 rows and some
        await operator.sees("drawn by chance of about 1,736,078,000")


async def test_a_sample_is_still_one_when_the_operator_comes_back_to_the_table(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("decimal(12,2)")
        place = operator.app.screen
        place.action_view("rows")  # type: ignore[attr-defined]
        await operator.sees("100 rows; there are more")
        await operator.press("s")
        await operator.sees("drawn by chance of about")
        place.open_table("sales.customers")  # type: ignore[attr-defined]
        await operator.sees("100 rows; there are more")
        place.open_table("sales.orders")  # type: ignore[attr-defined]
        await operator.sees("drawn by chance of about")


async def test_a_filter_that_finds_nothing_says_so(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        await operator.press("slash", *"nosuch")
        await operator.sees("Nothing matches the filter.")
        await operator.press("enter", "enter")
        assert operator.app.is_running


async def test_the_filter_puts_the_cursor_on_the_best_match(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.sees("orders_feed")
        tree = operator.app.screen.query_one(TableTree)
        await operator.press("slash", *"feed")
        await operator.until(lambda: _chosen(tree) == "orders_feed")
        await operator.press(*["backspace"] * 4, *"orders")
        await operator.until(lambda: _chosen(tree) == "orders")
        await operator.press("enter")
        await operator.until(lambda: tree.has_focus)
        await operator.press("down")
        await operator.until(lambda: _chosen(tree) not in ("", "orders"))
        moved = _chosen(tree)
        tree.show(tree._groups, ["orders"])
        await operator.until(lambda: _chosen(tree) == moved)


def _chosen(tree: TableTree) -> str:
    return "" if tree.chosen_table is None else tree.chosen_table.table


async def test_a_version_is_that_of_the_rows_alone(backend: FakeBackend) -> None:
    """The other views are of the table as its header tells it, and a sample is measured by the newest files."""
    async with console(backend, size=(160, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        place = operator.app.screen
        assert isinstance(place, TablesPlace)
        place.sampled.add("sales.orders")
        place.open_table("sales.orders", 40)
        await operator.sees("as of version 40; there are more; the first ones, not by chance: that is for the newest")
        assert "s sample" not in operator.keys
        place.action_explore()
        await operator.press(*"amount > 100", "enter")
        await operator.until(lambda: backend.called("explore_scan"))
        assert backend.called("explore_scan") == [("sales.orders", "amount > 100", 41)]


async def test_the_newest_version_is_sampled_however_it_was_opened(backend: FakeBackend) -> None:
    async with console(backend, size=(160, 36)) as operator:
        place = await open_orders(operator)
        place.sampled.add("sales.orders")
        place.open_table("sales.orders", 41)
        await operator.sees("as of version 41; drawn by chance of about", "s sample")


async def test_versions_have_the_focus_after_rows_of_one_were_shown(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await open_a_version(operator)
        await operator.sees("as of version 40")
        await operator.press(*["left_square_bracket"] * 4)
        await operator.sees("Enter shows the rows as of a version.")
        await operator.press("down", "down", "enter")
        await operator.until(lambda: len(backend.called("table_rows")) == 2)


def the_table(of: Page) -> Table:
    assert of.table is not None
    return of.table


def bounds_of(type_: str, *bounds: tuple[str, str]) -> tuple[str | None, ...]:
    """The least and the most of a column whose files have these."""
    files = [
        one.model_copy(update={"min_values": {"x": low}, "max_values": {"x": high}, "null_counts": {"x": 0}})
        for one, (low, high) in zip(samples.some_files(len(bounds)), bounds, strict=True)
    ]
    detail = samples.a_detail("sales.orders").model_copy(update={"columns": (Column(name="x", type=type_),)})
    return the_table(statistics_page(files, detail)).rows[0][1:3]


@pytest.mark.parametrize("type_", ["date", "timestamp"])
def test_days_before_year_0_and_after_9999_are_in_order(type_: str) -> None:
    time = "" if type_ == "date" else "T00:00:00.000Z"
    days = ("-0010-12-01", "-0005-01-01", "0999-01-01", "2024-01-01", "+10000-01-01", "+100000-01-01")
    texts = [f"{day}{time}" for day in days]
    assert sorted({*texts}, key=ordering(type_)) == texts
    assert bounds_of(type_, *((text, text) for text in texts)) == (texts[0], texts[-1])


def test_a_column_that_is_called_like_the_path_of_a_field_has_its_own_bounds() -> None:
    stats = '{"numRecords":1,"minValues":{"st":{"foo":7},"st.foo":100},"maxValues":{"st":{"foo":7},"st.foo":200}}'
    file = LogFile("a", 1, {}, 1, 0, "", 1, stats=stats).value()
    detail = samples.a_detail("t").model_copy(update={"columns": (Column(name="st.foo", type="int"),)})
    (row,) = the_table(statistics_page([file], detail)).rows
    assert row[:3] == ("st.foo", "100", "200")


def test_times_are_bounded_as_moments_whatever_the_offset_they_were_written_with() -> None:
    utc = ("2026-06-01T00:00:00.000Z", "2026-06-01T01:00:00.000Z")
    tokyo = ("2026-06-01T05:00:00.000+09:00", "2026-06-01T09:30:00.000+09:00")
    assert bounds_of("timestamp", utc, tokyo) == (tokyo[0], utc[1])
    assert bounds_of("timestamp_ntz", ("2026-06-01T01:00:00.1", "2026-06-01T01:00:00.1"),
                     ("2026-06-01T01:00:00", "2026-06-01T01:00:00")) == (
        "2026-06-01T01:00:00", "2026-06-01T01:00:00.1"
    )  # fmt: skip
    far = ("-0044-03-15T00:00:00.000Z", "+12026-06-01T00:00:00.000Z")
    assert bounds_of("timestamp", utc, far) == far


def lines_of(table: Table) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in as_json(table).splitlines()]


def test_columns_that_are_called_alike_are_exported_each() -> None:
    table = Table([Shows("size"), Shows("Size"), Shows(""), Shows("size (2)")], [("1 B", "40", "x", None)])
    assert table.names == ["size", "Size (3)", "column 3", "size (2)"]
    assert lines_of(table) == [{"size": "1 B", "Size (3)": "40", "column 3": "x", "size (2)": None}]
    assert as_csv(table).splitlines()[0] == "size,Size (3),column 3,size (2)"


def test_a_csv_tells_null_from_an_empty_text() -> None:
    table = Table([Shows("a"), Shows("b"), Shows('c"d')], [(None, "", 'x,"\n'), ("NULL", "1", None)])
    assert as_csv(table) == 'a,b,"c""d"\n,"","x,""\n"\nNULL,1,\n'


def test_a_csv_of_one_column_loses_no_row() -> None:
    table = Table([Shows("a")], [("1",), (None,), ("",)])
    assert as_csv(table) == 'a\n1\n""\n""\n'


def test_numbers_sizes_and_times_are_exported_in_full(backend: FakeBackend) -> None:
    detail, shown = samples.a_detail("sales.orders"), Shown("sales.orders", predicate="SELECT 1")
    files = [one.model_copy(update={"null_counts": {"note": 1234}}) for one in samples.some_files(40)]
    note = lines_of(the_table(statistics_page(files, detail)))[4]
    assert (note["NULLs"], note["files with statistics"]) == ("49360", "40")
    assert float(note["of rows"] or 0) == pytest.approx(49_360 / 17_360_780)
    scan = lines_of(the_table(scan_page(backend, shown, detail)))[0]
    assert (scan["files left"], scan["size left"], scan["of size"]) == ("3", "69000000", "934000000")
    file = lines_of(the_table(files_page(backend, shown, detail)))[0]
    assert file["modified"] == "2026-11-20T03:00:07Z"
    of = {one["property"]: one["value"] for one in lines_of(the_table(properties_page(backend, shown, detail)))}
    assert (of["size"], of["files"], of["created"]) == ("934000000", "40", "2026-10-01T08:00:00Z")
    version = lines_of(the_table(versions_page(backend, shown, detail)))[2]
    assert (version["time"], version["what it did"]) == ("2026-10-01T08:00:00Z", "2000000 written")


def test_one_file_is_one() -> None:
    metrics = {"numRemovedFiles": "1", "numAddedFiles": "2", "numDeletedRows": "1204"}
    version = samples.some_versions()[0].model_copy(update={"metrics": metrics})
    assert versions_table([version]).rows[0][4] == "1,204 deleted, 1 file removed, 2 files added"
    restore = version.model_copy(update={"metrics": {"numRestoredFiles": "3", "numRemovedFiles": "6"}})
    assert versions_table([restore]).rows[0][4] == "6 files removed, 3 files restored"


async def test_cells_that_are_cut_are_said_to_be_beside_the_rows_in_the_row_and_in_the_export(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = samples.some_rows().model_copy(update={"cut": 40})
    monkeypatch.setattr(backend, "table_rows", lambda *_: cut)
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("rows")
        await operator.sees("100 rows; there are more. Cells of more than 40 characters are cut.")
        assert "in full" not in operator.screen
        await operator.press("enter")
        await operator.sees("sales.orders: cells of more than 40 characters are cut")
        await operator.press("escape", "x")
        await operator.sees("sizes and texts are in full, but cells of more than")


async def test_an_order_and_the_cursor_stay_when_another_program_commits(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("rows")
        await operator.sees("100 rows; there are more.")
        await operator.press("plus")
        await operator.sees("1,000 rows; there are more.", "10100")
        # the first row that was not there before
        assert place.query_one(Grid).cursor == 100
        await operator.press("greater_than_sign")
        await operator.sees("order_id▼")
        await operator.press("down", "down")
        await operator.until(lambda: place.query_one(Grid).cursor == 2)
        backend.table_update, before = {"version": 42}, place.page.page.table
        place.look_for_changes()
        grid = await another_table(operator, place, before)
        await operator.sees("v42", "order_id▼")
        assert (grid.cursor, grid.number_of(grid.cursor)) == (2, 997)
        # nor are they lost in another view, nor where the window changes
        place.action_view("files")
        await operator.sees("40 files, 921 MB")
        await operator.pilot.resize_terminal(110, 30)
        place.action_view("rows")
        await operator.sees("order_id▼")
        assert place.query_one(Grid).cursor == 2
        await operator.pilot.resize_terminal(120, 36)
        # there is none while it is made anew
        await operator.until(lambda: any(grid.size.width > 80 for grid in place.query(Grid)))
        assert place.query_one(Grid).cursor == 2


async def test_an_order_stays_for_other_rows_of_the_table(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("rows")
        await operator.sees("100 rows; there are more.")
        place.page.focus_page()
        await operator.press("greater_than_sign", "S")
        await operator.sees("order_id▲")
        await operator.press("down", "down")
        await operator.until(lambda: place.query_one(Grid).cursor == 2)
        others = samples.some_rows()
        others = others.model_copy(update={"rows": tuple(("9" + str(row[0]), *row[1:]) for row in others.rows[::-1])})
        monkeypatch.setattr(backend, "table_rows", lambda *_: others)
        await operator.press("s")
        await operator.sees("drawn by chance of about", "910000", "order_id▲")
        # none of them was there before
        assert place.query_one(Grid).cursor == 0
        before = place.page.page.table
        await operator.press("r")
        await another_table(operator, place, before)
        await operator.sees("drawn by chance of about", "order_id▲")
        place.open_table("sales.orders", 40)
        await operator.sees("as of version 40", "order_id▲")
        await operator.press("r")
        await operator.sees("v41 · 40 files", "drawn by chance of about", "order_id▲")


async def test_an_order_stays_for_the_files_of_another_predicate(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_explore()
        await operator.press(*"amount > 1", "enter")
        await operator.sees("14 files, 322 MB")
        await operator.press("greater_than_sign", "greater_than_sign")
        await operator.until(lambda: place.page.order is not None)
        chosen = place.page.order
        assert chosen is not None
        await operator.press("end")
        await operator.until(lambda: place.query_one(Grid).cursor == 39)
        place.action_explore()
        await operator.press("0", "enter")
        await operator.until(lambda: len(backend.called("explore_scan")) == 2)
        await operator.until(lambda: place.page.order == chosen)
        # it is read from its top; the same files, asked for again, from where one was
        await operator.until(lambda: place.query_one(Grid).cursor == 0)
        await operator.press("down", "down")
        await operator.until(lambda: place.query_one(Grid).cursor == 2)
        place.action_explore()
        await operator.press("enter")
        await operator.until(lambda: len(backend.called("explore_scan")) == 3)
        await operator.until(lambda: [*place.query(Grid)] and place.query_one(Grid).cursor == 2)


async def test_the_cursor_stays_on_its_version_when_another_program_commits(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        place = await open_orders(operator)
        place.action_view("versions")
        await operator.sees("OPTIMIZE")
        place.page.focus_page()
        await operator.press("down")
        await operator.until(lambda: place.query_one(Grid).cursor == 1)
        newest = backend.versions[0]
        backend.versions.insert(0, newest.model_copy(update={"version": 42}))
        backend.table_update, before = {"version": 42}, place.page.page.table
        place.look_for_changes()
        assert (await another_table(operator, place, before)).cursor == 2
        await operator.sees("v42", "OPTIMIZE")
        await operator.press("enter")
        await operator.sees("100 rows as of version 40")


def test_a_row_is_found_again_by_what_it_is_about(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number is of another row by now, and its cells may say something else."""
    detail, shown = samples.a_detail("sales.orders"), Shown("sales.orders")
    before = files_page(backend, shown, detail).table
    files = samples.some_files()
    marked = files[7].model_copy(update={"deletion_vector_rows": 5})
    new = files[0].model_copy(update={"path": "new.parquet"})
    monkeypatch.setattr(backend, "table_files", lambda *_: [new, *files[:7], marked])
    after = files_page(backend, shown, detail.model_copy(update={"version": 42})).table
    assert [row_again(after, before, at) for at in (7, 0, 30)] == [8, 1, 0]


def test_a_row_without_a_name_is_found_again_by_its_cells() -> None:
    def of(*cells: str) -> Table:
        return Table([Shows("a")], [(cell,) for cell in cells])

    rows = of("x", "y", "y", "z")
    assert [row_again(of("n", "y", "y", "x"), rows, at) for at in range(4)] == [3, 1, 2, 0]
    # behind the last: those that are fetched now
    assert row_again(of("x", "y", "y", "z", "n"), rows, 4) == 4


async def test_rows_of_a_version_are_told_in_the_title_until_a_refresh_shows_those_of_now(backend: FakeBackend) -> None:
    title = "sales.orders · rows as of v40 · r shows those of now"
    async with console(backend) as operator:
        place = await open_orders(operator)
        place.open_table("sales.orders", 40)
        await operator.sees(title, "100 rows as of version 40")
        place.action_view("versions")
        await operator.sees("sales.orders · v41 · 40 files")
        place.action_view("rows")
        await operator.sees(title, "100 rows as of version 40")
        await operator.press("r")
        await operator.sees("sales.orders · v41 · 40 files", "100 rows; there are more.")
        assert [call[2] for call in backend.called("table_rows")] == [40, 41]


@pytest.mark.parametrize("rows", [7, 100])
async def test_more_rows_are_offered_only_where_there_are_more(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    few = samples.some_rows(rows).model_copy(update={"more": False})
    monkeypatch.setattr(backend, "table_rows", lambda *_: few)
    async with console(backend) as operator:
        place = await open_orders(operator)
        place.action_view("rows")
        await operator.sees(f"{rows} rows; that is all.")
        assert "more rows" not in operator.keys


@pytest.mark.parametrize("typed", ["{home}", "{home}/", "~", "~/", ".", "file:{home}"])
def test_a_table_is_named_within_its_directory_however_that_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    directory = typed.format(home=tmp_path)
    assert name_in(f"{tmp_path}/sub/feed 2", directory) == "sub/feed 2"
    assert name_in(str(tmp_path), directory) == ""
