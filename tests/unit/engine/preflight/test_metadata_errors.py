"""What Delta would refuse, in words."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import ArrayType, IntegerType, LongType, MapType, NullType, StructField, StructType

from engine.merge.plan_writes import COLLECT_STATISTICS
from engine.model.conflicts import Conflicts
from engine.preflight.commit_errors import append_only
from engine.preflight.metadata_errors import (
    AMBIGUOUS_NAME,
    DROPPED,
    INVALID_NAME,
    INVALID_PROTOCOL,
    MISSING,
    NO_COLUMN,
    REPARTITION,
    UNRESOLVED,
    UNSUPPORTED_FEATURES,
    VALIDATES,
    ambiguity,
    changed_types,
    feed_names,
    more_rows,
    not_boolean,
    only_partitions,
    partition_names,
    reads_input_file,
    reserved_by_vectors,
    reserved_names,
    unwritable,
)
from engine.sql.parse import parse_merge
from engine.table.table_features import WRITER_FEATURES


@pytest.mark.parametrize(("rows", "matched"), [(1, "1 target row is"), (1_200, "1,200 target rows are")])
def test_target_rows_matched_twice_are_counted_in_english(rows: int, matched: str) -> None:
    merge = parse_merge("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
    refused = ambiguity(merge, Conflicts(count=rows, true_count=rows))
    assert refused is not None
    assert refused.message == f"{matched} matched by more than one source row."


def analyzed(clauses: str, **changes: Any) -> Any:
    """What the rules read of an analyzed MERGE."""
    statement = parse_merge(f"MERGE INTO t USING s ON t.id = s.id {clauses}")
    columns = {"target": ("id", "v"), "source": ("id", "v"), "used": ("id", "v"), "not_boolean": {}, **changes}
    on, condition = (SimpleNamespace(source_columns=changes.get(part, ("id",))) for part in ("on", "condition"))
    return SimpleNamespace(
        statement=statement,
        typed=statement,
        not_boolean=columns["not_boolean"],
        target_schema=[SimpleNamespace(name=name) for name in columns["target"]],
        source_schema=[SimpleNamespace(name=name) for name in columns["source"]],
        columns_used=columns["used"],
        on=(on,),
        matched=((condition,),),
    )


UPDATE = "WHEN MATCHED THEN UPDATE SET v = s.v"


def test_a_condition_must_be_boolean() -> None:
    assert not_boolean(analyzed(UPDATE)) is None
    refused = not_boolean(analyzed(UPDATE, not_boolean={"t.v": "int"}))
    assert refused is not None
    assert "t.v is of type INT" in refused.message


@pytest.mark.parametrize(
    ("on", "clauses", "condition"),
    [
        ("NULL", UPDATE, "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE"),
        ("NULL", f"{UPDATE} WHEN NOT MATCHED THEN INSERT *", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"),
        ("t.v", f"{UPDATE} WHEN NOT MATCHED THEN INSERT *", "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE"),
        (
            "NULL",
            "WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE",
            "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
        ),
    ],
)
def test_on_that_is_not_boolean_fails_where_delta_uses_it_first(on: str, clauses: str, condition: str) -> None:
    merge = analyzed(clauses, not_boolean={on: "void"})
    merge.typed = parse_merge(f"MERGE INTO t USING s ON {on} {clauses}")
    refused = not_boolean(merge)
    assert refused is not None
    assert refused.condition == condition


@pytest.mark.parametrize(
    ("clauses", "taken"),
    [
        ("WHEN MATCHED AND NULL THEN DELETE WHEN NOT MATCHED THEN INSERT *", True),
        ("WHEN NOT MATCHED BY SOURCE AND NULL THEN DELETE", True),
        ("WHEN MATCHED AND NULL THEN DELETE", False),
        ("WHEN NOT MATCHED AND NULL THEN INSERT *", False),
        (f"WHEN MATCHED AND NULL THEN DELETE {UPDATE} WHEN NOT MATCHED THEN INSERT *", False),
    ],
)
def test_spark_makes_a_boolean_of_a_null_in_an_if_alone(clauses: str, taken: bool) -> None:
    merge = analyzed(clauses, not_boolean={"NULL": "void"})
    merge.typed = parse_merge(f"MERGE INTO t USING s ON t.id = s.id {clauses}")
    assert (not_boolean(merge) is None) == taken


def reads(clauses: str, touched: bool = True, materialize: bool = False) -> str | None:
    matches: Any = SimpleNamespace(touched=["a file"] if touched else [])
    decision: Any = SimpleNamespace(materialize=materialize)
    refused = reads_input_file(analyzed(clauses), decision, matches)
    return refused and refused.message


def test_values_of_both_sides_have_no_input_file() -> None:
    assert reads(UPDATE) is None
    of_file = "WHEN MATCHED THEN UPDATE SET v = upper(INPUT_FILE_NAME())"
    assert str(reads(of_file)).startswith("input_file_name()")
    assert reads(of_file, touched=False) is None, "nothing is updated"
    assert reads(of_file, materialize=True) is None, "a source that is materialized has no files"
    assert reads("WHEN MATCHED AND input_file_name() = 'a' THEN DELETE") is None
    assert reads("WHEN NOT MATCHED THEN INSERT (v) VALUES (input_file_name())", touched=False) is not None


def test_several_matches_are_no_error_where_the_one_clause_deletes() -> None:
    delete = parse_merge("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert ambiguity(delete, Conflicts(count=1, true_count=1)) is None


@pytest.mark.parametrize(
    ("version", "features", "condition"),
    [
        (7, ("deletionVectors",), None),
        (WRITER_FEATURES + 1, (), INVALID_PROTOCOL),
        (7, ("deletionVectors", "newest"), UNSUPPORTED_FEATURES),
    ],
)
def test_a_protocol_of_a_newer_delta_is_not_written(
    version: int, features: tuple[str, ...], condition: str | None
) -> None:
    refused = unwritable(version, features)
    assert (refused and refused.condition) == condition


@pytest.mark.parametrize(("removed", "vectors", "is_refused"), [(0, 0, False), (1, 0, True), (0, 1, True)])
def test_appends_only_lets_no_file_and_no_row_go(removed: int, vectors: int, is_refused: bool) -> None:
    metrics = {"numTargetFilesRemoved": removed, "numTargetDeletionVectorsAdded": vectors}
    assert bool(append_only(metrics)) is is_refused


@pytest.mark.parametrize(
    ("clauses", "written", "changes", "is_refused"),
    [
        (UPDATE, 11, {}, True),
        (UPDATE, 10, {}, False),
        (f"{UPDATE} WHEN NOT MATCHED THEN INSERT *", 11, {}, False),
        (UPDATE, 11, {"vectors": True}, False),
        (UPDATE, 11, {"counted": None}, False),
        (UPDATE, 11, {"confs": {COLLECT_STATISTICS: "false"}}, False),
        (UPDATE, 11, {"confs": {VALIDATES: "false"}}, False),
    ],
)
def test_without_insert_delta_writes_no_more_rows_than_it_takes_away(
    clauses: str, written: int, changes: dict[str, Any], is_refused: bool
) -> None:
    file = SimpleNamespace(rows=10, file=SimpleNamespace(rows=changes.get("counted", 10)))
    write = SimpleNamespace(deletion_vectors=changes.get("vectors", False))
    promise: Any = SimpleNamespace(write=write, metrics={"numOutputRows": written})
    refused = more_rows(
        analyzed(clauses).statement,
        SimpleNamespace(touched=[file]),  # type: ignore[arg-type]
        promise,
        changes.get("confs", {}),
    )
    assert (refused is not None) is is_refused
    assert refused is None or "11 rows for 10" in refused.message


def reserved(
    join: str = "rightOuter",
    touched: bool = True,
    materialize: bool = False,
    clauses: str = UPDATE,
    conflicts: int = 0,
    **columns: Any,
) -> str | None:
    matches: Any = SimpleNamespace(touched=["a file"] if touched else [], conflicts=conflicts)
    write: Any = SimpleNamespace(join_type=join, change_data_feed=True)
    decision: Any = SimpleNamespace(materialize=materialize)
    refused = reserved_names(analyzed(clauses, **columns), decision, matches, write)
    return refused and refused.condition


def test_names_that_delta_needs_while_it_runs_are_refused() -> None:
    assert reserved() is None
    in_source, in_target = {"source": ("id", "_ROW_ID_")}, {"target": ("id", "_row_dropped_")}
    assert reserved(**in_source) == AMBIGUOUS_NAME
    assert reserved(materialize=True, **in_source) is None, "a source that is materialized has its used columns only"
    assert reserved(join="leftanti", **in_source) is None, "one INSERT needs no column"
    assert reserved(target=("_row_id_",)) is None
    assert reserved(**in_target) == AMBIGUOUS_NAME
    assert reserved(touched=False, **in_target) is None, "nothing is written"
    assert reserved(source=("_target_row_present_",)) == AMBIGUOUS_NAME
    assert reserved(used=("_source_row_present_",)) == MISSING
    assert reserved(target=("_target_row_present_",)) == MISSING
    assert reserved(join="inner", target=("_target_row_present_",)) is None


def test_the_names_that_delta_gives_conditions_are_refused() -> None:
    clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.v > 1 THEN INSERT * WHEN NOT MATCHED THEN INSERT *"
    named, other = ("id", "_INSERT_condition_0_"), ("id", "_insert_condition_1_")
    assert reserved(clauses=clauses, source=named) == reserved(clauses=clauses, target=named) == AMBIGUOUS_NAME
    assert reserved(clauses=clauses, source=other) is None, "the first clause has no condition"
    assert reserved(clauses=clauses, touched=False, source=named) == AMBIGUOUS_NAME
    assert reserved(clauses=clauses, touched=False, target=named) is None, "the target is not read"
    several = "WHEN NOT MATCHED AND s.v > 1 THEN INSERT * WHEN NOT MATCHED THEN INSERT *"
    assert reserved(clauses=several, join="leftanti", touched=False, source=named) == AMBIGUOUS_NAME
    assert reserved(clauses=several, join="leftanti", touched=False, target=("_row_dropped_",)) == AMBIGUOUS_NAME
    lone = "WHEN NOT MATCHED AND s.v > 1 THEN INSERT *"
    assert reserved(clauses=lone, join="leftanti", touched=False, source=named) is None


def test_the_numbers_that_keep_a_delete_from_the_feed_twice_are_refused() -> None:
    delete, target_row, source_row = "WHEN MATCHED THEN DELETE", ("_target_row_index_",), ("_source_row_index",)
    upsert = f"{delete} WHEN NOT MATCHED THEN INSERT *"
    assert reserved(clauses=delete, conflicts=1, source=target_row) == AMBIGUOUS_NAME
    assert reserved(clauses=delete, conflicts=1, target=target_row) == MISSING
    assert reserved(clauses=delete, target=target_row) is None, "no row is deleted twice"
    assert reserved(conflicts=1, target=target_row) is None, "several matches are an error before that"
    assert reserved(clauses=upsert, conflicts=1, target=source_row) == AMBIGUOUS_NAME
    assert reserved(clauses=upsert, conflicts=1, used=source_row) == MISSING
    assert reserved(clauses=delete, conflicts=1, target=source_row) is None


@pytest.mark.parametrize(
    ("source", "target", "is_refused"),
    [
        (("filepath",), ("filePath",), True),
        (("filePath",), ("id",), False),
        (("id",), ("rowIndexCol",), False),
        (("rowIndexCol",), ("ROWINDEXCOL",), True),
        (("DeletionVectorId",), ("id",), True),
        (("id",), ("dvFilePath",), True),
        (("id",), ("_metadata",), True),
    ],
)
def test_names_of_deletion_vectors_are_refused_where_some_are_written(
    source: tuple[str, ...], target: tuple[str, ...], is_refused: bool
) -> None:
    merge = analyzed(UPDATE, source=source, target=target)

    def refused(vectors: bool, touched: Sequence[str], materialize: bool = False) -> bool:
        write: Any = SimpleNamespace(deletion_vectors=vectors)
        matches: Any = SimpleNamespace(touched=touched)
        decision: Any = SimpleNamespace(materialize=materialize)
        return reserved_by_vectors(merge, decision, matches, write) is not None

    assert refused(True, ["a file"]) is is_refused
    assert not refused(False, ["a file"])
    assert not refused(True, [])
    assert refused(True, ["a file"], materialize=True) is (is_refused and source == ("id",))


def test_what_delta_drops_before_it_searches_is_refused_though_nothing_matches() -> None:
    present = ("_source_row_present_",)
    assert reserved(touched=False, on=present, used=present) == DROPPED
    assert reserved(on=present, used=present) == DROPPED, "the search comes before the write"
    assert reserved(touched=False, condition=present, used=present) == DROPPED
    assert reserved(touched=False, on=present, used=present, target=present) == MISSING
    inserts = f"{UPDATE} WHEN NOT MATCHED THEN INSERT *"
    assert reserved(touched=False, clauses=inserts, condition=present, used=present) is None, (
        "no file is left out by it"
    )
    assert reserved(touched=False, used=present) is None


def rules(before: Any, after: Any, checks: dict[str, str], generated_as: str | None = None) -> Any:
    columns = [SimpleNamespace(name="c", before=before, type=after, generated_as=None)]
    if generated_as:
        columns.append(SimpleNamespace(name="g", before=None, type=None, generated_as=generated_as))
    return SimpleNamespace(columns=columns, checks=checks)


def struct(inner: Any) -> StructType:
    return StructType([StructField("a", inner)])


INT, LONG = IntegerType(), LongType()


@pytest.mark.parametrize(
    ("before", "after", "check", "is_refused"),
    [
        (INT, LONG, "C > 0", True),
        (INT, LONG, "d > 0", False),
        (INT, INT, "c > 0", False),
        (struct(INT), struct(LONG), "c.a > 0", True),
        (struct(INT), struct(LONG), "c IS NOT NULL", True),
        (struct(INT), struct(LONG), "c.b > 0", False),
        (ArrayType(INT), ArrayType(LONG), "size(c) > 0", True),
        (MapType(INT, INT), MapType(INT, LONG), "size(c) > 0", True),
        (MapType(INT, INT), MapType(INT, INT), "size(c) > 0", False),
    ],
)
def test_a_type_is_not_widened_under_a_check(before: Any, after: Any, check: str, is_refused: bool) -> None:
    refused = changed_types(rules(before, after, {"k": check}))
    assert (refused is not None) is is_refused
    assert refused is None or refused.condition == "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"


def test_a_type_is_not_widened_under_a_generated_column() -> None:
    refused = changed_types(rules(INT, LONG, {}, generated_as="c + 1"))
    assert refused is not None
    assert refused.condition == "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH"
    assert "g (c + 1)" in refused.message


def shuffled(*partitions: str, touched: bool = True, properties: Any = None, shuffle: str = "true") -> str | None:
    matches: Any = SimpleNamespace(touched=["a file"] if touched else [])
    detail = {"properties": properties, "partitionColumns": list(partitions)}
    merge = analyzed(UPDATE, target=("id", "s"))
    refused = partition_names(merge, matches, detail, {REPARTITION: shuffle})
    return refused and refused.condition


def test_rows_are_not_shuffled_by_a_name_with_a_dot_or_a_back_tick() -> None:
    assert shuffled("a.b") == UNRESOLVED
    assert shuffled("a.b", "a`b") == INVALID_NAME
    assert shuffled("a") is None
    assert shuffled("s.b") is None, "the first part may be a struct that has the field"
    assert shuffled("a.b", touched=False) is None, "nothing is written"
    assert shuffled("a`b", properties={"delta.autoOptimize.optimizeWrite": "true"}) is None, "it shuffles by itself"
    assert shuffled("a.b", shuffle="false") is None


@pytest.mark.parametrize(
    ("name", "feed", "touched", "is_refused"),
    [
        ("a`b", True, ["a file"], True),
        ("a.b", True, ["a file"], False),
        ("a`b", False, ["a file"], False),
        ("a`b", True, [], False),
    ],
)
def test_no_change_data_feed_is_written_of_a_name_with_a_back_tick(
    name: str, feed: bool, touched: list[str], is_refused: bool
) -> None:
    merge: Any = SimpleNamespace(type_after=StructType([StructField(name, IntegerType())]))
    matches: Any = SimpleNamespace(touched=touched)
    write: Any = SimpleNamespace(change_data_feed=feed)
    refused = feed_names(merge, matches, write)
    assert (refused and refused.condition) == (INVALID_NAME if is_refused else None)


ABSENT = "DELTA_NON_PARTITION_COLUMN_ABSENT"
TRACKED = {"delta.enableRowTracking": "true"}


@pytest.mark.parametrize(
    ("clauses", "touched", "feed", "properties", "condition"),
    [
        (UPDATE, True, False, None, ABSENT),
        (UPDATE, True, True, None, None),
        (UPDATE, True, False, TRACKED, None),
        (UPDATE, False, False, None, None),
        ("WHEN NOT MATCHED THEN INSERT *", False, True, TRACKED, ABSENT),
    ],
)
def test_a_rewritten_file_may_have_columns_of_deltas_own(
    clauses: str, touched: bool, feed: bool, properties: dict[str, str] | None, condition: str | None
) -> None:
    def refused(*partitions: str) -> str | None:
        fields = [StructField(name, LongType()) for name in partitions]
        merge: Any = SimpleNamespace(
            statement=parse_merge(f"MERGE INTO t USING s ON t.id = s.id {clauses}"),
            type_after=StructType([*fields, StructField("v", NullType())]),
        )
        matches: Any = SimpleNamespace(touched=["a file"] if touched else [])
        write: Any = SimpleNamespace(change_data_feed=feed)
        found = only_partitions(merge, matches, write, {"partitionColumns": partitions, "properties": properties})
        return found and found.condition

    assert refused("id") == condition
    assert refused() == (condition and NO_COLUMN)
