"""Help on what has the focus, and every key: made from the bindings, never written twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import ActiveBinding, Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input
from typing_extensions import override

from console.dialogs.dialog import Dialog
from console.widgets.keys import catalog, is_typed, keys_of
from console.widgets.page import Paragraph, sentence
from console.widgets.sentences import Sentences

if TYPE_CHECKING:
    from console.shell import NamesKeys

KEYS_WIDTH = 16


class HelpDialog(Dialog[None]):
    """Help about what had the focus, its place, and the console."""

    AUTO_FOCUS = "#close"
    HELP = "Help. {help.search} searches it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1,q", "close", "close", show=False, id="help.close", tooltip="Close the help"),
        Binding("down,j", "scroll(1)", "down", show=False, id="help.down", tooltip="Scroll down"),
        Binding("up,k", "scroll(-1)", "up", show=False, id="help.up", tooltip="Scroll up"),
        Binding("space", "page(1)", "page down", show=False, id="help.page_down", tooltip="A page down"),
        Binding("slash", "search", "search", show=False, id="help.search", tooltip="Search the keys and the help"),
    ]

    def __init__(
        self,
        about: Screen[object],
        names_keys: NamesKeys,
        elsewhere: Callable[[], Iterable[tuple[str, list[Binding]]]] = tuple,
    ) -> None:
        """``elsewhere``: the other places by name, each with its keys: a search finds them too."""
        super().__init__()
        self._about = about
        self._names_keys = names_keys
        self._elsewhere = elsewhere

    def title_text(self) -> str:
        return "Help"

    def compose_content(self) -> Iterable[Widget]:
        yield Input(placeholder=self.console_app.with_keys("{help.search} search"), id="search", compact=True)
        yield Sentences(self.help_text(), id="text")

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Close", id="close")

    @property
    def _search(self) -> Input:
        return self.query_one("#search", Input)

    def action_search(self) -> None:
        self._search.focus()

    def action_close(self) -> None:
        self.dismiss(None)

    @override
    def action_refuse(self) -> None:
        if self._search.has_focus or self._search.value:
            # the search ends first, and the whole help is shown again
            self._search.value = ""
            self.query_one("#close").focus()
        else:
            self.action_close()

    @on(Input.Changed, "#search")
    def _search_typed(self, event: Input.Changed) -> None:
        event.stop()
        words = event.value.lower().split()
        lines = self.help_text(ids=bool(words))
        if words:
            lines = [one for one in lines if _holds(one, words)]
            for place, bindings in self._elsewhere():
                keys = self._keys(f"In {place}", self._keyed(bindings), ids=True)
                found = [one for one in keys[1:] if _holds(one, words)]
                lines += [keys[0], *found] if found else []
            lines = lines or [sentence("Nothing in the help says that.")]
        self.query_one("#text", Sentences).show(lines)

    @on(Input.Submitted, "#search")
    def _search_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#close").focus()

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.action_close()

    def action_scroll(self, rows: int) -> None:
        self.query_one("#content").scroll_relative(y=rows, animate=False)

    def help_text(self, *, ids: bool = False) -> list[Paragraph]:
        """The whole help. With ``ids`` each key has the id by which ``[keys]`` of the settings gives it another."""
        focused = self._about.focused
        lines: list[Paragraph] = []
        # from the place down to the focus
        for node in reversed((focused or self._about).ancestors_with_self):
            if about := _help_of(node):
                lines += [sentence(self._names_keys.with_keys(about)), sentence("")]
        lines += self._all_keys(ids=ids)
        signs = self.console_app.glyphs
        legend = f"{signs.exact} exact, to the row; {signs.estimated} estimated; {signs.unknown} unknown."
        lines.append(sentence(f"Signs: {legend}"))
        lines.append(sentence("Tab goes to the next part of the screen, shift+tab to the one before."))
        lines.append(sentence("Hold shift while dragging to select text with the mouse."))
        return lines

    def _all_keys(self, *, ids: bool) -> list[Paragraph]:
        """The keys that do something where the help was asked for, and then the others."""
        about = self._about
        inside = takewhile(lambda node: node is not about, (about.focused or about).ancestors_with_self)
        owners: list[tuple[str, DOMNode, list[Binding]]] = [
            *(("Keys of what has the focus", node, _own_bindings(node)) for node in inside),
            (f"Keys of {'this dialog' if about.is_modal else 'this place'}", about, _own_bindings(about)),
            ("Keys everywhere", self.app, list(Binding.make_bindings(type(self.app).BINDINGS))),
        ]
        active = self._active()
        lines: list[Paragraph] = []
        later: list[Paragraph] = []
        told: set[str] = set()
        """What the console does: a dialog has keys of its own for some of it."""
        for title, node, bindings in owners:
            keyed = self._keyed(bindings)
            possible = [
                one for one in keyed if _is_active(one, node, active) and not is_typed(one.key, node, about.focused)
            ]
            lines += self._keys(title, possible, ids=ids)
            named = {one.id for one in possible}
            others = [one for one in keyed if one.id not in named and one.action not in told]
            # a key that does something else here is not told of twice
            others = [one for one in others if one.key not in active or _is_active(one, node, active)]
            # esc leaves the text in every place; a dialog it closes
            typed = [one for one in others if not about.is_modal and is_typed(one.key, node, about.focused)]
            typed = [one for one in typed if self._is_possible(one, node)]
            told |= {one.action for one in keyed if one.action.startswith("app.")}
            later += self._keys(f"{title}, after esc", typed, ids=ids)
            later += self._keys(f"{title}, not now", [one for one in others if one not in typed], ids=ids)
        return lines + later

    def _active(self) -> Mapping[str, ActiveBinding]:
        """What each key does where the help was asked for."""
        active = dict(self._about.active_bindings)
        # the console is asked for these before anything else, even above a dialog
        for key, one in self._about._binding_chain[-1][1]:
            # the palette is for the places: in a dialog it says so
            if one.priority and not (self._about.is_modal and one.action == "command_palette"):
                active[key] = ActiveBinding(self.app, one, self._is_possible(one, self.app), one.tooltip)
        return active

    def _is_possible(self, binding: Binding, node: DOMNode) -> bool:
        return bool(self.app._check_action_state(binding.action, node))

    def _keyed(self, bindings: Iterable[Binding]) -> list[Binding]:
        """One binding for each of the keys in use."""
        keymap = self.console_app.keymap
        return [replace(one, key=key) for one in bindings for key in keys_of(one, keymap)]

    def _keys(self, title: str, bindings: Iterable[Binding], *, ids: bool) -> list[Paragraph]:
        entries = catalog(bindings, plain=self.console_app.plain)
        if not entries:
            return []
        lines = [sentence(title, "bold $text-primary")]
        seen: set[str] = set()
        for keys, binding in entries:
            if binding.id in seen:
                continue  # it says why the first of its id cannot be done
            seen |= {binding.id} if binding.id else set()
            lead = Content.assemble("  ", (keys.ljust(KEYS_WIDTH), "$text-accent"), " ")
            id_shown = f"  {binding.id}" if ids and binding.id else ""
            text = Content.assemble(binding.tooltip or binding.description, (id_shown, "$foreground-muted"))
            lines.append(Paragraph(text, lead))
        return [*lines, sentence("")]


def _holds(paragraph: Paragraph, words: Sequence[str]) -> bool:
    text = f"{paragraph.lead.plain} {paragraph.body.plain}".lower()
    return bool(text.strip()) and all(word in text for word in words)


def _is_active(binding: Binding, node: DOMNode, active: Mapping[str, ActiveBinding]) -> bool:
    """Whether its key does it."""
    there = active.get(binding.key)
    return there is not None and there.enabled and (there.node, there.binding.action) == (node, binding.action)


def _help_of(node: DOMNode) -> str:
    return str(getattr(type(node), "HELP", None) or "")


def _own_bindings(node: DOMNode) -> list[Binding]:
    """Our bindings: those with a tooltip. Textual's own widgets have dozens that everybody knows."""
    bindings: list[Binding] = []
    for cls in type(node).__mro__:
        if cls in (Screen, Widget):
            break
        bindings += Binding.make_bindings(cls.__dict__.get("BINDINGS", []))
    return [binding for binding in bindings if binding.tooltip and binding.id]
