"""What the shell offers when tab is pressed."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from console.cli.group import cli


def offered(words: list[str], incomplete: str) -> list[tuple[str, str]]:
    shell = ShellComplete(cli, {}, "deltamerge-console", "_DELTAMERGE_CONSOLE_COMPLETE")
    return [(one.type, one.value) for one in shell.get_completions(words, incomplete)]


@pytest.mark.parametrize(
    "words", ["plan", "plan -o", "plan --expect", "show", "apply", "apply --expect", "rehearse", "tables"]
)
def test_where_a_file_is_named_the_shell_offers_its_files(words: str) -> None:
    assert offered(words.split(), "m") == [("file", "m")]


def test_commands_and_choices() -> None:
    assert offered([], "pl") == [("plain", "plan")]
    assert ("plain", "scd2") in offered(["template"], "s")
