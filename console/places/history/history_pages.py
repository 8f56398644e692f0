"""The ledger as pages: the list of operations, and one of them in full. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from console.places.statement.plan_pages import expectation_line
from console.widgets.page import Column, Head, Page, Paragraph, Row, Table, sentence, signed
from console.widgets.promise import promise_table
from console.words import expectation_sentences, outcome_sentences, plan_summary, undo_sentences
from console.words.format import duration, local_time, number, parse_time, rounded, short_id
from console.words.glyphs import Glyphs
from console.words.visible import table_name, visible
from engine.recovery.why_not_undone import why_not_undone

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan
    from engine.model.operation import Operation, Outcome, Rehearsal
    from engine.model.plans import AnyPlan, OperationDetail


LIMIT = 500
"""How many operations are listed."""
GROUPINGS = ("", "table", "day")
ERROR_CLASS = re.compile(r"\[(?:DELTA_)?([A-Z_0-9.]+)\]")
CHANGED_ROWS = re.compile(r"[+~-][\d,]+(?: [+~-][\d,]+)*")
COUNT = re.compile(r"[\d,]+")


def matches(operation: Operation, outcome: Outcome | None, glyphs: Glyphs, words: Sequence[str]) -> bool:
    """Whether an operation holds all the words, anywhere a person would look for them: in its row first of all."""
    row = _operation_row(operation, outcome, glyphs, member=False)
    further = (
        operation.table,
        operation.status,
        operation.kind,
        local_time(operation.started_at),
        operation.sql,
        operation.error or "",
    )
    text = " ".join((*filter(None, row), *further)).lower()
    # no eye has seen what stands in the middle of an id
    ids = (operation.plan_id, operation.op_id)
    name = _plain(_table(table_name(operation.table)))
    return all(
        word in text or any(one.startswith(word) for one in ids) or ("." in word and _plain(word) in name)
        for word in map(str.lower, words)
    )


@dataclass(frozen=True)
class Group:
    """The line above the operations of one table or of one day."""

    name: str
    operations: tuple[Operation, ...]


Listed = Sequence["Operation | Group"]


def key_of(one: Operation | Group) -> str:
    """What finds it again in a list that was read anew."""
    return f"group {one.name}" if isinstance(one, Group) else one.op_id


def grouped(operations: Sequence[Operation], by: str) -> list[Operation | Group]:
    """The operations, a line before those of each ``table`` or ``day``; the newest group first."""
    if by not in GROUPINGS[1:]:
        return list(operations)
    groups: dict[str, list[Operation]] = {}
    names: dict[str, str] = {}
    for one in operations:
        name = table_name(one.table) if by == "table" else local_time(one.started_at)[:10]
        key = _table(name) if by == "table" else name
        groups.setdefault(key, []).append(one)
        names.setdefault(key, name)
    listed: list[Operation | Group] = []
    for key, found in groups.items():
        listed += [Group(names[key], tuple(found)), *found]
    return listed


def _plain(name: str) -> str:
    """A name as it may be typed otherwise: with back-quotes, or with the session's own catalog."""
    return name.lower().replace("`", "").removeprefix("spark_catalog.")


def _table(name: str) -> str:
    """By what a table is known, however its name was typed: the case of a path means something, that of a name does
    not, and one without a schema is of ``default``."""
    if "`" in name:
        return name
    return name.lower() if "." in name else f"default.{name.lower()}"


def list_page(
    listed: Listed, outcomes: Mapping[str, Outcome], total: int, glyphs: Glyphs, by: str = "", year: str = ""
) -> Page:
    """``outcomes`` are by operation; ``total`` counts the operations before they were filtered. Where there is little
    room, times in ``year`` do without it."""
    rows = [
        _group_row(one, by, glyphs)
        if isinstance(one, Group)
        else _operation_row(one, outcomes.get(one.op_id), glyphs, member=bool(by))
        for one in listed
    ]
    columns = [
        Column("started", value=lambda at: _started(listed[at]), short=partial(short_time, year)),
        Column("table", fit="file"),
        Column("kind"),
        Column(
            "status",
            failed=lambda at: is_deviating(listed[at]) or is_lost(listed[at]),
            short=lambda cell: cell.replace("applied, ", ""),
        ),
        Column("at", align="right", value=lambda at: _version(listed[at])),
        # what has an error changed no rows
        Column("result", fit="end", short=short_result),
        Column("plan", beyond=True),
    ]
    searched = f"Nothing of the newest {total}" if total >= LIMIT else "Nothing"
    empty = f"{searched} matches the filter." if total else "Nothing was planned or committed yet."
    cut = f"The newest {LIMIT} operations alone: `history --limit` lists more."
    head = (sentence(cut, "$foreground-muted"),) if total >= LIMIT else ()
    return Page(head, Table(columns, rows, empty))


