"""A rule of the policy asks for the table's name: no --yes will do, and whoever is asked is told so."""

from __future__ import annotations

import io
import sys

import pytest

from console.cli.apply_command import need_name
from engine.commit.policy import Broken
from engine.model.errors import RefusedError

RULE = Broken("typed_confirmation", "the table's name is to be typed")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("to_do", ["commit", "undo"])
def test_yes_will_not_do(to_do: str) -> None:
    with pytest.raises(RefusedError, match="--yes will not do") as raised:
        need_name("sales.orders", RULE, to_do, yes=True)
    assert raised.value.condition == "POLICY_TYPED_CONFIRMATION"


def test_without_a_terminal_nobody_is_sent_to_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(RefusedError) as raised:
        need_name("sales.orders", RULE, "undo", yes=False)
    assert raised.value.condition == "NOT_CONFIRMED"
    assert "--yes" not in raised.value.hint


@pytest.mark.parametrize(("typed", "confirmed"), [("sales.orders\n", True), ("yes\n", False), ("", False)])
def test_the_name_alone_confirms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, confirmed: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    if confirmed:
        need_name("sales.orders", RULE, "undo", yes=False)
    else:
        with pytest.raises(RefusedError, match="The table's name was not typed"):
            need_name("sales.orders", RULE, "undo", yes=False)
    assert "Type sales.orders to undo:" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["sales.orders\n", "spark_catalog.sales.orders\n"])
def test_the_name_that_is_shown_confirms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    """A plan of CREATE has the name of the catalog in it, which is not shown."""
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    need_name("spark_catalog.sales.orders", RULE, "commit", yes=False)
    assert "Type sales.orders to commit:" in capsys.readouterr().err
