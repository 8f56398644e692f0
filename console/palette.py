"""The command palette in the order of ``all_commands``: those of the place that one is in come first."""

from __future__ import annotations

from textual.command import DiscoveryHit, Hits
from textual.system_commands import SystemCommandsProvider
from typing_extensions import override


class CommandsInOrder(SystemCommandsProvider):
    """Textual's own sorts them by name."""

    @override
    async def discover(self) -> Hits:
        for title, help_text, run, discover in self.app.get_system_commands(self.screen):
            if discover:
                yield DiscoveryHit(title, run, help=help_text)