def is_deviating(one: Operation | Group) -> bool:
    """Whether it was committed and broke its promise."""
    return not isinstance(one, Group) and one.status == "applied" and one.kept is False


def is_lost(one: Operation | Group) -> bool:
    """Whether Delta reported the commit and the log does not hold it."""
    return not isinstance(one, Group) and one.status == "lost"


def _started(one: Operation | Group) -> str:
    return (one.operations[0] if isinstance(one, Group) else one).started_at


def short_time(year: str, started: str) -> str:
    """``11-20 12:04`` of a time in ``year``; a day stays as it is."""
    return re.sub(rf"^( *){year}-(?=\d\d-\d\d \d\d:)", r"\1", started)


def short_result(result: str) -> str:
    """``+30.2k ~1,204``, and the class of an error alone. Words stay as they are: a number in them may be a name's."""
    if (error := ERROR_CLASS.match(result)) is not None:
        return error[1]
    if CHANGED_ROWS.fullmatch(result) is None:
        return result
    return COUNT.sub(lambda found: rounded(int(found[0].replace(",", ""))), result)


def _version(one: Operation | Group) -> int | None:
    return None if isinstance(one, Group) else one.version


def _operation_row(one: Operation, outcome: Outcome | None, glyphs: Glyphs, *, member: bool) -> Row:
    started = local_time(one.started_at, seconds=False)
    return (
        f"  {started}" if member else started,
        table_name(one.table),
        outcome_sentences.kind(one),
        _status(one, glyphs),
        "" if one.version is None else f"v{one.version}",
        plan_summary.one_line(one.error or "")
        or _failing(outcome)
        or (_did(one, outcome, glyphs) if outcome else outcome_sentences.rehearsed_as(one)),
        short_id(one.plan_id),
    )


def _did(one: Operation, outcome: Outcome, glyphs: Glyphs) -> str:
    """The rows that a commit changed, or the version that it brought back."""
    if one.kind == "restore":
        return undo_sentences.restored(one.sql, outcome.metrics)
    return outcome_sentences.changed_rows(outcome.metrics, glyphs)


def _failing(outcome: Outcome | None) -> str:
    """``1 of 3 expectations fails: rows_unique``, which the promise that was kept does not tell; "" if none does."""
    results = outcome.expectations if outcome is not None else ()
    return expectation_sentences.summary(results) if any(map(expectation_sentences.is_bad, results)) else ""


def _group_row(group: Group, by: str, glyphs: Glyphs) -> Row:
    statuses = Counter(map(outcome_sentences.status, group.operations))
    counts = f" {glyphs.dot} ".join(f"{number(many)} {visible(status)}" for status, many in statuses.most_common())
    name = f"{glyphs.points_to} {visible(group.name)}"
    rest = ("", "", "", counts, "")
    return (glyphs.points_to, visible(group.name), *rest) if by == "table" else (name, "", *rest)


def detail_page(detail: OperationDetail, glyphs: Glyphs, undo_key: str = "", no_drop: str = "") -> Page:
    """``undo_key`` is the key that takes it back, "" where nothing may be; ``no_drop`` says why it does not."""
    one, plan = detail.operation, detail.plan
    if plan is not None and plan.kind != "merge":
        undo = (sentence(no_drop),) if no_drop else _undo_lines(detail, plan, undo_key, glyphs)
        return _create_page(detail, plan, glyphs, undo)
    head = _head(detail, glyphs)
    if plan is None and one.kind != "merge":
        head.append(sentence(plan_summary.sql_line(one.sql)))
    if one.kind == "restore" and detail.outcome is not None:
        did = undo_sentences.restored_in_full(one.sql, detail.outcome.metrics)
        head += [sentence(did)] if did else []
    if plan is not None:
        if plan.refused is None:
            head.append(sentence(f"promised: {plan_summary.counts(plan, glyphs.dot)}; {plan_summary.rewrite(plan)}"))
        else:
            head.append(signed(glyphs.error, "$text-error", plan_summary.conflict(plan)))
        head.append(sentence(plan_summary.source(plan), "$foreground-muted"))
    if plan is not None and one.committed_nothing:
        head.append(sentence(outcome_sentences.nothing_committed(plan)))
    head += _error(one, glyphs)
    head += [_rehearsal_line(each, glyphs) for each in detail.rehearsals]
    if detail.outcome is not None:
        head += [expectation_line(each, glyphs) for each in detail.outcome.expectations]
        head += [sentence(f"meanwhile: {commit}") for commit in detail.outcome.moved_by]
    if plan is not None and why_not_undone(one) is None:
        head += _undo_lines(detail, plan, undo_key, glyphs)
    return Page(tuple(head), promise_table(plan, detail.outcome, glyphs))


