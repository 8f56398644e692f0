"""A plan as a page of text: the answer first, then each number with how sure it is, then what to type next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from console.cli.sheet import QUIET, Sheet
from console.words import change_rows, expectation_sentences, plan_summary, undo_sentences
from console.words.format import cells, count, duration, elide_end, elide_file, local_time, number, short_id, size
from console.words.glyphs import Glyphs, accuracy_mark
from console.words.plan_rows import MAX_FILES, MAX_SAMPLES, cell, estimated, file_counts, sample_text
from console.words.schema_changes import evolution
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.expectation import ExpectationResult
    from engine.model.plan import Plan, Remark
    from engine.model.plans import AnyPlan

BOLD = "bold"
OK, WARNING, ERROR, POINTER = "green", "yellow", "red", "cyan"
LEAST_OF_A_FILE = 12
ALWAYS_TOLD = frozenset(
    (plan_summary.INSERTED, plan_summary.UPDATED, plan_summary.DELETED, plan_summary.COPIED, plan_summary.FILES_REMOVED)
)


def summary(plan: Plan, glyphs: Glyphs, width: int) -> RenderableType:
    """What a person must know before committing: the first lines of the page, and each warning in its sentence."""
    return _summary(plan, glyphs, width, _warnings_named(plan, glyphs))


def page(plan: Plan, glyphs: Glyphs, width: int) -> RenderableType:
    """The whole plan, ``width`` columns wide."""
    errors, warnings = plan_summary.by_severity(plan.warnings)
    first = _summary(plan, glyphs, width, _warnings_counted(plan, glyphs))
    parts: list[RenderableType] = [first, Text(_made(plan, glyphs), QUIET)]
    for title, body in (
        ("Files", [*_files(plan, glyphs, width)]),
        ("Conflicts", [*_conflicts(plan, glyphs)]),
        ("Write", [*_write(plan, glyphs)]),
        ("Promise", [*_promise(plan, glyphs)]),
        ("Rows", [*_samples(plan, glyphs, width)]),
        ("Changes", [*_changes(plan, glyphs)]),
        ("Expectations", [*expectations(plan.expectations, glyphs)]),
        ("Errors to be accepted", [*_remarks(errors, glyphs.error, ERROR)]),
        ("Warnings", [*_remarks(warnings, glyphs.warning, WARNING)]),
        ("Advice", [*_remarks(plan_summary.advice(plan), glyphs.points_to, POINTER)]),
    ):
        if body:
            parts += [Text(""), Text(title, BOLD), *(Padding(one, (0, 0, 0, 2)) for one in body)]
    return Group(*parts)


def _made(plan: Plan, glyphs: Glyphs) -> str:
    spent = sum(plan.timings.values())
    took = f" {glyphs.dot} planned in {duration(spent)}" if spent else ""
    return f"  plan {short_id(plan.plan_id)} {glyphs.dot} {local_time(plan.created_at, zone=True)}{took}"


def _summary(plan: Plan, glyphs: Glyphs, width: int, warnings: Iterator[RenderableType]) -> RenderableType:
    lines = [*_verdict(plan, glyphs)]
    if plan.refused is None:
        lines += [*warnings, *policy(plan, glyphs), *undo(plan, glyphs)]
    return Group(Text(plan_summary.headline(plan, glyphs, width), BOLD), Text(""), *lines)


def _warnings_counted(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    errors, _ = plan_summary.by_severity(plan.warnings)
    if counted := plan_summary.warnings_counted(plan.warnings):
        yield signed(*((glyphs.error, ERROR) if errors else (glyphs.warning, WARNING)), counted)


def _warnings_named(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    errors, warnings = plan_summary.by_severity(plan.warnings)
    for found, sign, style in ((errors, glyphs.error, ERROR), (warnings, glyphs.warning, WARNING)):
        for one in found:
            yield signed(sign, style, f"[{visible(one.code)}] {visible(one.sentence)}")


def _verdict(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    refused, decided = plan.refused is not None, plan.decision
    if refused:
        yield signed(glyphs.error, ERROR, plan_summary.conflict(plan))
        if plan.refused is not None and plan.refused.hint:
            yield _more(plan.refused.hint)
        yield _more(plan_summary.NOTHING_WRITTEN)
    else:
        effect = (glyphs.ok, OK) if plan.changes_something else (glyphs.points_to, POINTER)
        yield signed(*effect, plan_summary.counts(plan, glyphs.dot))
        loud = (glyphs.warning, WARNING) if plan_summary.rewrites_much(plan) else (glyphs.points_to, POINTER)
        yield signed(*loud, plan_summary.rewrite(plan))
        if evolves := evolution(plan):
            yield signed(glyphs.warning, WARNING, evolves)
    is_materialized = plan_summary.is_materialized(plan)
    sign, style = (glyphs.warning, WARNING) if is_materialized else (glyphs.ok, OK)
    yield signed(sign, style, plan_summary.source(plan))
    if decided.avoid and is_materialized:
        yield _more(f"to avoid it: {decided.avoid}")
    if not refused:
        clean = not plan.find_touched_files.conflicts.true_count
        sign, style = (glyphs.ok, OK) if clean else (glyphs.warning, WARNING)
        yield signed(sign, style, plan_summary.conflict(plan))
    for splice in plan.splices:
        new = elide_end(plan_summary.sql_line(splice.text), 60, glyphs.ellipsis)
        yield signed(glyphs.points_to, POINTER, f"runs with {new}: {visible(splice.why)}")
    if plan.session.staged:
        yield signed(glyphs.points_to, POINTER, plan_summary.staged(plan.session.staged))
    if not refused and plan.expectations:
        yield signed(*worst_sign(plan.expectations, glyphs), expectation_sentences.summary(plan.expectations))


def worst_sign(results: Sequence[ExpectationResult], glyphs: Glyphs) -> tuple[str, str]:
    """The sign and colour of the worst of them."""
    if any(expectation_sentences.is_bad(one) for one in results):
        return glyphs.error, ERROR
    return (glyphs.ok, OK) if all(one.status == "pass" for one in results) else (glyphs.warning, WARNING)


def expectations(results: Sequence[ExpectationResult], glyphs: Glyphs) -> Iterator[RenderableType]:
    """Each expectation, with its failing rows below."""
    for one in results:
        lines = [Text(expectation_sentences.sentence(one))]
        lines += [Text(row, QUIET) for row in expectation_sentences.rows(one)]
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(*worst_sign((one,), glyphs)), Group(*lines))
        yield grid


def policy(plan: AnyPlan, glyphs: Glyphs) -> Iterator[RenderableType]:
    """The objections of the policy."""
    for is_refused, text in plan_summary.policy(plan):
        yield signed(*((glyphs.error, ERROR) if is_refused else (glyphs.warning, WARNING)), text)


def undo(plan: AnyPlan, glyphs: Glyphs) -> Iterator[RenderableType]:
    """Whether what would be committed can be taken back."""
    if plan.undo is None:
        return
    sure = undo_sentences.is_sure(plan)
    sign, style = (glyphs.points_to, POINTER) if sure else (glyphs.warning, WARNING)
    yield signed(sign, style, f"undo {undo_sentences.until(plan)}")


def signed(sign: str, style: str, sentence: str) -> RenderableType:
    """A sign and a sentence beside it; its further lines stand under its first."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(sign, style), Text(sentence))
    return Padding(grid, (0, 0, 0, 2))


