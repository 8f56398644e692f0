"""The file that is proposed is one that is read, whatever the names and values are."""

from __future__ import annotations

from engine.expect.read_expectations import read_expectations
from engine.explore.propose_expectations import ColumnProfile, file_lines


def test_the_file_is_read_as_it_was_meant() -> None:
    profiles = [
        ColumnProfile("v: x", 0, 3, values=("NO", "it's", "a, b", "ü # [")),
        ColumnProfile("id", 0, 100, is_unique=True),
        ColumnProfile("sometimes", 4, 90),
    ]
    text = "\n".join(file_lines("delta.`/data/a b`", 100, profiles))
    found = list(read_expectations(text))
    assert {one.table for one in found} == {("delta", "/data/a b")}
    assert [one.expectation.kind for one in found] == ["unique", "not_null", "accepted", "rows"]
    unique, not_null, accepted, rows = (one.expectation for one in found)
    assert unique.unique == ("id",)
    assert not_null.not_null == ("v: x", "id")
    assert accepted.accepted == {"v: x": ("NO", "it's", "a, b", "ü # [")}
    assert (accepted.severity, rows.severity) == ("warn", "warn")


def test_an_empty_table_promises_nothing() -> None:
    (only,) = read_expectations("\n".join(file_lines("t", 0, [ColumnProfile("id", 0, 0)])))
    assert only.expectation.kind == "rows"
