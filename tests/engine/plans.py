"""Plans made by hand for tests that need a plan and no Spark."""

from __future__ import annotations

from typing import Any

from engine.model.conflicts import Conflicts
from engine.model.create_values import CreatePlan, CreateStatement, StateColumn, TableState
from engine.model.operation import Outcome, Rehearsal
from engine.model.plan import Clause, Decision, Engines, Estimate, Plan, Remark, Sample, Source, Statement, Target
from engine.model.scan import Scan, TouchedFile, TouchedFiles
from engine.model.write import ColumnAfter, WritePlan

SQL = "MERGE INTO demo.orders t USING feed s ON t.key = s.key WHEN MATCHED THEN UPDATE SET *"


def make_plan(plan_id: str = "plan-1", *, table: str = "spark_catalog.demo.orders", **changes: Any) -> Plan:
    """A plan with something in every part; ``changes`` replace top-level keys."""
    plan = Plan(
        plan_id=plan_id,
        created_at="2026-11-21T10:00:00.000Z",
        engines=Engines(spark="4.2.0", delta="4.4.0", deltamerge="0.1.0"),
        statement=Statement(
            sql=SQL,
            condition="t.key = s.key",
            clauses=(Clause(kind="matched", condition=None, action="UPDATE SET *", action_kind="update"),),
            matched_only=True,
        ),
        target=Target(
            name=table,
            path="file:/data/orders",
            table_id="t-1",
            version=7,
            num_files=40,
            num_bytes=80_000_000,
        ),
        source=Source(sql="feed", columns_used=("key", "v"), num_rows=1000, fingerprint="1000:42"),
        decision=Decision(
            mode="auto",
            materialize=True,
            reason="NON_DETERMINISTIC_SOURCE_NON_DELTA",
            because="The source reads a Parquet scan.",
            storage_level="DISK_ONLY",
        ),
        scan=Scan(
            predicates=("t.day >= '2026-11-20'",),
            files_before=40,
            files_after=2,
            bytes_before=80_000_000,
            bytes_after=4_000_000,
            partitions_after=2,
        ),
        executor="ClassicMergeExecutor",
        find_touched_files=TouchedFiles(
            join_type="inner",
            matched_predicate="TRUE",
            files=(
                TouchedFile(
                    path="day=2026-11-20/part-00000-0b5c1c1e-7b1d-4b7f-9d0c-3f4a5b6c7d8e.c000.snappy.parquet",
                    bytes=2_000_000,
                    rows=50_000,
                    matched=900,
                    updated=900,
                    deleted=0,
                    copied=49_100,
                ),
            ),
            conflicts=Conflicts(),
        ),
        write=WritePlan(
            extra_op_type="OnlyUpdate",
            join_type="rightOuter",
            deletion_vectors=False,
            change_data_feed=False,
            unmodified_rows_written=True,
        ),
        promise={
            "numTargetRowsInserted": 0,
            "numTargetRowsUpdated": 900,
            "numTargetRowsDeleted": 0,
            "numTargetRowsCopied": 49_100,
            "numTargetFilesRemoved": 1,
        },
        estimates={"numTargetFilesAdded": Estimate(low=1, high=2), "numTargetBytesAdded": 2_000_000},
        warnings=(Remark(code="SOURCE_MOVES", sentence="The source may change.", evidence="rand()"),),
        samples=(Sample(action="update", clause=0, before={"key": "1", "v": None}, after={"key": "1", "v": "2"}),),
    )
    return plan.model_copy(update=changes)


def evolving(plan: Plan, *columns: tuple[str, str | None, str]) -> Plan:
    """``plan`` with the columns that it leaves: the name of each, its type before and after."""
    after = tuple(ColumnAfter(name=name, type=new, type_before=old) for name, old, new in columns)
    return plan.model_copy(update={"write": plan.write.model_copy(update={"schema_after": after})})


def make_outcome(op_id: str, plan_id: str = "plan-1") -> Outcome:
    """What applying :func:`make_plan` gives when all went as promised."""
    return Outcome(
        plan_id=plan_id,
        op_id=op_id,
        table="spark_catalog.demo.orders",
        verdict="fresh",
        version=8,
        read_version=7,
        metrics={"numTargetRowsUpdated": 900},
    )


def make_rehearsal(**changes: Any) -> Rehearsal:
    """What rehearsing :func:`make_plan` gives when all goes as promised; ``changes`` replace keys."""
    promise = {"numTargetRowsInserted": 0, "numTargetRowsUpdated": 900, "numTargetFilesRemoved": 1}
    rehearsal = Rehearsal(
        plan_id="plan-1",
        table="spark_catalog.demo.orders",
        version=7,
        clone="`spark_catalog`.`deltamerge_rehearsal`.`deltamerge_clone_1`",
        sql=SQL,
        kept=True,
        promise=promise,
        metrics={**promise, "executionTimeMs": 12_000},
        rows_compared=True,
        started_at="2026-11-21T10:00:00.000Z",
        duration_ms=12_300,
    )
    return rehearsal.model_copy(update=changes)


def make_create_plan(**changes: Any) -> CreatePlan:
    """A plan that replaces a table; ``changes`` replace top-level keys."""
    before = TableState(
        location="/data/orders",
        columns=(StateColumn(name="id", type="int"), StateColumn(name="old", type="string")),
        min_reader_version=1,
        min_writer_version=2,
        features=("appendOnly", "invariants"),
        num_files=3,
        num_bytes=3_000,
    )
    after = before.model_copy(
        update={
            "columns": (StateColumn(name="id", type="bigint", nullable=False, comment="the key"),),
            "partition_columns": ("id",),
            "properties": {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": None},
            "num_files": 0,
            "num_bytes": 0,
        }
    )
    plan = CreatePlan(
        plan_id="create-1",
        created_at="2026-11-21T10:00:00.000Z",
        engines=Engines(spark="4.2.0", delta="4.4.0", deltamerge="0.1.0"),
        statement=CreateStatement(
            sql="REPLACE TABLE demo.orders (id BIGINT NOT NULL) USING delta", form="empty", mode="Replace"
        ),
        target=Target(
            name="spark_catalog.demo.orders",
            path="/data/orders",
            table_id="t-1",
            version=7,
            num_files=3,
            num_bytes=3_000,
        ),
        in_catalog=True,
        by_path=False,
        managed=True,
        handler="handleCreateTable",
        effect="replace",
        because="The table at /data/orders is replaced at v7: its history stays, its files leave the version.",
        metadata_replaced=True,
        before=before,
        after=after,
        files_removed=3,
        bytes_removed=3_000,
        operation="REPLACE TABLE",
        post_commit=("the catalog entry is altered",),
        warnings=(Remark(code="FILES_LEAVE_THE_VERSION", sentence="3 files (3,000 bytes) leave."),),
    )
    return plan.model_copy(update=changes)
