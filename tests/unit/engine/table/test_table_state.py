"""What is at a place, asked by patterns in which the place itself is none; and which table has a name now."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.errors import CancelledError, EngineError
from engine.table import table_state
from engine.table.table_state import can_be_reached, has_log_directory, holds_data, is_a_place, table_id

SPARK: Any = None
# what Spark says when nothing is there, of a table of Delta, and of another trouble
NONE, DELTA, OTHER = "PATH_NOT_FOUND", "DELTA_INVALID_FORMAT", "NO_RIGHT"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries, in a file system in which nothing is."""
    queries: list[str] = []

    def files(_: object, query: str) -> list[str]:
        queries.append(query.partition(" WITH ")[0].partition("binaryFile.")[2])
        raise EngineError(NONE, "It is not there.", "Look.")

    monkeypatch.setattr(table_state, "files_of_query", files)
    return queries


def test_a_place_is_no_pattern(asked: list[str]) -> None:
    assert not holds_data(SPARK, "/a[1]/{b}")
    assert not has_log_directory(SPARK, "/a*")
    can_be_reached(SPARK, "/a?")
    assert asked == [r"`/a\[1\]/\{b\}/*`", r"`/a\*/_delta_log`", rf"`/a\?/{table_state.NOTHING}`"]


@pytest.mark.parametrize("files", [[], ["/d/part"]])
def test_what_has_a_name_is_there_though_spark_shows_no_file_of_it(
    monkeypatch: pytest.MonkeyPatch, files: list[str]
) -> None:
    monkeypatch.setattr(table_state, "files_of_query", lambda *_: files)
    assert holds_data(SPARK, "/d")
    assert has_log_directory(SPARK, "/d")


def test_a_table_of_delta_is_there_and_another_trouble_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(condition: str) -> None:
        def files(*_: object) -> list[str]:
            raise EngineError(condition, "It does not work.", "Look.")

        monkeypatch.setattr(table_state, "files_of_query", files)

    fails(DELTA)
    assert holds_data(SPARK, "/d")
    fails(OTHER)
    with pytest.raises(EngineError, match="It does not work"):
        holds_data(SPARK, "/d")


def identified(monkeypatch: pytest.MonkeyPatch, raised: EngineError) -> str:
    def refused(*_: object) -> None:
        raise raised

    monkeypatch.setattr(table_state, "collected", lambda *_: [{"id": "new", "location": "/t"}])
    monkeypatch.setattr(table_state, "logged_table", refused)
    return table_id(None, "t", ("old", 3))  # type: ignore[arg-type]


def test_a_table_whose_log_has_not_the_version_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    assert identified(monkeypatch, EngineError("DELTA_LOG_INCOMPLETE", "The log has no commit 3.")) == "new"


@pytest.mark.parametrize(
    "raised", [CancelledError("CANCELLED", "It was cancelled."), EngineError("STORE_DENIED", "The store refuses.")]
)
def test_a_log_that_could_not_be_read_says_nothing_of_the_table(
    monkeypatch: pytest.MonkeyPatch, raised: EngineError
) -> None:
    with pytest.raises(EngineError) as failed:
        identified(monkeypatch, raised)
    assert failed.value is raised


# SPARK is None: a question would fail
@pytest.mark.parametrize("path", ["s3a://bucket", "abfss://c@account.dfs.core.windows.net/x", "GS://bucket/new"])
def test_any_path_of_an_object_store_is_a_place(path: str) -> None:
    assert is_a_place(SPARK, path)
