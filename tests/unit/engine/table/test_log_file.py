"""A data file as the log names it. Statistics that are not as the protocol has them are none."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.table.log_file import LogFile, hold_to_log, statistics_of

STATS = (
    '{"numRecords": 5, "minValues": {"a": 1.10, "s": {"x": null}}, "maxValues": {"a": 2}, '
    '"nullCount": {"a": 0, "s": {"x": 3}, "b": "none"}}'
)


def file(**changes: Any) -> LogFile:
    return LogFile("f.parquet", 7, {"day": "x"}, 5, 2, "", 0, 1_700_000_000_123, STATS)._replace(**changes)


def test_live_rows_are_those_that_no_vector_marks() -> None:
    assert file().rows == 3
    assert file(physical_rows=None).rows is None


def test_a_file_with_another_vector_is_another() -> None:
    assert file().key == ("f.parquet", "")
    assert file(vector="v").key == ("f.parquet", "v")
    assert (file().has_deletion_vector, file(vector="v").has_deletion_vector) == (False, True)


def test_a_file_is_shown_with_its_statistics() -> None:
    shown = file().value()
    assert (shown.rows, shown.bytes, shown.deletion_vector_rows, shown.partition) == (3, 7, 2, {"day": "x"})
    assert shown.modified_at == "2023-11-14T22:13:20+00:00"
    # numbers with a point come as they are written, fields by their path
    assert shown.min_values == {"a": "1.10", "s.x": None}
    assert shown.max_values == {"a": "2"}
    assert shown.null_counts == {"a": 0, "s.x": 3}


@pytest.mark.parametrize("modified_at", [1_700_000_000_123_000, 1_700_000_000_123_000_000, -(1 << 63)])
def test_a_file_whose_time_is_none_is_shown_without_it(modified_at: int) -> None:
    assert file(modified_at=modified_at).value().modified_at is None


@pytest.mark.parametrize("text", [None, "", "{", "[]", "7", "null"])
def test_what_is_no_document_is_no_statistics(text: str | None) -> None:
    assert statistics_of(text) == {}


def test_what_is_no_map_by_column_is_left_out() -> None:
    assert statistics_of('{"numRecords": 2, "minValues": [], "maxValues": {}, "nullCount": null}') == {
        "numRecords": 2,
        "maxValues": {},
    }


def test_rows_of_a_file_that_the_log_does_not_list_are_no_promise() -> None:
    hold_to_log([77], [file(file_hash=77)])
    with pytest.raises(EngineError) as raised:
        hold_to_log([77, 78], [file(file_hash=77)])
    assert raised.value.condition == "FILES_NOT_UNDERSTOOD"
    assert raised.value.message.startswith("1 of the files that were read stands under another path")
