"""A CREATE or REPLACE plan as a page of text, and as Markdown: what it does, what is there before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from console.cli.markdown import code, fenced, plain
from console.cli.view_plan import BOLD, ERROR, OK, POINTER, QUIET, WARNING, facts, signed, table
from console.format import count, duration, local_time, number, short_id, size
from console.visible import visible
from console.widgets.glyphs import Glyphs

if TYPE_CHECKING:
    from engine.create_values import CreatePlan, StateColumn, TableState

DOES = {
    "create": "creates the table",
    "adopt": "takes the table that is there",
    "replace": "replaces the table",
    "nothing": "changes nothing",
    "refused": "cannot run",
}


def headline(plan: CreatePlan) -> str:
    """``CREATE OR REPLACE TABLE db.t @ v3``."""
    modes = {"Create": "CREATE TABLE", "CreateOrReplace": "CREATE OR REPLACE TABLE", "Replace": "REPLACE TABLE"}
    forms = {"empty": "", "as_select": " AS SELECT", "like": " LIKE", "clone": " SHALLOW CLONE"}
    version = f" @ v{plan.target.version}" if plan.target.version >= 0 else ""
    return f"{modes[plan.statement.mode]} {visible(plan.target.name)}{version}{forms[plan.statement.form]}"


def summary(plan: CreatePlan, glyphs: Glyphs) -> RenderableType:
    """What a person must know before it runs."""
    return Group(Text(headline(plan), BOLD), Text(""), *_verdict(plan, glyphs))


def page(plan: CreatePlan, glyphs: Glyphs) -> RenderableType:
    """The whole plan."""
    spent = sum(plan.timings.values())
    took = f" {glyphs.dot} planned in {duration(spent)}" if spent else ""
    made = f"  plan {short_id(plan.plan_id)} {glyphs.dot} {local_time(plan.created_at, zone=True)}{took}"
    parts: list[RenderableType] = [summary(plan, glyphs), Text(made, QUIET)]
    if plan.after is not None:
        parts += [Text(""), Text("Columns", BOLD), Padding(_columns(plan.before, plan.after), (0, 0, 0, 2))]
        parts += [Text(""), Text("Table", BOLD), Padding(facts(_changes(plan, glyphs.becomes)), (0, 0, 0, 2))]
    if plan.promise:
        told = {name: f"{number(value)} {glyphs.exact} exact" for name, value in plan.promise.items()}
        parts += [Text(""), Text("Promise", BOLD), Padding(facts(told), (0, 0, 0, 2))]
    return Group(*parts)


def _verdict(plan: CreatePlan, glyphs: Glyphs) -> Iterator[RenderableType]:
    if plan.refused is not None:
        yield signed(glyphs.error, ERROR, f"[{visible(plan.refused.condition)}] {visible(plan.refused.message)}")
        yield signed(" ", QUIET, visible(plan.refused.hint))
        return
    yield signed(glyphs.ok, OK, f"{DOES[plan.effect]} ({plan.handler})")
    yield signed(glyphs.points_to, POINTER, committing(plan))
    yield signed(glyphs.points_to, POINTER, visible(plan.because))
    if rows := _rows(plan):
        yield signed(glyphs.points_to, POINTER, rows)
    for step in plan.post_commit:
        yield signed(glyphs.points_to, POINTER, f"then {visible(step)}")
    for one in plan.warnings:
        yield signed(glyphs.warning, WARNING, f"[{visible(one.code)}] {visible(one.sentence)} {visible(one.evidence)}")


def committing(plan: CreatePlan) -> str:
    """What history will say of it."""
    return f"history will say {plan.operation}" if plan.operation else "nothing is committed"


def _rows(plan: CreatePlan) -> str:
    source = plan.source
    if source is None or source.num_rows is None:
        return ""
    partitions = f" in {count(source.num_partitions, 'partition')}" if source.num_partitions is not None else ""
    return f"writes {count(source.num_rows, 'row')}{partitions}"


def _columns(before: TableState | None, after: TableState) -> RenderableType:
    old = {column.name: column for column in before.columns} if before else {}
    found = table("column", "type", "", "comment")
    for column in after.columns:
        was = old.get(column.name)
        changed = "" if was == column or before is None else "new" if was is None else f"was {visible(was.type)}"
        marks = [mark for mark in (_marks(column), changed) if mark]
        found.add_row(visible(column.name), visible(column.type), ", ".join(marks), visible(column.comment))
    kept = {column.name for column in after.columns}
    for column in before.columns if before else ():
        if column.name not in kept:
            found.add_row(visible(column.name), visible(column.type), "goes", "")
    return found


def _marks(column: StateColumn) -> str:
    marks = ["" if column.nullable else "not null", "identity" if column.identity else ""]
    marks.append(f"generated as {visible(column.generated_as)}" if column.generated_as else "")
    marks.append(f"default {visible(column.default)}" if column.default else "")
    return ", ".join(mark for mark in marks if mark)


def _changes(plan: CreatePlan, becomes: str) -> dict[str, str]:
    """Name → ``before → after``, or the one value where it stays."""
    after = _facts(plan.after)
    before = _facts(plan.before) if plan.before else after
    return {
        name: after[name] if before[name] == after[name] else f"{before[name] or '-'} {becomes} {after[name] or '-'}"
        for name in after
    }


def _facts(state: TableState | None) -> dict[str, str]:
    assert state is not None
    properties = (f"{key}={'(known at the commit)' if v is None else v}" for key, v in state.properties.items())
    files = "?" if state.num_files is None else f"{number(state.num_files)}, {size(state.num_bytes)}"
    return {
        "location": state.location,
        "partitioned by": ", ".join(state.partition_columns),
        "clustered by": ", ".join(state.clustering_columns),
        "properties": ", ".join(properties),
        "protocol": f"reader {state.min_reader_version}, writer {state.min_writer_version}",
        "features": ", ".join(state.features),
        "comment": state.comment,
        "files": files,
    }


def markdown(plan: CreatePlan) -> str:
    """The plan for a pull request."""
    lines = [f"### {plain(headline(plan))}", ""]
    if plan.refused is not None:
        lines += [f"- ❌ **cannot run**: {code(plan.refused.condition)} {plain(plan.refused.message)}"]
    else:
        lines += [f"- ✅ **{DOES[plan.effect]}** ({plan.handler}); {plain(committing(plan))}"]
        lines += [f"- {plain(plan.because)}"]
        lines += [f"- {_rows(plan)}"] if _rows(plan) else []
        lines += [f"- ⚠️ {code(one.code)} {plain(one.sentence)} {plain(one.evidence)}" for one in plan.warnings]
    if plan.after is not None:
        lines += ["", "| | |", "| --- | --- |"]
        lines += [f"| {name} | {code(value)} |" for name, value in _changes(plan, "→").items() if value]
        lines += [f"| column {code(column.name)} | {code(column.type)} |" for column in plan.after.columns]
    statement = "\n;\n".join((*plan.statement.setup, plan.statement.sql))
    made = f"{plan.created_at}, Spark {plan.engines.spark}, Delta {plan.engines.delta}"
    return "\n".join(
        [*lines, "", fenced(statement, "sql"), "", f"Plan {code(short_id(plan.plan_id))}, made {made}.", ""]
    )
