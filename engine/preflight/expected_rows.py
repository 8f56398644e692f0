"""Findings → the results of the expectations, on the rows that the MERGE would leave."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.expect.evaluate import Relations, evaluate, unknown_results
from engine.expect.queries import Table, same_table
from engine.expect.read_expectations import Declared
from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import takes_rows
from engine.merge.planning_state import Surroundings
from engine.model.expectation import ExpectationResult
from engine.preflight.findings import Findings
from engine.preflight.rows_after import change_feed, rows_after
from engine.spark.confs import confs_set, for_rows
from engine.sql.store_types import ddl
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def checked_table(merge: AnalyzedMerge, around: Surroundings) -> Table:
    """The target, as its expectations see it."""
    parts = name_parts(merge.target_name)
    if parts[0].lower() != "delta" and len(parts) < 3:
        parts = (around.catalog, *((around.schema,) if len(parts) == 1 else ()), *parts)
    return Table(
        parts=parts,
        columns={field.name.lower(): (field.name, ddl(field.dataType)) for field in merge.type_after.fields},
        had=frozenset(name.lower() for name in merge.target_type.names),
    )


def of_table(declared: Sequence[Declared], table: Table) -> tuple[Declared, ...]:
    """The expectations that are for the table."""
    return tuple(one for one in declared if same_table(one.table, table.parts))


def expected_rows(
    spark: SparkSession, findings: Findings, declared: Sequence[Declared], table: Table, *, private: bool
) -> tuple[ExpectationResult, ...]:
    """The results, in the order of ``declared``."""
    statement, matches = findings.basis.merge.statement, findings.matches
    if findings.refused is not None:
        return unknown_results(declared, f"The MERGE would fail ({findings.refused.condition}), and leaves no rows.")
    if not statement.only_one_unconditional_delete and any(file.true_conflicts for file in matches.files):
        return unknown_results(declared, "Several source rows match one target row: what that leaves is not known.")
    late = [
        column.column.name
        for one in findings.basis.target.assigned
        if takes_rows(statement, matches, one.clause)
        for column in one.columns
        if column.value is None
    ]
    # the rows of the whole table, of which the log may know no number
    size = for_rows(findings.source.num_rows, *(file.rows for file in findings.scan.scan.before))
    with _relations(spark, findings) as relations, confs_set(spark, size):
        return evaluate(spark, declared, table, relations, private=private, not_known=late)


@contextmanager
def _relations(spark: SparkSession, findings: Findings) -> Iterator[Relations]:
    """Views of the rows, dropped at the end."""
    merge, source, target = findings.basis.merge, findings.source, findings.basis.target
    names = {part: source.view.replace("_source_", f"_{part}_") for part in ("after", "changes")}
    try:
        frames = {"after": rows_after, "changes": change_feed}
        for part, build in frames.items():
            build(spark, merge, source, target.rules, target.assigned).createOrReplaceTempView(names[part])
        yield Relations(before=merge.target_sql, after=names["after"], changes=names["changes"], source=source.view)
    finally:
        # those of rows_after too, if it made some
        for name in (*names.values(), *(source.view.replace("_source_", f"_{part}_") for part in ("rows", "feed"))):
            with contextlib.suppress(Exception):
                spark.sql(f"DROP VIEW IF EXISTS {name}").collect()
