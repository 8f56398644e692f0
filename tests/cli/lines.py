"""A narrator that keeps its lines."""

from __future__ import annotations

from console.cli.narrator import Narrator


class Lines(Narrator):
    """``lines`` are what it tells."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def _write(self, line: str) -> None:
        self.lines.append(line)
