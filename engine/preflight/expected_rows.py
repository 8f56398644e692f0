"""Findings → the results of the expectations, on the rows that the MERGE would leave."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.expect.evaluate import Relations, evaluate, results_for
from engine.expect.queries import WRITTEN, Table, table_of
from engine.expect.read_expectations import Declared
from engine.expect.target_name import target_parts
from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import takes_rows
from engine.merge.planning_state import Surroundings
from engine.merge.run_with_source_lost_retries import lost_blocks
from engine.merge.volatile_parts import by_chance
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.expectation import ExpectationResult
from engine.preflight.findings import Findings
from engine.preflight.rows_after import change_feed, unchanged_after
from engine.spark.checkpoint import checkpoint
from engine.spark.confs import confs_set, for_rows
from engine.sql.names import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def checked_table(
    spark: SparkSession, merge: AnalyzedMerge, around: Surroundings, declared: Sequence[Declared]
) -> Table:
    """The target, as its expectations see it."""
    where = around.catalog, around.schema
    return table_of(
        target_parts(spark, merge.target_name, merge.path, where, declared), merge.target_type, merge.type_after, where
    )


def expected_rows(
    spark: SparkSession, findings: Findings, declared: Sequence[Declared], table: Table, *, private: bool
) -> tuple[ExpectationResult, ...]:
    """The results, in the order of ``declared``."""
    statement, matches = findings.basis.merge.statement, findings.matches
    if findings.refused is not None:
        return results_for(
            declared, "unknown", f"The MERGE would fail ({findings.refused.condition}), and leaves no rows."
        )
    if not statement.only_one_unconditional_delete and any(file.true_conflicts for file in matches.files):
        text = "Several source rows match one target row: what that leaves is not known."
        return results_for(declared, "unknown", text)
    rules = findings.basis.target.rules
    late = [column.name for column in rules.fills_old_rows]
    late += [
        column.column.name
        for one in findings.basis.target.assigned
        if takes_rows(statement, matches, one.clause)
        for column in one.columns
        if column.value is None or by_chance(column.unknown)
    ]
    # the rows of the whole table, of which the log may know no number
    size = for_rows(findings.source.num_rows, *(file.rows for file in findings.scan.scan.before))
    try:
        with confs_set(spark, size), _relations(spark, findings) as relations:
            return evaluate(spark, declared, table, relations, private=private, not_known=late)
    except EngineError as error:
        if error.condition in ENDS_ALL or lost_blocks(error):
            raise
        text = f"The rows could not be computed: {error.condition if private else str(error)}"
        return results_for(declared, "error", text)


@contextmanager
def _relations(spark: SparkSession, findings: Findings) -> Iterator[Relations]:
    """Views of the rows, dropped at the end. Those that change are computed once: each expectation reads them."""
    merge, source, target = findings.basis.merge, findings.source, findings.basis.target
    feed, kept, changes, after = (
        source.view.replace("_source_", f"_{part}_") for part in ("feed", "kept", "changes", "after")
    )
    columns = ", ".join(quote(column.name) for column in target.rules.columns)
    try:
        change_feed(spark, merge, source, target.rules, target.assigned).createOrReplaceTempView(feed)
        checkpoint(spark, f"SELECT * FROM {feed}", "DISK_ONLY", changes)
        unchanged_after(spark, merge, source, target.rules).createOrReplaceTempView(kept)
        written = f"SELECT {columns} FROM {changes} WHERE {WRITTEN}"
        spark.sql(f"SELECT * FROM {kept} UNION ALL {written}").createOrReplaceTempView(after)
        yield Relations(before=merge.table_sql, after=after, changes=changes, source=source.view)
    finally:
        for name in (feed, kept, changes, after):
            with contextlib.suppress(Exception):
                spark.sql(f"DROP VIEW IF EXISTS {name}").collect()
