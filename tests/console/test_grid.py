"""The table widget: any number of rows, of which only those in sight are formatted."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from console.widgets.grid import MEASURED, Grid, _is_cut
from console.widgets.page import Column, LazyRows, Row, Table, order_again, order_of

MANY = 100_000


class OneGrid(App[None]):
    def __init__(self, table: Table) -> None:
        super().__init__()
        self.table = table
        self.seen: list[int] = []
        self.opened: list[int] = []
        self.spark_starts = 0

    def compose(self) -> ComposeResult:
        yield Grid(self.table, width=58)

    def on_grid_row_highlighted(self, event: Grid.RowHighlighted) -> None:
        self.seen.append(event.row)

    def on_grid_row_selected(self, event: Grid.RowSelected) -> None:
        self.opened.append(event.row)

    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.screen._compositor.render_strips()]


async def test_of_a_hundred_thousand_rows_only_some_are_ever_formatted() -> None:
    made: list[int] = []

    def row(number: int) -> Row:
        made.append(number)
        return (f"file-{number}", str(number))

    app = OneGrid(Table([Column("file", fit="file"), Column("n", align="right")], LazyRows(range(MANY), row)))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("end")
        await pilot.pause()
        assert app.lines()[-1].split() == ["file-99999", "99999"]
        await pilot.press("home", "pagedown", "down", "enter")
        await pilot.pause()
        assert app.opened == [12]
        assert app.seen[-1] == 12
        # opening, and the two screens that were seen
        assert len(made) < 2 * MEASURED


async def test_a_number_that_is_wider_than_those_measured_is_shown_in_full_when_it_comes_in_sight() -> None:
    wide = "123,456,789,012"
    rows = LazyRows(range(MANY), lambda number: ("a", wide if number == MANY - 1 else "1"))
    app = OneGrid(Table([Column("name", fit="end"), Column("n", align="right")], rows))
    async with app.run_test(size=(60, 12)) as pilot:
        assert wide not in "\n".join(app.lines())
        await pilot.press("end")
        await pilot.pause()
        await pilot.pause()
        assert wide in app.lines()[-1]


async def test_two_hundred_columns_scroll_sideways() -> None:
    columns = [Column(f"column_{number}") for number in range(200)]
    app = OneGrid(Table(columns, [tuple(f"value {number}" for number in range(200))]))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press(*["right"] * 4)
        await pilot.pause()
        assert "column_0 " not in app.lines()[0]
        assert app.lines()[0].index("column_5") == app.lines()[1].index("value 5")


async def test_wide_characters_and_null_keep_their_columns() -> None:
    rows = [("日本", "1"), (None, "22"), ("abcdef", "333")]
    app = OneGrid(Table([Column("name"), Column("n", align="right")], rows))
    async with app.run_test(size=(60, 12)):
        lines = app.screen._compositor.render_strips()[1:4]
        assert [line.text.split()[0] for line in lines] == ["日本", "NULL", "abcdef"]
        # the numbers end in the same cell, whatever stands before them
        assert len({line.cell_length - (len(line.text) - len(line.text.rstrip())) for line in lines}) == 1


SIZES = [("b.parquet", "1.2 GB", "7"), ("a.parquet", "900 B", None), ("c.parquet", "23 kB", "1,204")]
BYTES = (1_200_000_000, 900, 23_000)


def sizes() -> OneGrid:
    columns = [
        Column("file", fit="file"),
        Column("size", align="right", value=BYTES.__getitem__),
        Column("rows", align="right"),
    ]
    return OneGrid(Table(columns, SIZES))


async def first_cells(app: OneGrid, pilot: Pilot[None]) -> list[str]:
    grid = app.query_one(Grid)
    while grid.is_asking("sort"):
        await pilot.pause(0.01)
    await pilot.pause()
    return [line.split()[0] for line in app.lines()[1:4]]


async def test_a_key_sorts_by_the_next_column_and_past_the_last_the_rows_are_as_they_came() -> None:
    app = sizes()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("greater_than_sign")
        assert await first_cells(app, pilot) == ["a.parquet", "b.parquet", "c.parquet"]
        assert "file▲" in app.lines()[0]
        # by what a size means, not by how it is written, the greatest first
        await pilot.press("greater_than_sign")
        assert await first_cells(app, pilot) == ["b.parquet", "c.parquet", "a.parquet"]
        await pilot.press("S")
        assert await first_cells(app, pilot) == ["a.parquet", "c.parquet", "b.parquet"]
        # a number in words of its own is one; NULL is last either way
        await pilot.press("greater_than_sign")
        assert await first_cells(app, pilot) == ["c.parquet", "b.parquet", "a.parquet"]
        await pilot.press("S")
        assert await first_cells(app, pilot) == ["b.parquet", "c.parquet", "a.parquet"]
        await pilot.press("greater_than_sign")
        assert await first_cells(app, pilot) == ["b.parquet", "a.parquet", "c.parquet"]
        assert not set("▲▼") & set(app.lines()[0])


async def test_a_click_on_a_column_sorts_by_it_and_another_the_other_way() -> None:
    app = sizes()
    async with app.run_test(size=(60, 12)) as pilot:
        at = app.lines()[0].index("size")
        await pilot.click(Grid, offset=(at, 0))
        assert await first_cells(app, pilot) == ["b.parquet", "c.parquet", "a.parquet"]
        await pilot.click(Grid, offset=(at, 0))
        assert await first_cells(app, pilot) == ["a.parquet", "c.parquet", "b.parquet"]


async def test_who_asks_for_a_row_of_a_sorted_table_hears_its_number_in_the_table() -> None:
    app = sizes()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("greater_than_sign")
        await first_cells(app, pilot)
        assert app.seen[-1] == 1
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.opened == [0]
        app.query_one(Grid).show_row(2)
        await pilot.pause()
        assert app.seen[-1] == 2
        assert app.query_one(Grid).cursor == 2


async def test_a_hundred_thousand_rows_are_sorted_while_the_console_stays_awake() -> None:
    rows = LazyRows(range(MANY), lambda number: (f"file-{number * 7919 % MANY}", str(number)))
    app = OneGrid(Table([Column("file"), Column("n", align="right")], rows))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("greater_than_sign", "down", "down")
        # the cursor moved before the rows were in order
        assert app.query_one(Grid).cursor == 2 or app.query_one(Grid).order is not None
        assert await first_cells(app, pilot) == ["file-0", "file-1", "file-10"]


async def test_columns_that_stay_are_in_sight_however_far_the_others_are_scrolled() -> None:
    columns = [Column("key"), *(Column(f"column_{number}") for number in range(20))]
    table = Table(columns, [("k1", *(f"value {number}" for number in range(20)))], still=1)
    app = OneGrid(table)
    async with app.run_test(size=(60, 12)) as pilot:
        grid = app.query_one(Grid)
        for _ in range(9):
            await pilot.press("right")
        await pilot.pause()
        header, row = app.lines()[:2]
        assert (header.split()[0], row.split()[0]) == ("key", "k1")
        assert "column_0" not in header
        assert "column_8" in header
        assert [grid._column_at(x) for x in (0, 4)] == [0, 0]
        assert grid._column_at(header.index("column_8")) == 9


async def test_columns_that_would_take_the_whole_width_do_not_stay() -> None:
    table = Table([Column("a key of fifty letters, and more, to see"), Column("b" * 40)], [("1", "2")], still=1)
    app = OneGrid(table)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("right", "right", "right", "right")
        await pilot.pause()
        assert "a key" not in app.lines()[0]


async def test_a_cell_is_shortened_only_where_the_table_is_wider_than_its_room() -> None:
    def table(width: int) -> Table:
        day = Column("day", short=lambda cell: cell.removeprefix("2026-"))
        return Table([day, Column("name")], [("2026-11-20", "x" * width)])

    for width, shown in ((40, "2026-11-20"), (50, "11-20")):
        async with OneGrid(table(width)).run_test(size=(60, 12)) as pilot:
            assert pilot.app.lines()[1].split()[0] == shown  # type: ignore[attr-defined]


async def test_a_column_that_asks_for_less_than_its_share_leaves_the_rest_to_the_others() -> None:
    table = Table([Column("a", fit="end"), Column("b", fit="end")], [("short", "x" * 45)])
    app = OneGrid(table)
    async with app.run_test(size=(60, 12)):
        assert "x" * 45 in app.lines()[1]


async def test_a_text_that_the_edge_cuts_has_a_mark_there() -> None:
    columns = [Column("id"), Column("bounds", beyond=True), Column("note", beyond=True)]
    app = OneGrid(Table(columns, [("12", "10.00 to 1498.50", "x" * 40)], still=1))
    async with app.run_test(size=(16, 12)) as pilot:
        assert app.lines()[1] == " 12  10.00 to 1…"
        await pilot.press("right")
        await pilot.pause()
        assert app.lines()[1] == " 12 … 1498.50  …"


@pytest.mark.parametrize(
    ("text", "at", "cut"),
    [
        (" 12  34 ", 4, False),
        (" 12  34 ", 2, True),
        (" 日本語 ", 1, False),
        (" 日本語 ", 2, True),
        (" 日本語 ", 3, True),
        ("12", 2, False),
        ("12", 9, False),
    ],
)
def test_an_edge_cuts_where_it_goes_through_a_word(text: str, at: int, cut: bool) -> None:
    assert _is_cut(text, at) is cut


async def test_null_is_told_from_a_text_that_reads_null_without_its_style() -> None:
    app = OneGrid(Table([Column("name")], [(None,), ("NULL",), ("'NULL'",)]))
    async with app.run_test(size=(60, 12)):
        assert [line.strip() for line in app.lines()[1:4]] == ["NULL", "'NULL'", "''NULL''"]


async def test_a_name_of_wide_characters_is_cut_with_an_ellipsis() -> None:
    app = OneGrid(Table([Column("file", fit="file"), Column("note", fit="end")], [("表" * 30, "行" * 30)]))
    async with app.run_test(size=(60, 12)):
        assert app.lines()[1].count("…") == 2


def test_whole_numbers_of_any_length_are_in_order() -> None:
    numbers = ["1745000000000000003", "1745000000000000001", "1745000000000000002", "NaN", "1,204", None]
    table = Table([Column("id")], [(one,) for one in numbers])
    assert order_of(table, 0, descending=False).rows == [4, 1, 2, 0, 3, 5]


def test_an_order_is_found_again_by_the_name_of_its_column() -> None:
    order = order_of(Table([Column("a"), Column("b")], [("1", "2"), ("2", "1")]), 1, descending=True)
    moved = Table([Column("b"), Column("a")], [("1", "5"), ("3", "4")])
    again = order_again(moved, order)
    assert again is not None
    assert (again.column, again.rows) == (0, [1, 0])
    assert order_again(Table([Column("a")], [("1",)]), order) is None