def _head(detail: OperationDetail, glyphs: Glyphs) -> list[Paragraph]:
    """Which operation it is, what became of it, and when."""
    one, dot = detail.operation, f" {glyphs.dot} "
    title = Content.assemble(
        (_status(one, glyphs), "bold"),
        f"{dot}{table_name(one.table)}",
        "" if one.version is None else f"{dot}v{one.version}",
        f"{dot}plan {short_id(one.plan_id)}",
        (f"{dot}operation {visible(one.op_id)}", "$foreground-muted"),
    )
    return [Paragraph(title), sentence(_when(detail), "$foreground-muted"), *_taken_back(detail)]


def _error(one: Operation, glyphs: Glyphs) -> Head:
    """Why it failed; why a plan is refused stands with what it promises."""
    if not one.error or one.status == "refused":
        return ()
    return (signed(glyphs.error, "$text-error", one.error),)


def _rehearsal_line(rehearsal: Rehearsal, glyphs: Glyphs) -> Paragraph:
    sign, style = (
        (glyphs.ok, "$text-success") if outcome_sentences.went_well(rehearsal) else (glyphs.error, "$text-error")
    )
    return signed(sign, style, outcome_sentences.past_rehearsal(rehearsal))


def _undo_lines(detail: OperationDetail, plan: AnyPlan, undo_key: str, glyphs: Glyphs) -> Head:
    """The statement that takes it back, and until when it does."""
    if detail.undo_refused is not None:
        return (signed(glyphs.warning, "$text-warning", undo_sentences.refused(detail.undo_refused)),)
    statement, until = undo_sentences.made(plan, detail.outcome)
    if not statement:
        return (sentence(f"undo is {until}"),)
    return (
        sentence(f"{undo_key or 'undo'} takes it back{undo_sentences.as_long_as(plan)}: {statement}"),
        sentence(until, "$foreground-muted"),
    )


def _taken_back(detail: OperationDetail) -> list[Paragraph]:
    if detail.overwritten_by is not None:
        return [sentence(undo_sentences.overwritten(detail.overwritten_by))]
    undo = detail.taken_back_by
    return [] if undo is None else [sentence(outcome_sentences.taken_back(undo))]


def _create_page(detail: OperationDetail, plan: CreatePlan, glyphs: Glyphs, undo: Head) -> Page:
    """An operation that created or replaced a table: what it did, what was promised of it, and its ``undo``."""
    one, head = detail.operation, _head(detail, glyphs)
    head.append(sentence(f"{plan.operation or 'nothing committed'}: {plan.because}"))
    head += _error(one, glyphs)
    if why_not_undone(one) is None:
        head += undo
    return Page(tuple(head), promise_table(plan, detail.outcome, glyphs))


def sql_page(detail: OperationDetail, _glyphs: Glyphs) -> Page:
    one = detail.operation
    what = f"{outcome_sentences.kind(one)} of {table_name(one.table)}"
    return Page((sentence(f"{what}, plan {short_id(one.plan_id)}"),), sql=one.sql)


def _status(operation: Operation, glyphs: Glyphs) -> str:
    """The status in words, with its sign."""
    return f"{outcome_sentences.sign(operation, glyphs)} {outcome_sentences.status(operation)}"


def _when(detail: OperationDetail) -> str:
    operation = detail.operation
    started = f"started {local_time(operation.started_at, zone=True)}"
    if operation.finished_at is None:
        if operation.status != "running":
            return started
        return f"{started}, {outcome_sentences.PROGRAM_GONE if operation.program_gone else 'not finished'}"
    if detail.outcome is not None and detail.outcome.duration_ms:
        # as the commit itself told
        return f"{started}, took {duration(detail.outcome.duration_ms)}"
    begin, end = parse_time(operation.started_at), parse_time(operation.finished_at)
    if begin is None or end is None:
        return started
    return f"{started}, took {duration(max(int((end - begin).total_seconds() * 1000), 0))}"
