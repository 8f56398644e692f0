"""The views of a plan, each a page: pure functions from the plan to what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from console.places.statement.file_classes import by_share, by_size, by_touch
from console.widgets.page import (
    Column,
    FileMap,
    Full,
    Head,
    Page,
    Paragraph,
    Row,
    Table,
    facts,
    sentence,
    signed,
    with_values,
)
from console.words import change_rows, expectation_sentences, plan_summary
from console.words.format import count, duration, number, share, size
from console.words.glyphs import Glyphs, accuracy_mark
from console.words.plan_rows import estimated, file_counts, plan_keys
from console.words.schema_changes import evolution
from console.words.visible import cell, grid_cell, visible

if TYPE_CHECKING:
    from engine.model.changes import Changes
    from engine.model.create_values import CreateStatement
    from engine.model.expectation import ExpectationResult
    from engine.model.plan import Plan, Refused, Remark, Sample, Statement
    from engine.model.plans import AnyPlan
    from engine.model.value import Cells

Build = Callable[["Plan", Glyphs], Page]
BAR_WIDTH = 30
REFUSED = "It would be refused, so nothing of it runs."


def files_page(plan: Plan, glyphs: Glyphs) -> Page:
    files = plan.find_touched_files.files
    scan = plan.scan
    mark = accuracy_mark(scan.accuracy, glyphs)
    skipped = scan.files_before - scan.files_after
    head = [
        Paragraph(_file_bar(plan, glyphs)),
        *nothing_written(plan, glyphs),
        sentence(f"{plan_summary.skipping(scan)} {mark}; {number(skipped)} skipped"),
        *(sentence(f"by {predicate}", "bold") for predicate in plan_summary.skipping_by(scan)),
    ]
    if more := plan_summary.scan(plan):
        head.append(sentence(more))
    if scan.why:
        head.append(sentence(scan.why, "$foreground-muted"))
    counts = file_counts(plan)
    columns = [
        Column("file", fit="file"),
        Column("size", align="right", value=lambda at: files[at].bytes),
        *(Column(name, align="right") for name in counts),
    ]
    rows: list[Row] = [
        (visible(file.path), size(file.bytes), *(number(getattr(file, name)) for name in counts)) for file in files
    ]
    adds = plan.changes_something and plan.refused is None
    empty = "No file is rewritten: this merge only adds files." if adds else "No file is touched."
    modes = [by_size([file.bytes for file in files])]
    if plan.refused is None:
        modes = [by_touch(files, vectors=plan.write.deletion_vectors), by_share(files), *modes]
    return Page(tuple(head), Table(columns, rows, empty), FileMap(len(files), modes) if files else None)


def rows_page(plan: Plan, glyphs: Glyphs) -> Page:
    samples = plan.samples
    keys, others = _column_names(plan)
    names = [*keys, *others]
    columns = [
        Column("", name="sign"),
        Column("action"),
        Column("clause", align="right"),
        *(Column(name) for name in names),
    ]
    rows: list[Row] = [_sample_row(sample, names, glyphs) for sample in samples]
    text = (
        f"{count(len(samples), 'sample')} of the rows that change; {glyphs.changed} marks a changed cell as "
        f"before {glyphs.becomes} after. Enter shows a row in full."
    )
    empty = "No samples: the plan was made without them, as in a private profile, or no row changes."
    if plan.refused is not None:
        empty = plan_summary.NOTHING_WRITTEN
    still = 3 + len(keys) if keys else 0
    table = Table(columns, rows, empty, still=still, full=lambda at: _in_full(samples[at]))
    return Page((sentence(text),) if samples else (), table)


def changes_page(changes: Changes, glyphs: Glyphs) -> Page:
    columns = [Column(name, align="right" if name in change_rows.NUMBERS else "left") for name in change_rows.HEADERS]
    head = tuple(sentence(text) for text in change_rows.sentences(changes))
    rows: list[Row] = [tuple(row) for row in change_rows.rows(changes, glyphs)]
    empty = "No updated row gets another value." if changes.updated else "No row is updated."
    return Page(head, Table(columns, rows, empty))


def _changes_of(plan: Plan, glyphs: Glyphs) -> Page:
    """The page of a plan that holds them, or is refused; else Spark is asked."""
    if plan.changes is not None:
        return changes_page(plan.changes, glyphs)
    return Page(nothing_written(plan, glyphs))


def nothing_written(plan: Plan, glyphs: Glyphs) -> Head:
    """Above the facts of a plan that is refused."""
    return (signed(glyphs.error, "$text-error", plan_summary.NOTHING_WRITTEN),) if plan.refused is not None else ()


def decision_page(plan: Plan, glyphs: Glyphs) -> Page:
    decided, source = plan.decision, plan.source
    verb = "is materialized before the merge" if decided.materialize else "is read as it is, not materialized"
    if plan.session.staged:
        verb = "is kept in a table, which the merge reads"
    known = [
        ("because", decided.because),
        ("Delta's reason", decided.reason),
        ("certainty", "exact" if decided.certainty == "exact" else "inferred from the plan text"),
        ("mode", f"spark.databricks.delta.merge.materializeSource = {decided.mode}"),
    ]
    if plan_summary.is_materialized(plan):
        known += [("to avoid it", decided.avoid)] if decided.avoid else []
        known.append(("storage level", f"{decided.storage_level or '?'} (attempt {decided.attempt})"))
    known += [
        ("source", plan_summary.sql_line(source.sql)),
        ("rows", f"{number(source.num_rows)} {accuracy_mark('exact', glyphs)}"),
        ("columns used", ", ".join(source.columns_used)),
        ("fingerprint", source.fingerprint),
    ]
    known += [("pinned", f"{table} at version {version}") for table, version in source.pinned_versions.items()]
    if plan.session.staged:
        known.append(("staged", plan_summary.staged(plan.session.staged)))
    if source.volatile:
        known.append(("volatile", f"{', '.join(source.volatile)}: other rows each time it is read, so it is frozen"))
    return Page((sentence(f"The source {verb}.", "bold"), sentence(""), *facts(known)))


def conflicts_page(plan: Plan, glyphs: Glyphs) -> Page:
    conflicts, refused = plan.find_touched_files.conflicts, plan.refused
    head: list[Paragraph] = []
    if refused is not None:
        head += refusal(refused, glyphs)
    if conflicts.true_count:
        rows_matched = count(conflicts.true_count, "target row")
        text = f"{rows_matched} matched by more than one source row {accuracy_mark('exact', glyphs)}"
        text += "; some of the keys:" if conflicts.keys else "."
        head.append(sentence(text))
        if conflicts.count != conflicts.true_count:
            head.append(sentence(f"Delta itself counts {number(conflicts.count)}.", "$foreground-muted"))
    head += [sentence(text, "$foreground-muted") for text in plan_summary.dedupe(plan)]
    sql = conflicts.dedupe.sql if conflicts.dedupe else None
    if conflicts.keys:
        names, rows = plan_summary.rivals(plan, glyphs, all_columns=True)
        columns = [Column(name, align="right" if name == "source rows" else "left") for name in names]
        return Page(tuple(head), Table(columns, [tuple(row) for row in rows]), sql=sql)
    if refused is not None and refused.rows:
        if told := plan_summary.how_many_shown(refused):
            head.append(sentence(told, "$foreground-muted"))
        names, values = plan_summary.refused_rows(refused)
        cells = [tuple(map(grid_cell, row)) for row in values]
        return Page(tuple(head), Table(with_values(map(Column, names), values), cells))
    if not head:
        nothing = "No target row is matched twice, and no constraint is broken."
        head.append(signed(glyphs.ok, "$text-success", nothing))
    return Page(tuple(head), sql=sql)


def write_page(plan: Plan, glyphs: Glyphs) -> Page:
    touched = plan.find_touched_files
    known = [
        ("executor", f"{plan.executor}: {_does(plan)}" if plan.refused is None else plan.executor),
        ("finding files", f"{touched.join_type} join" if touched.join_type else "no such job runs"),
    ]
    if plan.refused is None:
        known += _writing(plan)
    known.append(("target features", ", ".join(plan.target.features) or "none"))
    if touched.matched_predicate:
        known.append(("matched predicate", touched.matched_predicate))
    if plan.timings:
        took = ", ".join(f"{step} {duration(spent)}" for step, spent in plan.timings.items())
        known.append(("planning took", took))
    return Page((*nothing_written(plan, glyphs), *facts(known)))


def _does(plan: Plan) -> str:
    """How the plan's executor writes: with deletion vectors it rewrites no file."""
    if plan.executor == "InsertOnlyMergeExecutor":
        return "only appends what has no match"
    if plan.write.deletion_vectors:
        return "finds the touched files, then marks the changed rows in them and writes only those"
    if plan.write.unmodified_rows_written:
        return "finds the touched files, then writes them anew"
    return "finds no touched file, and only appends"


