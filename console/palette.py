"""The command palette in the order of ``all_commands``: those of the place that one is in come first."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.command import CommandInput, CommandPalette, DiscoveryHit, Hit, Hits, SearchIcon
from textual.content import Content
from textual.fuzzy import Matcher
from textual.markup import escape
from textual.system_commands import SystemCommandsProvider
from typing_extensions import override

from console.dialogs.dialog import HELP_KEY


class Palette(CommandPalette):
    """Textual's own, with our help: like a dialog it hides the keys of the console."""

    HELP = (
        "Every action by name. Type to narrow the list, the arrow keys move, enter does what is under the cursor, esc "
        "leaves. What can be done in this place comes first; an action of another place goes there. Tables, open "
        "merges and operations of the history are found by their names too."
    )
    BINDINGS: ClassVar[list[BindingType]] = [HELP_KEY]

    def on_mount(self) -> None:
        if self.app.has_class("-ascii"):
            self.query_one(SearchIcon).icon = ">"
            self.query_one(CommandInput).placeholder = "Search for commands"


class CommandsInOrder(SystemCommandsProvider):
    """Textual's own sorts them by name, and reads them as markup: the names of tables are anybody's."""

    @override
    async def discover(self) -> Hits:
        for title, help_text, run, discover in self.app.get_system_commands(self.screen):
            if discover:
                yield DiscoveryHit(Content(title), run, help=escape(help_text))

    @override
    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, help_text, run, _ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                yield Hit(score, _highlighted(matcher, title), run, help=escape(help_text))


def _highlighted(matcher: Matcher, title: str) -> Content:
    shown = Content(title)
    # counted in lower case, which may be longer
    for at in matcher.fuzzy_search.match(matcher.query, title)[1]:
        if title[at : at + 1].strip():
            shown = shown.stylize(matcher.match_style, at, at + 1)
    return shown
