"""Plan a merge, apply it, and hold every promise against what Delta did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from engine.commit.apply_plan import apply
from engine.merge.analyze import analyze
from engine.merge.prepare_source import free_source, prepare_source
from engine.merge.should_materialize_source import should_materialize_source
from engine.model.errors import EngineError, RefusedError
from engine.model.plan import Plan, Refused
from engine.plan_merge import plan
from engine.preflight.advice import MUST_ACCEPT
from engine.preflight.assignments import assignments
from engine.preflight.rows_after import change_feed, rows_after
from engine.preflight.target_reads import target_columns
from engine.preflight.target_rules import target_rules
from engine.spark.confs import AS_MERGE_READS, confs_set
from engine.spark.session_state import run_setup
from engine.spark.spark_errors import translate
from engine.sql.parse import parse_merge, parse_script
from engine.table.commits import Commit, commits, current_version
from engine.table.delta_log import list_files
from engine.table.log_file import LogFile
from tests.engine.elsewhere import Apply

ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
"""What is promised with any Delta."""
ALWAYS = (*ROWS, "numTargetRowsCopied", "numTargetFilesRemoved")


NOT_ROWS = ("_commit_version", "_commit_timestamp")


def check_merge(
    spark: Any, table: str, script: str, *, rows: int = 0, values: bool = False, elsewhere: Apply | None = None
) -> str:
    """Plan and apply; AssertionError where a promise is broken. What became of it: "committed", "nothing to do",
    "must accept", or the error's class where Delta refuses it, by the plan and by Delta alike.

    With ``values`` the rows that the merge leaves are computed first, and compared one for one. ``elsewhere`` applies
    the plan where this session is not known.
    """
    location = location_of(spark, table)
    before_plan = footprint(spark, table, location)
    try:
        looked = plan(spark, script, rows=rows)
    except EngineError as error:
        assert footprint(spark, table, location) == before_plan, "planning writes nothing"
        return same_refusal(spark, script, error)
    assert footprint(spark, table, location) == before_plan, "planning writes nothing"
    if looked.refused:
        return same_refusal(spark, script, looked.refused)
    failed = [warning.evidence for warning in looked.warnings if warning.code == "CHECK_FAILED"]
    assert not failed, failed
    must = {warning.code for warning in looked.warnings} & MUST_ACCEPT
    if must:
        with pytest.raises(RefusedError):
            apply(spark, looked)
        return "must accept"
    before = list_files(spark, looked.target.path, looked.target.version)
    computed = compute(spark, table, looked.statement.sql) if values else None
    text = looked.to_json()
    outcome = elsewhere(text) if elsewhere else apply(spark, Plan.from_json(text))
    if not looked.changes_something:
        assert current_version(spark, table) == looked.target.version, "a plan without changes commits nothing"
        assert outcome.version is None
        return "nothing to do"
    now = commits(spark, table, 1)[0]
    assert now.version == looked.target.version + 1 == outcome.version
    is_tested = all(warning.code != "UNTESTED_DELTA" for warning in looked.warnings)
    check_commit(looked, now, ALWAYS if is_tested else ROWS)
    assert outcome.kept, outcome.deviations
    if is_tested:
        check_files(looked, before, list_files(spark, looked.target.path, now.version))
    if computed:
        with confs_set(spark, AS_MERGE_READS):
            check_values(spark, table, computed)
    if elsewhere:
        free_source(spark, looked.session.source_view)
    assert apply(spark, looked).already_applied
    assert current_version(spark, table) == now.version, "the same plan twice commits once"
    return "committed"


def location_of(spark: Any, table: str) -> Path:
    location = str(spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"])
    return Path(unquote(location.removeprefix("file:")))


def footprint(
    spark: Any, table: str, location: Path | None = None
) -> tuple[frozenset[tuple[str, int, int]], frozenset[str]]:
    """What lies in the table's directory, its log included (path, size, time of change), and the schema's tables."""
    files = [one for one in (location or location_of(spark, table)).rglob("*") if one.is_file()]
    schema = table.rpartition(".")[0]
    tables = spark.sql(f"SHOW TABLES{f' IN {schema}' if schema and not schema.startswith('delta') else ''}").collect()
    return (
        frozenset((str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files),
        frozenset(row["tableName"] for row in tables if not row["isTemporary"]),
    )


def check_commit(looked: Plan, commit: Commit, always: Sequence[str] = ALWAYS) -> None:
    """Every promised metric is the commit's, those ``always`` among them, and it read the version that was planned."""
    assert set(always) <= set(looked.promise)
    broken = [f"{name}: promised {n}, is {commit.metrics.get(name)}" for name, n in looked.promise.items()
              if commit.metrics.get(name) != n]  # fmt: skip
    assert not broken, broken
    assert commit.read_version == looked.target.version


