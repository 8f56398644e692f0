"""Warnings and advice: what an operator should know before committing, each with its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.merge.analyze import AnalyzedMerge
from engine.merge.plan_writes import PERSISTENT_VECTORS
from engine.merge.volatile_parts import CALLED_DETERMINISTIC, clock_parts
from engine.model.counted import count, count_and_verb
from engine.model.plan import Estimate, Remark
from engine.preflight.findings import Findings
from engine.preflight.target_reads import DescribedTarget
from engine.spark.confs import is_on
from engine.spark.session_state import TIME_ZONE
from engine.sql.sql_text import all_function_names, names_in

FAIL_IF_SOURCE_CHANGED = "spark.databricks.delta.merge.failIfSourceChanged"
NO_GAP = re.compile(r"(?:Etc/)?(?:UTC|GMT|Z)|(?:UTC|GMT)?[+-]\d{1,2}(?::\d{2})*")
"""The time zones whose clocks skip no hour."""
CAST_COMPARED = re.compile(r"cast\(([^()\n]+)#\d+ as timestamp\) [<=>]|[<=>] cast\(([^()\n]+)#\d+ as timestamp\)")
# they are of severity error, but in older plan files
MUST_ACCEPT = frozenset(("NULL_CONDITION_WRONG_RESULT", "FEED_LOSES_INSERTED_ROWS"))


def warnings_of(findings: Findings) -> Iterator[Remark]:
    """What the commit may do wrong first, then what only the commit knows."""
    yield from _several_matches(findings)
    yield from _counted_twice(findings)
    yield from _unknown_values(findings)


def _several_matches(findings: Findings) -> Iterator[Remark]:
    """Target rows that several source rows match, in which Delta 4.4.0 raises no error."""
    statement, promise, conflicts = findings.basis.merge.statement, findings.promise, findings.conflicts
    # rows in files that are not touched are not written, and so stay right
    wrong = sum(file.null_conflicts for file in findings.matches.touched)
    if wrong and not promise.write.deletion_vectors and statement.matched_only:
        yield Remark(
            code="NULL_CONDITION_WRONG_RESULT",
            sentence=f"{count_and_verb(wrong, 'target row', 'are')} matched twice, once with a clause condition that "
            "is NULL. Delta 4.4.0 does not notice and can commit a wrong result.",
            evidence="Make the condition never NULL (coalesce it), or deduplicate the source.",
            severity="error",
        )
    if not statement.only_one_unconditional_delete:
        return
    inserted = promise.metrics["numTargetRowsInserted"]
    # seen where Delta 4.4.0 keeps duplicate deletes out of the feed; tests/engine/test_find_conflicts.py shows it
    # the ids of source rows, of those too that no clause inserts, are taken for those of rows that are copied
    copied_too = promise.write.unmodified_rows_written and bool(statement.not_matched)
    if (conflicts.count or conflicts.true_count) and promise.write.change_data_feed and (inserted or copied_too):
        lost = [count(inserted, "inserted row")] if inserted else []
        if copied_too:
            copied = promise.metrics["numTargetRowsCopied"]
            lost.append(f"{count(copied, 'row')} copied as {'it is' if copied == 1 else 'they are'}")
        yield Remark(
            code="FEED_LOSES_INSERTED_ROWS",
            sentence="Several source rows match a row to delete, and the change data feed is on: Delta 4.4.0 can "
            f"lose some of the {' and of the '.join(lost)}, without an error.",
            evidence="Deduplicate the source on the keys of ON, or delete and insert in two merges.",
            severity="error",
        )
    if conflicts.true_count:
        yield Remark(
            code="SEVERAL_SOURCE_ROWS_DELETE_ONE",
            sentence="Several source rows match one that is deleted, which is done once: "
            f"{count(conflicts.true_count, 'row')} of the table.",
        )


def _counted_twice(findings: Findings) -> Iterator[Remark]:
    """MergeIntoCommandBase.checkNonDeterministicSource, of a source whose rows Spark may read twice in one join."""
    counted = findings.promise.estimates.get("numSourceRows")
    if isinstance(counted, Estimate) and is_on(findings.basis.confs, FAIL_IF_SOURCE_CHANGED, "false"):
        yield Remark(
            code="COMMIT_UNKNOWN",
            sentence="Delta may fail: it may count the rows of the source otherwise when it reads them again, and "
            f"{FAIL_IF_SOURCE_CHANGED} makes that an error.",
            evidence="Without a key in ON, Spark may read the source twice. Set it to false, or give ON an equality.",
        )


def _unknown_values(findings: Findings) -> Iterator[Remark]:
    """Values that another run, or only the commit, decides."""
    statement, volatile = findings.basis.merge.statement, findings.source.volatile
    if volatile:
        yield Remark(
            code="VOLATILE_SOURCE",
            sentence="The source may give other rows each time it is read; only the frozen rows are what you see.",
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
    if names := _compared_across_zones(findings):
        yield Remark(
            code="TIME_WITHOUT_ZONE_COMPARED",
            sentence="A TIMESTAMP_NTZ is compared with a TIMESTAMP: of a time that the session's clocks skip in spring "
            "Spark may make another moment when it merges, and other rows match.",
            evidence=", ".join(names),
        )
    target = findings.basis.target
    for column in target.rules.fills_old_rows:
        yield Remark(
            code="DEFAULT_FILLS_OLD_ROWS",
            sentence=f"The new column {column.name} has a default in the source, which rows of older files may read "
            f"({column.exists_default}); those that this MERGE copies are NULL.",
            evidence="Add the column first: ALTER TABLE … ADD COLUMN. Expectations of it are unknown.",
        )
    unknown = {a.column.name: a.unknown for one in target.assigned for a in one.columns if a.unknown}
    if unknown:
        rules = ", ".join(_rules_over(target, unknown))
        yield Remark(
            code="VALUES_UNKNOWN",
            sentence=f"Only the commit knows some values of {', '.join(unknown)}: samples leave them out."
            + (f" Whether they keep to the rules of the table is not known: {rules}." if rules else ""),
            evidence="; ".join(f"{name}: {why}" for name, why in unknown.items()),
        )


def _compared_across_zones(findings: Findings) -> tuple[str, ...]:
    """The columns without a zone that are compared as moments: UnwrapCastInBinaryComparison turns the cast around where
    the other side is a constant, which is not the same in the hour that is skipped."""
    merge = findings.basis.merge
    if NO_GAP.fullmatch(findings.basis.confs.get(TIME_ZONE, "")):
        return ()
    fields = (*merge.source_type.fields, *merge.target_type.fields)
    without_zone = {field.name for field in fields if field.dataType.typeName() == "timestamp_ntz"}
    compared = (one[1] or one[2] for one in CAST_COMPARED.finditer(merge.plan.analyzed))
    return tuple(dict.fromkeys(name for name in compared if name in without_zone))


def _rules_over(target: DescribedTarget, unknown: Iterable[str]) -> Iterator[str]:
    """The CHECKs over such columns, and what is generated from an identity, which Delta generates before it has its
    value, and checks after."""
    identities = [a.column.name for one in target.assigned for a in one.columns if a.value is None]
    generated = {column.name: column.generated_as or "" for column in target.rules.columns}
    for texts, columns in ((target.rules.checks, unknown), (generated, identities)):
        names = {name.lower() for name in columns}
        yield from (f"{name} ({text})" for name, text in texts.items() if not names.isdisjoint(names_in(text)))


def _left_out(merge: AnalyzedMerge) -> Iterator[Remark]:
    """Columns that a star would write if the table had them. Those that the statement reads elsewhere, as a condition
    does, are no news. With schema evolution the table gets all of them."""
    names = [name for name in merge.source_type.names if name not in merge.columns_used]
    if names and any(clause.star for clause in merge.statement.clauses):
        what, them = ("a column", "it") if len(names) == 1 else ("columns", "them")
        yield Remark(
            code="STAR_LEAVES_OUT_COLUMNS",
            sentence=f"The source has {what} that * does not write, because the table does not have {them}: "
            f"{', '.join(names)}.",
            evidence=f"WITH SCHEMA EVOLUTION adds {them}.",
        )


def advice_of(findings: Findings) -> Iterator[Remark]:
    """What would make the MERGE cheaper, or its numbers known."""
    basis, promise = findings.basis, findings.promise
    rows = sum(file.rows for file in promise.files)
    copied = promise.metrics["numTargetRowsCopied"]
    if rows and copied / rows > 0.9 and copied > 1_000:
        changed = promise.metrics["numTargetRowsUpdated"] + promise.metrics["numTargetRowsDeleted"]
        enabled = is_on(basis.target.properties, "delta.enableDeletionVectors", "false")
        yield Remark(
            code="REWRITE_AMPLIFICATION",
            sentence=f"{copied:,} unchanged rows are written again to change {changed:,}.",
            evidence=f"Deletion vectors avoid it, which the table has: {PERSISTENT_VECTORS} is false."
            if enabled and not is_on(basis.confs, PERSISTENT_VECTORS)
            else "Deletion vectors avoid it: ALTER TABLE … SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true').",
        )
    if basis.merge.statement.not_matched_by_source:
        yield Remark(
            code="NOT_MATCHED_BY_SOURCE_READS_EVERYTHING",
            sentence="WHEN NOT MATCHED BY SOURCE makes Delta read every file, whatever ON says.",
            evidence="delta-io/delta #7362",
        )
    yield from _left_out(basis.merge)
    if findings.not_compared and promise.metrics["numTargetRowsUpdated"]:
        yield Remark(
            code="UPDATES_NOT_COMPARED",
            sentence="Whether some updates change nothing, or go back in time, is unknown.",
            evidence=findings.not_compared,
        )
    decision = basis.decision
    # what is staged is merged from a Delta table already
    if decision.materialize and decision.avoid and not findings.source.staged:
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
