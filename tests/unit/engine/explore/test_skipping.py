"""What the log holds of a column in a file, and what to mind when it is compared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.explore.skipping import ColumnFacts, Evidence, facts, file_evidence
from engine.merge.analyze import Expression
from engine.model.browse import Column
from engine.table.log_file import LogFile

K = Column(name="k", type="bigint", nullable=True)


def file(
    path: str = "f", stats: dict[str, Any] | None = None, partition: dict[str, str | None] | None = None
) -> LogFile:
    text = None if stats is None else json.dumps(stats)
    return LogFile(path, 1, partition or {}, 5, 0, "", 0, 0, text)


def stats(low: Any = 1, high: Any = 9, nulls: Any = 0, rows: Any = 5, **more: Any) -> dict[str, Any]:
    named = {"minValues": low, "maxValues": high, "nullCount": nulls}
    return {"numRecords": rows, **{key: {"k": value} for key, value in named.items() if value is not None}, **more}


def told(found: dict[str, Any] | None, column: Column = K, indexed: str = "") -> str:
    return str(facts(file(stats=found), column, "k", (), indexed))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "k (no statistics, so it is kept)"),
        (stats(), "k from 1 to 9"),
        (stats("a", "b"), "k from a to b"),
        (stats(None, None, None), "k (no statistics of this column, so it is kept)"),
        (stats(None, None, 5), "k (only NULLs)"),
        (stats(None, None, 2), "k (no bounds, 2 NULL of 5 rows)"),
        (stats(nulls=2), "k from 1 to 9 (2 NULL of 5 rows)"),
        (stats(nulls=2, rows=None), "k from 1 to 9 (2 NULL)"),
        (stats(nulls=2, rows="5"), "k from 1 to 9 (2 NULL)"),
        (stats(nulls="2"), "k from 1 to 9"),
        (stats(1, None), "k from 1 to None"),
        (stats(None, 9), "k from None to 9"),
        (stats({"x": 1}, {"x": 2}), "k (a struct: its fields have statistics of their own)"),
        (stats({"x": 1}, None), "k (a struct: its fields have statistics of their own)"),
        (stats(None, {"x": 2}), "k (a struct: its fields have statistics of their own)"),
        (stats(None, None, {"x": 0}), "k (a struct: its fields have statistics of their own)"),
        (stats(tightBounds=False), "k from 1 to 9 (wider than the live rows: a deletion vector marks some)"),
    ],
)
def test_facts_are_what_the_log_holds(found: dict[str, Any] | None, words: str) -> None:
    assert told(found) == words


def test_a_text_of_32_characters_may_be_cut() -> None:
    text = Column(name="k", type="string", nullable=True)
    assert told(stats("a", "b" * 32), text).endswith("(cut at 32 characters)")
    assert told(stats("a" * 32, "b"), text).endswith("(cut at 32 characters)")
    assert "cut" not in told(stats("a" * 31, "b" * 31), text)
    assert "cut" not in told(stats("a", "b" * 32))


@pytest.mark.parametrize("type_", ["timestamp", "timestamp_ntz"])
def test_the_maximum_of_a_time_is_a_millisecond_more(type_: str) -> None:
    at = Column(name="k", type=type_, nullable=True)
    assert told(stats("2026", "2027"), at).endswith("(Delta adds 1 ms to the maximum)")
    assert "adds" not in told(stats("2026", None), at)


def test_a_limit_of_indexed_columns_is_told() -> None:
    assert told(stats(), indexed="p = 0") == "k from 1 to 9 (used only if the column is indexed: p = 0)"


@pytest.mark.parametrize(("value", "words"), [("x", "k = x"), (None, "k = NULL")])
def test_a_partition_has_one_value(value: str | None, words: str) -> None:
    found = facts(file(partition={"col-1": value}), K, "col-1", {"k"}, "")
    assert (str(found), found.partition) == (words, True)


def test_a_partition_is_known_however_the_schema_writes_it() -> None:
    day = Column(name="Day", type="date", nullable=True)
    assert facts(file(partition={"Day": "x"}), day, "Day", {"day"}, "").partition


def test_evidence_is_one_sentence() -> None:
    one = ColumnFacts("k", False, "1", "9", 0)
    assert str(Evidence("k > 9", False, (one, one))) == "skipped by k > 9: k from 1 to 9, k from 1 to 9"
    assert str(Evidence("k > 0", True, (one,))) == "kept by k > 0: k from 1 to 9"


def test_each_predicate_judges_each_file_by_its_own_columns() -> None:
    files = [file("a", stats(1, 3)), file("b", stats(7, 9)), file("c", stats(4, 6))]
    parts = [Expression("low", ("k",), (), "k > 2"), Expression("high", ("k",), (), "k < 7")]
    by_text = {"low": files, "high": [files[0], files[2]]}
    detail = {"properties": {"delta.dataSkippingNumIndexedCols": "1", "x": "y"}, "partitionColumns": None}
    other = Column(name="other", type="int", nullable=True)
    asked: list[str] = []

    def kept(texts: Any) -> list[LogFile]:
        asked.extend(texts)
        return by_text[texts[0]]

    found = file_evidence({"k": "k"}, detail, files, [files[0], files[2]], parts, [K, other], kept)
    assert [one.kept for one in found] == [True, False, True]
    assert [[judged.kept for judged in one.evidence] for one in found] == [[True, True], [True, False], [True, True]]
    assert found[1].evidence[1].facts[0].low == "7"
    assert {fact.column for one in found for judged in one.evidence for fact in judged.facts} == {"k"}
    assert "delta.dataSkippingNumIndexedCols = 1" in found[0].evidence[0].facts[0].note
    assert [one.path for one in found[1:]] == ["b", "c"]
    assert (len(found), asked) == (3, ["low", "high"])


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, ""),
        ({"NumIndexedCols": "1"}, "delta.dataSkippingNumIndexedCols = 1"),
        ({"StatsColumns": "k"}, "delta.dataSkippingStatsColumns = k"),
        # Delta looks at the number only where no columns are named
        ({"NumIndexedCols": "1", "StatsColumns": "k"}, "delta.dataSkippingStatsColumns = k"),
    ],
)
def test_one_property_says_which_columns_are_indexed(given: dict[str, str], limit: str) -> None:
    detail = {
        "properties": {f"delta.dataSkipping{name}": value for name, value in given.items()},
        "partitionColumns": [],
    }
    one = file("a", stats())
    found = file_evidence({}, detail, [one], [one], [Expression("x", ("k",), (), "x")], [K], lambda _: [one])
    note = f"used only if the column is indexed: {limit}" if limit else ""
    assert found[0].evidence[0].facts[0].note == note


def test_one_predicate_is_judged_by_what_is_left_and_asked_no_more() -> None:
    files = [file("a", stats()), file("b", stats())]
    detail = {"properties": {}, "partitionColumns": ["K"]}
    found = file_evidence({}, detail, files, files[:1], [Expression("x", ("k",), (), "x")], [K], lambda _: files)
    assert [one.evidence[0].kept for one in found] == [True, False]
    assert found[0].evidence[0].facts[0].partition
