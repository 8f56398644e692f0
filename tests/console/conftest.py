"""What makes the console the same on every machine: UTC, a Unicode locale, no waiting for the typist."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet

from tests.console.fake_backend import FakeBackend


@pytest.fixture(autouse=True, scope="session")
def _parse_each_style_once() -> Iterator[None]:
    """Every app parses all style sheets anew, a quarter of its start: here the rules are shared by the suite."""
    parsed: dict[Any, Any] = {}
    parse = Stylesheet._parse_rules

    def parse_once(self: Stylesheet, *arguments: Any, **named: Any) -> Any:
        key = (arguments, tuple(named.items()), tuple(self._variables.items()))
        if key not in parsed:
            parsed[key] = parse(self, *arguments, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr("console.app.locale_speaks_utf8", lambda: True)
    # tests type at once; nobody is disturbed by an early check
    monkeypatch.setattr("console.places.statement.statement_editor.VALIDATE_AFTER_SECONDS", 0.05)
    monkeypatch.setattr("console.places.history.history.this_year", lambda: "2026")
    monkeypatch.setattr("console.places.history.history.REST_SECONDS", 0.01)
    monkeypatch.setattr("console.places.history.history.FILTER_SECONDS", 0.01)
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def backend(tmp_path: Path) -> FakeBackend:
    return FakeBackend(tmp_path)
