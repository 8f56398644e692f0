"""Layout advice by the files of a table and the keys of the merges into it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from engine.explore.layout_advice import (
    GOOD_FILE,
    AppliedMerge,
    applied_merges,
    no_statistics,
    partition_skew,
    past_merges,
    rows_written_again,
    small_files,
)
from engine.model.plan import Plan, Remark
from engine.model.scan import DerivedConjunct
from engine.table.log_file import LogFile
from tests.engine.plans import make_outcome, make_plan

COLUMNS = ("id", "late", "key")


def applied(plan: Plan, metrics: dict[str, int] | None = None) -> tuple[AppliedMerge, ...]:
    """What a ledger in which ``plan`` was applied has of its table; ``metrics``: what Delta counted."""
    done = SimpleNamespace(kind="merge", status="applied", op_id="op")
    outcome = None if metrics is None else make_outcome("op").model_copy(update={"metrics": metrics})
    history: Any = SimpleNamespace(list=lambda **_: [done], get=lambda _: SimpleNamespace(plan=plan, outcome=outcome))
    return applied_merges(history, plan.target.table_id)


def a_file(size: int, stats: dict[str, Any] | None = None, **partition: str | None) -> LogFile:
    text = None if stats is None else json.dumps(stats)
    return LogFile("f", size, dict(partition), 1, 0, "", 0, stats=text)


def test_small_files_are_counted_by_partition_for_optimize_never_mixes_them() -> None:
    (found,) = small_files("t", [a_file(1000, p="a") for _ in range(12)])
    assert found.command == "OPTIMIZE t"
    assert "12 of 12 files" in found.evidence
    assert "; 11 fewer" in found.evidence
    assert not list(small_files("t", [a_file(1000, p=str(at)) for at in range(12)]))
    assert not list(small_files("t", [a_file(GOOD_FILE) for _ in range(12)]))


def test_a_partition_many_times_as_large_as_most_is_named() -> None:
    even = [a_file(GOOD_FILE // 4, p=str(at)) for at in range(6)]
    assert not list(partition_skew(even))
    (found,) = partition_skew([*even, a_file(10 * GOOD_FILE, p="it's")])
    assert found.sentence == "One partition is 40 times as large as most: p = 'it\\'s'."


def test_files_without_bounds_of_a_key_are_named_and_the_others_keep_theirs() -> None:
    known = {"numRecords": 1, "minValues": {"id": 1}, "nullCount": {"id": 0, "late": 1}}
    assert not list(no_statistics("t", [a_file(1, known)], ["id"], COLUMNS))
    # all NULL: no bounds, and none are needed
    assert not list(no_statistics("t", [a_file(1, known)], ["late"], COLUMNS))
    (found,) = no_statistics("t", [a_file(1, known), a_file(1)], ["key"], COLUMNS)
    assert found.evidence == "2 of 2 files have no bounds of it, nor only NULLs in it"
    assert found.command.endswith("('delta.dataSkippingStatsColumns' = '`id`, `key`')")
    # a partition column needs none
    assert not list(no_statistics("t", [a_file(1, None, key="x")], ["key"], COLUMNS))


def test_a_column_that_was_dropped_is_not_named_though_old_files_have_bounds_of_it() -> None:
    old = {"numRecords": 1, "minValues": {"id": 1, "col-1f": 2}}
    (found,) = no_statistics("t", [a_file(1, old)], ["key"], COLUMNS)
    assert found.command.endswith("('delta.dataSkippingStatsColumns' = '`id`, `key`')")


def test_the_keys_of_past_merges_are_the_columns_of_the_table_whatever_their_capitals() -> None:
    made = make_plan()
    keys = [DerivedConjunct(column=one, text=f"{one} = 1") for one in ("T.ID", "t.`Key`", "t.gone")]
    scan = made.scan.model_copy(update={"derived": (*keys, DerivedConjunct(column="late", text="", why_not="NULL"))})
    merges = applied(made.model_copy(update={"scan": scan}))
    (found,) = past_merges(merges, COLUMNS)
    assert found.bounds == {"id": "T.ID = 1", "key": "t.`Key` = 1"}
    # one whose keys are all gone says nothing of the table
    assert past_merges(merges, ["other"]) == ()


def test_merges_that_wrote_many_rows_again_advise_deletion_vectors_till_the_table_has_them() -> None:
    advised = make_plan(advice=(Remark(code="REWRITE_AMPLIFICATION", sentence="Many are written again."),))
    (found,) = rows_written_again("t", {}, applied(advised))
    assert found.evidence == "1 merge of the ledger wrote 49,100 unchanged rows again to change 900"
    (counted,) = rows_written_again("t", {}, applied(advised, {"numTargetRowsCopied": 48_000}))
    assert "wrote 48,000 unchanged rows" in counted.evidence
    assert not list(rows_written_again("t", {"delta.enableDeletionVectors": "true"}, applied(advised)))
    assert not list(rows_written_again("t", {}, applied(make_plan())))
