"""Which partition columns are bounded by the keys that they are generated from, without a question to Spark."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from engine.merge.analyze import Expression, Key
from engine.merge.derive_generated import derive_generated
from engine.sql.char_types import RAW_TYPE
from engine.sql.parse import parse_merge
from engine.table.logged_schema import LoggedColumn

KEY = Key(Expression("s.k", ("k",), (), "s.k"), Expression("t.k", (), ("k",), "t.k"), False)


def derived(monkeypatch: pytest.MonkeyPatch, declared: str) -> tuple[str, str]:
    """(The text, why not) for a partition column of that declared type, generated from the key "abcde"."""
    monkeypatch.setattr("engine.merge.derive_generated.collected", lambda *_: [["abcd"]])
    fields = [StructField("k", StringType()), StructField("g", StringType(), True, {RAW_TYPE: declared})]
    merge: Any = SimpleNamespace(
        typed=parse_merge("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE"),
        target_type=StructType(fields),
        source_reference="s",
    )
    columns = [LoggedColumn("g", "g", "substring(k, 1, 4)")]
    (one,) = derive_generated(None, merge, "v", [KEY], columns, ["g"])  # type: ignore[arg-type]
    return one.text, one.why_not


def test_a_varchar_is_bounded_as_a_string_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert derived(monkeypatch, "varchar(4)") == ("`t`.`g` = 'abcd'", "")


def test_a_char_gets_no_condition_for_delta_fails_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert derived(monkeypatch, "char(4)") == ("", "char(4) has no order that partitions can be trusted with")
