"""The single-line widgets around every place: tabs and status, the rule that narrates, the keys.

Each draws itself in one pass. Textual's Header, Tabs and Footer mount a widget for each entry, which
costs a good part of the first frame and again at every change of focus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from console.shell import shell_of
from console.status import Status
from console.widgets.keys import KeyHint, hints, is_typed
from console.words.format import elide_end
from console.words.visible import visible

if TYPE_CHECKING:
    from textual.screen import Screen

    from console.shell import Shell
    from console.words.glyphs import Glyphs

ENDPOINT = 40
_SPARK_STYLE = {"starting": "$text-warning", "warm": "$text-success", "lost": "$text-error"}


def clickable(text: str, action: str, style: str = "") -> Content:
    """Text of ours that runs an action when it is clicked."""
    content = Content.styled(text, style) if style else Content(text)
    # not "@click": Textual would give it the look of a link
    return content.stylize(Style.from_meta({"run": action}))


class OneLine(Widget):
    """Base: a line of the full width that never takes focus."""

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    OneLine { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: clip; }
    """

    @property
    def console_app(self) -> Shell:
        return shell_of(self)

    async def on_click(self, event: events.Click) -> None:
        if action := event.style.meta.get("run"):
            event.stop()
            await self.run_action(action)


class TabLine(OneLine):
    """Names side by side, one of them chosen. A click runs ``action('<id>')``."""

    DEFAULT_CSS = """
    TabLine { background: $panel; }
    """

    chosen: reactive[str] = reactive("")

    def __init__(
        self,
        tabs: Sequence[tuple[str, str]],
        action: str,
        *,
        chosen: str,
        separator: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.tabs = list(tabs)
        self.action = action
        self.separator = Content.styled(separator, "$foreground-muted")
        self.set_reactive(TabLine.chosen, chosen)

    def render(self) -> Content:
        line = self.separator.join(self._tab(name, label) for name, label in self.tabs)
        if line.cell_length <= self.size.width:
            return line
        narrow = [self._tab(name, label, after="") for name, label in self.tabs]
        return self.separator.join(self._around_chosen(narrow))

    def _around_chosen(self, tabs: list[Content]) -> list[Content]:
        """Without the last ones; without the first ones too, if the chosen one would be beyond the edge."""
        names = [name for name, _ in self.tabs]
        at = names.index(self.chosen) if self.chosen in names else 0
        left_out = [Content.styled(f" {self.console_app.glyphs.ellipsis}", "$foreground-muted")]
        for first in range(at + 1):
            for end in range(len(tabs), at, -1):
                before, after = left_out if first else [], left_out if end < len(tabs) else []
                shown = [*before, *tabs[first:end], *after]
                if self.separator.join(shown).cell_length <= self.size.width:
                    return shown
        return tabs

    def _tab(self, name: str, label: str, after: str = " ") -> Content:
        style = "bold underline $text-primary" if name == self.chosen else "$foreground-muted"
        # the space is outside the underline, so that neighbours stay apart
        return Content.assemble(" ", clickable(label, f"{self.action}('{name}')", style), after)


class TopLine(OneLine):
    """The places with their keys, and at the right where this is and how Spark is, in words."""

    DEFAULT_CSS = """
    TopLine { background: $panel; color: $foreground; }
    """

    def __init__(self, tabs: Sequence[tuple[str, str, str]], chosen: str) -> None:
        super().__init__()
        self._tabs = list(tabs)
        self._chosen = chosen

    def on_mount(self) -> None:
        self.console_app.status_signal.subscribe(self, self._status_changed)

    def _status_changed(self, _status: Status) -> None:
        self.refresh()

    def render(self) -> Content:
        tabs, status = self._places(), self._state()
        # the rule below shows it if there is no room here
        if (where := self.where) is not None:
            status = Content.assemble(where, (f" {self.console_app.glyphs.dot} ", "$foreground-muted"), status)
        gap = max(self.size.width - tabs.cell_length - status.cell_length - 1, 0)
        return Content.assemble(tabs, " " * gap, status, " ")

    @property
    def where(self) -> Content | None:
        """Where this is, or None if there is no room to say it."""
        where = where_this_is(self.console_app.status, self.console_app.glyphs)
        room = self.size.width - self._places().cell_length - self._state().cell_length - 5
        return where if where.cell_length <= room else None

    def _places(self) -> Content:
        return Content.assemble(*(self._tab(*tab) for tab in self._tabs))

    def _tab(self, name: str, key: str, label: str) -> Content:
        action = f"app.place('{name}')"
        if name == self._chosen:
            return Content.assemble(" ", clickable(f"{key} {label}", action, "bold underline $text-primary"), " ")
        return Content.assemble(
            " ",
            clickable(key, action, "bold $foreground-muted"),
            clickable(f" {label}", action, "$foreground-muted"),
            " ",
        )

    def _state(self) -> Content:
        status, glyphs = self.console_app.status, self.console_app.glyphs
        mark = {"starting": glyphs.off, "warm": glyphs.on, "lost": glyphs.error}[status.spark]
        tail = f" {glyphs.dot} {status.work or 'idle'}" if status.spark == "warm" else ""
        room = self.size.width - self._places().cell_length - 1
        if tail and len(f"{mark} {status.spark}{tail}") > room:
            # what works is up
            work = elide_end(status.work, max(room - 2, 0), glyphs.ellipsis)
            return Content.assemble((mark, _SPARK_STYLE[status.spark]), (f" {work}", "$foreground-muted"))
        return Content.assemble((f"{mark} {status.spark}", _SPARK_STYLE[status.spark]), (tail, "$foreground-muted"))


def where_this_is(status: Status, glyphs: Glyphs) -> Content:
    """The endpoint, the profile, and in words that it is production."""
    dot = Content.styled(f" {glyphs.dot} ", "$foreground-muted")
    # a long address is cut: the Session place has it in full
    named = (elide_end(visible(status.endpoint), ENDPOINT, glyphs.ellipsis), visible(status.profile))
    parts = [Content.styled(name, "$foreground-muted") for name in named if name]
    if status.production:
        parts.append(Content.styled("PRODUCTION", "bold $text-error"))
    return dot.join(parts)


class Rule(OneLine):
    """The rule below the tabs. It narrates the start of Spark, and says so when Spark is lost."""

    DEFAULT_CSS = """
    Rule { color: $border; }
    """

    def on_mount(self) -> None:
        self.console_app.status_signal.subscribe(self, self._status_changed)

    def _status_changed(self, _status: Status) -> None:
        self.refresh()

    def render(self) -> Content:
        status, glyphs = self.console_app.status, self.console_app.glyphs
        line = glyphs.bar_rest
        where = self._where()
        width = self.size.width - where.cell_length
        if not status.narration:
            return Content.assemble(line * width, where)
        text = elide_end(visible(status.narration), max(width - 6, 0), glyphs.ellipsis)
        rest = max(width - len(text) - 4, 0)
        return Content.assemble(line * 2, " ", (text, _SPARK_STYLE[status.spark]), " ", line * rest, where)

    def _where(self) -> Content:
        """At the right: where this is, if the line above has no room for it."""
        if self.screen.query_one(TopLine).where is not None:
            return Content("")
        line = self.console_app.glyphs.bar_rest
        return Content.assemble(" ", where_this_is(self.console_app.status, self.console_app.glyphs), " ", line * 2)


class KeyLine(OneLine):
    """The keys that work now, from the bindings of what has the focus. A click runs them."""

    DEFAULT_CSS = """
    KeyLine { dock: bottom; background: $panel; color: $foreground; }
    """
    ALWAYS: ClassVar[tuple[str, ...]] = ("app.restart_spark", "app.help", "command_palette")

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, _screen: Screen[object]) -> None:
        self.refresh()

    def render(self) -> Content:
        plain = self.console_app.plain
        active, focused = self.screen.active_bindings.values(), self.screen.focused
        entries = hints((one for one in active if not is_typed(one.binding.key, one.node, focused)), plain=plain)
        # help, the palette and the way out of a lost Spark stay on screen however narrow it is
        last = [entry for entry in entries if entry.action in self.ALWAYS]
        first = [entry for entry in entries if entry not in last]
        tail = Content.assemble(*(self._entry(entry) for entry in last))
        room = self.size.width - tail.cell_length
        head = Content("")
        for entry in first:
            wider = Content.assemble(head, self._entry(entry))
            if wider.cell_length > room:
                break
            head = wider
        return Content.assemble(head, " " * (room - head.cell_length), tail)

    def _entry(self, entry: KeyHint) -> Content:
        keys = [clickable(key, f"screen.press({action!r})", "bold $text-accent") for key, action in entry.keys]
        words = clickable(f" {entry.label}", f"screen.press({entry.action!r})", "$foreground-muted")
        return Content.assemble(" ", Content(" ").join(keys), words, " ")
