from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.ledger.history import History
from engine.session.connect import connect
from engine.session.home import ledger_path, prepare_home
from engine.session.state import STATE_FILE
from tests.conftest import TEST_CONFS
from tests.crash.counting import Counted


@pytest.fixture(scope="module")
def counted(session: Any, spark_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    """A table whose rows count how often each merge was applied.

    Its home is its own, on the server of all: whichever command comes next settles what a dead one left, and in a home
    shared with other workers it may be one of theirs.
    """
    home = prepare_home(tmp_path_factory.mktemp("crash-home"))
    shutil.copy(spark_home / STATE_FILE, home / STATE_FILE)
    with connect("local[2]", home=home, confs=TEST_CONFS) as own:
        made = Counted(own, home, History(ledger_path(home)), tmp_path_factory.mktemp("sql"))
        yield made
        made.drop()