def _writing(plan: Plan) -> list[tuple[str, str]]:
    write, removed_from = plan.write, plan.find_touched_files.partitions_removed_from
    evolves = evolution(plan, None)
    return [
        *([("schema", evolves)] if evolves else []),
        ("writing", f"{write.join_type} join" if write.join_type else "no join"),
        ("extraOpType", write.extra_op_type),
        ("deletion vectors", "used: a file goes only if all its rows change" if write.deletion_vectors else "not used"),
        ("change data feed", plan_summary.change_feed(plan)),
        (
            "unchanged rows",
            "written anew with the files they are in" if write.unmodified_rows_written else "not written again",
        ),
        ("partitions", f"files removed from {number(removed_from)}"),
    ]


def no_promise(glyphs: Glyphs) -> Page:
    """The promise of a plan that is refused."""
    return Page((signed(glyphs.error, "$text-error", "Nothing is promised: this cannot be committed."),))


def promise_page(plan: Plan, glyphs: Glyphs) -> Page:
    if plan.refused is not None:
        return no_promise(glyphs)
    columns = [Column("metric"), Column("promised", align="right"), Column("", name="sign"), Column("how sure")]
    rows: list[Row] = [
        (visible(metric), number(value), glyphs.exact, "exact: compared with the commit")
        for metric, value in plan.promise.items()
    ]
    rows += [
        (visible(metric), estimated(estimate), glyphs.estimated, "estimated")
        for metric, estimate in plan.estimates.items()
    ]
    text = "What the commit will report, by Delta's own names. An exact number that deviates is a fault."
    return Page((sentence(text),), Table(columns, rows))


