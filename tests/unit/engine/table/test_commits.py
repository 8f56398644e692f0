"""The commits of a table: which RESTORE took one back, and which are ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.table import commits as module
from engine.table.commits import (
    Commit,
    commits,
    commits_after,
    metadata_of,
    taken_back_by,
    taking_each_other_back,
    user_metadata,
    version_read,
)


def commit(version: int, restored_to: int | str | None = None, **changes: Any) -> Commit:
    operation = "WRITE" if restored_to is None else "RESTORE"
    one = Commit(version, f"2026-01-{version + 1:02}", operation, version - 1, {}, None, restored_to)
    return replace(one, **changes)


@pytest.mark.parametrize(
    ("since", "taken_back"),
    [
        ((), None),
        ((commit(6),), None),
        ((commit(6, restored_to=4),), 6),
        # a RESTORE to it, or to after it, keeps it
        ((commit(6, restored_to=5),), None),
        ((commit(8, restored_to=6), commit(7), commit(6)), None),
        # taken back, and brought back
        ((commit(7, restored_to=5), commit(6, restored_to=4)), None),
        # brought back to a time when it was taken back
        ((commit(8, restored_to=6), commit(7, restored_to=5), commit(6, restored_to=4)), 6),
        ((commit(8), commit(7, restored_to=3), commit(6)), 7),
        # by time: commit 5 is of 2026-01-06
        ((commit(6, restored_to=""),), 6),
        ((commit(6, restored_to="2026-01-06 00:00:00"),), None),
        ((commit(6, restored_to="2026-01-05 23:59:59.999"),), 6),
        ((commit(6, restored_to="2026-01-05"),), 6),
        ((commit(6, restored_to="2026-01-06"),), None),
        ((commit(7, restored_to="2026-01-07"), commit(6)), None),
        ((commit(8, restored_to="2026-01-07"), commit(7), commit(6, restored_to=4)), 6),
    ],
)
def test_the_restore_that_took_a_commit_back(since: tuple[Commit, ...], taken_back: int | None) -> None:
    found = taken_back_by(commit(5), since)
    assert (found and found.version) == taken_back


@pytest.mark.parametrize(
    ("metadata", "own"),
    [
        (user_metadata("p", "o", None), ("p", "o")),
        (user_metadata("p", "o", "the operator's"), ("p", "o")),
        (user_metadata("p", "", None), ("p", None)),
        (None, (None, None)),
        ("no JSON", (None, None)),
        ('{"another": 1}', (None, None)),
        ('{"deltamerge_console": 1}', (None, None)),
    ],
)
def test_ours_are_known_by_what_apply_wrote(metadata: str | None, own: tuple[str | None, str | None]) -> None:
    one = commit(5, user_metadata=metadata)
    assert (one.plan_id, one.op_id) == own
    assert not metadata or "operator" not in metadata or '"user_metadata"' in metadata


class History:
    """A session that knows the rows of DESCRIBE HISTORY."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self.rows = rows

    def sql(self, text: str) -> History:
        self.text = text
        return self

    def collect(self) -> list[dict[str, Any]]:
        return list(self.rows)


def row(**changes: Any) -> dict[str, Any]:
    return {
        "version": 3,
        "timestamp": "2026-01-04",
        "operation": "WRITE",
        "readVersion": 2,
        "operationMetrics": {"numFiles": "2", "negative": "-1", "ratio": "0.5", "text": "x"},
        "userMetadata": None,
        "operationParameters": None,
        **changes,
    }


def read(**changes: Any) -> Commit:
    (one,) = commits(History(row(**changes)), "t", 1)  # type: ignore[arg-type]
    return one


def test_a_row_of_the_history_is_read() -> None:
    one = read()
    assert (one.version, one.read_version, one.restored_to) == (3, 2, None)
    assert one.metrics == {"numFiles": 2, "negative": -1}
    assert read(operationMetrics=None, readVersion=None).read_version is None


@pytest.mark.parametrize(
    ("parameters", "restored_to"),
    [
        ({"version": "2", "timestamp": None}, 2),
        ({"version": None, "timestamp": "2026-01-01"}, "2026-01-01"),
        (None, ""),
    ],
)
def test_a_restore_says_where_it_went_back_to(parameters: Any, restored_to: int | str) -> None:
    assert read(operation="RESTORE", operationParameters=parameters).restored_to == restored_to
    assert read(operationParameters=parameters).restored_to is None


def test_more_of_the_log_is_read_if_the_table_moved_on(monkeypatch: pytest.MonkeyPatch) -> None:
    log = [commit(version) for version in range(9, -1, -1)]
    asked: list[int] = []

    def newest(_: object, __: str, limit: int) -> list[Commit]:
        asked.append(limit)
        return log[:limit]

    monkeypatch.setattr(module, "commits", newest)
    assert [one.version for one in commits_after(None, "t", 5, 7)] == [9, 8, 7, 6]  # type: ignore[arg-type]
    assert asked == [2, 4]
    assert commits_after(None, "t", 9, 9) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (user_metadata("p1", "o1", None), ("p1", "")),
        (user_metadata("p1", "o1", "nightly"), ("p1", "nightly")),
        ("nightly", ("", "nightly")),
        ('{"job": 1}', ("", '{"job": 1}')),
        ("[1]", ("", "[1]")),
        (None, ("", "")),
    ],
)
def test_a_commit_tells_which_plan_made_it_beside_what_its_operator_set(text: str | None, told: object) -> None:
    assert metadata_of(text) == told


@pytest.mark.parametrize(
    ("raised", "asked"),
    [
        (CancelledError("CANCELLED", "It was cancelled."), False),
        (UnreachableError("SPARK_UNREACHABLE", "Spark does not answer."), False),
        (EngineError("PERMISSION_DENIED", "No right to write there."), True),
    ],
)
def test_the_history_is_asked_for_a_version_unless_the_work_has_ended(
    monkeypatch: pytest.MonkeyPatch, raised: EngineError, asked: bool
) -> None:
    def refused(*_: object) -> None:
        raise raised

    monkeypatch.setattr(module, "explain", refused)
    monkeypatch.setattr(module, "commits", lambda *_: [commit(7)])
    if asked:
        assert version_read(None, "t") == (7, False)  # type: ignore[arg-type]
    else:
        with pytest.raises(type(raised)):
            version_read(None, "t")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("since", "pairs"),
    [
        ((commit(7, 5), commit(6)), [(6, 7)]),
        ((commit(9, 5), commit(6)), [(6, 9)]),
        ((commit(9, 7), commit(8), commit(7, 5), commit(6)), [(8, 9), (6, 7)]),
        # what stands between them, or before the version that came back, is in the table no more
        ((commit(8, 5), commit(7), commit(6)), []),
        ((commit(7, 4), commit(6)), []),
        ((commit(7, "2026-11-21 10:00:05"), commit(6)), []),
        ((commit(7), commit(6, 4)), []),
        # the second RESTORE brings back what the first took
        ((commit(8, 6), commit(7, 5), commit(6)), [(7, 8)]),
    ],
)
def test_a_commit_and_the_restore_right_after_it_take_each_other_back(
    since: tuple[Commit, ...], pairs: list[tuple[int, int]]
) -> None:
    found = taking_each_other_back(since)
    assert [(one.version, restore.version) for one, restore in found] == pairs
