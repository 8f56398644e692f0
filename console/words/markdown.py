"""A plan as Markdown, for a pull request. What is not ours stands in code, where nothing in it is obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from console.words import change_rows, expectation_sentences, plan_summary, undo_sentences
from console.words.create_sentences import DOES, changes, columns, committing, headline, rows_written
from console.words.format import count, number, short_id, size, to_the_second
from console.words.glyphs import UNICODE
from console.words.plan_rows import MAX_FILES, MAX_SAMPLES, estimated, file_counts, pairs, sample_text
from console.words.schema_changes import evolution
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan
    from engine.model.expectation import ExpectationResult
    from engine.model.plan import Estimate, Plan, Remark
    from engine.model.plans import AnyPlan

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~@&$])")
_BACKTICKS = re.compile(r"`+")


def page(plan: AnyPlan) -> str:
    """The whole plan."""
    if plan.kind == "create_table":
        return _create_page(plan)
    return "\n".join(_lines(plan)).rstrip("\n") + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    target = plan.target
    yield f"### MERGE into {code(table_name(target.name))} at version {target.version}"
    yield ""
    yield from _verdict(plan)
    yield from _promise_lines(plan.promise, plan.estimates, is_refused=plan.refused is not None)
    errors, warnings = plan_summary.by_severity(plan.warnings)
    yield from _remarks("Errors to be accepted", errors)
    yield from _remarks("Warnings", warnings)
    yield from _remarks("Advice", plan_summary.advice(plan))
    yield from _expectations(plan)
    yield from _files(plan)
    yield from _samples(plan)
    yield from _changes(plan)
    yield from _details("Statement", fenced(plan.statement.script, "sql"))
    origin = f"{to_the_second(plan.created_at)}, Spark {plan.engines.spark}, Delta {plan.engines.delta}"
    maker = f"deltamerge-console {plain(plan.engines.deltamerge)}"
    yield f"Plan {code(short_id(plan.plan_id))}, made {plain(origin)} by {maker}."


def _verdict(plan: Plan) -> Iterator[str]:
    if plan.refused is not None:
        yield f"- ❌ **cannot be committed**: {code(plan.refused.condition)} {plain(plan.refused.message)}"
        if plan.refused.hint:
            yield f"  {plain(plan.refused.hint)}"
        yield f"  {plan_summary.NOTHING_WRITTEN}"
        yield from _conflicts(plan)
    else:
        yield f"- {'✅ ' if plan.changes_something else ''}**{plan_summary.counts(plan)}**"
        loud = "⚠️ " if plan_summary.rewrites_much(plan) else ""
        yield f"- {loud}{plain(plan_summary.rewrite(plan))}"
        if evolves := evolution(plan):
            yield f"- ⚠️ {plain(evolves)}"
    sign = "⚠️ " if plan_summary.is_materialized(plan) else ""
    yield f"- {sign}{plain(plan_summary.source(plan))}"
    if plan.refused is None:
        yield f"- {plain(plan_summary.conflict(plan))}"
        yield from _conflicts(plan)
    if plan.refused is None:
        if plan.expectations:
            signs = {_sign(one) for one in plan.expectations}
            sign = next(one for one in ("❌", "⚠️", "✅") if one in signs)
            yield f"- {sign} {plain(expectation_sentences.summary(plan.expectations))}"
        yield from _policy_lines(plan)
    if plan.session.staged:
        yield f"- {plain(plan_summary.staged(plan.session.staged))}"
    if plan.refused is None and plan.changes_something:
        yield _undo_line(plan)
    if found := plan.find_touched_files.conflicts.dedupe:
        body = "\n\n".join((*map(plain, plan_summary.dedupe(plan)), fenced(found.sql, "sql")))
        yield ""
        yield from _details("The source without duplicates", body)


def _promise_lines(
    promise: Mapping[str, int], estimates: Mapping[str, int | Estimate] = MappingProxyType({}), *, is_refused: bool
) -> Iterator[str]:
    """What a commit would be held to. What cannot be committed promises nothing."""
    if is_refused or not (promise or estimates):
        return
    yield ""
    yield from _table(
        ("metric", "promised", "how sure"),
        [
            *((code(name), number(value), "exact") for name, value in promise.items()),
            *((code(name), estimated(value), "estimated") for name, value in estimates.items()),
        ],
        right=(1,),
    )


def _undo_line(plan: AnyPlan) -> str:
    """How the commit would be taken back, and until when."""
    possible = plan.undo is None or plan.undo.possible is not False
    statement = f"{code(undo_sentences.undo(plan))}, " if possible else ""
    return f"- undo: {statement}{plain(undo_sentences.until(plan))}"


def _policy_lines(plan: AnyPlan) -> list[str]:
    """The objections of the policy."""
    return [f"- {'❌' if is_refused else '⚠️'} {plain(text)}" for is_refused, text in plan_summary.policy(plan)]


def _conflicts(plan: Plan) -> Iterator[str]:
    for key in plan.find_touched_files.conflicts.keys[:MAX_SAMPLES]:
        text = pairs(key.key)
        yield f"  - {code(text)} is matched by {count(key.source_rows, 'source row')}"


def _remarks(title: str, remarks: Sequence[Remark]) -> Iterator[str]:
    if not remarks:
        return
    yield ""
    yield f"**{title}**"
    yield ""
    for one in remarks:
        evidence = f" {plain(one.evidence)}" if one.evidence else ""
        yield f"- {code(one.code)} {plain(one.sentence)}{evidence}"
        if one.fix:
            # as it is: a comment or a string in it may hold line ends and several blanks
            yield f"  To paste: {code(one.fix)}" if "\n" not in one.fix else _indented(fenced(one.fix, "sql"))


def _indented(block: str) -> str:
    """A block that belongs to the item above it."""
    return "  To paste:\n\n" + "\n".join(f"  {line}" if line else "" for line in block.split("\n"))


def _sign(one: ExpectationResult) -> str:
    if expectation_sentences.is_bad(one):
        return "❌"
    return "✅" if one.status == "pass" else "⚠️"


def _expectations(plan: Plan) -> Iterator[str]:
    if not plan.expectations:
        return
    yield ""
    yield "**Expectations**"
    yield ""
    for one in plan.expectations:
        yield f"- {_sign(one)} {plain(expectation_sentences.sentence(one))}"
        for row in expectation_sentences.rows(one):
            yield f"  - {code(row)}"


def _files(plan: Plan) -> Iterator[str]:
    scan, files = plan.scan, plan.find_touched_files.files
    left = f"{number(scan.files_after)} of {count(scan.files_before, 'file')}"
    lines = [
        f"Data skipping leaves {left} ({size(scan.bytes_after)} of {size(scan.bytes_before)}), {scan.accuracy}.",
        *(f"- by {code(predicate)}" for predicate in plan_summary.skipping_by(scan)),
        *([f"- {plain(more)}"] if (more := plan_summary.scan(plan)) else []),
        "",
    ]
    if files:
        counts = file_counts(plan)
        lines += _table(
            ("file", "size", *counts),
            [(code(f.path), size(f.bytes), *(number(getattr(f, name)) for name in counts)) for f in files[:MAX_FILES]],
            right=range(1, 2 + len(counts)),
        )
    if len(files) > MAX_FILES:
        lines += ["", f"… and {number(len(files) - MAX_FILES)} more"]
    yield ""
    # what is refused rewrites nothing
    title = plan_summary.rewrite(plan) if plan.refused is None else f"{left} may hold what it looks for"
    yield from _details(f"Files: {title}", "\n".join(lines))


def _samples(plan: Plan) -> Iterator[str]:
    if not plan.samples:
        return
    rows = [
        (one.action, str(one.clause + 1), code(sample_text(plan, one, UNICODE))) for one in plan.samples[:MAX_SAMPLES]
    ]
    shown = count(len(rows), "sample row")
    yield from _details(f"Rows: {shown}", "\n".join(_table(("action", "clause", "row"), rows, right=(1,))))


def _changes(plan: Plan) -> Iterator[str]:
    if plan.changes is None:
        return
    lines = [f"- {plain(one)}" for one in change_rows.sentences(plan.changes)]
    cells = [(code(name), *map(plain, numbers)) for name, *numbers in change_rows.rows(plan.changes, UNICODE)]
    found = _table(change_rows.HEADERS, cells, right=(1, 2, 3)) if cells else []
    yield from _details(f"Changes: {count(len(cells), 'column')}", "\n".join((*lines, "", *found)))


def _create_page(plan: CreatePlan) -> str:
    lines = [f"### {plain(headline(plan))}", ""]
    if plan.refused is not None:
        lines += [f"- ❌ **cannot run**: {code(plan.refused.condition)} {plain(plan.refused.message)}"]
        lines += [f"  {plain(plan.refused.hint)}"] if plan.refused.hint else []
    else:
        lines += [f"- ✅ **{DOES[plan.effect]}** ({plan.handler}); {plain(committing(plan))}"]
        lines += [f"- {plain(plan.because)}"]
        lines += [f"- {rows_written(plan)}"] if rows_written(plan) else []
        lines += _policy_lines(plan)
        lines += [_undo_line(plan)] if plan.changes_something else []
        lines += [f"- ⚠️ {code(one.code)} {plain(one.sentence)} {plain(one.evidence)}" for one in plan.warnings]
    if plan.after is not None:
        facts = changes(plan, "→").items()
        lines += ["", *_table(("", ""), [(name, code(value)) for name, value in facts if value])]
        lines += ["", *_table(("", "column", "type", "", "comment"), _create_columns(plan))]
    lines += _promise_lines(plan.promise, is_refused=plan.refused is not None)
    origin = f"{to_the_second(plan.created_at)}, Spark {plan.engines.spark}, Delta {plan.engines.delta}"
    lines += ["", fenced(plan.statement.script, "sql"), "", f"Plan {code(short_id(plan.plan_id))}, made {origin}.", ""]
    return "\n".join(lines)


def _create_columns(plan: CreatePlan) -> Iterator[Sequence[str]]:
    for change, *parts in columns(plan, "→"):
        yield (change, *(code(part) if part else "" for part in parts))


def _details(summary: str, body: str) -> Iterator[str]:
    # blank lines on both sides: else Markdown inside of HTML is not read as Markdown
    yield from (f"<details><summary>{_html(summary)}</summary>", "", body, "", "</details>", "")


def _html(text: str) -> str:
    import html

    return html.escape(visible(text))


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    to_the_right = set(right)
    rules = ["---:" if index in to_the_right else "---" for index in range(len(headers))]
    # inside a table a bar ends the cell, in code as well
    return [_row(headers), _row(rules), *(_row([_BAR.sub(r"\\|", cell) for cell in row]) for row in rows)]


_BAR = re.compile(r"(?<!\\)\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text in which nothing is markup, a link, a mention or HTML."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def code(text: str) -> str:
    """Text as code on one line, whatever back-quotes are in it."""
    shown = visible(text) or " "
    fence = _fence(shown, 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def fenced(text: str, language: str) -> str:
    """Text as a block of code, whatever back-quotes are in it."""
    fence = _fence(text, 3)
    return f"{fence}{language}\n{visible(text, lines=True)}\n{fence}"


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)
