"""What the log says of the target."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from engine.model.errors import CancelledError, EngineError
from engine.preflight import target_reads
from engine.preflight.target_reads import DescribedTarget, target_detail


def detail(monkeypatch: pytest.MonkeyPatch, raised: EngineError) -> Any:
    monkeypatch.setattr(target_reads, "describe_detail", lambda _, name: name)
    typed: Future[Any] = Future()
    typed.set_exception(raised)
    return target_detail(None, SimpleNamespace(target_name="demo.t"), typed)  # type: ignore[arg-type]


def test_a_target_that_was_typed_as_a_view_is_asked_for_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert detail(monkeypatch, EngineError("EXPECT_TABLE_NOT_VIEW", "It is a view.")) == "demo.t"


def test_the_target_is_not_asked_for_again_after_a_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CancelledError):
        detail(monkeypatch, CancelledError("CANCELLED", "It was cancelled."))


def test_a_target_has_a_change_data_feed_by_the_older_name_too() -> None:
    detail = {"properties": {"delta.enableChangeDataCapture": "true"}, "tableFeatures": [], "partitionColumns": []}
    rules: Any = SimpleNamespace()
    assert DescribedTarget(detail=detail, columns=(), rules=rules, assigned=()).traits.change_data_feed
