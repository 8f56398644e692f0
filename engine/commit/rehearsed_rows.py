"""The rows of a rehearsal against the plan: how many, by action too if there is a change feed, and one for one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.merge.analyze import AnalyzedMerge, analyze
from engine.merge.prepare_delta_scan import merge_reads
from engine.merge.prepare_source import PreparedSource, free_source, new_view_name, prepare_source
from engine.merge.running_statement import frozen_sql
from engine.model.checks import Checks
from engine.model.operation import Deviation
from engine.model.plan import Plan
from engine.preflight.advice import MUST_ACCEPT
from engine.preflight.assignments import assignments
from engine.preflight.rows_after import rows_after
from engine.preflight.target_reads import describe_detail, doubtful_files, target_columns
from engine.preflight.target_rules import TargetRules, target_rules
from engine.spark.confs import confs_set
from engine.spark.spark_errors import collected
from engine.sql.names import quote
from engine.sql.parse import parse_merge
from engine.table.nested_types import types_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSERTED, UPDATED, DELETED = "numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"
FEED = {"insert": INSERTED, "update_preimage": UPDATED, "update_postimage": UPDATED, "delete": DELETED}
"""The metric that counts the rows of each _change_type."""
# neither can be compared by Spark's EXCEPT
NOT_COMPARED = {"map", "variant"}


def count_deviations(spark: SparkSession, plan: Plan, clone: str, version: int) -> Iterator[Deviation]:
    """Where the numbers of rows of the clone, merged into at ``version``, are not those that the plan says."""
    rows = [int(collected(spark, f"SELECT count(*) AS n FROM {clone} VERSION AS OF {v}")[0]["n"]) for v in (0, version)]
    promised = {name: plan.promise.get(name, 0) for name in FEED.values()}
    after = rows[0] + promised[INSERTED] - promised[DELETED]
    if rows[1] != after:
        yield Deviation(metric="rows", promised=after, actual=rows[1])
    if not plan.write.change_data_feed:
        return
    feed = f"SELECT _change_type, count(*) AS n FROM table_changes('{clone}', {version}, {version}) GROUP BY ALL"
    changes = {str(row["_change_type"]): int(row["n"]) for row in collected(spark, feed)}
    for change, metric in FEED.items():
        if changes.get(change, 0) != promised[metric]:
            yield Deviation(metric=f"change feed: {change}", promised=promised[metric], actual=changes.get(change, 0))


def can_compare_rows(plan: Plan) -> bool:
    """Whether the rows are compared one for one: the whole table is read for it, and a rehearsal is to cost one MERGE.
    Rows that Delta may write wrongly, of which the plan warns, are not known."""
    wrong = any(warning.code in MUST_ACCEPT for warning in plan.warnings)
    return plan.target.num_bytes <= Checks().compare_max_bytes and not wrong


def row_deviations(spark: SparkSession, plan: Plan, clone: str, version: int) -> Iterator[Deviation]:
    """The rows that the clone lacks and has too many, beside what the plan's source and clauses give; null-safe, equal
    rows counted. Values that only the commit knows, maps and variants apart."""
    merge = replace(analyze(spark, parse_merge(frozen_sql(plan))), version=plan.target.version)
    source = prepare_source(spark, merge, plan.decision, view=new_view_name())
    view = source.view.replace("_source_", "_after_")
    try:
        detail = describe_detail(spark, merge.target_name)
        columns = target_columns(spark, merge.path, merge.version, detail)
        with confs_set(spark, merge_reads(spark, merge, doubtful_files(spark, merge, detail, columns))):
            names = _rows_after(spark, merge, source, target_rules(spark, merge, columns, detail), view)
            sides = [f"SELECT {names} FROM {one}" for one in (view, f"{clone} VERSION AS OF {version}")]
            for metric, (first, second) in (("rows missing", sides), ("rows too many", sides[::-1])):
                rows = collected(spark, f"SELECT count(*) AS n FROM ({first} EXCEPT ALL {second})")
                if rows[0]["n"]:
                    yield Deviation(metric=metric, promised=0, actual=int(rows[0]["n"]))
    finally:
        free_source(spark, source.view)
        free_source(spark, view)


def _rows_after(
    spark: SparkSession, merge: AnalyzedMerge, source: PreparedSource, rules: TargetRules, view: str
) -> str:
    """Make ``view`` of the rows after the MERGE. The columns of it that can be compared, as SQL text."""
    assigned = assignments(spark, merge, rules)
    rows = rows_after(spark, merge, source, rules, assigned)
    rows.createOrReplaceTempView(view)
    unknown = {one.column.name for clause in assigned for one in clause.columns if one.unknown}
    unknown |= {column.name for column in rules.fills_old_rows}
    fields = [one for one in rows.schema.fields if one.name not in unknown]
    return ", ".join(quote(one.name) for one in fields if NOT_COMPARED.isdisjoint(types_in(one.dataType))) or "1"
