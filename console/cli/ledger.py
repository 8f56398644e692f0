"""``history`` and ``show-op``: what was promised and what happened. Neither needs Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from console.cli.exits import DONE, WITHOUT_SPARK, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, print_json, put, show
from console.words.format import local_time, number
from console.words.moved import no_drop
from console.words.outcome_sentences import (
    PROGRAM_GONE,
    changed_rows,
    kind,
    nothing_committed,
    past_rehearsal,
    read,
    rehearsed_as,
    sign,
    status,
    taken_back,
    went_well,
)
from console.words.undo_sentences import overwritten, refused, restored
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from console.words.glyphs import Glyphs
    from engine.model.operation import Operation
    from engine.model.plans import OperationDetail


LATER_LOOKED_AT = 500
"""How many of a table's operations tell whether something was committed after one of them."""


@click.command(cls=CliCommand, epilog=told_codes(WITHOUT_SPARK))
@click.option("--table", metavar="T", help="Only of this table: its name, the end of it, or its path.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="The newest so many.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_invocation
def history(invocation: Invocation, table: str | None, limit: int, as_json: bool) -> int:
    """List what was planned and applied, newest first."""
    ledger = invocation.history()
    found = ledger.list(table, limit)
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
    elif not found:
        put("Nothing was planned or applied yet." if table is None else "Nothing on that table yet.")
    else:
        metrics = {
            one.operation.op_id: one.outcome.metrics for one in ledger.outcomes(limit, table) if one.outcome is not None
        }
        show(_list(found, metrics, glyphs()))
    return DONE


@click.command("show-op", cls=CliCommand, epilog=told_codes(WITHOUT_SPARK))
@click.argument("op_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_invocation
def show_op(invocation: Invocation, op_id: str, as_json: bool) -> int:
    """Show one operation: promise and actual, its statement, its error. The beginning of its id, or of its
    plan's, will do: 4 characters or more."""
    ledger = invocation.history()
    found = ledger.get(op_id)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        one = found.operation
        why_not = no_drop(one, ledger.list(one.table, LATER_LOOKED_AT))
        show(*_detail(found, glyphs(), invocation.command("undo", one.op_id), why_not))
    return DONE


def _list(found: list[Operation], metrics: Mapping[str, Mapping[str, int]], signs: Glyphs) -> RenderableType:
    from rich.table import Column
    from rich.text import Text

    from console.cli.sheet import QUIET, Listing

    headers = ("id", "started", "kind", "status", "table", "version", "rows")
    columns = (Column(header, justify="right" if header == "version" else "left") for header in headers)
    rows = Listing(*columns, below=("rows", "table"))
    for one in found:
        version = "" if one.version is None else f"v{one.version}"
        started = local_time(one.started_at, seconds=False)
        done = metrics.get(one.op_id, {})
        changed = restored(one.sql, done) if one.kind == "restore" else changed_rows(done, signs)
        cells = (one.op_id, started, kind(one), _status(one, signs), Text(table_name(one.table)), version)
        rows.add_row(*cells, changed)
        gone = PROGRAM_GONE if one.program_gone else ""
        for more in filter(None, (rehearsed_as(one), gone, one.error)):
            rows.add_below(Text(visible(more), QUIET))
    return rows


def _status(one: Operation, signs: Glyphs) -> RenderableType:
    from rich.text import Text

    from console.cli.sheet import QUIET
    from console.cli.view_plan import ERROR, OK, WARNING

    shown = sign(one, signs)
    style = {signs.ok: OK, signs.warning: WARNING, signs.error: ERROR}.get(shown, QUIET)
    return Text(f"{shown} {status(one)}", style)


def _then(found: OperationDetail) -> str:
    """What became of the commit later; "" if it is there, or if that is not known."""
    if found.overwritten_by is not None:
        return overwritten(found.overwritten_by)
    return "" if found.taken_back_by is None else taken_back(found.taken_back_by)


def _detail(found: OperationDetail, signs: Glyphs, undo: str, why_not: str) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from console.cli.view_outcome import promise_and_actual, taking_back, verdict
    from console.cli.view_plan import BOLD, ERROR, WARNING, expectations, facts, to_copy

    one, plan, outcome = found.operation, found.plan, found.outcome
    known = {
        "operation": one.op_id,
        "plan": one.plan_id,
        "table": table_name(one.table),
        "started": local_time(one.started_at, zone=True),
        "finished": local_time(one.finished_at, zone=True) if one.finished_at else "",
        "version": "" if one.version is None else f"v{one.version}",
    }
    if outcome is not None and outcome.read_version is not None:
        # it was judged before, by the version that was there then
        as_judged = not any(one.metric == "readVersion" for one in outcome.deviations)
        known["read"] = read(outcome.read_version).removeprefix("read ") + (f" ({outcome.verdict})" * as_judged)
        known["meanwhile"] = "; ".join(outcome.moved_by)
    known["then"] = _then(found)
    parts: list[RenderableType] = [_status(one, signs), facts(known)]
    if one.program_gone:
        parts.append(Text.assemble((f"{signs.warning} ", WARNING), PROGRAM_GONE))
    if one.error:
        parts.append(Text.assemble((f"{signs.error} ", ERROR), visible(one.error, lines=True)))
    if one.committed_nothing and plan is not None:
        parts.append(Text(f"{nothing_committed(plan)}."))
    parts += [verdict(went_well(each), past_rehearsal(each), signs) for each in found.rehearsals]
    promise = {} if outcome is None else outcome.promise or (plan.promise if plan is not None else {})
    if outcome is not None and outcome.version is not None and (promise or outcome.deviations):
        text = "kept its promise" if outcome.kept else "DEVIATED from its promise"
        parts += [
            "",
            verdict(outcome.kept, text, signs),
            Padding(promise_and_actual(outcome, promise, signs), (0, 0, 0, 2)),
        ]
    if outcome is not None and outcome.expectations:
        parts += ["", *(Padding(each, (0, 0, 0, 2)) for each in expectations(outcome.expectations, signs))]
    if plan is not None and outcome is not None and outcome.version is not None:
        if one.status == "applied" and found.undo_refused is not None:
            parts.append(Text.assemble((f"{signs.warning} ", WARNING), refused(found.undo_refused)))
        elif one.status == "applied":
            parts += [Text(why_not)] if why_not else taking_back(plan, outcome, undo)
    elif plan is not None and plan.refused is not None and one.status != "refused":
        parts.append(Text.assemble((f"{signs.error} ", ERROR), f"[{visible(plan.refused.condition)}] "))
        parts.append(Text(visible(plan.refused.message, lines=True)))
    elif plan is not None and plan.promise and plan.refused is None:
        parts += ["", Text("Promise", BOLD)]
        parts.append(Padding(facts({name: number(value) for name, value in plan.promise.items()}), (0, 0, 0, 2)))
    sql = one.sql if plan is None else plan.statement.script
    parts += ["", Text("Statement", BOLD), to_copy(visible(sql, lines=True))]
    return parts
