from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.history import History
from engine.session.home import ledger_path
from tests.crash.counting import Counted


@pytest.fixture(scope="module")
def counted(session: Any, spark_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    """A table whose rows count how often each merge was applied."""
    made = Counted(session, spark_home, History(ledger_path(spark_home)), tmp_path_factory.mktemp("sql"))
    yield made
    made.drop()