def advice_page(plan: Plan, glyphs: Glyphs) -> Page:
    return Page(remarks(plan, plan_summary.advice(plan), glyphs))


def expectations_page(results: Sequence[ExpectationResult], glyphs: Glyphs) -> Page:
    """Each expectation, and below it the rows that fail."""
    head: list[Paragraph] = []
    for one in results:
        head.append(expectation_line(one, glyphs))
        head += [sentence(f"    {row}", "$foreground-muted") for row in expectation_sentences.rows(one)]
    return Page(tuple(head))


def expectation_line(one: ExpectationResult, glyphs: Glyphs) -> Paragraph:
    if expectation_sentences.is_bad(one):
        return signed(glyphs.error, "$text-error", expectation_sentences.sentence(one), "$text-error")
    sign, style = (glyphs.ok, "$text-success") if one.status == "pass" else (glyphs.warning, "$text-warning")
    return signed(sign, style, expectation_sentences.sentence(one))


def remarks(plan: AnyPlan, advice: Sequence[Remark], glyphs: Glyphs) -> Head:
    """Warnings and advice in full, each with its evidence."""
    head: list[Paragraph] = []
    errors, others = plan_summary.by_severity(plan.warnings)
    for remark in errors:
        head += _remark(remark, f"{glyphs.error} error", "$text-error")
    for remark in others:
        head += _remark(remark, f"{glyphs.warning} warning", "$text-warning")
    for remark in advice:
        head += _remark(remark, f"{glyphs.points_to} advice", "$text-primary")
    if not head and plan.refused is not None:
        return (sentence(f"{REFUSED} Why, and what to do, stands above.", "$foreground-muted"),)
    return tuple(head) or (signed(glyphs.ok, "$text-success", "No warning codes, and nothing to advise."),)


def how_it_runs(plan: AnyPlan) -> str:
    """Whether the text runs as it is typed."""
    if plan.refused is not None:
        return REFUSED
    if plan.kind == "merge" and plan.splices:
        return f"{count(len(plan.splices), 'change')} to the text as typed, checked by Spark:"
    return "This runs as typed."


def sql_page(plan: Plan, glyphs: Glyphs) -> Page:
    head = [sentence(how_it_runs(plan))]
    for splice in plan.splices if plan.refused is None else ():
        old = plan_summary.sql_line(plan.statement.sql[splice.start : splice.end]) or "(nothing)"
        new = plan_summary.sql_line(splice.text)
        head.append(signed(glyphs.points_to, "$text-primary", f"{old} {glyphs.becomes} {new} ({splice.why})"))
    head += around_it(plan.statement)
    return Page(tuple(head), sql=plan.statement.sql)


def around_it(statement: Statement | CreateStatement) -> Head:
    """What runs before a statement, and the values of its markers."""
    before = [("before it", plan_summary.sql_line(one)) for one in statement.setup]
    return (*facts(before), *facts((f":{name}", value) for name, value in statement.params.items()))


