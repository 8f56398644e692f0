"""A clone with row tracking needs the number of rows of each file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.create import row_tracking
from engine.create.provided_metadata import Provided
from engine.create.row_tracking import assign_fresh_row_ids
from engine.model.create_values import CreateSource
from engine.sql.parse_create import parse_create
from engine.table.table_features import Protocol
from tests.unit.engine.create.test_metadata_after import BEFORE, CREATE

CLONE = parse_create("CREATE TABLE t SHALLOW CLONE s")
SOURCE = CreateSource(sql="s", pinned_versions={"s": 3})
DELTA = Provided((), (), protocol=Protocol(1, 2, frozenset()), source=SOURCE, num_files=1)
PARQUET = Provided((), (), source=CreateSource(sql="s"), num_files=1)
TRACKED = BEFORE.model_copy(update={"features": ("rowTracking",)})
NO_NUMBERS = "DELTA_CLONE_WITH_ROW_TRACKING_WITHOUT_STATS"


@pytest.mark.parametrize(
    ("create", "provided", "after", "rows", "condition"),
    [
        (CLONE, DELTA, TRACKED, [1, None], NO_NUMBERS),
        (CLONE, DELTA, TRACKED, [1, 2], None),
        (CLONE, PARQUET, TRACKED, [], NO_NUMBERS),
        (CLONE, Provided((), (), num_files=0), TRACKED, [], None),
        (CLONE, DELTA, BEFORE, [None], None),
        (CREATE, DELTA, TRACKED, [None], None),
    ],
)
def test_a_file_without_statistics_gets_no_row_ids(
    monkeypatch: pytest.MonkeyPatch, create: Any, provided: Provided, after: Any, rows: Any, condition: str | None
) -> None:
    files = [SimpleNamespace(physical_rows=one) for one in rows]
    monkeypatch.setattr(row_tracking, "collected", lambda *_: [{"location": "/s"}])
    monkeypatch.setattr(row_tracking, "list_files", lambda _, *at: files if at == ("/s", 3) else None)
    found = assign_fresh_row_ids(None, create, provided, after)  # type: ignore[arg-type]
    assert (found.condition if found else None) == condition
