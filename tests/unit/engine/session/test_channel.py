"""Closing the client of Spark Connect."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from engine.session import channel


class Spark:
    """A session that is closed."""


@pytest.mark.parametrize("waits", [True, False])
def test_a_closed_session_is_collected_only_where_that_waits_for_nothing(
    monkeypatch: pytest.MonkeyPatch, *, waits: bool
) -> None:
    monkeypatch.setattr(channel, "WAITS_FOR_THREADS", waits)
    monkeypatch.setattr(channel, "CLOSED", [])
    spark: Any = Spark()
    seen = weakref.ref(spark)
    channel.forget(spark)
    del spark
    gc.collect()
    assert (seen() is not None) is waits
