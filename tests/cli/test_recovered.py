"""What became of operations whose program is gone, as it is told when Spark is connected."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
