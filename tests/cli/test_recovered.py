"""What became of operations whose program is gone, as it is told when Spark is connected."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from console.cli.invocation import Invocation
from console.cli.narrator import EventNarrator


def test_with_events_it_is_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session: Any = SimpleNamespace()
    monkeypatch.setattr("engine.session.connect.connect", lambda *_, **__: session)
    monkeypatch.setattr("engine.recovery.recover.recover", lambda *_: ("one",))
    monkeypatch.setattr("engine.recovery.recover.sentence", lambda one: f"Operation {one} is committed.")
    with EventNarrator() as narrator:
        Invocation("local[*]", tmp_path / "home").connect(narrator.say)
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one.get("text") for one in events] == ["Operation one is committed.", None]


def test_with_events_what_the_ledger_has_to_say_is_one_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "history.duckdb").write_bytes(b"no database")
    history = Invocation("local", tmp_path).history
    events = click.Option(["--events"], is_flag=True)
    command = click.Command("list", params=[events], callback=lambda **_: history().list())
    command.main(["--events"], standalone_mode=False)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["event"] for one in told] == ["narration"]
    assert "history.duckdb" in told[0]["text"]
