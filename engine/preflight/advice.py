"""Warnings and advice: what an operator should know before committing, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.merge.analyze import AnalyzedMerge
from engine.merge.find_touched_files import Matches
from engine.merge.plan_writes import Promise
from engine.merge.prepare_source import CLOCK, PreparedSource
from engine.model.conflicts import Conflicts
from engine.model.plan import Decision, Remark
from engine.preflight.assignments import ClauseAssignments
from engine.sql.sql_text import all_function_names

MUST_ACCEPT = frozenset(("NULL_CONDITION_WRONG_RESULT", "FEED_LOSES_INSERTED_ROWS"))


def advise(
    merge: AnalyzedMerge,
    source: PreparedSource,
    decision: Decision,
    matches: Matches,
    promise: Promise,
    conflicts: Conflicts,
    assigned: Sequence[ClauseAssignments],
    properties: Mapping[str, str],
    confs: Mapping[str, str],
) -> tuple[tuple[Remark, ...], tuple[Remark, ...]]:
    """(warnings, advice)."""
    warnings: list[Remark] = []
    advice: list[Remark] = []
    # what is in no touched file is not written, and so stays right
    wrong = sum(file.null_conflicts for file in matches.touched)
    if wrong and not promise.write.deletion_vectors and merge.statement.matched_only:
        warnings.append(
            Remark(
                code="NULL_CONDITION_WRONG_RESULT",
                sentence=f"{wrong:,} target rows are matched twice, once with a clause condition that is NULL. "
                "Delta 4.4.0 does not notice and can commit a wrong result.",
                evidence="Make the condition never NULL (coalesce it), or deduplicate the source.",
            )
        )
    several = (conflicts.count or conflicts.true_count) and merge.statement.only_one_unconditional_delete
    inserted = promise.metrics["numTargetRowsInserted"]
    # seen where Delta 4.4.0 keeps duplicate deletes out of the feed; tests/engine/test_duplicate_keys.py shows it
    # the ids of source rows, of those too that no clause inserts, are taken for those of rows that are copied
    copied_too = promise.write.unmodified_rows_written and bool(merge.statement.not_matched)
    if several and promise.write.change_data_feed and (inserted or copied_too):
        lost = [f"{inserted:,} inserted rows"] if inserted else []
        if copied_too:
            lost.append(f"{promise.metrics['numTargetRowsCopied']:,} rows that are copied as they are")
        warnings.append(
            Remark(
                code="FEED_LOSES_INSERTED_ROWS",
                sentence="Several source rows match a row to delete, and the change data feed is on: Delta 4.4.0 can "
                f"lose some of the {' and of the '.join(lost)}, without an error.",
                evidence="Deduplicate the source on the keys of ON, or delete and insert in two merges.",
            )
        )
    if conflicts.true_count and merge.statement.only_one_unconditional_delete:
        warnings.append(
            Remark(
                code="SEVERAL_SOURCE_ROWS_DELETE_ONE",
                sentence=f"{conflicts.true_count:,} rows are matched by several source rows; each is deleted once.",
            )
        )
    if source.volatile:
        warnings.append(
            Remark(
                code="VOLATILE_SOURCE",
                sentence="The source gives other rows each time it is read; only the frozen rows are what you see.",
                evidence=", ".join(source.volatile),
            )
        )
    conditions = (merge.statement.condition, *(one.condition or "" for one in merge.statement.clauses))
    if clock := sorted(set().union(*(asks_time(one) for one in conditions))):
        warnings.append(
            Remark(
                code="CLOCK_IN_CONDITION",
                sentence="A condition asks what time it is: the numbers are those of now, and the commit asks again.",
                evidence=", ".join(clock),
            )
        )
    unknown = {a.column.name: a.unknown for one in assigned for a in one.columns if a.unknown}
    if unknown:
        warnings.append(
            Remark(
                code="VALUES_UNKNOWN",
                sentence=f"Only the commit knows the values of {', '.join(unknown)}: samples leave them out.",
                evidence="; ".join(f"{name}: {why}" for name, why in unknown.items()),
            )
        )
    rows = sum(file.rows for file in promise.files)
    copied = promise.metrics["numTargetRowsCopied"]
    if rows and copied / rows > 0.9 and copied > 1_000:
        changed = promise.metrics["numTargetRowsUpdated"] + promise.metrics["numTargetRowsDeleted"]
        advice.append(
            Remark(
                code="REWRITE_AMPLIFICATION",
                sentence=f"{copied:,} unchanged rows are written again to change {changed:,}.",
                evidence="Deletion vectors avoid it: ALTER TABLE … SET TBLPROPERTIES "
                "('delta.enableDeletionVectors' = 'true').",
            )
        )
    if merge.statement.not_matched_by_source:
        advice.append(
            Remark(
                code="NOT_MATCHED_BY_SOURCE_READS_EVERYTHING",
                sentence="WHEN NOT MATCHED BY SOURCE makes Delta read every file, whatever ON says.",
                evidence="delta-io/delta #7362",
            )
        )
    if decision.materialize and decision.avoid:
        advice.append(Remark(code=decision.reason, sentence=decision.because, evidence=decision.avoid))
    if any(
        "true" in (properties.get(f"delta.autoOptimize.{name}"), confs.get(f"spark.databricks.delta.{name}.enabled"))
        for name in ("optimizeWrite", "autoCompact")
    ):
        advice.append(
            Remark(
                code="FILES_ADDED_UNKNOWN",
                sentence="Optimized writes or auto-compaction are on: how many files are added cannot be told.",
            )
        )
    return tuple(warnings), tuple(advice)


def asks_time(condition: str) -> frozenset[str]:
    """The functions of ``condition`` that tell the time, which Delta fixes anew for each MERGE."""
    return all_function_names(condition) & CLOCK
