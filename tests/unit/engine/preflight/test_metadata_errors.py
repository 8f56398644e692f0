"""What Delta would refuse, in words."""

from __future__ import annotations

import pytest

from engine.model.conflicts import Conflicts
from engine.preflight.metadata_errors import ambiguity
from engine.sql.parse import parse_merge


@pytest.mark.parametrize(("rows", "matched"), [(1, "1 target row is"), (1_200, "1,200 target rows are")])
def test_target_rows_matched_twice_are_counted_in_english(rows: int, matched: str) -> None:
    merge = parse_merge("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
    refused = ambiguity(merge, Conflicts(count=rows, true_count=rows))
    assert refused is not None
    assert refused.message == f"{matched} matched by more than one source row."
