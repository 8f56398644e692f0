"""Realistic values for UI tests: one plan of each kind, an outcome, a ledger. Times are fixed."""

from __future__ import annotations

import dataclasses

from engine.explore.find_key import ClauseTest, FoundKey, FoundRow
from engine.explore.scan_explorer import QueryScan, ScanExplained, Size
from engine.explore.skipping import ColumnFacts, Evidence, FileEvidence
from engine.model.browse import Column, DataFile, RowPage, TableDetail, TableRef, TableVersion
from engine.model.changes import Changes, ColumnChange, Concentration, Transition
from engine.model.conflicts import ConflictKey, Conflicts, Dedupe
from engine.model.create_values import CreatePlan, CreateStatement, StateColumn, TableState
from engine.model.operation import Deviation, Operation, Outcome, Rehearsal, UndoPlan
from engine.model.plan import (
    Clause,
    Decision,
    Engines,
    Estimate,
    Plan,
    RaisedProperty,
    Refused,
    Remark,
    Sample,
    Source,
    Splice,
    Statement,
    Target,
    Undo,
)
from engine.model.plans import AnyPlan
from engine.model.scan import Scan, TouchedFile, TouchedFiles
from engine.model.write import WritePlan
from engine.spark.explain import Explained
from engine.table.commits import user_metadata

