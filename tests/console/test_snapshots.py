"""What each place looks like. After a change on purpose: ``pytest tests/console/test_snapshots.py --snapshot-update``.

Nothing in a picture depends on the machine: fixed times, a fixed home, no cursor that blinks.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from textual.pilot import Pilot

from console.app import DeltaMergeApp
from tests.console import samples
from tests.console.drive import ORDERS, Clock, Operator
from tests.console.fake_backend import FakeBackend

Scene = Callable[[Operator], Awaitable[None]]
NOW = datetime(2026, 11, 20, 12, 6, 0, tzinfo=timezone.utc)
SMALL, LARGE = (80, 24), (120, 36)


class FixedClock(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> FixedClock:  # type: ignore[override]
        return cls(*NOW.timetuple()[:6], tzinfo=tz or timezone.utc)


async def tables(operator: Operator) -> None:
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "enter")
    await operator.sees("decimal(12,2)")


async def error(operator: Operator) -> None:
    await operator.write(samples.MERGE_SQL.replace("orders_feed", "nowhere"))
    await operator.sees("F8 goes there")


async def preview(operator: Operator) -> None:
    await operator.plan(samples.MERGE_SQL)
    await operator.sees("434,088")


async def refused(operator: Operator) -> None:
    operator.app.backend.plans = [samples.a_refused_plan()]  # type: ignore[attr-defined]
    await operator.plan(samples.MERGE_SQL)
    await operator.sees("source rows")


async def commit(operator: Operator) -> None:
    operator.app.backend.plans = [samples.a_warned_plan()]  # type: ignore[attr-defined]
    await operator.plan(samples.MERGE_SQL)
    await operator.until(lambda: operator.merge.projection)
    await operator.press("c")
    await operator.sees("not accepted yet")


async def outcome(operator: Operator) -> None:
    await preview(operator)
    await operator.until(lambda: operator.merge.projection)
    await operator.commit()
    await operator.sees("kept its promise", "numSourceRows")


async def merge_form(operator: Operator) -> None:
    await operator.write(samples.MERGE_SQL.replace("orders_feed", "(SELECT *\n       FROM sales.orders_feed)"))
    await operator.sees("Spark accepts it")
    await operator.press("ctrl+t", "escape", "down")
    await operator.sees("source would be", "3  not matched")


async def clause(operator: Operator) -> None:
    await merge_form(operator)
    await operator.press("enter")
    await operator.sees("all columns")
    await operator.press("tab", "space", "tab", "tab", "space")
    await operator.sees("s.order_date ")


async def history(operator: Operator) -> None:
    await operator.press("3")
    await operator.sees("DEVIATED", "numTargetRowsUpdated")


async def create(operator: Operator) -> None:
    await operator.sees("orders_feed")
    await operator.press(*ORDERS, "n")
    await operator.sees("sales.orders_like", "Spark accepts it", "AS year")


async def create_preview(operator: Operator) -> None:
    await create(operator)
    await operator.press("ctrl+r")
    await operator.sees("replaces the table", "delta.logRetentionDuration")


async def explorer(operator: Operator) -> None:
    await tables(operator)
    await operator.press("e", *"amount > 100", "enter")
    await operator.sees("kept 3", "order_date = ")


async def session(operator: Operator) -> None:
    await operator.press("5")
    await operator.sees("21.0.8")


async def log(operator: Operator) -> None:
    await operator.press("6")
    await operator.sees("Spark is up")


async def lost(operator: Operator) -> None:
    await error(operator)
    operator.app.backend.die()  # type: ignore[attr-defined]
    operator.app._check_alive()
    await operator.press("escape")
    await operator.sees("F9 restart Spark")


async def help_(operator: Operator) -> None:
    await operator.press("question_mark")
    await operator.sees("Keys of what has the focus")


PLACES: tuple[Scene, ...] = (tables, merge_form, preview, history, create, create_preview, explorer, session, log)
OTHERS: tuple[Scene, ...] = (error, clause, refused, commit, outcome, lost, help_)
PICTURES = [
    *(pytest.param(scene, size, "merge-dark", id=f"{scene.__name__}-{size[0]}x{size[1]}")
      for scene in PLACES for size in (SMALL, LARGE)),
    *(pytest.param(scene, SMALL, "merge-dark", id=f"{scene.__name__.strip('_')}-80x24") for scene in OTHERS),
    pytest.param(preview, LARGE, "merge-light", id="preview-120x36-light"),
]  # fmt: skip


def test_the_pictures_of_the_readme_are_among_these() -> None:
    root = Path(__file__).parents[2]
    shown = [Path(unquote(link)) for link in re.findall(r"\]\(([^)]+\.svg)\)", (root / "README.md").read_text())]
    drawn = {f"test_picture[{picture.id}].svg" for picture in PICTURES}
    assert len(shown) == 5
    for picture in shown:
        assert (root / picture).is_file()
        assert picture.name in drawn


@pytest.mark.parametrize(("scene", "size", "theme"), PICTURES)
def test_picture(
    snap_compare: Callable[..., bool],
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    scene: Scene,
    size: tuple[int, int],
    theme: str,
) -> None:
    monkeypatch.setattr("console.app.datetime", FixedClock)
    Path(backend.home, "settings.toml").write_text(f'theme = "{theme}"\n')
    app = DeltaMergeApp(backend, home=backend.home)
    app.clock = Clock()
    app.animation_level = "none"

    async def play(pilot: Pilot[None]) -> None:
        operator = Operator(pilot, app)
        await operator.warm()
        await scene(operator)
        for widget in app.screen.query("Input, TextArea"):
            widget.cursor_blink = False  # type: ignore[attr-defined]
        await operator.until(
            lambda: not any(place._tickets for place in app.open_places() if hasattr(place, "_tickets"))
        )
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)
