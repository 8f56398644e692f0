"""The summary of a plan in sentences: what a person reads first, as plain text. No widget, no colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.words import create_sentences, expectation_sentences
from console.words.format import count, elide_end, number, short_id, size
from console.words.glyphs import Glyphs
from console.words.schema_changes import evolution
from console.words.visible import cell, grid_cell, table_name, visible

if TYPE_CHECKING:
    from engine.model.plan import Decision, Plan, Refused, Remark
    from engine.model.plans import AnyPlan
    from engine.model.progress import Progress
    from engine.model.scan import DerivedConjunct, Scan, TouchedFile

UPDATED = "numTargetRowsUpdated"
INSERTED = "numTargetRowsInserted"
DELETED = "numTargetRowsDeleted"
COPIED = "numTargetRowsCopied"
FILES_REMOVED = "numTargetFilesRemoved"
WRITTEN = "numOutputRows"
NO_VERSION = -1
"""What the first commit of a table reads."""
NOTHING_WRITTEN = "Nothing is written: this cannot be committed."
"""Of a plan that is refused, where others tell what they write."""


def one_line(text: str) -> str:
    """A text on one line, safe to show."""
    return visible(" ".join(text.split()))


def sql_line(sql: str) -> str:
    """SQL on one line, without its comments: they would hide what stands behind them. Safe to show."""
    from engine.model.errors import EngineError
    from engine.sql.lexer import tokenize

    try:
        tokens = tokenize(sql)
    except EngineError:
        return one_line(sql)
    ends = (0, *(one.end for one in tokens))
    return visible(
        "".join(f"{' ' * (one.start > end)}{one.text}" for one, end in zip(tokens, ends, strict=False)).strip()
    )


def headline(plan: AnyPlan, glyphs: Glyphs, width: int = 200) -> str:
    """``MERGE into sales.orders @ v41 ← orders_feed``."""
    if plan.kind == "create_table":
        return elide_end(create_sentences.headline(plan), max(width, 12), glyphs.ellipsis)
    start = f"MERGE into {table_name(plan.target.name)} @ v{plan.target.version} {glyphs.into} "
    return start + elide_end(sql_line(plan.source.sql), max(width - len(start), 12), glyphs.ellipsis)


def counts(plan: Plan, dot: str = "·") -> str:
    """``updates 1,204 · inserts 220 · deletes 3``, or that nothing changes."""
    promise = plan.promise
    parts = [
        f"{verb} {number(promise.get(metric))}"
        for verb, metric in (("updates", UPDATED), ("inserts", INSERTED), ("deletes", DELETED))
        # what is not known is told as such; only a known 0 goes without saying
        if promise.get(metric) != 0
    ]
    return f" {dot} ".join(parts) if parts else "changes no row"


def rewrite(plan: Plan) -> str:
    """``rewrites 2 of 40 files: 46 MB of 934 MB, copying 869,298 rows``."""
    files = rewritten_files(plan)
    if not files:
        return "rewrites no file" if plan.changes_something else "nothing would be committed"
    touched = sum(file.bytes for file in files)
    where = f"{number(len(files))} of {count(plan.target.num_files, 'file')}"
    bulk = f"{size(touched)} of {size(plan.target.num_bytes)}"
    copied = plan.promise.get(COPIED)
    if copied is None:
        # nothing is promised of files on a Spark that was not tested
        return f"rewrites about {where}: {bulk}"
    if plan.write.deletion_vectors and not copied:
        removed = removed_whole(plan)
        marked = f"marks rows in {number(len(files) - removed)}" if len(files) > removed else ""
        done = " and ".join(filter(None, (marked, f"removes {number(removed)}" if removed else "")))
        return f"{done} of {count(plan.target.num_files, 'file')} ({bulk}), copying none: deletion vectors"
    return f"rewrites {where}: {bulk}, copying {count(copied, 'row')}"


def rewritten_files(plan: Plan) -> tuple[TouchedFile, ...]:
    """The files that a commit rewrites: none of a plan that is refused, though its clauses ask for some."""
    return plan.changed_files if plan.refused is None else ()


def done_to_files(plan: Plan) -> str:
    """What a commit does to the files that it touches, in a word."""
    if not plan.write.deletion_vectors:
        return "rewritten"
    return "marked or removed" if removed_whole(plan) else "marked"


def removed_whole(plan: Plan) -> int:
    """With deletion vectors, how many files Delta takes from the table, as every row of them changes."""
    return plan.promise.get(FILES_REMOVED, 0) if plan.write.deletion_vectors else 0


def promise(plan: AnyPlan) -> dict[str, int]:
    """What a commit would be held to: nothing if there can be none."""
    return plan.promise if plan.refused is None else {}


def skipping(found: Scan) -> str:
    """``data skipping leaves 3 of 40 files (3.8 MB of 58.8 MB)``."""
    files = f"{number(found.files_after)} of {count(found.files_before, 'file')}"
    return f"data skipping leaves {files} ({size(found.bytes_after)} of {size(found.bytes_before)})"


def skipping_by(found: Scan) -> list[str]:
    """The predicates that may skip files. TRUE, alone or of a clause without a condition, skips none."""
    return [one for one in found.predicates if one.strip("() \n").upper() != "TRUE"]


def so_far(progress: Progress) -> list[str]:
    """What a plan that is still being made says already."""
    lines = [decision(progress.decision)] if progress.decision is not None else []
    if progress.scan is not None:
        lines.append(f"{skipping(progress.scan)}, before the keys of the source are known")
    return lines


def scan(plan: Plan) -> str:
    """``12 of 30 partitions; a read would keep 4 files``: what there is to say beside the files, or ""."""
    found, removed = plan.scan, plan.find_touched_files.partitions_removed_from
    parts = []
    if found.partitions_before is not None and found.partitions_before > 1:
        gone = f", files removed from {number(removed)}" if removed and plan.refused is None else ""
        parts.append(f"{number(found.partitions_after)} of {count(found.partitions_before, 'partition')}{gone}")
    as_typed = found.files_after_as_typed
    if as_typed is not None and as_typed > found.files_after:
        parts.append(f"as typed it would keep {count(as_typed, 'file')}: the keys of the source imply the rest")
    parts += [f"nothing is derived for {one_line(one.column)}: {visible(one.why_not)}" for one in not_derived(plan)]
    read = found.files_after_of_a_read
    if read is not None and read != found.files_after:
        parts.append(f"a read would keep {count(read, 'file')}: it derives filters that a MERGE does not")
    return "; ".join(parts)


def not_derived(plan: Plan) -> list[DerivedConjunct]:
    """The keys without bounds, if bounds could have skipped files."""
    return [one for one in plan.scan.derived if one.why_not] if plan.scan.files_after > 1 else []


def rivals(plan: Plan, glyphs: Glyphs, *, all_columns: bool) -> tuple[list[str], list[list[str | None]]]:
    """Column names and rows of the source rows that fight for a target row, those of a key one below the other.

    The keys come first, then how many rows there are of a key (in its first row), then the other columns, or only
    those in which some rows differ. A cell in which the rows of its key differ is marked. None is NULL.
    """
    keys = plan.find_touched_files.conflicts.keys
    of_keys = list(dict.fromkeys(name for key in keys for name in key.key))
    differing = {name for key in keys for name in key.differing}
    others = [
        name
        for name in dict.fromkeys(name for key in keys for row in key.rivals for name in row)
        if name not in of_keys and (all_columns or name in differing)
    ]
    rows: list[list[str | None]] = []
    for key in keys:
        for index, row in enumerate(key.rivals or (key.key,)):
            cells: list[str | None] = [grid_cell(row.get(name)) for name in of_keys]
            cells.append("" if index else number(key.source_rows))
            for name in others:
                value = row.get(name)
                cells.append(f"{glyphs.changed} {cell(value)}" if name in key.differing else grid_cell(value))
            rows.append(cells)
    return [*of_keys, "source rows", *others], rows


def refused_rows(refused: Refused) -> tuple[list[str], list[tuple[str | None, ...]]]:
    """Column names and cells of the rows that Delta refuses; None is NULL. Those of another clause may have other keys:
    "" where a row has no such column."""
    names = list(dict.fromkeys(name for row in refused.rows for name in row))
    return names, [tuple(row.get(name, "") for name in names) for row in refused.rows]


def how_many_shown(refused: Refused) -> str:
    """How many of the rows that Delta refuses are shown; "" where it is all of them."""
    if refused.count is None or refused.count <= len(refused.rows):
        return ""
    return f"{number(len(refused.rows))} of {number(refused.count)} are shown:"


def dedupe(plan: Plan) -> list[str]:
    """What the source without duplicates would do, in sentences; its SQL is not among them. [] if there is none."""
    found = plan.find_touched_files.conflicts.dedupe
    if found is None:
        return []
    lines = [visible(found.choice), f"Put this after USING: it drops {count(found.rows_dropped, 'source row')}."]
    if found.conflicts_left:
        lines.append(f"{count(found.conflicts_left, 'target row')} would still be matched twice.")
    if found.matches_lost:
        rows = count(found.matches_lost, "target row")
        lines.append(f"{rows} would be matched by no source row any more, or by none that a clause takes.")
    return lines


def staged(table: str) -> str:
    """Where ``plan --freeze`` keeps the source."""
    until = "until the plan is applied or found stale; where it never is, drop that table"
    return f"its source is kept in {visible(table)} {until}"


def is_materialized(plan: Plan) -> bool:
    """Whether Delta materializes the source that the MERGE reads: what ``plan --freeze`` keeps is a Delta table."""
    return plan.decision.materialize and not plan.session.staged


def source(plan: Plan) -> str:
    """How the MERGE reads its source, and why, in one line."""
    if not plan.session.staged:
        return decision(plan.decision)
    verb = "would be" if plan.decision.materialize else "would not be"
    kept = "source is kept in a Delta table, which the merge reads"
    return f"{kept}; as typed it {verb} materialized ({visible(plan.decision.reason)})"


def decision(decided: Decision) -> str:
    """Whether the source is materialized, and why, in one line."""
    inferred = "" if decided.certainty == "exact" else " (inferred)"
    verb = "is materialized" if decided.materialize else "is not materialized"
    return f"source {verb}{inferred}: {visible(decided.because).rstrip('.')} ({visible(decided.reason)})"


def summary(plan: AnyPlan, dot: str = "·") -> str:
    """What a plan would do, in one line."""
    if plan.kind == "create_table":
        return create_sentences.summary(plan)
    if plan.refused is not None:
        return f"refused, {visible(plan.refused.condition)}"
    return f"{counts(plan, dot)}; {rewrite(plan)}"


def conflict(plan: Plan) -> str:
    """What would stop the merge while it runs, or that nothing does."""
    conflicts = plan.find_touched_files.conflicts
    if plan.refused is not None:
        return f"cannot be committed: {visible(_cause(plan, plan.refused))}"
    if conflicts.true_count:
        known = "allows here" if conflicts.count else "does not notice"
        return f"{_matched(plan)} by more than one source row, which Delta {known}"
    return "no row matched twice, no constraint broken"


def _cause(plan: AnyPlan, refused: Refused) -> str:
    """Why it is refused, as short as it can be said: Spark's message is for the Conflicts view, with the rows."""
    if plan.kind == "merge" and plan.find_touched_files.conflicts.true_count:
        return f"{_matched(plan)} by more than one source row"
    return refused.message


