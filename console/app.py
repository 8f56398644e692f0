"""The console: what all places share. Only Textual is imported before the first frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.events import Event, InputEvent, Key
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.signal import Signal
from typing_extensions import override

from console import garbage
from console.app_keys import KEYS
from console.commands import all_commands, bindings_of, commands_in_order
from console.drafts import OwnDrafts
from console.settings import load_settings
from console.spark_app import HEARTBEAT_SECONDS, LEDGER_SECONDS, SparkApp
from console.specs import PLACES
from console.status import LogLine, Status
from console.themes import load_themes, theme_named
from console.told_to_end import when_told_to_end
from console.widgets.key_order import KeyOrder
from console.widgets.keys import key_name
from console.widgets.scrollbars import draw_scroll_bars
from console.words.glyphs import ASCII, UNICODE, locale_speaks_utf8
from console.words.visible import visible
from console.work import Failed

if TYPE_CHECKING:
    from console.backend import Backend
    from console.places.place import Place
    from console.shell import Shell
    from engine.model.operation import Operation

FIRST_FRAME_SECONDS = 0.05
REST_SECONDS = 2.0
LOG_LINES = 2000


def merge_mode(number: int) -> str:
    """The mode of a merge: number 1 is the Merge place itself."""
    return "merge" if number == 1 else f"merge-{number}"


class DeltaMergeApp(SparkApp):
    """Plan/apply for Delta Lake MERGE, in the terminal."""

    TITLE = "deltamerge"
    # the first place's own sheet is read with ours: one parse of all styles before the first frame
    CSS_PATH = ["app.tcss", "places/tables/tables.tcss"]  # noqa: RUF012
    MODES = {spec.name: spec.make for spec in PLACES}  # noqa: RUF012
    DEFAULT_MODE = "tables"
    SUSPENDED_SCREEN_CLASS = "-suspended"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    COMMANDS = {commands_in_order}  # noqa: RUF012

    def __init__(
        self,
        backend: Backend,
        *,
        home: Path,
        initial: str | None = None,
        ascii: bool = False,
        open_sql: str | None = None,
        profile: str = "",
        production: bool = False,
    ) -> None:
        super().__init__(
            backend,
            Status(
                backend.endpoint,
                profile,
                production=production,
                narration="Spark is starting; browsing history works already.",
            ),
        )
        self.home = home
        self.open_sql = open_sql
        self.log_lines: deque[LogLine] = deque(maxlen=LOG_LINES)
        self.log_signal: Signal[LogLine] = Signal(self, "log")
        self.tabs = [(spec.name, spec.key, spec.label) for spec in PLACES]
        self.drafts = OwnDrafts(home)
        left_open = list(self.drafts.left_open("merge"))
        self.merges: dict[int, str] = dict.fromkeys(left_open or [self.drafts.free("merge")], "")
        """The open merges by number, and the table each goes into, if it is known."""
        self.merges_signal: Signal[int] = Signal(self, "merges")
        self.recent: list[Operation] = []
        """The newest operations, as far as the palette has asked for them."""
        self._merge = min(self.merges)
        self._last_input = monotonic()
        self._key_order = KeyOrder(self)
        self._initial = initial or ("merge" if open_sql else "tables")

        settings = load_settings(home)
        self.plain = ascii or (settings.ascii if settings.ascii is not None else not locale_speaks_utf8())
        self.glyphs = ASCII if self.plain else UNICODE
        draw_scroll_bars(plain=self.plain)
        themes, complaints = load_themes(home)
        for theme in themes:
            self.register_theme(theme)
        wanted, unknown = theme_named(settings.theme, themes)
        self._start_notices = [*settings.notices, *complaints.values(), *unknown]
        if wanted in self.available_themes:
            # without notifying watchers: nothing is drawn yet
            self.set_reactive(App.theme, wanted)
        self._wanted_keys = settings.keys
        self.keymap: Mapping[str, str] = {}
        """The keys that the operator chose, by the id of their binding."""

    def on_mount(self) -> None:
        self.set_class(self.plain, "-ascii")
        for number in self.merges.keys() - {1}:
            self._open_merge(number)
        if self._initial != self.DEFAULT_MODE and self._initial in self.MODES:
            self.go_to(self._initial)
        self.record(f"The console opened on {self.backend.endpoint}.")
        self._warn(self._start_notices)
        if self._wanted_keys:
            self.call_after_refresh(self._use_keymap)
        # the first frame is on screen before anything of Spark is even imported: a thread that
        # imports would take the interpreter from the one that draws
        self.set_timer(FIRST_FRAME_SECONDS, self._connect)
        self.set_interval(HEARTBEAT_SECONDS, self._check_alive)
        self.set_interval(1.0, self._tell_of_the_store)
        self.set_interval(LEDGER_SECONDS, self._watch_the_ledger)
        if not self.is_headless:
            when_told_to_end(partial(self._quit_confirmed, True))
        garbage.by_hand()
        self.set_interval(REST_SECONDS, self._collect_garbage)

    @override
    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent):
            self._last_input = monotonic()
        if isinstance(event, Key) and not event.is_forwarded:
            await self._key_order.press(event, super().on_event)
        else:
            await super().on_event(event)

    def _collect_garbage(self) -> None:
        if monotonic() - self._last_input >= REST_SECONDS:
            garbage.collect_if_due()

    def _warn(self, notices: Iterable[str]) -> None:
        for notice in notices:
            self.record(notice, "warning")
            self.notify(notice, severity="warning", timeout=10)

    def _use_keymap(self) -> None:
        # this imports every place: only if keys were chosen, and after the first frame
        from console.keymap import checked_keymap

        self.keymap, complaints = checked_keymap(self._wanted_keys)
        self.set_keymap(dict(self.keymap))
        self._warn(complaints)

    @override
    def action_change_theme(self) -> None:
        from console.dialogs.theme import ThemeDialog

        before = self.theme

        def chosen(name: str | None) -> None:
            self.theme = name or before
            if name is not None:
                self.notify(f'To keep it, write theme = "{name}" into {self.home / "settings.toml"}.', title="Theme")

        self.push_screen(ThemeDialog(self.available_themes, before), chosen)

    @property
    def _has_selection(self) -> bool:
        """Whether there is text to copy."""
        return bool(getattr(self.focused, "selected_text", ""))

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "cycle_merge":
            return len(self.merges) > 1
        if action == "cancel_work":
            return not self._has_selection
        return self.status.spark == "lost" if action == "restart_spark" else True

    def on_unmount(self) -> None:
        self.drafts.release()

    # What the places report

    @override
    def with_keys(self, text: str) -> str:
        """A sentence of ours, never anyone else's, with the keys in use in place of ``{merge.plan}``."""
        from console.keymap import with_keys

        return with_keys(text, self.keymap or self._wanted_keys, plain=self.plain)

    @override
    def record(self, text: str, severity: SeverityLevel = "information") -> None:
        """A line for the Log place."""
        line = LogLine(datetime.now().astimezone(), severity, text)
        self.log_lines.append(line)
        self.log_signal.publish(line)

    @on(Failed)
    def _log_failure(self, event: Failed) -> None:
        failure = event.failure
        if failure.cancelled:
            self.record(f"Cancelled: {failure.message}")
            return
        self.record("\n".join(filter(None, (str(failure), failure.hint, failure.trace))), "error")
        # of a Spark before, or of one that is being started, it says nothing of the one there is
        if failure.unreachable and self.status.spark == "warm" and event.spark == self.spark_starts:
            self.spark_is_lost(failure)

    @override
    def open_places(self) -> list[Place]:
        """The places that were visited at least once."""
        from console.places.place import Place

        screens = (screen for stack in self._screen_stacks.values() for screen in stack)
        return [screen for screen in screens if isinstance(screen, Place)]

    def go_to(self, name: str) -> Place:
        """Switch to a place and return it; for "merge", to the merge that was open last."""
        self.switch_mode(merge_mode(self._merge) if name == "merge" else name)
        return cast("Place", self.screen_stack[0])

    def action_place(self, name: str) -> None:
        self.go_to(name)

    # Several merges: each is a screen of its own, with its own draft and plan

    def action_merge(self, number: int | str) -> None:
        """Go to one of the open merges."""
        self._merge = int(number)
        self.go_to("merge")

    def action_new_merge(self) -> None:
        number = self.drafts.free("merge", max(self.merges) + 1)
        self._open_merge(number)
        self.merges[number] = ""
        self.merges_signal.publish(number)
        self.action_merge(number)

    def action_cycle_merge(self, step: int) -> None:
        numbers, before = sorted(self.merges), cast("Place", self.screen_stack[0])
        self.action_merge(numbers[(numbers.index(self._merge) + step) % len(numbers)])
        cast("Place", self.screen_stack[0]).come_from(before)

    async def close_merge(self, number: int) -> None:
        """Forget a merge; the first one always stays."""
        del self.merges[number]
        self.action_merge(max(one for one in self.merges if one < number))
        await self.remove_mode(merge_mode(number))
        self.merges_signal.publish(number)

    def name_merge(self, number: int, table: str) -> None:
        """Say which table a merge goes into."""
        if number in self.merges and self.merges[number] != table:
            self.merges[number] = table
            self.merges_signal.publish(number)

    def _open_merge(self, number: int) -> None:
        def make() -> Place:
            from console.places.merge.merge import MergePlace

            return MergePlace(number)

        self.add_mode(merge_mode(number), make)

    # Help and palette

    def action_help(self) -> None:
        from console.dialogs.help import HelpDialog
        from console.places.place import Place

        about, place = self.screen, self.screen_stack[0]

        def elsewhere() -> list[tuple[str, list[Binding]]]:
            # a dialog tells its own keys, and not those of the place below
            told = type(place) if about is place else None
            return [(spec.label, bindings_of(spec)) for spec in PLACES if spec.place_class is not told]

        if not isinstance(about, HelpDialog):
            # Create names its own keys in what it shares with Merge
            self.push_screen(HelpDialog(about, about if isinstance(about, Place) else self, elsewhere))

    @override
    def action_command_palette(self) -> None:
        from console.dialogs.dialog import Dialog
        from console.jumps import learn_jumps
        from console.palette import Palette

        if isinstance(self.screen, Dialog):
            # its commands change what the dialog was opened on
            self.notify("The commands are for the places: close the dialog first.")
            return
        if not isinstance(self.screen, Palette):
            learn_jumps(self, partial(setattr, self, "recent"))
            self.push_screen(Palette())

    @override
    def get_key_display(self, binding: Binding) -> str:
        return key_name(binding.key, plain=self.plain)

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        from console.jumps import jumps

        yield from all_commands(self, PLACES, self.keymap, self.go_to)
        yield from jumps(self, self.open_places(), self.recent, self.action_merge)

    @override
    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        # no matter who calls: never markup, never a control character
        super().notify(
            visible(message, lines=True),
            title=visible(title),
            severity=severity,
            timeout=timeout,
            markup=False,
        )

    @override
    def delay_update(self, delay: float = 0.05) -> None:
        # Textual hides a change of screen for 50 ms; ours are drawn at once
        super().delay_update(min(delay, 0.01))


if TYPE_CHECKING:

    def _as_shell(app: DeltaMergeApp) -> Shell:
        return app  # the type checker holds the app to what the others need of it
