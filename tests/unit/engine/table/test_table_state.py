"""What is at a place, asked by patterns in which the place itself is none."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.table import table_state
from engine.table.table_state import can_be_reached, has_log_directory, holds_data

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
