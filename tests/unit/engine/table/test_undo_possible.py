"""Whether a version can be restored: Delta's rules over numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model.plan import Undo
from engine.table import restore_files
from engine.table.restore_files import vector_file
from engine.table.undo_possible import (
    CHECKPOINT_INTERVAL,
    DAY,
    HOUR,
    LOG_CLEANUP,
    LOG_RETENTION,
    RETENTION,
    VersionTime,
    is_refused,
    retention_of,
    span,
    undo_of_commit,
)

NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z


MIDNIGHT = NOW // DAY * DAY


def judged(age: int, *, commits: int | None = 8, enforced: bool = True, **properties: str) -> Undo:
    """Of the commit over a version that is ``age`` milliseconds old."""
    at = NOW - age
    names = {"retention": RETENTION, "log": LOG_RETENTION, "cleanup": LOG_CLEANUP, "interval": CHECKPOINT_INTERVAL}
    table = retention_of({names[key]: value for key, value in properties.items()})
    return undo_of_commit(VersionTime(7, at, at), table, NOW, enforced=enforced, commits=commits)


def test_the_boundary_is_a_millisecond() -> None:
    retention = retention_of({})
    assert not is_refused(VersionTime(7, NOW - 7 * DAY, None), retention, NOW)
    assert is_refused(VersionTime(7, NOW - 7 * DAY - 1, None), retention, NOW)


def test_a_young_version_can_be_restored_until_its_own_commit_is_too_old() -> None:
    found = judged(2 * DAY)
    assert (found.possible, found.until, found.raise_retention) == (True, "2027-01-20T08:00:00Z", ())
    assert "up to 7 days (delta.deletedFileRetentionDuration)" in found.why


def test_an_old_version_is_refused_though_its_files_are_there_and_raising_is_the_remedy() -> None:
    found = judged(10 * DAY + HOUR)
    assert found.possible
    assert [(one.name, one.before, one.after) for one in found.raise_retention] == [
        (RETENTION, None, "interval 12 days")
    ]
    # VACUUM keeps what the commit removes for a week from now on
    assert found.until == "2027-01-22T08:00:00Z"
    assert "10 days ago" in found.why


def test_the_log_must_be_kept_as_long_as_the_files() -> None:
    found = judged(45 * DAY, retention="interval 2 days", cleanup="false")
    assert [(one.name, one.before, one.after) for one in found.raise_retention] == [
        (RETENTION, "interval 2 days", "interval 47 days"),
        (LOG_RETENTION, None, "interval 47 days"),
    ]


def test_a_commit_that_is_a_checkpoint_deletes_the_log_of_what_it_changed() -> None:
    # to the UTC midnight before
    assert judged(NOW - MIDNIGHT + 30 * DAY, commits=10).possible is False
    assert judged(NOW - MIDNIGHT + 30 * DAY - 1, commits=10).possible
    assert judged(45 * DAY, commits=11).possible
    assert judged(45 * DAY, commits=10, interval="7").possible
    assert judged(45 * DAY, commits=10, cleanup="false").possible
    assert judged(45 * DAY, commits=None).possible, "it is made, and was looked at"
    late = judged(45 * DAY, commits=11)
    assert late.until is None, "a checkpoint may delete it: nothing is promised"
    assert "raise the property before the commit" in judged(45 * DAY, commits=10).why


def test_without_the_check_age_is_no_matter() -> None:
    found = judged(10 * DAY, enforced=False)
    assert (found.possible, found.raise_retention) == (True, ())
    assert "this session" in found.why


def test_what_is_not_known_is_not_promised() -> None:
    assert judged(DAY, retention="for ever").possible is None
    assert judged(40 * DAY, commits=10, log="for ever").possible is None
    unknown = undo_of_commit(VersionTime(7, None, None), retention_of({}), NOW, commits=8)
    assert unknown.possible is None


@pytest.mark.parametrize(
    ("length", "told"), [(7 * DAY, "7 days"), (DAY, "1 day"), (36 * HOUR, "36 hours"), (0, "0 minutes")]
)
def test_a_span_in_words(length: int, told: str) -> None:
    assert span(length) == told


def test_the_file_of_a_deletion_vector() -> None:
    # an example of the Delta protocol
    name = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    assert vector_file("uab^-aqEH.-t@S}K{vb[*k^@4") == f"ab/{name}"
    assert vector_file("u^-aqEH.-t@S}K{vb[*k^@4") == name
    assert vector_file("ps3://b/x%20y.bin@4") == "s3://b/x y.bin"
    assert vector_file("iwi5b=000010000siXQKl0rr91000f55c8Xg0@") is None
    assert vector_file("") is None


def test_a_version_of_unknown_age_is_refused_by_none() -> None:
    assert not is_refused(VersionTime(7, None, None), retention_of({}), NOW)


def test_when_a_log_entry_is_deleted_may_be_unknown() -> None:
    found = undo_of_commit(VersionTime(7, NOW, None), retention_of({}), NOW)
    assert found.why.endswith("; when its log entry is deleted is not known")


def test_a_log_entry_that_has_expired_may_go_with_a_checkpoint() -> None:
    at = NOW - 40 * DAY
    found = undo_of_commit(VersionTime(7, at, at), retention_of({RETENTION: "interval 100 days"}), NOW)
    assert "a checkpoint may delete the log entry of v7 now" in found.why
    assert found.until is None


def test_a_clone_writes_a_checkpoint_whatever_its_version_is() -> None:
    """CloneTableBase commits by commitLarge, which ends in updateAndCheckpoint."""
    old = VersionTime(37, NOW - 40 * DAY, NOW - 40 * DAY)
    for interval in ("10", "no number"):
        retention = replace(retention_of({CHECKPOINT_INTERVAL: interval}), checkpoint_interval=1)
        assert undo_of_commit(old, retention, NOW, commits=38).possible is False
    assert undo_of_commit(old, retention_of({}), NOW, commits=38).possible


def test_vacuum_deletes_what_a_commit_removed_a_week_after_that_commit() -> None:
    old, retention = VersionTime(7, NOW - 20 * DAY, None), retention_of({LOG_CLEANUP: "false"})
    found = undo_of_commit(old, retention, NOW, enforced=False, made_at=NOW - 3 * DAY)
    assert found.until == "2027-01-19T08:00:00Z"
    found = undo_of_commit(old, retention, NOW, enforced=False, made_at=NOW - 19 * DAY)
    assert (found.possible, found.until) == (True, None)
    assert found.why.endswith("; the next VACUUM deletes files of v7")
    raised = undo_of_commit(old, retention, NOW, made_at=NOW - 3 * DAY)
    assert (raised.until, bool(raised.raise_retention)) == ("2027-01-19T08:00:00Z", True)


def test_files_of_one_name_in_two_partitions_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a table that was converted to Delta may have them."""
    found = ["file:/t/p=2/a.parquet", "file:/t/q=b%2520c/a.parquet"]
    monkeypatch.setattr(restore_files, "files_of_query", lambda *_: found)
    names = ["p=1/a.parquet", "p=2/a.parquet", "q=b%20c/a.parquet"]
    assert restore_files._missing(None, "/t", names) == ["/t/p=1/a.parquet"]  # type: ignore[arg-type]
