"""The commits of a table, from DESCRIBE HISTORY."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engine.model.errors import ENDS_ALL, EngineError
from engine.spark.explain import DELTA_AT, explain
from engine.spark.spark_errors import raise_if_all_ends, translate
from engine.sql.names import string

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METADATA_KEY = "deltamerge_console"
# what Delta says of a MERGE into delta.`path@v3`, or a path that ends with a time
NAMES_VERSION = "DELTA_FAILED_SCAN_WITH_HISTORICAL_VERSION"
NAMED_VERSION = re.compile(r"version (\d+)")


@dataclass(frozen=True)
class Commit:
    """One commit. ``metrics`` are its operationMetrics, those that are whole numbers."""

    version: int
    timestamp: str
    operation: str
    read_version: int | None
    metrics: dict[str, int]
    user_metadata: str | None
    restored_to: int | str | None = None
    """For a RESTORE, the version it went back to, or the time."""

    @property
    def plan_id(self) -> str | None:
        """The plan that made this commit, if it was one of ours."""
        return self._own("plan_id")

    @property
    def op_id(self) -> str | None:
        """The ledger's operation that made this commit, if it was one of ours and had a ledger."""
        return self._own("op_id")

    def _own(self, key: str) -> str | None:
        try:
            return str(json.loads(self.user_metadata or "")[METADATA_KEY][key]) or None
        except (ValueError, KeyError, TypeError):
            return None


def commits(spark: SparkSession, table: str, limit: int | None = None) -> list[Commit]:
    """The newest ``limit`` commits of ``table`` (SQL text of its name), newest first; all of them for None."""
    try:
        rows = spark.sql(f"DESCRIBE HISTORY {table}" + (f" LIMIT {limit}" if limit else "")).collect()
    except Exception as error:
        raise translate(error) from error
    return [_as_seen_here(spark, _commit(row)) for row in rows]


def _as_seen_here(spark: SparkSession, commit: Commit) -> Commit:
    """The time that a RESTORE went back to as the times of commits are: in this program's time zone. Delta writes it
    in that of the driver's JVM, without its name (java.sql.Timestamp.toString)."""
    if not isinstance(commit.restored_to, str):
        return commit
    text = string(commit.restored_to)
    # a server may not let SQL call Java; its session is in the zone of its JVM unless that is set
    for zone in ("concat(' ', reflect('java.time.ZoneId', 'systemDefault'))", "''"):
        try:
            at = spark.sql(f"SELECT CAST(concat({text}, {zone}) AS TIMESTAMP_LTZ)").collect()[0][0]
        except Exception as error:
            raise_if_all_ends(error)
            continue
        if at is not None:
            return replace(commit, restored_to=str(at))
    return commit


def current_version(spark: SparkSession, table: str) -> int:
    """The newest version; of ``delta.`path@v3` `` the one that is named."""
    return version_read(spark, table)[0]


def version_read(spark: SparkSession, table: str) -> tuple[int, bool]:
    """(The version that a read of ``table`` gives, whether its path names that).

    EXPLAIN says it without a job, which DESCRIBE HISTORY runs to read the commit.
    """
    try:
        merge = f"MERGE INTO {table} USING (SELECT 1) ON FALSE WHEN MATCHED THEN DELETE"
        match = DELTA_AT.search(explain(spark, merge).analyzed)
    except EngineError as error:
        if error.condition in ENDS_ALL:
            raise
        named = NAMED_VERSION.search(error.message) if error.condition == NAMES_VERSION else None
        if named:
            return int(named[1]), True
        match = None  # no right to write there
    return int(match[1]) if match else commits(spark, table, 1)[0].version, False


def commits_since(spark: SparkSession, table: str, version: int) -> tuple[int, tuple[Commit, ...]]:
    """(the version now, the commits after ``version``, newest first). Reads no more of the log than that."""
    now = current_version(spark, table)
    newer = commits_after(spark, table, version, now)
    return max((now, *(commit.version for commit in newer))), newer


def commits_after(spark: SparkSession, table: str, version: int, now: int) -> tuple[Commit, ...]:
    """The commits after ``version``, newest first, of a table that was at ``now``. If it moved on meanwhile, more
    of them are read."""
    while now > version:
        newer = [commit for commit in commits(spark, table, now - version) if commit.version > version]
        oldest, newest = (newer[-1].version, newer[0].version) if newer else (version + 1, now)
        if oldest <= version + 1 or newest <= now:
            return tuple(newer)
        now = newest
    return ()


def taken_back_by(commit: Commit, since: Sequence[Commit]) -> Commit | None:
    """The RESTORE that took ``commit`` back; None while its rows are there. ``since`` are the newer commits, newest
    first; a RESTORE to before the commit takes it back, and one to after it brings it back."""
    by_version = {one.version: one for one in since}
    at = max((*by_version, commit.version))
    while at > commit.version:
        here = by_version.get(at)
        if here is None or here.restored_to is None:
            at -= 1
        elif isinstance(here.restored_to, int):
            if here.restored_to < commit.version:
                return here
            at = here.restored_to
        elif _time(here.restored_to) < _time(commit.timestamp):
            return here
        else:
            until = _time(here.restored_to)
            earlier = (v for v, one in by_version.items() if v < at and _time(one.timestamp) <= until)
            at = max(earlier, default=commit.version)
    return None


def taking_each_other_back(since: Sequence[Commit]) -> list[tuple[Commit, Commit]]:
    """Each of the commits ``since``, newest first, with the RESTORE right after it to the version right before it: the
    two leave the table as it was. Commits that are no change to the table may be left out of ``since``."""
    pairs, at = [], 1
    while at < len(since):
        restore, one = since[at - 1], since[at]
        is_pair = restore.restored_to == one.version - 1
        if is_pair:
            pairs.append((one, restore))
        # a RESTORE that is taken back takes nothing back itself
        at += 2 if is_pair else 1
    return pairs


def _time(text: str) -> datetime:
    """In this program's time zone; a time that is not known was before all."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.min


def user_metadata(plan_id: str, op_id: str, own: str | None) -> str:
    """What apply writes into ``commitInfo.userMetadata``; ``own`` is what the operator had set there."""
    content: dict[str, Any] = {METADATA_KEY: {"plan_id": plan_id, "op_id": op_id}}
    if own:
        content["user_metadata"] = own
    return json.dumps(content)


def metadata_of(text: str | None) -> tuple[str, str]:
    """(The plan whose commit has this userMetadata, "" if it is none of ours; what its operator, or anybody else, had
    set there)."""
    try:
        content = json.loads(text or "")
        return str(content[METADATA_KEY]["plan_id"]), str(content.get("user_metadata", ""))
    except (ValueError, KeyError, TypeError):
        return "", text or ""


def _commit(row: Any) -> Commit:
    metrics = {}
    for key, value in dict(row["operationMetrics"] or {}).items():
        if str(value).lstrip("-").isdigit():
            metrics[str(key)] = int(value)
    return Commit(
        version=int(row["version"]),
        timestamp=str(row["timestamp"]),
        operation=str(row["operation"]),
        read_version=None if row["readVersion"] is None else int(row["readVersion"]),
        metrics=metrics,
        user_metadata=row["userMetadata"],
        restored_to=_restored_to(row),
    )


def _restored_to(row: Any) -> int | str | None:
    if row["operation"] != "RESTORE":
        return None
    parameters = dict(row["operationParameters"] or {})
    version = str(parameters.get("version") or "")
    return int(version) if version.isdigit() else str(parameters.get("timestamp") or "")
