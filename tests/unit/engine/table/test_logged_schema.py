"""Files of a table with column mapping: what the log says, under the columns' names."""

from __future__ import annotations

import pytest

from engine.merge.exact_statistics import has_odd_bound
from engine.table.log_file import LogFile
from engine.table.logged_schema import LoggedColumn, logical_names

COLUMNS = (LoggedColumn("d", "col-1"), LoggedColumn("s", "col-2", fields=(LoggedColumn("x", "col-3"),)))
STATS = '{"numRecords":1,"minValues":{"col-1":12345678901234567890.1234567890,"col-2":{"col-3":1e-7}}}'


def file(stats: str | None) -> LogFile:
    return LogFile("a.parquet", 10, {"col-1": "7"}, 1, 0, "", 1, stats=stats)


def test_names_are_logical_and_numbers_stay_as_they_are_written() -> None:
    (found,) = logical_names((file(STATS),), COLUMNS)
    assert found.partition == {"d": "7"}
    assert found.value().min_values == {"d": "12345678901234567890.1234567890", "s.x": "1e-7"}


def test_a_number_stays_one_where_a_text_should_stand() -> None:
    (found,) = logical_names((file('{"minValues":{"col-1":7.5}}'),), COLUMNS)
    assert found.value().min_values == {"d": "7.5"}
    assert has_odd_bound(found.stats, ["d"])


@pytest.mark.parametrize("stats", [None, "", "no json", "[]"])
def test_what_is_no_statistics_stays_none(stats: str | None) -> None:
    (found,) = logical_names((file(stats),), COLUMNS)
    assert (found.value().min_values, found.value().null_counts) == ({}, {})


def test_without_column_mapping_nothing_is_read() -> None:
    files = (file(STATS),)
    assert logical_names(files, (LoggedColumn("col-1", "col-1"),)) is files
