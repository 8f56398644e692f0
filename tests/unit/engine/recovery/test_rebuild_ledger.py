"""What is read anew of a damaged ledger, and what cannot be."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from engine.model.errors import EngineError, UnreachableError
from engine.recovery import rebuild_ledger
from engine.recovery.rebuild_ledger import rebuild
from engine.table.commits import METADATA_KEY, Commit

TIME = "2026-11-21T10:00:00.000Z"


class Damaged:
    """A ledger that was set aside."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []
        self.is_rebuilt = False

    def needs_rebuild(self) -> bool:
        return True

    def add_found(self, subject: Any, outcome: Any, at: str, *, undone: bool) -> None:
        assert (at, undone) == (TIME, False)
        self.found.append((subject.table, outcome.version))

    def rebuilt(self) -> None:
        self.is_rebuilt = True


def merge(version: int) -> Commit:
    metadata = json.dumps({METADATA_KEY: {"plan_id": "p", "op_id": f"op{version}"}})
    return Commit(version, "local time", "MERGE", version - 1, {}, metadata)


@pytest.fixture
def lake(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A schema ``ours`` with one table, on which two merges were committed."""
    newest = [merge(2), merge(1)]
    tables = SimpleNamespace(
        list_schemas=lambda _: ["ours"],
        list_tables=lambda _, schema: [SimpleNamespace(name=f"{schema}.t", is_delta=True)],
        table_detail=lambda *_: SimpleNamespace(path="/t", table_id="id"),
        table_versions=lambda _, __, limit: [
            SimpleNamespace(version=version, timestamp=TIME) for version in (3, 2, 1)[:limit]
        ],
    )
    monkeypatch.setattr(rebuild_ledger, "tables", tables)
    monkeypatch.setattr(rebuild_ledger, "commits", lambda *_: newest)
    monkeypatch.setattr(rebuild_ledger, "own_commits", lambda _, __, candidates, *___: candidates)
    return tables


def test_a_schema_that_may_not_be_listed_does_not_keep_the_others_from_being_read(lake: Any) -> None:
    listed = lake.list_tables

    def refused(spark: Any, schema: str) -> Any:
        if schema == "theirs":
            raise EngineError("INSUFFICIENT_PERMISSIONS", "No right to list it.")
        return listed(spark, schema)

    lake.list_schemas, lake.list_tables = lambda _: ["theirs", "ours"], refused
    history: Any = Damaged()
    said: list[str] = []
    assert rebuild(None, history, said.append) == 2  # type: ignore[arg-type]
    assert history.found == [("ours.t", 1), ("ours.t", 2)]
    assert said[-1] == "the schema theirs was left out: No right to list it."
    assert history.is_rebuilt


def test_a_commit_that_comes_in_between_hides_none_of_the_others(lake: Any) -> None:
    history: Any = Damaged()
    rebuild(None, history)  # type: ignore[arg-type]
    assert history.found == [("ours.t", 1), ("ours.t", 2)], "though v3 is there by now"


def test_a_ledger_is_not_rebuilt_from_a_spark_that_is_gone(lake: Any) -> None:
    def gone(*_: object) -> Any:
        raise UnreachableError("SPARK_UNREACHABLE", "Spark does not answer.")

    lake.table_detail = gone
    history: Any = Damaged()
    with pytest.raises(UnreachableError):
        rebuild(None, history)  # type: ignore[arg-type]
    assert not history.is_rebuilt
