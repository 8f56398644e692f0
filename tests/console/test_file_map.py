"""The map of files: a letter and a colour for each file, in step with the table below it."""

from __future__ import annotations

from textual.app import App, ComposeResult

from console.places.statement.file_classes import by_share, by_size, by_touch
from console.widgets.file_map import FileMapView
from console.widgets.page import FileMap
from engine.model.scan import TouchedFile
from tests.console import samples
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def open_files(operator: Operator) -> None:
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "enter")
    await operator.sees("bigint")
    await operator.press(*["left_square_bracket"] * 4)
    await operator.sees("part-00000")


async def test_every_file_of_a_table_is_a_letter_with_its_meaning_below(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await open_files(operator)
        await operator.sees("m" * 40, "size: m under 128 MB 40")
        await operator.press("shift+tab", "b")
        await operator.sees("n" * 40, "age: n in the newest hour 40")


async def test_the_cursor_of_the_map_and_that_of_the_table_go_together(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await open_files(operator)
        files = operator.app.screen.query_one(FileMapView)
        await operator.press("down", "down")
        await operator.until(lambda: files.cursor == 2)
        await operator.press("shift+tab", "end", "enter")
        # the row in full, of the last file
        await operator.sees("part-00039-6f1c9b1e", "434,039")


async def test_a_preview_maps_what_happens_to_each_file(backend: FakeBackend) -> None:
    plan = samples.a_plan()
    few = plan.find_touched_files.files
    files = tuple(
        few[0].model_copy(update={"path": f"part-{n}", "updated": n % 2, "deleted": n % 3 and 1}) for n in range(12)
    )
    backend.plans = [samples.a_plan(find_touched_files=plan.find_touched_files.model_copy(update={"files": files}))]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("cbdudbcbdudb", "touch: u updated 2   d deleted 4   b both 4   c only copied 2")
        await operator.press("shift+tab", "b")
        await operator.sees("change: 1 under 1 % of rows 12")


def a_file(rows: int, updated: int, deleted: int) -> TouchedFile:
    copied = rows - updated - deleted
    return TouchedFile(
        path="p", bytes=1, rows=rows, matched=updated + deleted, updated=updated, deleted=deleted, copied=copied
    )


def test_the_classes_have_no_gap_and_no_overlap() -> None:
    sizes = [0, 999_999, 1_000_000, 15_999_999, 16_000_000, 127_999_999, 128_000_000, 999_999_999, 10**9, 10**15]
    assert [by_size(sizes).class_of(at) for at in range(10)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    shares = [a_file(1000, 0, 0), a_file(1000, 9, 0), a_file(1000, 5, 5), a_file(1000, 99, 400), a_file(10, 5, 0)]
    assert [by_share(shares).class_of(at) for at in range(5)] == [0, 0, 1, 2, 3]
    assert by_share([a_file(10, 10, 0), a_file(0, 0, 0)]).class_of(0) == 3
    touched = [a_file(9, 1, 0), a_file(9, 0, 1), a_file(9, 1, 1), a_file(9, 0, 0)]
    assert [by_touch(touched, vectors=False).class_of(at) for at in range(4)] == [0, 1, 2, 3]
    assert by_touch(touched, vectors=True).classes[3] == ("r", "only read")


async def test_of_a_hundred_thousand_files_only_the_lines_in_sight_are_drawn() -> None:
    class OneMap(App[None]):
        def compose(self) -> ComposeResult:
            yield FileMapView(FileMap(100_000, [by_size(range(100_000))]))

    app = OneMap()
    async with app.run_test(size=(80, 24)) as pilot:
        drawn: list[int] = []
        view = app.query_one(FileMapView)
        render = view.render_line
        view.render_line = lambda y: drawn.append(y) or render(y)  # type: ignore[method-assign,func-returns-value]
        await pilot.press("end")
        await pilot.pause()
        assert view.cursor == 99_999
        assert drawn
        assert max(drawn) < 24
