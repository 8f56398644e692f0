"""What ``describe`` prints of a table."""

from __future__ import annotations

import pytest

from console.cli.browse import _detail
from console.cli.streams import show
from engine.model.browse import Column, TableVersion
from engine.model.identity import Identity
from tests.console import samples


def test_properties_stand_apart_from_the_facts_that_they_may_be_called_like(capsys: pytest.CaptureFixture[str]) -> None:
    properties = {"id": "42", "path": "/else", "files": "none"}
    show(*_detail(samples.a_detail("sales.orders").model_copy(update={"properties": properties}), []))
    facts, _, below = capsys.readouterr().out.partition("Properties\n")
    assert "/warehouse/sales.db/orders" in facts
    assert "a9f1c3d2" in facts
    assert "40, 934 MB" in facts
    assert below.splitlines()[:3] == ["  id     42", "  path   /else", "  files  none"]


def test_the_value_of_a_column_is_told_where_a_table_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    plain = Column(name="a", type="int", comment="the key")
    counted = Column(name="b", type="bigint", identity=Identity(start=1, step=1, always=True))
    for columns, lines in (
        ((plain,), ["column type comment", "a int the key"]),
        ((plain, counted), ["column type value comment", "a int the key", "b bigint identity always, start 1, step 1"]),
    ):
        show(*_detail(samples.a_detail("sales.orders").model_copy(update={"columns": columns}), []))
        shown = capsys.readouterr().out.splitlines()[-len(lines) :]
        assert [" ".join(line.split()) for line in shown] == lines


def test_the_versions_name_their_users_where_any_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    first = TableVersion(version=0, timestamp="", operation="CREATE TABLE")
    for versions, header, last in (
        ([first], "version when operation", "v0 ? CREATE TABLE"),
        ([first.model_copy(update={"user": "ann"})], "version when operation by", "v0 ? CREATE TABLE ann"),
    ):
        show(*_detail(samples.a_detail("sales.orders"), versions))
        shown = capsys.readouterr().out.splitlines()[-2:]
        assert [" ".join(line.split()) for line in shown] == [header, last]