VIEWS: dict[str, tuple[str, Build]] = {
    "files": ("Files", files_page),
    "rows": ("Rows", rows_page),
    "changes": ("Changes", _changes_of),
    "decision": ("Decision", decision_page),
    "conflicts": ("Conflicts", conflicts_page),
    "write": ("Write", write_page),
    "promise": ("Promise", promise_page),
    "advice": ("Advice", advice_page),
    "sql": ("SQL", sql_page),
}


def _file_bar(plan: Plan, glyphs: Glyphs) -> Content:
    """All files of the target on one line: rewritten, only read, skipped."""
    total = plan.scan.files_before
    whole = max(total, 1)
    rewritten = len(plan_summary.rewritten_files(plan))
    verb = plan_summary.done_to_files(plan)
    read = max(plan.scan.files_after - rewritten, 0)
    width = min(total, BAR_WIDTH)
    shown_rewritten = _cells_of(rewritten, whole, width)
    shown_read = min(_cells_of(read, whole, width), width - shown_rewritten)
    rest = width - shown_rewritten - shown_read
    return Content.assemble(
        (glyphs.rewritten * shown_rewritten, "$text-warning"),
        (glyphs.read * shown_read, "$text-primary"),
        (glyphs.skipped * rest, "$foreground-muted"),
        f"  {glyphs.rewritten} {number(rewritten)} {verb} ({share(rewritten, whole)})"
        f"  {glyphs.read} {number(read)} read  {glyphs.skipped} {number(total - rewritten - read)} skipped",
    )


def _cells_of(part: int, whole: int, width: int) -> int:
    # any count above 0 gets a cell
    return max(round(part * width / whole), 1) if part else 0


def _column_names(plan: Plan) -> tuple[list[str], list[str]]:
    """(Those of the key, the others): those that change in any of the rows come before those that do not, for a wide
    table has the last ones out of sight."""
    names: dict[str, None] = {}
    changed: set[str] = set()
    for sample in plan.samples:
        before, after = sample.before or {}, sample.shown_after or {}
        names.update(dict.fromkeys([*before, *after]))
        if sample.action == "update":
            changed.update(name for name in names if before.get(name) != after.get(name))
    keys = [*plan_keys(plan, names)]
    return keys, sorted((name for name in names if name not in keys), key=lambda name: name not in changed)


def _sample_row(sample: Sample, names: list[str], glyphs: Glyphs) -> Row:
    sign = {"update": glyphs.update, "insert": glyphs.insert, "delete": glyphs.delete}[sample.action]
    cells = (_change(sample.before, sample.shown_after, name, glyphs) for name in names)
    return (sign, sample.action, str(sample.clause + 1), *cells)


def _in_full(sample: Sample) -> Full:
    return Full(f"{sample.action} by clause {sample.clause + 1}", sample_lines(sample))


def sample_lines(sample: Sample) -> list[tuple[str, str | None, str | None]]:
    """One sample in full: each column before and after. An insert or a delete has one side only."""
    before, after = sample.before or sample.shown_after or {}, sample.shown_after or sample.before or {}
    return [(name, before.get(name), after.get(name)) for name in dict.fromkeys([*before, *after])]


def _change(before: Cells | None, after: Cells | None, name: str, glyphs: Glyphs) -> str | None:
    if before is None or after is None:
        return grid_cell((before or after or {}).get(name))
    old, new = before.get(name), after.get(name)
    if old == new:
        return grid_cell(old)
    return f"{glyphs.changed} {cell(old)} {glyphs.becomes} {cell(new)}"


def refusal(refused: Refused, glyphs: Glyphs, indent: str = "") -> Head:
    """What Delta would say of it while running."""
    text = Content.assemble(
        (f"[{visible(refused.condition)}] ", "bold $text-error"), visible(refused.message, lines=True)
    )
    hint = Paragraph(sentence(refused.hint, "$foreground-muted").body, Content(f"{indent}  "))
    return (signed(f"{indent}{glyphs.error}", "$text-error", text), *((hint,) if refused.hint else ()))


def _remark(remark: Remark, word: str, style: str) -> Head:
    text = Content.assemble((f"[{visible(remark.code)}] ", "bold"), visible(remark.sentence, lines=True))
    lead = Content(" " * (len(word) + 1))
    evidence = sentence(remark.evidence, "$foreground-muted").body
    return (
        signed(word, style, text),
        *([Paragraph(evidence, lead)] if remark.evidence else []),
        *(Paragraph(Content(visible(line, lines=True)), lead) for line in plan_summary.remark_details(remark)),
        sentence(""),
    )
