"""The rules of staleness that need no Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.commit.staleness import REPLACING, changed_metadata, commit_line, some
from engine.table.commits import Commit
from engine.table.logged_schema import LoggedMetadata


def test_many_files_are_named_by_the_first_few() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


METADATA = LoggedMetadata(
    table_id="t",
    description="",
    fields={"id": "long", "v": "string"},
    partition_columns=("id",),
    configuration={"delta.appendOnly": "true"},
    min_reader_version=1,
    min_writer_version=2,
    features=(),
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ()),
        ({"description": "x"}, ()),
        ({"table_id": "other"}, ("it was created again",)),
        ({"fields": {"id": "long"}}, ("column v is gone",)),
        ({"fields": {"id": "long", "v": "string", "w": "date"}}, ("column w is new",)),
        ({"fields": {"id": "integer", "v": "string"}}, ("column id is another",)),
        ({"fields": {"v": "string", "id": "long"}}, ("its columns are in another order",)),
        ({"partition_columns": ("v", "id")}, ("it is partitioned by v, id",)),
        ({"partition_columns": ()}, ("it is partitioned by nothing",)),
        ({"configuration": {}}, ("property delta.appendOnly is gone",)),
        ({"configuration": {"delta.appendOnly": "false"}}, ("property delta.appendOnly is another",)),
        ({"configuration": {"delta.appendOnly": "true", "a": "b"}}, ("property a is another",)),
        ({"min_writer_version": 7, "features": ("x", "y")}, ("its protocol is reader 1, writer 7, x, y",)),
    ],
)
def test_what_changed_in_the_table_beside_its_rows_is_told(change: dict[str, Any], words: tuple[str, ...]) -> None:
    assert changed_metadata(METADATA, replace(METADATA, **change)) == words


def test_all_that_changed_is_told() -> None:
    now = replace(METADATA, table_id="other", fields={"v": "string", "id": "date"}, configuration={})
    assert changed_metadata(METADATA, now) == (
        "it was created again",
        "column id is another",
        "property delta.appendOnly is gone",
    )


def test_a_commit_is_one_line() -> None:
    commit = Commit(
        version=8,
        timestamp="2026-11-21T10:00:00.000Z",
        operation="WRITE",
        metrics={},
        read_version=7,
        user_metadata=None,
    )
    assert commit_line(commit) == "v8 WRITE 2026-11-21T10:00:00Z"
    assert commit_line(replace(commit, timestamp="2026-11-21 10:00:00.257000")) == "v8 WRITE 2026-11-21 10:00:00"


@pytest.mark.parametrize(
    ("operation", "replaces"),
    [
        ("RESTORE", True),
        ("CREATE OR REPLACE TABLE AS SELECT", True),
        ("REPLACE TABLE", True),
        ("CLONE", True),
        ("WRITE", False),
        ("MERGE", False),
        ("CREATE TABLE", False),
    ],
)
def test_what_puts_another_table_in_its_place(operation: str, replaces: bool) -> None:
    assert bool(REPLACING.match(operation)) is replaces
