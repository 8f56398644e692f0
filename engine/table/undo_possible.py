"""Whether a version of a table can be restored, and until when. Pure: Delta's rules, given what is known of the table.

SnapshotManagement.enforceTimeTravelWithinDeletedFileRetentionDuration refuses a version that is not the newest and
whose own commit is older than ``delta.deletedFileRetentionDuration``, to the millisecond, by the newest version's
properties; its files may all be there. MetadataCleanup deletes log entries after a checkpoint: those before any
checkpoint whose last one was written before the UTC midnight that precedes now less ``delta.logRetentionDuration``
(BufferingLogDeletionIterator). So a commit keeps the entry of the version before it, unless it is a checkpoint itself:
the OPTIMIZE of auto-compaction, which may follow at once, deletes none. VACUUM deletes the files that a commit removed,
by default that same ``deletedFileRetentionDuration`` after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from engine.model.counted import count
from engine.model.plan import RaisedProperty, Undo
from engine.spark.confs import is_on
from engine.table.calendar_interval import milliseconds

RETENTION = "delta.deletedFileRetentionDuration"
LOG_RETENTION = "delta.logRetentionDuration"
LOG_CLEANUP = "delta.enableExpiredLogCleanup"
CHECKPOINT_INTERVAL = "delta.checkpointInterval"
DEFAULTS = {
    RETENTION: "interval 1 week",
    LOG_RETENTION: "interval 30 days",
    LOG_CLEANUP: "true",
    CHECKPOINT_INTERVAL: "10",
}

HOUR = 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True)
class VersionTime:
    """When a version was committed, in milliseconds since 1970; None if unknown.

    ``committed_at`` is Snapshot.timestamp (in-commit where the table has that, else the time of the commit's file),
    ``written_at`` the time of the commit's file.
    """

    version: int
    committed_at: int | None
    written_at: int | None


@dataclass(frozen=True)
class Retention:
    """How long a table keeps what an undo needs, in milliseconds; None if a property cannot be read.

    ``cleanup``: log entries are deleted at all.
    """

    files: int | None
    log: int | None
    cleanup: bool
    checkpoint_interval: int | None
    properties: Mapping[str, str]


def retention_of(properties: Mapping[str, str]) -> Retention:
    """By the properties of the newest version; those that are not set are Delta's defaults."""
    of = {**DEFAULTS, **{key: value for key, value in properties.items() if key in DEFAULTS}}
    interval = of[CHECKPOINT_INTERVAL].strip()
    return Retention(
        files=milliseconds(of[RETENTION]),
        log=milliseconds(of[LOG_RETENTION]),
        cleanup=is_on(of, LOG_CLEANUP),
        checkpoint_interval=int(interval) if interval.isdigit() and int(interval) else None,
        properties=properties,
    )


def undo_of_commit(
    version: VersionTime,
    retention: Retention,
    now: int,
    *,
    enforced: bool = True,
    commits: int | None = None,
    made_at: int | None = None,
) -> Undo:
    """Whether the commit over ``version`` can be taken back. ``commits`` is the version that this commit is going to
    make; None if it was made, at ``made_at``: then its files and its log entry exist."""
    if commits is not None and (cleaned := _cleaned_by(commits, version, retention, now)) is not None:
        return cleaned
    if enforced and retention.files is None:
        return Undo(possible=None, why=f"{RETENTION} ({retention.properties[RETENTION]}) is no interval")
    if enforced and version.committed_at is None:
        return Undo(possible=None, why=f"it is not known when v{version.version} was committed")
    if enforced and is_refused(version, retention, now):
        return after_raising(version, retention, now, made_at)
    vacuumed = _vacuumed_from(retention, now if made_at is None else made_at)
    until = _earliest(
        version.committed_at + retention.files
        if enforced and version.committed_at is not None and retention.files is not None
        else None,
        _cleaned_from(version, retention),
        vacuumed,
    )
    why = _why(version, retention, now, enforced=enforced)
    if vacuumed is not None and vacuumed <= now:
        why += f"; the next VACUUM deletes files of v{version.version}"
    return Undo(possible=True, until=_time(until, now), why=why)


def is_refused(version: VersionTime, retention: Retention, now: int) -> bool:
    """Whether Delta refuses ``version`` by its age."""
    if version.committed_at is None or retention.files is None:
        return False
    return version.committed_at < now - retention.files


def _cleaned_by(commits: int, version: VersionTime, retention: Retention, now: int) -> Undo | None:
    """The undo, if it is impossible because the commit writes a checkpoint, after which Delta deletes expired log
    entries, that of the version too. None if it stays possible."""
    interval = retention.checkpoint_interval
    if not retention.cleanup or (interval is not None and commits % interval):
        return None
    if interval is None or retention.log is None or version.written_at is None:
        return Undo(possible=None, why=f"it is not known whether the commit deletes the log of v{version.version}")
    midnight = (now - retention.log) // DAY * DAY
    if version.written_at > midnight:
        return None
    return Undo(
        possible=False,
        why=f"v{commits} is a checkpoint, after which Delta deletes log entries older than {span(retention.log)} "
        f"({LOG_RETENTION}), that of v{version.version} among them; raise the property before the commit",
    )


def after_raising(version: VersionTime, retention: Retention, now: int, made_at: int | None = None) -> Undo:
    """The undo of a version that Delta refuses by its age, after the properties are raised. ``made_at``: when the
    commit over it was made, None if it is going to be."""
    vacuumed = _vacuumed_from(retention, now if made_at is None else made_at)
    until = _earliest(_cleaned_from(version, retention), vacuumed)
    age = now - (version.committed_at or 0)
    return Undo(
        possible=True,
        until=_time(until, now),
        why=f"v{version.version} was committed {span(age)} ago, and Delta refuses to restore what is older than "
        f"{span(retention.files or 0)} ({RETENTION})",
        raise_retention=raised_properties(version, retention, now),
    )


def raised_properties(version: VersionTime, retention: Retention, now: int) -> tuple[RaisedProperty, ...]:
    """The properties to raise so that Delta restores ``version``, with a day to spare. Delta wants to keep the log
    as long as the files."""
    days = (now - (version.committed_at or 0)) // DAY + 2
    names = (RETENTION, LOG_RETENTION) if (retention.log or 0) < days * DAY else (RETENTION,)
    return tuple(
        RaisedProperty(name=name, before=retention.properties.get(name), after=f"interval {days} days")
        for name in names
    )


def _why(version: VersionTime, retention: Retention, now: int, *, enforced: bool) -> str:
    cleaned = _cleaned_from(version, retention)
    sentence = "this session lets Delta restore versions of any age"
    if enforced:
        sentence = f"Delta restores versions of up to {span(retention.files or 0)} ({RETENTION})"
    if cleaned is not None and cleaned <= now:
        sentence += f"; a checkpoint may delete the log entry of v{version.version} now ({LOG_RETENTION})"
    elif retention.cleanup and (cleaned is None):
        sentence += "; when its log entry is deleted is not known"
    return sentence


def _cleaned_from(version: VersionTime, retention: Retention) -> int | None:
    """From when on a checkpoint may delete the log entry of the version; None for never and for unknown."""
    if not retention.cleanup or retention.log is None or version.written_at is None:
        return None
    return version.written_at + retention.log


def _vacuumed_from(retention: Retention, removed_at: int) -> int | None:
    """From when on VACUUM deletes the files that a commit removed; None if unknown."""
    return None if retention.files is None else removed_at + retention.files


def _earliest(*times: int | None) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _time(until: int | None, now: int) -> str | None:
    if until is None or until <= now:
        return None
    return datetime.fromtimestamp(until // 1000, timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


def span(length: int) -> str:
    """``10 days``, ``36 hours``: whole, rounded down."""
    whole, unit = (length // DAY, "day") if length >= 2 * DAY or length == DAY else (length // HOUR, "hour")
    if not whole:
        whole, unit = length // 60_000, "minute"
    return count(whole, unit)