def _more(sentence: str) -> RenderableType:
    return Padding(Text(visible(sentence), QUIET), (0, 0, 0, 4))


def table(*headers: str, right: tuple[str, ...] = ()) -> Sheet:
    """A table as all of the command line's are; the columns in ``right`` are numbers."""
    return Sheet(
        *(
            Column(header, justify="right" if header in right else "left", no_wrap=header in right, overflow="fold")
            for header in headers
        )
    )


def _files(plan: Plan, glyphs: Glyphs, width: int) -> Iterator[RenderableType]:
    scan, files = plan.scan, plan.find_touched_files.files
    yield Text(f"{plan_summary.skipping(scan)} {accuracy_mark(scan.accuracy, glyphs)}")
    for predicate in plan_summary.skipping_by(scan):
        yield Text(f"by {plan_summary.sql_line(predicate)}")
    if more := plan_summary.scan(plan):
        yield Text(more)
    if scan.why:
        yield Text(visible(scan.why), QUIET)
    if not files:
        return
    counts = file_counts(plan)
    numbers = ("size", *counts)
    rows = [(size(f.bytes), *(number(getattr(f, name)) for name in counts)) for f in files[:MAX_FILES]]
    taken = sum(max(len(header), *(len(row[i]) for row in rows)) + 2 for i, header in enumerate(numbers))
    beside, alone = width - 4 - taken, width - 4 - cells("file ")
    room = beside if beside >= LEAST_OF_A_FILE else alone
    found = table("file", *numbers, right=numbers)
    found.columns[0].no_wrap = True
    for file, row in zip(files, rows, strict=False):
        found.add_row(Text(elide_file(visible(file.path), room, glyphs.ellipsis)), *row)
    yield found
    if len(files) > MAX_FILES:
        yield Text(f"{glyphs.ellipsis} and {number(len(files) - MAX_FILES)} more", QUIET)


