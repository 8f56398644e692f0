"""The metrics of every kind of MERGE, from given matches: Delta counts pairs, not rows, where it counts pairs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.merge.find_touched_files import FileMatches, Matches
from engine.merge.join_of_match import Join
from engine.merge.join_sides import BY_SOURCE
from engine.merge.plan_writes import (
    COLLECT_STATISTICS,
    MATCHED_ONLY,
    PERSISTENT_VECTORS,
    Promise,
    TableTraits,
    plan_writes,
    runs_insert_only,
)
from engine.merge.should_materialize_source import OPTIMIZE_INSERT_ONLY
from engine.model.plan import Estimate
from engine.sql.parse import parse_merge
from engine.table.log_file import LogFile

PLAIN = TableTraits(deletion_vectors=False, change_data_feed=False)
VECTORS = TableTraits(deletion_vectors=True, change_data_feed=False)
MATCHED = "WHEN MATCHED AND s.v > 0 THEN UPDATE SET v = s.v WHEN MATCHED THEN DELETE"
INSERT = "WHEN NOT MATCHED THEN INSERT *"
BY_SOURCE_CLAUSES = (
    "WHEN NOT MATCHED BY SOURCE AND t.v = 1 THEN UPDATE SET v = 0 WHEN NOT MATCHED BY SOURCE AND t.v = 2 THEN DELETE"
)


def merge(clauses: str) -> Any:
    """What plan_writes reads of an analyzed MERGE."""
    return SimpleNamespace(statement=parse_merge(f"MERGE INTO t USING s ON t.id = s.id {clauses}"))


def file(
    name: str,
    rows: int,
    matched: int = 0,
    pairs: dict[int, int] | None = None,
    taken: dict[int, int] | None = None,
    *,
    vector: str = "",
    counted: bool = True,
    partition: str = "p",
    overcount: int = 0,
) -> FileMatches:
    """A touched file: ``pairs`` by clause, ``taken`` target rows by clause (the same, if not given)."""
    by_clause = pairs or {}
    log = LogFile(name, 100, {"day": partition}, rows if counted else None, 0, vector, 0)
    matched_pairs = sum(count for clause, count in by_clause.items() if clause < BY_SOURCE)
    return FileMatches(
        file=log,
        touched=True,
        rows=rows,
        matched=matched,
        clause_pairs=by_clause,
        clause_rows=by_clause if taken is None else taken,
        pairs=max(matched_pairs, matched),
        conflicts=0,
        overcount=overcount,
        true_conflicts=0,
        null_conflicts=0,
    )


def planned(
    clauses: str,
    *files: FileMatches,
    inserts: dict[int, int] | None = None,
    traits: TableTraits = PLAIN,
    confs: dict[str, str] | None = None,
    join: Join = "by key",
    rows: int = 50,
) -> Promise:
    matches = Matches(files=files, inserts=inserts or {})
    return plan_writes(merge(clauses), matches, rows, traits, confs or {}, join)


JOINS = [
    # clauses, vectors, what writes, by which join
    (MATCHED, False, "writeAllUpdatesAndDeletes", "rightOuter"),
    (f"{MATCHED} {INSERT}", False, "writeAllChanges", "fullOuter"),
    (BY_SOURCE_CLAUSES, False, "writeAllChanges", "fullOuter"),
    (f"{MATCHED} {BY_SOURCE_CLAUSES}", False, "writeAllChanges", "fullOuter"),
    (f"{MATCHED} {INSERT} {BY_SOURCE_CLAUSES}", False, "writeAllChanges", "fullOuter"),
    (MATCHED, True, "writeModifiedRowsOnly", "inner"),
    (f"{MATCHED} {INSERT}", True, "writeModifiedRowsOnly", "leftOuter"),
    (BY_SOURCE_CLAUSES, True, "writeModifiedRowsOnly", "rightOuter"),
    (f"{MATCHED} {BY_SOURCE_CLAUSES}", True, "writeModifiedRowsOnly", "rightOuter"),
    (f"{INSERT} {BY_SOURCE_CLAUSES}", True, "writeModifiedRowsOnly", "fullOuter"),
    (f"{MATCHED} {INSERT} {BY_SOURCE_CLAUSES}", True, "writeModifiedRowsOnly", "fullOuter"),
]


@pytest.mark.parametrize(("clauses", "vectors", "operation", "join"), JOINS)
def test_the_kinds_of_clauses_decide_the_join(clauses: str, vectors: bool, operation: str, join: str) -> None:
    found = planned(clauses, file("a", 10, 1), traits=VECTORS if vectors else PLAIN)
    assert (found.write.extra_op_type, found.write.join_type) == (operation, join)
    assert found.write.deletion_vectors is vectors
    assert found.write.unmodified_rows_written is not vectors
    assert found.executor == "ClassicMergeExecutor"


def test_matched_only_writes_like_the_others_where_the_conf_is_off() -> None:
    found = planned(MATCHED, file("a", 10, 1), confs={MATCHED_ONLY: "false"})
    assert (found.write.extra_op_type, found.write.join_type) == ("writeAllChanges", "fullOuter")


def test_vectors_are_written_only_where_they_may_persist() -> None:
    found = planned(MATCHED, file("a", 10, 1), traits=VECTORS, confs={PERSISTENT_VECTORS: "false"})
    assert not found.write.deletion_vectors
    assert found.metrics["numTargetFilesRemoved"] == 1


@pytest.mark.parametrize("traits", [PLAIN, VECTORS])
def test_without_a_touched_file_only_inserts_are_written(traits: TableTraits) -> None:
    found = planned(f"{MATCHED} {INSERT}", inserts={1: 7, 0: 3}, traits=traits)
    assert (found.write.extra_op_type, found.write.join_type) == ("writeInsertsOnlyWhenNoMatches", None)
    assert not found.write.unmodified_rows_written
    assert not found.write.deletion_vectors
    assert (found.metrics["numTargetRowsInserted"], found.metrics["numOutputRows"]) == (7, 7)
    assert found.metrics["numTargetFilesRemoved"] == 0


def test_a_rewritten_file_copies_the_rows_that_no_clause_changes() -> None:
    # 10 rows: 6 match, 3 are updated, 2 deleted, 1 pair is taken by none; by source 1 is updated, 1 deleted
    changed = file("a", 10, 6, {1: 3, 2: 2, BY_SOURCE + 1: 1, BY_SOURCE + 2: 1})
    found = planned(f"{MATCHED} {INSERT} {BY_SOURCE_CLAUSES}", changed, inserts={1: 4})
    assert found.metrics == {
        "numSourceRows": 50,
        "numTargetRowsInserted": 4,
        "numTargetRowsUpdated": 4,
        "numTargetRowsMatchedUpdated": 3,
        "numTargetRowsNotMatchedBySourceUpdated": 1,
        "numTargetRowsDeleted": 3,
        "numTargetRowsMatchedDeleted": 2,
        "numTargetRowsNotMatchedBySourceDeleted": 1,
        "numTargetRowsCopied": 3,
        "numOutputRows": 11,
        "numTargetFilesRemoved": 1,
        "numTargetBytesRemoved": 100,
        "numTargetDeletionVectorsAdded": 0,
        "numTargetDeletionVectorsRemoved": 0,
        "numTargetDeletionVectorsUpdated": 0,
        "numTargetChangeFilesAdded": 0,
    }
    (shown,) = found.files
    assert (shown.updated, shown.deleted, shown.copied, shown.matched) == (4, 3, 3, 6)
    assert (shown.path, shown.bytes, shown.rows, shown.partition) == ("a", 100, 10, {"day": "p"})


def test_a_pair_that_no_clause_takes_is_written_once_each() -> None:
    # one row that three source rows match, none of them taken
    unclaimed = file("a", 1, 1)
    found = planned(MATCHED, FileMatches(**{**vars(unclaimed), "pairs": 3}))
    assert found.metrics["numTargetRowsCopied"] == 3


def test_with_vectors_rows_are_marked_and_none_is_copied() -> None:
    files = (
        file("whole", 2, 2, {2: 2}, partition="a"),
        file("whole with vector", 2, 2, {2: 2}, vector="v", partition="b"),
        file("part", 10, 3, {1: 3}, partition="c"),
        file("part with vector", 10, 3, {1: 3}, vector="v", partition="d"),
        file("whole, rows not counted", 2, 2, {2: 2}, counted=False, partition="e"),
        file("untaken", 5, 1, partition="f"),
    )
    found = planned(MATCHED, *files, traits=VECTORS)
    metrics = {name: count for name, count in found.metrics.items() if "Vectors" in name or "Files" in name}
    assert metrics == {
        "numTargetFilesRemoved": 2,
        "numTargetDeletionVectorsAdded": 3,
        "numTargetDeletionVectorsRemoved": 2,
        "numTargetDeletionVectorsUpdated": 1,
        "numTargetChangeFilesAdded": 0,
    }
    assert found.metrics["numTargetRowsCopied"] == 0
    assert found.metrics["numTargetBytesRemoved"] == 200
    assert found.partitions_removed_from == 2
    assert {one.copied for one in found.files} == {0}


def test_a_rewrite_removes_each_touched_file_from_its_partition() -> None:
    found = planned(MATCHED, file("a", 1, 1, {1: 1}, partition="x"), file("b", 5, partition="y"))
    assert (found.metrics["numTargetFilesRemoved"], found.partitions_removed_from) == (2, 2)


def test_one_unconditional_delete_counts_each_row_once() -> None:
    several = file("a", 10, 2, {1: 5}, {1: 2}, overcount=3)
    found = planned("WHEN MATCHED THEN DELETE", several)
    assert (found.metrics["numTargetRowsDeleted"], found.metrics["numTargetRowsMatchedDeleted"]) == (2, 2)
    # any other statement counts pairs
    found = planned("WHEN MATCHED AND TRUE THEN DELETE", several)
    assert (found.metrics["numTargetRowsDeleted"], found.metrics["numTargetRowsMatchedDeleted"]) == (5, 5)


def test_change_files_are_promised_only_where_there_are_none() -> None:
    feed = TableTraits(deletion_vectors=False, change_data_feed=True)
    assert "numTargetChangeFilesAdded" not in planned(MATCHED, file("a", 1, 1, {1: 1}), traits=feed).metrics
    assert planned(f"{MATCHED} {INSERT}", traits=feed).metrics["numTargetChangeFilesAdded"] == 0
    assert planned(MATCHED, traits=feed).write.change_data_feed


@pytest.mark.parametrize(
    ("join", "touched", "untouched"),
    [("by key", None, None), ("by loops", (50, 100), None), ("none", (50, 100), (0, 100))],
)
def test_only_a_join_by_a_key_reads_the_source_once(
    join: Join, touched: tuple[int, int] | None, untouched: tuple[int, int] | None
) -> None:
    for files, bounds in (((file("a", 1, 1),), touched), ((), untouched)):
        found = planned(MATCHED, *files, join=join)
        assert found.metrics.get("numSourceRows") == (None if bounds else 50)
        assert found.estimates.get("numSourceRows") == (Estimate(low=bounds[0], high=bounds[1]) if bounds else None)
    # of no rows none is read twice
    assert planned(MATCHED, join=join, rows=0).metrics["numSourceRows"] == 0


@pytest.mark.parametrize(
    ("rows", "partitioned", "collect", "estimate"),
    [
        (0, False, "true", {"numTargetFilesAdded": 0, "numTargetBytesAdded": 0}),
        (0, False, "false", {"numTargetFilesAdded": Estimate(low=0, high=1)}),
        (0, True, "false", {"numTargetFilesAdded": 0, "numTargetBytesAdded": 0}),
        (5, False, "true", {"numTargetFilesAdded": Estimate(low=1, high=5)}),
        (5, False, "false", {"numTargetFilesAdded": Estimate(low=1, high=6)}),
        (5, True, "false", {"numTargetFilesAdded": Estimate(low=1, high=5)}),
    ],
)
def test_the_files_that_are_added_are_bounded(
    rows: int, partitioned: bool, collect: str, estimate: dict[str, Any]
) -> None:
    traits = TableTraits(deletion_vectors=False, change_data_feed=False, partitioned=partitioned)
    found = planned(INSERT, inserts={1: rows}, traits=traits, confs={COLLECT_STATISTICS: collect})
    assert found.estimates == estimate


def test_an_insert_only_merge_has_an_executor_of_its_own() -> None:
    two = f"WHEN NOT MATCHED AND s.v > 0 THEN INSERT (id) VALUES (s.id) {INSERT}"
    found = planned(two, inserts={0: 2, 1: 3, 2: 4}, traits=VECTORS)
    assert found.executor == "InsertOnlyMergeExecutor"
    assert (found.write.extra_op_type, found.write.join_type) == ("writeInsertsOnlyWhenNoMatchedClauses", "leftanti")
    assert not found.write.deletion_vectors
    assert (found.files, found.partitions_removed_from) == ((), 0)
    changed = {name: count for name, count in found.metrics.items() if count}
    assert changed == {"numSourceRows": 50, "numTargetRowsInserted": 7, "numOutputRows": 7}
    assert set(found.metrics) == set(planned(f"{MATCHED} {INSERT}").metrics)


@pytest.mark.parametrize(
    ("clauses", "conf", "own"),
    [(INSERT, "true", True), (INSERT, " False", False), (f"{MATCHED} {INSERT}", "true", False)],
)
def test_insert_only_runs_by_itself_unless_the_conf_is_off(clauses: str, conf: str, own: bool) -> None:
    assert runs_insert_only(merge(clauses).statement, {OPTIMIZE_INSERT_ONLY: conf}) is own
    found = planned(clauses, inserts={1: 1}, confs={OPTIMIZE_INSERT_ONLY: conf})
    assert (found.executor == "InsertOnlyMergeExecutor") is own
