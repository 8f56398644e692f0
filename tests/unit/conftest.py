"""This tier starts nothing: no Spark, no JVM, no server."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

STARTING = {"spark", "session", "classic", "schema", "classic_schema", "spark_home"}

# the clock of a busy machine is no finding
settings.register_profile("unit", deadline=None)
settings.load_profile("unit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test of this tier that asks for what starts Spark."""
    for item in items:
        starting = STARTING.intersection(getattr(item, "fixturenames", ()))
        if starting and Path(__file__).parent in item.path.parents:
            raise pytest.UsageError(
                f"{item.nodeid} asks for {', '.join(sorted(starting))}: its place is not tests/unit"
            )
