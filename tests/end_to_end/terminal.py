"""A program in a pseudo-terminal, and the screen that a person would see there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pexpect
import pyte


class Terminal:
    """``deltamerge-console`` with ``arguments`` on a terminal of ``columns`` by ``lines``. ``raw``: every byte."""

    def __init__(
        self,
        *arguments: str,
        home: Path,
        columns: int = 120,
        lines: int = 36,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = b""
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._child = pexpect.spawn(
            sys.executable,
            ["-c", "from console.cli import main; main()", "--home", str(home), *arguments],
            dimensions=(lines, columns),
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environment or {})},
        )

    @property
    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def send(self, keys: str) -> None:
        self._child.send(keys)

    def paste(self, text: str) -> None:
        """As a terminal does it: no key of the text is a command."""
        self._child.send(f"\x1b[200~{text}\x1b[201~")

    def sees(self, text: str, seconds: float = 120) -> None:
        """Wait until ``text`` is on the screen."""
        self._until(lambda: text in self.screen, f"no {text!r}", seconds)

    def misses(self, text: str, seconds: float = 20) -> None:
        """Wait until ``text`` is gone from the screen."""
        self._until(lambda: text not in self.screen, f"still {text!r}", seconds)

    def ends(self, seconds: float = 30) -> int:
        """Wait for the program's end; its exit code."""
        self._until(lambda: not self._child.isalive(), "it does not end", seconds)
        return int(self._child.exitstatus or 0)

    def close(self) -> None:
        self._child.close(force=True)

    def _until(self, condition: Callable[[], bool], what: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} after {seconds:.0f} s on the screen:\n{self.screen}")
            self._read()
        self._read()

    def _read(self) -> None:
        try:
            data = self._child.read_nonblocking(65_536, timeout=0.2)
        except (pexpect.TIMEOUT, pexpect.EOF):
            time.sleep(0.02)
            return
        self.raw += data
        self._stream.feed(data)
