"""The views of a CREATE or REPLACE TABLE plan, each a page: pure functions from the plan to what is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from console.places.statement.plan_pages import around_it, how_it_runs, no_promise, refusal, remarks
from console.widgets.page import Column, Full, Head, Page, Paragraph, Row, Table, facts, sentence, signed
from console.words import create_sentences as sentences
from console.words.format import count, duration, number
from console.words.glyphs import Glyphs
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from engine.model.create_values import CreatePlan, TableState

Build = Callable[["CreatePlan", Glyphs], Page]


def verdict(plan: CreatePlan, glyphs: Glyphs) -> Head:
    """What it does, what is there and what that means, what leaves, what to mind."""
    if plan.refused is not None:
        return refusal(plan.refused, glyphs, "  ")
    lines = [signed(f"  {glyphs.ok}", "$text-success", sentences.DOES[plan.effect], "bold")]
    lines += [
        signed(f"  {glyphs.points_to}", "$text-primary", line)
        for line in (plan.because, sentences.committing(plan), sentences.rows_written(plan), sentences.leaving(plan))
        if line
    ]
    lines += [signed(f"  {glyphs.points_to}", "$text-primary", f"then {step}") for step in plan.post_commit]
    return (
        *lines,
        *(
            signed(f"  {glyphs.warning}", "$text-warning", f"[{one.code}] {one.sentence}", "$text-warning")
            for one in plan.warnings
        ),
    )


def table_page(plan: CreatePlan, glyphs: Glyphs) -> Page:
    if plan.refused is not None:
        return Page((*refusal(plan.refused, glyphs), *_is_there(plan)), _parts_of(plan.before))
    before, after = _parts(plan.before), _parts(plan.after)
    if plan.before is None or before == after:
        return Page(_is_there(plan), _parts_of(plan.after))
    parts = [(name, before.get(name, ""), after.get(name, "")) for name in dict.fromkeys((*after, *before))]
    rows: list[Row] = [
        (f"{glyphs.changed} changed" if old != new else "", visible(name), visible(old), visible(new))
        for name, old, new in parts
    ]
    changed = sum(bool(row[0]) for row in rows)
    columns = [Column("", name="change"), Column("part"), Column("before", fit="end"), Column("after", fit="end")]
    words, name = f"{count(changed, 'part')} of {len(rows)} change.", table_name(plan.target.name)
    table = Table(columns, rows, full=lambda at: Full(name, [parts[at]], texts=True))
    return Page((sentence(f"{words} Enter shows a row in full."),), table)


def _is_there(plan: CreatePlan) -> Head:
    """What is said of the table above its parts, which are alike before and after where it has any before."""
    if plan.before is None:
        # a view, or a table that is not Delta, has the name: the refusal says which
        return () if plan.in_catalog else (sentence("There is no such table yet."),)
    stays = plan.effect != "replace"
    return (
        sentence("The table stays as it is:" if stays else "Beside its columns and rows the table stays as it is:"),
    )


def _parts_of(state: TableState | None) -> Table:
    """Of no table, what stands above says that."""
    rows: list[Row] = [(visible(name), visible(value)) for name, value in _parts(state).items()]
    return Table([Column("part"), Column("value", fit="end")], rows, "")


def _parts(state: TableState | None) -> dict[str, str]:
    """Every part of a table beside its columns, each property by itself."""
    if state is None:
        return {}
    facts = sentences.facts(state)
    del facts["properties"]
    return facts | sentences.properties(state)


def columns_page(plan: CreatePlan, glyphs: Glyphs) -> Page:
    rows: list[Row] = [
        (f"{glyphs.changed} changed" if change == "changed" else change, *parts)
        for change, *parts in sentences.columns(plan, glyphs.becomes)
    ]
    columns = [
        Column("", name="change"),
        Column("column"),
        Column("type"),
        Column("", name="options"),
        Column("comment", fit="end"),
    ]
    return Page(table=Table(columns, rows, "The plan leaves no table, so there are no columns."))


def promise_page(plan: CreatePlan, glyphs: Glyphs) -> Page:
    if plan.refused is not None:
        return no_promise(glyphs)
    rows: list[Row] = [
        (visible(metric), number(value), glyphs.exact, "exact: compared with the commit")
        for metric, value in plan.promise.items()
    ]
    columns = [Column("metric"), Column("promised", align="right"), Column("", name="sign"), Column("how sure")]
    title = "What the commit will report, by Delta's own names. The state of the table is compared as well."
    return Page((sentence(title),), Table(columns, rows, "Such a commit reports no metrics."))


def advice_page(plan: CreatePlan, glyphs: Glyphs) -> Page:
    return Page(remarks(plan, (), glyphs))


def sql_page(plan: CreatePlan, _glyphs: Glyphs) -> Page:
    head: list[Paragraph] = [sentence(how_it_runs(plan))]
    head += around_it(plan.statement)
    known: list[tuple[str, str]] = [("Delta's method", plan.handler)] if plan.refused is None else []
    source = plan.source
    if source is not None:
        known += [("reads", f"{table} at version {version}") for table, version in source.pinned_versions.items()]
        if source.volatile:
            known.append(("volatile", f"{', '.join(source.volatile)}: other rows each time it is read"))
    if plan.timings:
        took = ", ".join(f"{step} {duration(spent)}" for step, spent in plan.timings.items())
        known.append(("planning took", took))
    return Page((*head, *facts(known)), sql=plan.statement.sql)


VIEWS: dict[str, tuple[str, Build]] = {
    "table": ("Table", table_page),
    "columns": ("Columns", columns_page),
    "promise": ("Promise", promise_page),
    "advice": ("Advice", advice_page),
    "sql": ("SQL", sql_page),
}