def _matched(plan: Plan) -> str:
    rows = plan.find_touched_files.conflicts.true_count
    return f"{count(rows, 'target row')} {'is' if rows == 1 else 'are'} matched"


def why_not_committable(plan: AnyPlan) -> str | None:
    """The reason why this plan cannot be committed, or None."""
    if plan.refused is not None:
        return f"It would be refused: [{plan.refused.condition}] {_cause(plan, plan.refused)}"
    if not plan.changes_something:
        return "It changes nothing, so there is nothing to commit."
    return refused_by_policy(plan)


def refused_by_policy(plan: AnyPlan) -> str | None:
    """Which rules refuse this plan and what to do, or None."""
    refusing = "; ".join(text for is_refused, text in policy(plan) if is_refused)
    if not refusing:
        return None
    return f"{refusing[0].upper()}{refusing[1:]}. Change the statement, or use a profile whose policy allows it."


def policy(plan: AnyPlan) -> list[tuple[bool, str]]:
    """What the policy says against a plan: whether it refuses it, and a sentence."""
    said = {"refused": "the policy refuses it", "asks": "the policy asks for more"}
    return [
        (one.verdict == "refused", f"{said[one.verdict]} ({visible(one.rule)}): {visible(one.how)}")
        for one in plan.policy
        if one.verdict in said
    ]


