"""A path that is typed may be anything: what cannot be looked at is a complaint in the dialog, and ends nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from textual.widgets import Input

from console.dialogs.path import PathDialog
from console.places.merge.merge import MergePlace
from console.places.merge.sql_files import ask_for_file
from console.places.statement.export import ask_where_to_export
from console.places.statement.save_plan import ask_where_to_save
from console.widgets.page import Column, Table
from tests.console import samples
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend

TOO_LONG = "x" * 300
ASKS: dict[str, Callable[[MergePlace], None]] = {
    "json": partial(ask_where_to_save, plan=samples.a_plan()),
    "csv": partial(ask_where_to_export, table=Table([Column("a")], [("1",)]), name="rows"),
    "sql": ask_for_file,
}


@pytest.mark.parametrize("ending", ASKS)
async def test_what_cannot_be_looked_at_is_a_complaint(backend: FakeBackend, ending: str) -> None:
    async with console(backend) as operator:
        await operator.press("2")
        await operator.sees("Preview")
        ASKS[ending](operator.merge)
        await operator.until(lambda: isinstance(operator.app.screen, PathDialog))
        typed = operator.app.screen.query_one(Input)
        for path, complaint in {
            f"~nosuchuser/x.{ending}": "There is no",
            f"{TOO_LONG}.{ending}": "File name too long. Name another place.",
        }.items():
            typed.value = path
            await operator.press("enter")
            await operator.sees(complaint)
        typed.value = str(backend.home / f"x.{ending}")
        (backend.home / f"x.{ending}").write_text("there")
        await operator.press("enter", "ctrl+y")
        await operator.until(lambda: not isinstance(operator.app.screen, PathDialog))


@pytest.mark.parametrize("ending", ["json", "csv"])
async def test_a_file_is_replaced_only_after_it_was_asked_whether_to(backend: FakeBackend, ending: str) -> None:
    files = [backend.home / f"{name}.{ending}" for name in "xy"]
    async with console(backend) as operator:
        await operator.press("2")
        await operator.sees("Preview")
        ASKS[ending](operator.merge)
        await operator.until(lambda: isinstance(operator.app.screen, PathDialog))
        dialog = operator.app.screen
        for path in files:
            path.write_text("there")
            dialog.query_one(Input).value = str(path)
            await operator.misses("It exists already")
            await operator.press("ctrl+y")
            assert operator.app.screen is dialog
            await operator.press("enter")
            await operator.sees("It exists already: ctrl+y overwrites it.")
        await operator.press("ctrl+y")
        await operator.until(lambda: operator.app.screen is operator.merge)
        await operator.until(lambda: files[1].read_text() != "there")
        assert files[0].read_text() == "there"
