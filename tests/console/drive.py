"""Drives the console as an operator does: keys in, what is on the screen out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from textual._compositor import Compositor, visible_screen_stack
from textual.pilot import Pilot

from console.app import DeltaMergeApp
from console.dialogs.help import HelpDialog
from console.places.create.create import CreatePlace
from console.places.merge.merge import MergePlace
from tests.console.fake_backend import FakeBackend

PATIENCE_SECONDS = 8.0
ORDERS = ("down", "down", "down", "down")
"""From the first entry of the tree to sales.orders."""


class Operator:
    """One console under test."""

    def __init__(self, pilot: Pilot[None], app: DeltaMergeApp) -> None:
        self.pilot = pilot
        self.app = app

    @property
    def screen(self) -> str:
        """All text on the screen, line by line: what a person can read there."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def first_line(self) -> str:
        return self.screen.splitlines()[0]

    @property
    def keys(self) -> str:
        """The line of keys at the bottom."""
        return self.screen.splitlines()[-1]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait for the answer of a thread: never a fixed time, so that a busy machine changes nothing."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain{f' for {what!r}' if what else ''}:\n{self.screen}")
            await asyncio.sleep(0.01)
        await self.pilot.pause()

    async def sees(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""
        for text in texts:
            await self.until(lambda text=text: self._shows(text), text)  # type: ignore[misc]

    def _shows(self, text: str) -> bool:
        screen = self.screen
        # a sentence may wrap
        return text in screen or text in " ".join(screen.split())

    async def misses(self, text: str) -> None:
        """Wait until this is gone from the screen."""
        await self.until(lambda: text not in self.screen, f"no {text}")

    async def warm(self) -> None:
        """Wait until Spark is up."""
        await self.until(lambda: self.app.status.spark == "warm", "a warm Spark")

    # The Merge place

    @property
    def merge(self) -> MergePlace:
        place = self.app.screen_stack[0]
        assert isinstance(place, MergePlace)
        return place

    @property
    def create(self) -> CreatePlace:
        place = self.app.screen_stack[0]
        assert isinstance(place, CreatePlace)
        return place

    async def write(self, sql: str) -> None:
        """Go to the Merge place and put a statement into the editor."""
        await self.press("2")
        await self.sees("Preview")
        self.merge.editor.replace_all(sql)
        self.merge.editor.focus()
        await self.pilot.pause()

    async def help(self, key: str = "f1") -> HelpDialog:
        """Ask for help on what has the focus."""
        await self.press(key)
        await self.until(lambda: isinstance(self.app.screen, HelpDialog))
        dialog = self.app.screen
        assert isinstance(dialog, HelpDialog)
        return dialog

    async def plan(self, sql: str) -> None:
        """From wherever one is to the preview of this statement."""
        await self.warm()
        await self.write(sql)
        await self.press("ctrl+r")
        await self.until(lambda: self.merge.view == "preview", "the preview")
        await self.sees("Decision")

    async def commit(self) -> None:
        """Confirm the commit of the plan that is shown."""
        await self.press("c")
        await self.sees("Commit plan")
        await self.press("ctrl+y")

    async def begin_to_commit(self, sql: str) -> None:
        """To the middle of the commit of this statement: the backend holds that."""
        await self.plan(sql)
        await self.commit()
        await self.sees("5 of 10 tasks")

    async def plan_again_and_wait(self, backend: FakeBackend, sql: str) -> None:
        """To the preview of this statement, which is being planned again: ``backend`` holds that."""
        await self.plan(sql)
        backend.hold("plan")
        await self.press("r")
        await self.until(lambda: len(backend.called("plan")) == 2)


class Clock:
    """What dialogs wait by: at each look a second has gone by, unless it stands."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.stands = False

    def __call__(self) -> float:
        self.seconds += 0.0 if self.stands else 1.0
        return self.seconds


@contextmanager
def unpainted() -> Iterator[None]:
    """Without a terminal each frame is painted and thrown away, a quarter of the time of these tests: they read the
    screen itself. What a terminal gets is looked at in tests/end_to_end."""
    paint = Compositor.render_update

    def forget(self: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> Any:
        # a dialog shows what is behind it as it was painted last
        if full or screen_stack:
            return paint(self, full, screen_stack, simplify)
        visible_screen_stack.set([])
        self._dirty_regions.clear()
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", forget)
        yield


@asynccontextmanager
async def console(backend: FakeBackend, size: tuple[int, int] = (80, 24), **options: object) -> AsyncIterator[Operator]:
    """A console on the backend, open until the block ends."""
    app = DeltaMergeApp(backend, home=backend.home, **options)  # type: ignore[arg-type]
    app.clock = Clock()
    with unpainted():
        async with app.run_test(size=size, notifications=True) as pilot:
            yield Operator(pilot, app)