def advice(plan: Plan) -> tuple[Remark, ...]:
    """What a plan advises. How to write less helps no one whose merge is refused."""
    return plan.advice if plan.refused is None else ()


def rewrites_all(plan: Plan) -> bool:
    """Whether each file of the table is written anew, if there are several."""
    files = len(plan.find_touched_files.files)
    return 1 < files == plan.target.num_files and not plan.write.deletion_vectors


def rewrites_much(plan: Plan) -> bool:
    """Whether a warning is due: the whole table is written anew, or files are and no row of them changes."""
    changes = any(plan.promise.get(metric) != 0 for metric in (UPDATED, INSERTED, DELETED))
    return rewrites_all(plan) or bool(rewritten_files(plan) and not changes)


def by_severity(warnings: Sequence[Remark]) -> tuple[list[Remark], list[Remark]]:
    """Those that must be accepted before the plan is applied, and the others."""
    errors = [one for one in warnings if one.severity == "error"]
    return errors, [one for one in warnings if one.severity != "error"]


def warnings_counted(warnings: Sequence[Remark]) -> str:
    """How many there are by severity; "" if there is none."""
    errors, others = by_severity(warnings)
    counted = ((errors, f"{count(len(errors), 'error')} to be accepted"), (others, count(len(others), "warning")))
    return ", ".join(text for found, text in counted if found)


