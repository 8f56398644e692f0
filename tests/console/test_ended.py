"""A console that is told to end from outside ends as by its own key: nothing typed is lost, the terminal is right."""

from __future__ import annotations

import os
import signal
import sys
import termios
from pathlib import Path

import pexpect
import pytest

from console.drafts import DraftStore

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_typed_last_is_saved_and_the_terminal_is_given_back(tmp_path: Path, number: signal.Signals) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tests.console.run_fake", "--home", str(tmp_path), "--place", "merge"],
        dimensions=(24, 80),
        timeout=60,
        cwd=REPOSITORY,
        env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
    )
    try:
        before = termios.tcgetattr(child.child_fd)
        child.expect_exact("Type a MERGE")
        child.send("typed")
        child.expect_exact("typed")
        child.kill(number)
        # the screen of before comes back
        child.expect_exact("\x1b[?1049l")
        child.expect(pexpect.EOF)
        after = termios.tcgetattr(child.child_fd)
        assert after[3] & (termios.ECHO | termios.ICANON) == before[3] & (termios.ECHO | termios.ICANON)
        child.close()
        assert child.signalstatus is None
    finally:
        child.close(force=True)
    assert DraftStore(tmp_path).load("merge-1").sql == "typed"
