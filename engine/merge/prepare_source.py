"""AnalyzedMerge → PreparedSource: the source frozen once, pruned to the columns the MERGE refers to.

Mirrors MergeIntoMaterializeSource.prepareMergeSource: an eager local checkpoint at the attempt's storage level.
The preview always reads such a checkpoint, so that all its numbers are of the same rows; whether apply
merges from it as well is the MaterializeDecision's.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge
from engine.merge.derive_conjuncts import Bounds, bound_items, bounds_of
from engine.merge.exact_hash import exact_hash
from engine.merge.run_with_source_lost_retries import reading_what_is_not_ours
from engine.merge.should_materialize_source import STORAGE_LEVEL
from engine.merge.source_plan import SourcePlan, delta_tables, root_hint, source_plan
from engine.merge.stage_source import stage_source
from engine.model.browse import Column
from engine.model.errors import ENDS_ALL, EngineError, UnreachableError
from engine.model.plan import Decision
from engine.spark.checkpoint import checkpoint
from engine.spark.confs import ONE_JOB, confs_set, read_confs
from engine.spark.spark_errors import WITHOUT_CLASS, translate
from engine.sql.names import quote
from engine.sql.sql_text import names_in
from engine.table.commits import version_read
from engine.table.table_state import table_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATOMIC = re.compile(
    r"^(tinyint|smallint|int|bigint|float|double|boolean|date|timestamp|timestamp_ntz|string|binary|"
    r"decimal\(.*\)|char\(.*\)|varchar\(.*\)|string collate .*)$"
)
BROADCAST_THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
# as Spark counts them (EstimationUtils.getSizePerRow); a string has its length beside
ROW_BYTES, FIELD_BYTES, DECIMAL_BYTES = 8, 8, 16
# Spark's limit (10 MB) is for sizes that it estimates; what our join needs of the source is measured. Past a million
# rows a join of sorted rows takes twice as long.
JOINED_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class PreparedSource:
    """The frozen source: a temporary view of the session it was prepared in.

    ``fingerprint`` is an order-free checksum of all its rows, ``bounds`` what its keys lie between, ``hint`` the join
    hint at the root of the source, ``is_small`` whether Spark would broadcast it if it knew its size, ``joins_small``
    whether the join of a plan broadcasts what it needs of it, ``broadcast_bytes`` up to which size Spark does,
    ``pinned_id`` the id of the table that the MERGE will read VERSION AS OF.
    """

    view: str
    columns: tuple[Column, ...]
    num_rows: int
    fingerprint: str
    pinned_versions: dict[str, int]
    pinned_table: str | None
    volatile: tuple[str, ...]
    hint: str | None
    is_small: bool = False
    joins_small: bool = False
    broadcast_bytes: int = -1
    bounds: tuple[Bounds, ...] = ()
    pinned_id: str | None = None
    staged: str | None = None


MAY_NOT_NEED = "A plan computes the source for every row; the MERGE may leave this one out, and run."
"""Where Delta does not materialize the source, it computes it in its own join, after what ON and WHEN rule out."""

NOT_OF_VALUES = (*WITHOUT_CLASS, *ENDS_ALL, "MATERIALIZE_SOURCE", "FAILED_READ_FILE", "DELTA_")


def new_view_name() -> str:
    return f"deltamerge_source_{uuid.uuid4().hex[:12]}"


@contextlib.contextmanager
def said_of_rows_that_merge_may_not_need(decision: Decision) -> Iterator[None]:
    """What cannot be computed of a source that Delta does not materialize says that Delta may not compute it."""
    try:
        yield
    except EngineError as error:
        if not (decision.materialize or error.condition.startswith(NOT_OF_VALUES)):
            error.hint = f"{error.hint} {MAY_NOT_NEED}".strip()
        raise


def prepare_source(
    spark: SparkSession,
    merge: AnalyzedMerge,
    decision: Decision,
    plan: SourcePlan | None = None,
    *,
    view: str | None = None,
    level: str | None = None,
    staged: str | None = None,
) -> PreparedSource:
    """Freeze the source under ``view`` (a new name unless given) and take its row count and fingerprint.

    ``level`` is the storage level of the attempt, the first one's unless given; ``staged`` a Delta table to write the
    rows into first, and to read them from.
    """
    view = view or new_view_name()
    pinned: dict[str, int] = {}
    table: str | None = None
    if not (decision.materialize or staged):
        pinned, table = delta_versions(spark, merge, plan or source_plan(spark, merge))
    query = pruned_source_sql(merge, table, pinned)
    if staged:
        stage_source(spark, query, staged)
        query = f"SELECT * FROM {staged}"
    # before the rows are read: if a table is created again in between, apply refuses it
    read = staged or table
    pinned_id = table_id(spark, read) if read else None
    level = level or decision.storage_level or read_confs(spark, (STORAGE_LEVEL,)).get(STORAGE_LEVEL, "DISK_ONLY")
    with said_of_rows_that_merge_may_not_need(decision), reading_what_is_not_ours():
        checkpoint(spark, query, level, view)
    columns = used_columns(merge)
    # in the join a row has its id and the number of its insert clause beside
    sizes = (size_item(columns), size_item(joined_columns(merge), more=2))
    with confs_set(spark, ONE_JOB):
        num_rows, fingerprint, (*cells, whole, joined) = source_fingerprint(
            spark, view, _schema(merge, columns), merge.source_reference, (*bound_items(merge), *sizes)
        )
    most = broadcast_bytes(spark)
    return PreparedSource(
        view=view,
        columns=columns,
        num_rows=num_rows,
        fingerprint=fingerprint,
        pinned_versions=pinned,
        pinned_table=table,
        volatile=plan.volatile if plan else (),
        hint=root_hint(plan) if plan else None,
        is_small=bool(merge.keys) and whole is not None and int(whole) <= most,
        joins_small=bool(merge.keys) and joined is not None and most > 0 and int(joined) <= max(most, JOINED_BYTES),
        broadcast_bytes=most,
        bounds=bounds_of(merge, cells),
        pinned_id=pinned_id,
        staged=staged,
    )


def get_merge_source(spark: SparkSession, view: str | None) -> DataFrame:
    """The frozen source (MergeIntoMaterializeSource.getMergeSource).

    Raises RuntimeError, Delta's IllegalStateException, where this session has not prepared it.
    """
    try:
        if view and spark.catalog.tableExists(view):
            return spark.table(view)
    except Exception as error:
        raise translate(error) from error
    raise RuntimeError("The source was not initialized! Call prepare_source before.")


def pairs_view(view: str) -> str:
    """The view of the matched pairs that belongs to a frozen source."""
    return view.replace("_source_", "_pairs_")


def free_source(spark: SparkSession, view: str | None, after: BaseException | None = None) -> None:
    """Drop the frozen source and its pairs from the session. It comes after all else, so it never fails.

    ``after`` is what ended the work: a Spark that is gone has nothing to drop.
    """
    if after is not None and isinstance(translate(after), UnreachableError):
        return
    for name in (view, pairs_view(view)) if view else ():
        with contextlib.suppress(Exception):
            spark.sql(f"DROP VIEW IF EXISTS {name}").collect()


def free_sources(spark: SparkSession) -> None:
    """Drop every frozen source of a session that is about to be closed. It never fails.

    Threads of Spark's pools go on referring to a closed session, and so its views keep their blocks on the disk.
    """
    with contextlib.suppress(Exception):
        for row in spark.sql("SHOW VIEWS LIKE 'deltamerge_*'").collect():
            if row["isTemporary"]:
                spark.sql(f"DROP VIEW IF EXISTS {quote(row['viewName'])}").collect()


def used_columns(merge: AnalyzedMerge) -> tuple[Column, ...]:
    """The columns that are frozen; a MERGE that refers to none keeps one, for there must be rows to count."""
    used = tuple(column for column in merge.source_schema if column.name in merge.columns_used)
    return used or merge.source_schema[:1]


def _schema(merge: AnalyzedMerge, columns: Sequence[Column]) -> StructType:
    every = merge.source_type
    return type(every)([every[column.name] for column in columns])


def joined_columns(merge: AnalyzedMerge) -> tuple[Column, ...]:
    """Those of them that ON or the condition of a clause may name."""
    conditions = (merge.statement.condition, *(one.condition for one in merge.statement.clauses if one.condition))
    named = {name for condition in conditions for name in names_in(condition)}
    return tuple(column for column in used_columns(merge) if column.name.lower() in named)


def pruned_source_sql(merge: AnalyzedMerge, table: str | None, pinned: dict[str, int]) -> str:
    """Project(referenced columns, source), the source pinned to its version where it is one plain table."""
    columns = ", ".join(quote(column.name) for column in used_columns(merge))
    source = f"{table} VERSION AS OF {pinned[table]}" if table else merge.source_sql
    return f"{merge.statement.before_select}SELECT {columns} FROM {source}"


def size_item(columns: Sequence[Column], more: int = 0) -> str:
    """The bytes of a relation with ``more`` numbers in each row, NULL where a column is of no size that is known, as a
    string."""
    if not all(ATOMIC.match(column.type) for column in columns):
        return "CAST(NULL AS STRING)"
    fixed = sum(DECIMAL_BYTES if column.type.startswith("decimal") else FIELD_BYTES for column in columns)
    long = [quote(column.name) for column in columns if re.match(r"string|varchar|char|binary", column.type)]
    lengths = "".join(f" + coalesce(octet_length({name}), 0)" for name in long)
    return f"CAST(coalesce(sum({ROW_BYTES + fixed + more * FIELD_BYTES}{lengths}), 0) AS STRING)"


def broadcast_bytes(spark: SparkSession) -> int:
    """Up to which size Spark broadcasts one side of a join, -1 where it never does."""
    set_ = read_confs(spark, (BROADCAST_THRESHOLD,)).get(BROADCAST_THRESHOLD, "10m")
    limit = re.fullmatch(r"\s*(-?\d+)\s*([bkmgt]?)b?\s*", set_.lower())
    return int(limit[1]) * 1024 ** "bkmgt".index(limit[2] or "b") if limit else -1


def source_fingerprint(
    spark: SparkSession, view: str, schema: StructType, reference: str, items: Sequence[str]
) -> tuple[int, str, tuple[str | None, ...]]:
    """(rows, checksum, values of ``items``) of a view or a query in brackets of that ``schema``, in one pass.

    ``items`` are aggregates over it under the name ``reference``, strings all. The checksum is alike for the
    same rows in any order, and counts repeated ones.
    The sums of the halves of the hashes cannot overflow below 2³¹ rows, and equal pairs do not cancel as with XOR.
    """
    row_hash = exact_hash(schema)
    halves = ("__dm_hash & 4294967295L", "shiftrightunsigned(__dm_hash, 32)")
    sums = ("count(*)", *(f"coalesce(sum({half}), 0)" for half in halves))
    query = f"SELECT {', '.join((*sums, *items))} FROM (SELECT *, {row_hash} AS __dm_hash FROM {view}) AS {reference}"
    try:
        row = spark.sql(query).collect()[0]
    except Exception as error:
        raise translate(error) from error
    return int(row[0]), f"{int(row[0]):x}-{int(row[1]):x}-{int(row[2]):x}", tuple(row[3:])


def delta_versions(spark: SparkSession, merge: AnalyzedMerge, source: SourcePlan) -> tuple[dict[str, int], str | None]:
    """({Delta table the source reads: its version now}, the one table that can be pinned by VERSION AS OF or None)."""
    reads = {name: version_read(spark, name) for name in delta_tables(spark, source)}
    versions = {name: version for name, (version, _) in reads.items()}
    written = merge.statement.source
    # the name of a view or of a WITH query takes no version
    views = source.root is None or any(node.name == "View" for node in source.root.walk())
    is_table = written.parts and not merge.statement.prefix and not views
    names_version = any(named for _, named in reads.values())
    if is_table and len(versions) == 1 and not names_version:
        return {written.text: next(iter(versions.values()))}, written.text
    return versions, None
