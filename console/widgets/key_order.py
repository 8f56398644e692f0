"""One key after the other: what a key does is done before the next one is looked at."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App
from textual.dom import DOMNode
from textual.events import Event, Key
from textual.screen import Screen
from textual.widgets import Input, TextArea

from console.widgets.text_keys import edits_in_order

Deliver = Callable[[Event], Awaitable[None]]

PATIENCE_SECONDS = 3.0
"""How long the next key waits at most, if what the last one asked for never settles."""


def read_alt_digits_as_keys() -> None:
    """Textual takes ESC 2, which is alt+2 in every terminal, for a ™ that was typed."""
    sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in range(10):
        sequences.pop(f"\x1b{digit}", None)


class KeyOrder:
    """The keys of an app.

    Textual hands a key to what has the focus and goes on to the next key; what the first one does (move the focus,
    open a dialog, go to another place) comes later. Typed quickly, ``/orders`` would run the command ``o`` instead of
    filtering for it.
    """

    def __init__(self, app: App[None]) -> None:
        read_alt_digits_as_keys()
        self._app = app
        self._waiting: deque[tuple[Key, list[Screen[object]]]] = deque()
        """Each with the screens that were there when it was pressed."""
        self._press = 0
        """The number of the key that settles, or did last."""
        self._is_settling = False

    async def press(self, event: Key, deliver: Deliver) -> None:
        """Hand a key on with ``deliver``, now or as soon as the keys before it have settled."""
        self._waiting.append((event, list(self._app.screen_stack)))
        if not self._is_settling:
            await self._deliver_waiting(deliver)
        elif len(self._waiting) == 1:
            self._lose_patience_later(deliver)

    def _lose_patience_later(self, deliver: Deliver) -> None:
        self._app.set_timer(PATIENCE_SECONDS, partial(self._settled, self._press, deliver))

    async def _deliver_waiting(self, deliver: Deliver) -> None:
        while self._waiting and not self._is_settling:
            event, were_there = self._waiting.popleft()
            screen = self._app.screen
            # a dialog that is to be read takes no key that was pressed before it came
            if screen in were_there or not getattr(screen, "must_be_read", False):
                await self._deliver(event, deliver)
        if self._waiting:
            self._lose_patience_later(deliver)

    async def _deliver(self, event: Key, deliver: Deliver) -> None:
        app = self._app
        if event.key.startswith("alt+"):
            # some terminals send a letter with it, which nobody typed
            event.character = None
        if edits_in_order(app, event):
            return
        target: DOMNode = app.focused or app.screen
        if isinstance(target, Input | TextArea) and event.is_printable:
            await deliver(event)  # letters wait in the queue of the text
            return
        self._press += 1
        self._is_settling = True
        await deliver(event)
        # the key goes up from the focus to the app, through a queue each; a place that it opens has one too
        self._follow([*target.ancestors_with_self, app, None, app], partial(self._settled, self._press, deliver))

    def _follow(self, way: list[DOMNode | None], then: Callable[[], Awaitable[None]]) -> None:
        if not way:
            self._app.call_later(then)
            return
        node, rest = way[0] or self._app.screen, way[1:]
        if not node.call_later(self._follow, rest, then):
            self._follow(rest, then)

    async def _settled(self, press: int, deliver: Deliver) -> None:
        if self._is_settling and self._press == press:
            self._is_settling = False
            await self._deliver_waiting(deliver)
