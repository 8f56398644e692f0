"""Warnings and advice: what an operator should know before committing, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator

from engine.merge.volatile_parts import CALLED_DETERMINISTIC, clock_parts
from engine.model.plan import Remark
from engine.preflight.findings import Findings
from engine.sql.sql_text import all_function_names

MUST_ACCEPT = frozenset(("NULL_CONDITION_WRONG_RESULT", "FEED_LOSES_INSERTED_ROWS"))


def warnings_of(findings: Findings) -> Iterator[Remark]:
    """What the commit may do wrong first, then what only the commit knows."""
    yield from _several_matches(findings)
    yield from _unknown_values(findings)


def _several_matches(findings: Findings) -> Iterator[Remark]:
    """Target rows that several source rows match, in which Delta 4.4.0 raises no error."""
    statement, promise, conflicts = findings.basis.merge.statement, findings.promise, findings.conflicts
    # rows in files that are not touched are not written, and so stay right
    wrong = sum(file.null_conflicts for file in findings.matches.touched)
    if wrong and not promise.write.deletion_vectors and statement.matched_only:
        yield Remark(
            code="NULL_CONDITION_WRONG_RESULT",
            sentence=f"{wrong:,} target rows are matched twice, once with a clause condition that is NULL. "
            "Delta 4.4.0 does not notice and can commit a wrong result.",
            evidence="Make the condition never NULL (coalesce it), or deduplicate the source.",
        )
    if not statement.only_one_unconditional_delete:
        return
    inserted = promise.metrics["numTargetRowsInserted"]
    # seen where Delta 4.4.0 keeps duplicate deletes out of the feed; tests/engine/test_find_conflicts.py shows it
    # the ids of source rows, of those too that no clause inserts, are taken for those of rows that are copied
    copied_too = promise.write.unmodified_rows_written and bool(statement.not_matched)
    if (conflicts.count or conflicts.true_count) and promise.write.change_data_feed and (inserted or copied_too):
        lost = [f"{inserted:,} inserted rows"] if inserted else []
        if copied_too:
            lost.append(f"{promise.metrics['numTargetRowsCopied']:,} rows that are copied as they are")
        yield Remark(
            code="FEED_LOSES_INSERTED_ROWS",
            sentence="Several source rows match a row to delete, and the change data feed is on: Delta 4.4.0 can "
            f"lose some of the {' and of the '.join(lost)}, without an error.",
            evidence="Deduplicate the source on the keys of ON, or delete and insert in two merges.",
        )
    if conflicts.true_count:
        yield Remark(
            code="SEVERAL_SOURCE_ROWS_DELETE_ONE",
            sentence=f"{conflicts.true_count:,} rows are matched by several source rows; each is deleted once.",
        )


def _unknown_values(findings: Findings) -> Iterator[Remark]:
    """Values that another run, or only the commit, decides."""
    statement, volatile = findings.basis.merge.statement, findings.source.volatile
    if volatile:
        yield Remark(
            code="VOLATILE_SOURCE",
            sentence="The source gives other rows each time it is read; only the frozen rows are what you see.",
            evidence=", ".join(volatile),
        )
    conditions = (statement.condition, *(one.condition or "" for one in statement.clauses))
    printed = findings.basis.merge.plan.analyzed
    if clock := sorted(set().union(*(clock_parts(one, printed) for one in conditions))):
        yield Remark(
            code="CLOCK_IN_CONDITION",
            sentence="A condition asks what time it is: the numbers are those of now, and the commit asks again.",
            evidence=", ".join(clock),
        )
    if chance := sorted(set().union(*map(all_function_names, conditions)) & CALLED_DETERMINISTIC):
        yield Remark(
            code="RANDOM_IN_CONDITION",
            sentence="A condition gives another value each time: the numbers are those of now, and the commit asks "
            "again.",
            evidence=", ".join(chance),
        )
    assigned = findings.basis.target.assigned
    unknown = {a.column.name: a.unknown for one in assigned for a in one.columns if a.unknown}
    if unknown:
        yield Remark(
            code="VALUES_UNKNOWN",
            sentence=f"Only the commit knows the values of {', '.join(unknown)}: samples leave them out.",
            evidence="; ".join(f"{name}: {why}" for name, why in unknown.items()),
        )


def advice_of(findings: Findings) -> Iterator[Remark]:
    """What would make the MERGE cheaper, or its numbers known."""
    basis, promise = findings.basis, findings.promise
    rows = sum(file.rows for file in promise.files)
    copied = promise.metrics["numTargetRowsCopied"]
    if rows and copied / rows > 0.9 and copied > 1_000:
        changed = promise.metrics["numTargetRowsUpdated"] + promise.metrics["numTargetRowsDeleted"]
        yield Remark(
            code="REWRITE_AMPLIFICATION",
            sentence=f"{copied:,} unchanged rows are written again to change {changed:,}.",
            evidence="Deletion vectors avoid it: ALTER TABLE … SET TBLPROPERTIES "
            "('delta.enableDeletionVectors' = 'true').",
        )
    if basis.merge.statement.not_matched_by_source:
        yield Remark(
            code="NOT_MATCHED_BY_SOURCE_READS_EVERYTHING",
            sentence="WHEN NOT MATCHED BY SOURCE makes Delta read every file, whatever ON says.",
            evidence="delta-io/delta #7362",
        )
    if findings.not_compared and promise.metrics["numTargetRowsUpdated"]:
        yield Remark(
            code="UPDATES_NOT_COMPARED",
            sentence="Whether some updates change nothing, or go back in time, is unknown.",
            evidence=findings.not_compared,
        )
    decision = basis.decision
    if decision.materialize and decision.avoid:
        yield Remark(code=decision.reason, sentence=decision.because, evidence=decision.avoid)
    properties, confs = basis.target.properties, basis.confs
    if any(
        "true" in (properties.get(f"delta.autoOptimize.{name}"), confs.get(f"spark.databricks.delta.{name}.enabled"))
        for name in ("optimizeWrite", "autoCompact")
    ):
        yield Remark(
            code="FILES_ADDED_UNKNOWN",
            sentence="Optimized writes or auto-compaction are on: how many files are added cannot be told.",
        )