def remark_details(remark: Remark) -> list[str]:
    """Some of the keys of a warning, and what mends it."""
    keys = [", ".join(f"{visible(name)} = {cell(value)}" for name, value in key.items()) for key in remark.keys]
    some = "some of the keys" if remark.count is not None and remark.count > len(keys) else "keys"
    lines = [f"{some}: {'; '.join(keys)}"] if keys else []
    return lines + ([f"to paste: {remark.fix}"] if remark.fix else [])


def as_text(plan: AnyPlan, glyphs: Glyphs) -> str:
    """The plan for the clipboard."""
    if plan.kind == "create_table":
        return create_sentences.as_text(plan, glyphs.becomes)
    lines = [
        headline(plan, glyphs),
        f"plan {short_id(plan.plan_id)}: {counts(plan) if plan.refused is None else summary(plan)}",
        rewrite(plan) if plan.refused is None else NOTHING_WRITTEN,
        *filter(None, [evolution(plan)]),
        source(plan),
        conflict(plan),
        "",
        *(f"{metric}: {number(value)} (exact)" for metric, value in promise(plan).items()),
    ]
    errors, warnings = by_severity(plan.warnings)
    for one in (*errors, *warnings):
        lines.append(f"{one.severity} [{visible(one.code)}] {visible(one.sentence)}")
        lines += [f"  {visible(line, lines=True)}" for line in remark_details(one)]
    lines += [f"expectation {expectation_sentences.sentence(one)}" for one in plan.expectations]
    lines += [f"advice [{visible(one.code)}] {visible(one.sentence)}" for one in advice(plan)]
    if found := plan.find_touched_files.conflicts.dedupe:
        lines += ["", *(f"-- {text}" for text in dedupe(plan)), visible(found.sql, lines=True)]
    return "\n".join([*lines, "", plan.statement.script])


def change_feed(plan: Plan) -> str:
    """What becomes of the change data feed; of files that a commit only adds, Delta reads it off these."""
    if not plan.write.change_data_feed:
        return "not written"
    is_read_off = plan.executor == "InsertOnlyMergeExecutor" or plan.promise.get("numTargetChangeFilesAdded") == 0
    return "read off the added files" if is_read_off else "written"
