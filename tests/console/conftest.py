"""What makes the console the same on every machine: UTC, a Unicode locale, no waiting for the typist."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.fake_backend import FakeBackend


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr("console.app.locale_speaks_utf8", lambda: True)
    # tests type at once; nobody is disturbed by an early check
    monkeypatch.setattr("console.places.compose.VALIDATE_AFTER_SECONDS", 0.05)
    monkeypatch.setattr("console.places.history.REST_SECONDS", 0.01)
    monkeypatch.setattr("console.places.history.FILTER_SECONDS", 0.01)
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def backend(tmp_path: Path) -> FakeBackend:
    return FakeBackend(tmp_path)