MERGE_SQL = """MERGE INTO sales.orders AS t
USING orders_feed AS s
  ON t.order_id = s.order_id AND t.order_date = s.order_date
WHEN MATCHED AND s.op = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""
FOLDER = "order_date=2026-11-"
POSSIBLE = Undo(
    possible=True,
    until="2099-11-27T12:00:00Z",
    why="Delta restores versions of up to 7 days (delta.deletedFileRetentionDuration)",
)
REFUSED_BY_RETENTION = Undo(
    possible=True,
    until="2099-11-27T12:00:00Z",
    why="v41 was committed 10 days ago, and Delta refuses to restore what is older than 7 days "
    "(delta.deletedFileRetentionDuration)",
    raise_retention=(RaisedProperty(name="delta.deletedFileRetentionDuration", before=None, after="interval 12 days"),),
)
GONE = Undo(
    possible=False,
    why="v42 is a checkpoint, after which Delta deletes log entries older than 30 days "
    "(delta.logRetentionDuration), that of v41 among them; raise the property before the commit",
)
BECAUSE = "the source scans parquet (orders_feed), which may read other rows the second time"


def a_sample(action: str, order: int) -> Sample:
    before = {
        "order_id": str(order),
        "order_date": "2026-11-19",
        "status": "paid",
        "amount": "129.90",
        "note": None,
    }
    after = {**before, "status": "shipped", "note": "[/x] left at the door"}
    if action == "insert":
        return Sample(action="insert", clause=2, after=after)
    if action == "delete":
        return Sample(action="delete", clause=0, before=before)
    return Sample(action="update", clause=1, before=before, after=after)


def a_plan(sql: str = MERGE_SQL, **changes: object) -> Plan:
    """The clean daily upsert."""
    files = tuple(
        TouchedFile(
            path=f"{FOLDER}{day}/part-000{number}-6f1c9b1e-1f0e-4f0c-9a53-3f2d7a9f9c55.c000.snappy.parquet",
            bytes=size,
            rows=rows,
            matched=updated + deleted,
            updated=updated,
            deleted=deleted,
            copied=rows - updated - deleted,
            partition={"order_date": f"2026-11-{day}"},
        )
        for day, number, size, rows, updated, deleted in (
            (19, 31, 23_100_000, 434_900, 811, 1),
            (20, 32, 23_000_000, 435_605, 393, 2),
        )
    )
    plan = Plan(
        plan_id="7f3a9c4be21d",
        created_at="2026-11-20T12:04:11Z",
        engines=Engines(spark="4.2.0", delta="4.4.0", deltamerge="0.1.0"),
        statement=Statement(
            sql=sql,
            condition="t.order_id = s.order_id AND t.order_date = s.order_date",
            clauses=(
                Clause(kind="matched", condition="s.op = 'D'", action="DELETE", action_kind="delete"),
                Clause(kind="matched", condition=None, action="UPDATE SET *", action_kind="update"),
                Clause(kind="not_matched", condition=None, action="INSERT *", action_kind="insert"),
            ),
        ),
        target=Target(
            name="sales.orders",
            path="/warehouse/sales.db/orders",
            table_id="a9f1c3d2-88a0-4b1d-9a60-6d2b60a0f0aa",
            version=41,
            features=("appendOnly", "invariants"),
            num_files=40,
            num_bytes=934_000_000,
            partition_columns=("order_date",),
        ),
        source=Source(
            sql="orders_feed",
            columns_used=("order_id", "order_date", "status", "amount", "note", "op"),
            num_rows=1_427,
            fingerprint="98341207731204",
        ),
        decision=Decision(
            mode="auto",
            materialize=True,
            reason="NON_DETERMINISTIC_SOURCE_NON_DELTA",
            because=BECAUSE,
            avoid="make the feed a Delta table",
            storage_level="DISK_ONLY",
        ),
        scan=Scan(
            predicates=("t.order_date IN (DATE'2026-11-19', DATE'2026-11-20')",),
            files_before=40,
            files_after=5,
            bytes_before=934_000_000,
            bytes_after=116_000_000,
            partitions_before=30,
            partitions_after=2,
            files_after_of_a_read=5,
            why="1 conjunct derived from the keys of the frozen source",
        ),
        executor="ClassicMergeExecutor",
        find_touched_files=TouchedFiles(
            join_type="inner", matched_predicate=None, files=files, partitions_removed_from=2
        ),
        write=WritePlan(
            extra_op_type="MERGE",
            join_type="right outer",
            deletion_vectors=False,
            change_data_feed=False,
            unmodified_rows_written=True,
        ),
        promise={
            "numTargetRowsInserted": 220,
            "numTargetRowsUpdated": 1_204,
            "numTargetRowsDeleted": 3,
            "numTargetRowsCopied": 869_298,
            "numTargetFilesRemoved": 2,
            "numSourceRows": 1_427,
        },
        estimates={"numTargetFilesAdded": Estimate(low=2, high=4), "executionTimeMs": 6_000},
        advice=(
            Remark(
                code="SOURCE_NOT_DELTA",
                sentence="A Delta table as source would not be materialized.",
                evidence="orders_feed: parquet",
            ),
        ),
        samples=(a_sample("update", 10_001), a_sample("insert", 99_001), a_sample("delete", 10_777)),
        splices=(Splice(start=35, end=46, text="deltamerge_source_7f3a9c", why="the frozen source in its place"),),
        undo=POSSIBLE,
        timings={"analyze": 210, "prepare_source": 460, "find_touched_files": 830},
    )
    return plan.model_copy(update=changes)


def a_warned_plan() -> Plan:
    """One that rewrites almost everything: it warns."""
    return a_plan(
        plan_id="b81d02aa17c0",
        warnings=(
            Remark(
                code="REWRITES_MOST_OF_TABLE",
                sentence="It rewrites 39 of 40 files to change 1,204 rows.",
                evidence="the keys of the source lie in every file",
            ),
        ),
    )


def a_refused_plan() -> Plan:
    """One with duplicate keys in its source."""
    return a_plan(
        plan_id="c0ffee12d4e5",
        find_touched_files=TouchedFiles(
            join_type="inner",
            matched_predicate=None,
            conflicts=Conflicts(
                count=2,
                true_count=2,
                keys=(
                    ConflictKey(
                        key={"order_id": "[/x]", "order_date": None},
                        source_rows=3,
                        rivals=(
                            {"order_id": "[/x]", "order_date": None, "status": "paid", "amount": "1.00"},
                            {"order_id": "[/x]", "order_date": None, "status": None, "amount": "1.00"},
                        ),
                        differing=("status",),
                    ),
                    ConflictKey(
                        key={"order_id": "10001", "order_date": "2026-11-19"},
                        source_rows=2,
                        rivals=tuple(
                            {"order_id": "10001", "order_date": "2026-11-19", "status": "shipped", "amount": amount}
                            for amount in ("129.90", "119.90")
                        ),
                        differing=("amount",),
                    ),
                ),
                dedupe=Dedupe(
                    sql="(SELECT * FROM orders_feed AS s QUALIFY row_number() OVER (PARTITION BY s.order_id, "
                    "s.order_date ORDER BY s.`updated_at` DESC) = 1) AS s",
                    keys=("s.order_id", "s.order_date"),
                    order_by="updated_at",
                    choice="Of each key the row with the greatest updated_at stays.",
                    rows_dropped=3,
                    conflicts_left=0,
                    matches_lost=0,
                ),
            ),
        ),
        refused=Refused(
            condition="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
            message="Cannot perform Merge as multiple source rows matched and attempted to modify the same target row.",
            hint="Remove the duplicates from the source, or make the clauses' conditions choose one of them.",
        ),
    )


def some_changes() -> Changes:
    """Of ``a_plan``: a text and two numbers that change, in one country most, and a column that is not compared."""
    return Changes(
        rows_before=1_204_220,
        inserted=220,
        updated=1_204,
        updated_same=4,
        deleted=3,
        columns=(
            ColumnChange(
                name="status",
                type="string",
                changed=1_100,
                to_null=0,
                from_null=2,
                transitions=(
                    Transition(before="paid", after="shipped", rows=900),
                    Transition(before=None, after="[/paid]", rows=2),
                ),
            ),
            ColumnChange(
                name="amount",
                type="decimal(10,2)",
                changed=500,
                to_null=7,
                from_null=0,
                sum_before="10500.50",
                sum_after="9800.00",
            ),
            ColumnChange(
                name="weight",
                type="double",
                changed=1,
                to_null=0,
                from_null=0,
                sum_before="1.5",
                sum_after="NaN",
                sums="estimated",
            ),
        ),
        not_compared={"seen_at": "current_timestamp()"},
        concentrations=(Concentration(column="country", value="DE", rows=1_402, share=0.985, table_share=0.11),),
    )


def a_found_key(typed: str) -> FoundKey:
    """An updated row; for 404 none, for 10777 one that is deleted, for a predicate one that two source rows match and
    one that nothing takes."""
    asked = (f"t.order_id <=> CAST('{typed}' AS bigint)",)
    if typed == "404":
        return FoundKey(asked, ())
    change = a_sample("update", 10_001)
    source = {"order_id": "10001", "order_date": "2026-11-19", "status": "shipped", "op": None}
    row = FoundRow(
        kind="matched",
        source=source,
        target=change.before,
        tests=(ClauseTest(0, None), ClauseTest(1, True)),
        change=change,
        file=a_plan().find_touched_files.files[0].path,
        touched=True,
    )
    if typed == "10777":
        tests = (ClauseTest(0, True), ClauseTest(1, None))
        return FoundKey(asked, (dataclasses.replace(row, tests=tests, change=a_sample("delete", 10_777)),))
    if "=" not in typed:
        return FoundKey(asked, (row,))
    lone = FoundRow(
        kind="not_matched",
        source=source,
        target=None,
        tests=(ClauseTest(2, True),),
        change=a_sample("insert", 7),
        faults=("NULL_KEYS_INSERTED", "DUPLICATE_INSERTS"),
    )
    left = FoundRow(
        kind="not_matched_by_source",
        source=None,
        target=change.before,
        tests=(),
        change=None,
        file="x.parquet",
        touched=False,
    )
    return FoundKey((typed,), (dataclasses.replace(row, source_rows=2), lone, left), more=True)


def some_spark_plans() -> Explained:
    return Explained(
        parsed="'MergeIntoTable",
        analyzed="MergeIntoCommand SubqueryAlias t, [/x]" + " wide" * 100 + "\n+- Relation \x1b[2J",
        optimized="MergeIntoCommand optimized",
        physical="Execute MergeIntoCommand",
    )


CREATE_SQL = """CREATE OR REPLACE TABLE sales.orders (
  order_id bigint NOT NULL COMMENT 'unique',
  order_date date,
  status string DEFAULT 'new',
  amount decimal(14,2)
)
USING delta
CLUSTER BY (order_date)
TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.feature.allowColumnDefaults' = 'supported')
"""


def a_state() -> TableState:
    """sales.orders as it is."""
    detail = a_detail("sales.orders")
    columns = [
        StateColumn(name=one.name, type=one.type, nullable=one.nullable, comment=one.comment) for one in detail.columns
    ]
    columns[2] = columns[2].model_copy(update={"default": "'new'"})
    columns.append(StateColumn(name="year", type="int", generated_as="year(order_date)"))
    return TableState(
        location=detail.path,
        columns=tuple(columns),
        partition_columns=detail.partition_columns,
        comment=detail.description,
        properties={**detail.properties, "delta.columnMapping.maxColumnId": "5"},
        min_reader_version=1,
        min_writer_version=7,
        features=detail.features,
        num_files=40,
        num_bytes=934_000_000,
    )


def a_create_plan(sql: str = CREATE_SQL, **changes: object) -> CreatePlan:
    """The table is replaced by an empty one with other columns and another layout."""
    before = a_state()
    after = before.model_copy(
        update={
            "columns": (
                before.columns[0],
                before.columns[1],
                before.columns[2].model_copy(update={"comment": ""}),
                StateColumn(name="amount", type="decimal(14,2)"),
            ),
            "partition_columns": (),
            "clustering_columns": ("order_date",),
            "comment": "",
            "properties": {"delta.enableDeletionVectors": "true"},
            "min_reader_version": 3,
            "features": ("allowColumnDefaults", "clustering", "deletionVectors", "domainMetadata"),
            "num_files": 0,
            "num_bytes": 0,
        }
    )
    plan = CreatePlan(
        plan_id="e4d1c2b3a495",
        created_at="2026-11-20T12:04:11Z",
        engines=Engines(spark="4.2.0", delta="4.4.0", deltamerge="0.1.0"),
        statement=CreateStatement(sql=sql, form="empty", mode="CreateOrReplace"),
        target=a_plan().target,
        in_catalog=True,
        by_path=False,
        managed=True,
        handler="handleCreateTable",
        effect="replace",
        because="The table sales.orders is in the catalog, so OR REPLACE makes its next version.",
        metadata_replaced=True,
        before=before,
        after=after,
        files_removed=40,
        bytes_removed=934_000_000,
        operation="CREATE OR REPLACE TABLE",
        undo=POSSIBLE,
        timings={"analyze": 210},
    )
    return plan.model_copy(update=changes)


def a_refused_create() -> CreatePlan:
    """The table is there already."""
    return a_create_plan(
        plan_id="f00df00df00d",
        effect="refused",
        after=None,
        operation=None,
        refused=Refused(
            condition="TABLE_OR_VIEW_ALREADY_EXISTS",
            message="Cannot create the table [/x] because it already exists.",
            hint="Write OR REPLACE, or IF NOT EXISTS.",
        ),
    )


def a_created(plan: CreatePlan, *, deviates: bool = False) -> Outcome:
    """What comes of a plan of a table."""
    deviations = (Deviation(metric="comment", promised="", actual="[/x] of another"),) if deviates else ()
    return Outcome(
        plan_id=plan.plan_id,
        op_id="01JCM5C0",
        table=plan.target.name,
        verdict="fresh",
        version=plan.target.version + 1,
        read_version=max(plan.target.version, 0),
        kept=not deviates,
        promise=plan.promise,
        metrics=plan.promise,
        deviations=deviations,
        duration_ms=1_900,
    )


def a_try(status: str, **more: object) -> Operation:
    """What the ledger has of a commit that has begun just now."""
    update = {"status": status, "started_at": "2999-01-01T00:00:00.000Z", **more}
    return a_ledger()[0].model_copy(update=update)


def a_rehearsal(plan: Plan, *, deviates: bool = False) -> Rehearsal:
    outcome = an_outcome(plan, deviates=deviates)
    return Rehearsal(
        plan_id=plan.plan_id,
        table=plan.target.name,
        version=plan.target.version,
        clone="`spark_catalog`.`deltamerge_rehearsal`.`[/x]`",
        sql=plan.statement.sql,
        kept=outcome.kept,
        promise=plan.promise,
        metrics=outcome.metrics,
        deviations=outcome.deviations,
        rows_compared=True,
        started_at="2026-11-21T10:00:00.000Z",
        duration_ms=12_300,
    )


def an_outcome(plan: AnyPlan, *, deviates: bool = False) -> Outcome:
    if plan.kind == "create_table":
        return a_created(plan, deviates=deviates)
    metrics = dict(plan.promise)
    deviations: tuple[Deviation, ...] = ()
    if deviates:
        metrics["numTargetRowsCopied"] += 7
        deviations = (
            Deviation(
                metric="numTargetRowsCopied",
                promised=plan.promise["numTargetRowsCopied"],
                actual=metrics["numTargetRowsCopied"],
            ),
        )
    return Outcome(
        plan_id=plan.plan_id,
        op_id="01JCM4Z7",
        table=plan.target.name,
        verdict="fresh",
        version=plan.target.version + 1,
        read_version=plan.target.version,
        kept=not deviates,
        promise=plan.promise,
        metrics=metrics,
        deviations=deviations,
        duration_ms=6_200,
    )


def a_ledger() -> list[Operation]:
    """Newest first."""
    return [
        Operation(
            op_id="01JCM4Z7", plan_id="7f3a9c4be21d", kind="merge", table="sales.orders", sql=MERGE_SQL,
            status="applied", version=42, started_at="2026-11-20T12:05:02Z", finished_at="2026-11-20T12:05:08Z",
            kept=True,
        ),
        Operation(
            op_id="01JCM3QK", plan_id="c0ffee12d4e5", kind="merge", table="sales.orders", sql=MERGE_SQL,
            status="failed", started_at="2026-11-20T11:40:00Z", finished_at="2026-11-20T11:40:02Z",
            error="[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] Cannot perform Merge as multiple "
            "source rows matched.",
        ),
        Operation(
            op_id="01JCK000", plan_id="aa11bb22cc33", kind="merge", table="sales.customers",
            sql="MERGE INTO sales.customers USING [/x] ...", status="cancelled", started_at="2026-11-19T09:00:00Z",
            finished_at="2026-11-19T09:00:31Z",
        ),
        Operation(
            op_id="01JCJ111", plan_id="dd44ee55ff66", kind="merge", table="sales.customers", sql=MERGE_SQL,
            status="applied", version=7, started_at="2026-11-18T22:15:00Z", finished_at="2026-11-18T22:16:05Z",
            kept=False,
        ),
    ]  # fmt: skip


def some_tables(schema: str) -> list[TableRef]:
    names = {
        "sales": ("customers", "orders", "orders_feed", "order lines [/x]"),
        "default": ("scratch",),
    }.get(schema, ())
    return [
        TableRef(
            name=f"{schema}.{name}" if " " not in name else f"{schema}.`{name}`",
            catalog="spark_catalog",
            schema_name=schema,
            table=name,
            is_delta=name != "orders_feed",
        )
        for name in names
    ]


def a_detail(name: str) -> TableDetail:
    return TableDetail(
        name=name,
        path="/warehouse/sales.db/orders",
        format="delta",
        table_id="a9f1c3d2-88a0-4b1d-9a60-6d2b60a0f0aa",
        version=41,
        created_at="2026-10-01T08:00:00Z",
        last_modified="2026-11-20T12:04:11Z",
        description="Orders of the shop [BETA]",
        columns=(
            Column(name="order_id", type="bigint", nullable=False, comment="unique"),
            Column(name="order_date", type="date", is_partition=True),
            Column(name="status", type="string", comment="new, paid, shipped"),
            Column(name="amount", type="decimal(12,2)"),
            Column(name="note", type="string", comment="free text; \x1b[31mmay hold anything\x1b[0m"),
        ),
        partition_columns=("order_date",),
        num_files=40,
        num_bytes=934_000_000,
        properties={"delta.enableDeletionVectors": "false", "delta.logRetentionDuration": "interval 30 days"},
        features=("appendOnly", "invariants"),
        min_reader_version=1,
        min_writer_version=2,
    )


def columns_of(name: str) -> tuple[Column, ...]:
    """The feed has one column that orders lack, and lacks one that they have."""
    columns = a_detail(name).columns
    if name.endswith("orders_feed"):
        return (*columns[:-1], Column(name="op", type="string"), Column(name="updated_at", type="timestamp"))
    return columns


def some_versions() -> list[TableVersion]:
    merge = {"numTargetRowsUpdated": "980", "numTargetRowsInserted": "201", "numTargetRowsDeleted": "0"}
    return [
        TableVersion(
            version=41, timestamp="2026-11-20T03:00:07Z", operation="MERGE", user="etl", read_version=40,
            metrics=merge, user_metadata=user_metadata("5ad0c0ffee", "01JCJ000", "nightly"),
        ),
        TableVersion(version=40, timestamp="2026-11-19T03:00:05Z", operation="OPTIMIZE", user="etl", read_version=39),
        TableVersion(
            version=0, timestamp="2026-10-01T08:00:00Z", operation="WRITE", metrics={"numOutputRows": "2000000"}
        ),
    ]  # fmt: skip


def some_files(count: int = 40) -> list[DataFile]:
    return [
        DataFile(
            path=f"{FOLDER}{1 + index % 30:02}/part-{index:05}-6f1c9b1e-1f0e-4f0c-9a53-3f2d7a9f9c55"
            ".c000.snappy.parquet",
            bytes=23_000_000 + index * 1_000,
            rows=434_000 + index,
            partition={"order_date": f"2026-11-{1 + index % 30:02}"},
            modified_at="2026-11-20T03:00:07Z",
            min_values={"order_id": str(index * 1000), "note": "[/x]"},
            max_values={"order_id": str(index * 1000 + 999), "note": "z"},
            null_counts={"order_id": 0, "note": 10},
        )
        for index in range(count)
    ]


def some_rows(count: int = 100) -> RowPage:
    columns = a_detail("sales.orders").columns
    rows = tuple(
        (
            str(10_000 + index),
            "2026-11-19",
            "paid",
            f"{index * 1.5:.2f}",
            None if index % 3 else "[/x] \x1b[2J",
        )
        for index in range(count)
    )
    return RowPage(columns=columns, rows=rows, more=True)


def an_undo(op_id: str, lost: tuple[str, ...] = ()) -> UndoPlan:
    """Taking back the merge of ``op_id``."""
    return UndoPlan(
        undo_id="u" * 32,
        op_id=op_id,
        table="sales.orders",
        path="/warehouse/sales.db/orders",
        table_id="t-1",
        version=42 + len(lost),
        to_version=41,
        lost=lost,
        promise={
            "numRestoredFiles": 2,
            "restoredFilesSize": 46_000_000,
            "numRemovedFiles": 3,
            "removedFilesSize": 47_000_000,
            "numOfFilesAfterRestore": 40,
            "tableSizeAfterRestore": 934_000_000,
        },
        rows_now=2_000_217,
        rows_after=2_000_000,
        until="2099-11-27T12:00:00Z",
        why="Delta restores versions of up to 7 days (delta.deletedFileRetentionDuration)",
    )


def a_raising_undo(op_id: str) -> UndoPlan:
    """The same of a table that was last written ten days before."""
    found = REFUSED_BY_RETENTION
    return an_undo(op_id).model_copy(
        update={"until": found.until, "why": found.why, "raise_retention": found.raise_retention}
    )


def a_dropping_undo(op_id: str) -> UndoPlan:
    """Taking back the CREATE of an external table."""
    return UndoPlan(
        undo_id="d" * 32,
        op_id=op_id,
        kind="drop",
        table="sales.orders",
        path="/data/orders",
        table_id="t-1",
        version=0,
        to_version=-1,
        files_stay=True,
    )


def a_restore(looked: UndoPlan) -> Outcome:
    """What that gives when all goes as promised."""
    return Outcome(
        plan_id=looked.undo_id,
        op_id="0e0e0e0e0e0e",
        table=looked.table,
        verdict="fresh",
        version=looked.version + 1,
        read_version=looked.version,
        promise=looked.promise,
        metrics=looked.promise,
    )


def a_scan(predicate: str) -> ScanExplained:
    """40 files: most lie in other partitions, some are skipped by a derived filter, some by statistics, three stay."""
    by_date, by_amount = "order_date >= DATE'2026-11-20'", "amount > 100 -- [/x] \x1b"

    def evidence(at: int) -> FileEvidence:
        day = f"2026-11-{1 + at % 30:02}"
        date = ColumnFacts("order_date", True, day, day, None)
        amount = ColumnFacts("amount", False, "0.10", "129.90" if at > 36 else "88.00", 0)
        known = (Evidence(by_date, at >= 20, (date,)), Evidence(by_amount, not 26 <= at <= 36, (amount,)))
        return FileEvidence(some_files(40)[at].path, at > 36, 434_000 + at, known)

    return ScanExplained(
        table="sales.orders",
        version=41,
        predicate=predicate,
        before=Size(40, 934_000_000, 30),
        after_partitions=Size(14, 322_000_000, 14),
        after_statistics=Size(3, 69_000_000, 3),
        generated=("((year >= 2026) OR isnull((year >= 2026)))",),
        files=tuple(map(evidence, range(40))),
        paths=tuple(file.path for file in some_files(40)),
        kept=frozenset(file.path for file in some_files(40)[37:]),
        pruned=frozenset(file.path for file in some_files(26)),
        derived=frozenset(file.path for file in some_files(26)[20:]),
    )


def scans_of_a_query() -> tuple[QueryScan, ...]:
    """One table that is read twice alike, and one at an older version."""
    orders = QueryScan(
        table="sales.orders",
        path="/w/orders",
        version=41,
        filters=("isnotnull(amount)", "(amount > 100 [/x] \x1b)"),
        times=2,
        before=Size(40, 934_000_000, 30),
        after=Size(3, 69_000_000, 3),
        accuracy="exact",
    )
    older = dataclasses.replace(orders, table="sales.customers", version=None, filters=(), times=1, before=None)
    return (orders, dataclasses.replace(older, after=Size(7, 70_000_000, 1), accuracy="estimated"))