def _conflicts(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    conflicts, refused = plan.find_touched_files.conflicts, plan.refused
    if refused is not None:
        # as Delta would say it, to be searched for
        yield Text.assemble((f"[{visible(refused.condition)}] ", BOLD), visible(refused.message))
    if conflicts.true_count:
        if refused is None:
            yield Text(f"{count(conflicts.true_count, 'target row')} matched by more than one source row, exact")
        if conflicts.count != conflicts.true_count:
            yield Text(f"Delta itself counts {number(conflicts.count)}.", QUIET)
    if conflicts.keys:
        names, rows = plan_summary.rivals(plan, glyphs, all_columns=False)
        found = table(*map(visible, names), right=("source rows",))
        for cells in rows:
            found.add_row(*map(cell, cells))
        yield found
    elif refused is not None and refused.rows:
        if told := plan_summary.how_many_shown(refused):
            yield Text(told, QUIET)
        names, values = plan_summary.refused_rows(refused)
        found = table(*map(visible, names))
        for row in values:
            found.add_row(*map(cell, row))
        yield found
    for text in plan_summary.dedupe(plan):
        yield Text(text, QUIET)
    if conflicts.dedupe:
        yield Text(visible(conflicts.dedupe.sql, lines=True))


def _write(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    if plan.refused is not None:
        return
    write, touched = plan.write, plan.find_touched_files
    joins = [f"{kind} join to {aim}" for kind, aim in ((touched.join_type, "find"), (write.join_type, "write")) if kind]
    vectors = "deletion vectors" if write.deletion_vectors else "no deletion vectors"
    feed = f"change data feed {plan_summary.change_feed(plan)}" if write.change_data_feed else "no change data feed"
    parts = [plan.executor, *joins, vectors, feed]
    yield Text(f" {glyphs.dot} ".join(parts))


def _promise(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    if plan.refused is not None:
        return  # it cannot be committed: there is nothing to promise
    found = table("metric", "promised", "how sure", right=("promised",))
    for metric, value in plan.promise.items():
        if value or metric in ALWAYS_TOLD:
            found.add_row(visible(metric), number(value), accuracy_mark("exact", glyphs))
    for metric, estimate in plan.estimates.items():
        found.add_row(visible(metric), estimated(estimate), accuracy_mark("estimated", glyphs))
    yield found
    if zeros := sum(not value and metric not in ALWAYS_TOLD for metric, value in plan.promise.items()):
        yield Text(others_are_zero(zeros, glyphs), QUIET)


def others_are_zero(zeros: int, glyphs: Glyphs) -> str:
    """What stands for the rows that only say 0."""
    return f"{glyphs.ellipsis} and {number(zeros)} more that {'is' if zeros == 1 else 'are'} 0"


def _samples(plan: Plan, glyphs: Glyphs, width: int) -> Iterator[RenderableType]:
    if not plan.samples:
        return
    found = table("", "action", "clause", "row", right=("clause",))
    for sample in plan.samples[:MAX_SAMPLES]:
        sign = {"update": glyphs.update, "insert": glyphs.insert, "delete": glyphs.delete}[sample.action]
        row = elide_end(sample_text(plan, sample, glyphs), max(width - 24, 20) * 2, glyphs.ellipsis)
        found.add_row(sign, sample.action, str(sample.clause + 1), Text(row))
    yield found
    if len(plan.samples) > MAX_SAMPLES:
        yield Text(f"{glyphs.ellipsis} and {number(len(plan.samples) - MAX_SAMPLES)} more", QUIET)


def _changes(plan: Plan, glyphs: Glyphs) -> Iterator[RenderableType]:
    if plan.changes is None:
        return
    for text in change_rows.sentences(plan.changes):
        yield Text(text)
    if cells := change_rows.rows(plan.changes, glyphs):
        found = table(*change_rows.HEADERS, right=change_rows.NUMBERS)
        for row in cells:
            found.add_row(*map(Text, row))
        yield found


def _remarks(remarks: Sequence[Remark], sign: str, style: str) -> Iterator[RenderableType]:
    for one in remarks:
        lines = [Text.assemble((f"[{visible(one.code)}] ", BOLD), visible(one.sentence))]
        if one.evidence:
            lines.append(Text(visible(one.evidence), QUIET))
        lines += [Text(visible(line, lines=True), QUIET) for line in plan_summary.remark_details(one)]
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(sign, style), Group(*lines))
        yield grid


def facts(known: Mapping[str, str]) -> RenderableType:
    """Names and what stands for them, one a line; what is empty is left out."""
    sheet = Sheet(Column(no_wrap=True, style=QUIET), Column(overflow="fold"), show_header=False)
    for name, value in known.items():
        if value:
            sheet.add_row(Text(visible(name)), Text(visible(value)))
    return sheet


def to_copy(text: str, style: str = "") -> RenderableType:
    """Text that is there to be copied: a line longer than the terminal is wide stays one line."""
    # in a group: printed alone, a Text is joined to others and forgets that it must not be wrapped
    return Group(Text(text, style, no_wrap=True, overflow="ignore"))
