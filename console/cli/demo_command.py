"""``demo``: sample tables to merge into, and the console on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.cli.apply_command import commit
from console.cli.exits import DEVIATED, DONE, FAILED, ON_SPARK, REFUSED, ending, outcome_code, told_codes
from console.cli.inputs import read_script
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import Narrator, narrate
from console.cli.opening import need_terminal, open_console
from console.cli.plan_command import Wanted, make_plan, print_plan
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, show

if TYPE_CHECKING:
    from console.backend import OnProgress
    from engine.demo.demo import DemoTables
    from engine.session.connect import Session


@click.command(cls=CliCommand, epilog=told_codes((*ON_SPARK, REFUSED, DEVIATED)))
@click.option("--headless", is_flag=True, help="Plan and apply the first merge, and print both.")
@click.option("--reset", is_flag=True, help="Make the demo's tables anew.")
@click.option("--scale", default=1.0, hidden=True, help="1.0 is two million orders.")
@with_invocation
def demo(invocation: Invocation, headless: bool, reset: bool, scale: float) -> int:
    """Make sample tables (once, in a minute or two), then open the console on them."""
    from engine.commit.policy import check_writable

    check_writable(invocation.policy)
    if not headless:
        need_terminal("use demo --headless.")
    with narrate() as narrator, invocation.connect(narrator.say) as session:
        tables = _build(invocation, session, narrator, reset=reset, scale=scale)
        narrator.say(
            f"the demo's tables are in the schema {tables.schema}, its merges in {tables.statements[0].parent}"
        )
        if headless:
            return _plan_and_apply(invocation, session, narrator, tables)
    open_console(invocation, tables.statements[0].read_text(encoding="utf-8"))
    return DONE


def _build(invocation: Invocation, session: Session, narrator: Narrator, *, reset: bool, scale: float) -> DemoTables:
    from console.cli.interruptible import Interruptible
    from engine.demo.demo import build_demo

    def work(tag: str, say: OnProgress) -> DemoTables:
        return build_demo(session.spark, invocation.home, say, reset=reset, scale=scale, tag=tag)

    return Interruptible(session, narrator, work).run()


def _plan_and_apply(invocation: Invocation, session: Session, narrator: Narrator, tables: DemoTables) -> int:
    from console.cli.view_outcome import page

    script = read_script(str(tables.statements[0]), {})
    plan = make_plan(invocation, session, narrator, script, Wanted(checks=invocation.checks))
    narrator.pause()
    print_plan(plan)
    if plan.refused:
        return FAILED
    outcome = commit(invocation, session, narrator, plan, ())
    narrator.committed(outcome)
    narrator.pause()
    code = outcome_code(outcome)
    with ending(code):
        show("", page(outcome, plan, glyphs(), invocation.command("undo", outcome.op_id)))
    return code