def check_files(looked: Plan, before: tuple[LogFile, ...], after: tuple[LogFile, ...]) -> None:
    """The files that the plan touches are those that the commit removed or marked rows of, and the rows add up."""
    stay = {(file.path, file.deleted_rows) for file in after}
    changed = {file.path for file in before if (file.path, file.deleted_rows) not in stay}
    touched = {
        file.path
        for file in looked.find_touched_files.files
        if not looked.write.deletion_vectors or file.updated + file.deleted
    }
    assert touched == changed, (sorted(touched - changed), sorted(changed - touched))
    grown = looked.promise["numTargetRowsInserted"] - looked.promise["numTargetRowsDeleted"]
    if all(file.rows is not None for file in (*before, *after)):
        assert live_rows(after) == live_rows(before) + grown


@dataclass(frozen=True)
class Values:
    """What a merge leaves and changes, computed before it runs: rows as text, by how often they occur."""

    version: int
    columns: tuple[str, ...]
    unknown: tuple[str, ...]
    rows: Counter[str]
    changes: Counter[str] | None


def compute(spark: Any, table: str, sql: str) -> Values:
    """The rows after ``sql``, and its change feed where ``table`` has one, as the engine computes them."""
    merge = analyze(spark, parse_merge(sql))
    detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    rules = target_rules(spark, merge, target_columns(spark, merge.path, merge.version, detail), detail)
    source = prepare_source(spark, merge, should_materialize_source(spark, merge))
    assigned = assignments(spark, merge, rules)
    unknown = tuple({a.column.name for one in assigned for a in one.columns if a.unknown})
    rows = rows_after(spark, merge, source, rules, assigned)
    fed = detail["properties"].get("delta.enableChangeDataFeed") == "true"
    with confs_set(spark, AS_MERGE_READS):
        changes = counted(change_feed(spark, merge, source, rules, assigned), unknown) if fed else None
        values = Values(merge.version, tuple(rows.columns), unknown, counted(rows, unknown), changes)
    free_source(spark, source.view)
    return values


def check_values(spark: Any, table: str, computed: Values) -> None:
    """What the newest commit wrote is what was computed."""
    written = spark.sql(f"SELECT * FROM {table}")
    assert computed.columns == tuple(written.columns)
    assert computed.rows == counted(written, computed.unknown)
    if computed.changes is None:
        return
    version = commits(spark, table, 1)[0].version
    if version == computed.version:
        assert not computed.changes
        return
    feed = spark.sql(f"SELECT * FROM table_changes('{table}', {version}, {version})").drop(*NOT_ROWS)
    assert feed.columns == [*computed.columns, "_change_type"]
    assert computed.changes == counted(feed, computed.unknown)


def counted(frame: Any, unknown: tuple[str, ...]) -> Counter[str]:
    return Counter(str(row) for row in frame.drop(*unknown).collect())


def live_rows(files: tuple[LogFile, ...]) -> int:
    return sum(file.rows or 0 for file in files)


def same_refusal(spark: Any, script: str, ours: EngineError | Refused) -> str:
    theirs = refused_by_delta(spark, script)
    foreseen = (ours.condition, *(ours.also if isinstance(ours, Refused) else ()))
    assert theirs in foreseen, f"Delta says {theirs or 'nothing'}, the plan {ours.condition}: {ours.message}"
    return theirs


def refused_by_delta(spark: Any, text: str) -> str:
    """The class of the error that Delta raises for the statement as typed, or "" when it does not."""
    script = parse_script(text)
    run_setup(spark, script.setup)
    try:
        spark.sql(script.statement).collect()
    except Exception as error:
        return str(translate(error).condition)
    return ""
