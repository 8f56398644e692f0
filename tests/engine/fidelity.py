"""Plan a merge, apply it, and hold every promise against what Delta did."""

from __future__ import annotations

from typing import Any

import pytest

from engine.advice import MUST_ACCEPT
from engine.apply_plan import apply
from engine.commits import Commit, commits
from engine.delta_log import LogFile, list_files
from engine.errors import EngineError, RefusedError
from engine.parse import parse_script
from engine.plan_merge import plan, run_setup
from engine.spark_errors import translate
from engine.values import Plan, Refused

ALWAYS = (
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsCopied",
    "numTargetFilesRemoved",
)


def check_merge(spark: Any, table: str, script: str, *, rows: int = 0) -> str:
    """Plan and apply; AssertionError where a promise is broken. What became of it: "committed", "nothing to do",
    "must accept", or the error's class where Delta refuses it, by the plan and by Delta alike."""
    try:
        looked = plan(spark, script, rows=rows)
    except EngineError as error:
        return same_refusal(spark, script, error)
    if looked.refused:
        return same_refusal(spark, script, looked.refused)
    must = {warning.code for warning in looked.warnings} & MUST_ACCEPT
    if must:
        with pytest.raises(RefusedError):
            apply(spark, looked)
        return "must accept"
    newest = commits(spark, table, 1)[0]
    before = list_files(spark, looked.target.path, looked.target.version)
    outcome = apply(spark, Plan.from_json(looked.to_json()))
    now = commits(spark, table, 1)[0]
    if not looked.changes_something:
        assert now.version == newest.version, "a plan without changes commits nothing"
        assert outcome.version is None
        return "nothing to do"
    assert now.version == newest.version + 1 == outcome.version
    check_commit(looked, now)
    assert outcome.kept, outcome.deviations
    check_files(looked, before, list_files(spark, looked.target.path, now.version))
    assert apply(spark, looked).already_applied
    assert commits(spark, table, 1)[0].version == now.version, "the same plan twice commits once"
    return "committed"


def check_commit(looked: Plan, commit: Commit) -> None:
    """Every promised metric is the commit's, and it read the version that was planned."""
    assert set(ALWAYS) <= set(looked.promise)
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
    assert live_rows(after) == live_rows(before) + grown


def live_rows(files: tuple[LogFile, ...]) -> int:
    return sum(file.rows or 0 for file in files)


def same_refusal(spark: Any, script: str, ours: EngineError | Refused) -> str:
    theirs = refused_by_delta(spark, script)
    assert theirs == ours.condition, f"Delta says {theirs or 'nothing'}, the plan {ours.condition}: {ours.message}"
    return str(ours.condition)


def refused_by_delta(spark: Any, text: str) -> str:
    """The class of the error that Delta raises for the statement as typed, or "" when it does not."""
    script = parse_script(text)
    run_setup(spark, script.setup)
    try:
        spark.sql(script.statement).collect()
    except Exception as error:
        return str(translate(error).condition)
    return ""
