"""``rehearse``: Delta's own MERGE on a clone of the planned version, and what it did beside the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from console.cli.apply_command import attach
from console.cli.completion import files
from console.cli.exits import WRITING, ending, rehearsal_code, told_codes
from console.cli.inputs import Given, pairs, read_expectations, read_plan_or_script, script_in
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import Narrator, narrate
from console.cli.plan_command import Wanted, expect_option, make_plan, planning_options
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, print_json, show
from console.cli.verification import tell_not_checked

if TYPE_CHECKING:
    from engine.expect.read_expectations import Declared
    from engine.model.operation import Rehearsal
    from engine.model.plans import AnyPlan
    from engine.session.connect import Session


@dataclass(frozen=True)
class OnClone:
    """The ``schema`` of the clone (None: ours), and what is checked on it."""

    schema: str | None = None
    expectations: tuple[Declared, ...] = ()


@click.command(cls=CliCommand, epilog=told_codes(WRITING))
@click.argument("file", metavar="P.json|FILE.sql|-", shell_complete=files)
@click.option("--clone-schema", metavar="SCHEMA", help="Where the clone is made (default a schema of its own).")
@expect_option
@planning_options
@with_invocation
def rehearse(
    invocation: Invocation,
    file: str,
    clone_schema: str | None,
    expected: tuple[str, ...],
    params: tuple[str, ...],
    as_json: bool,
    events: bool,
) -> int:
    """Run the MERGE of P.json or FILE.sql on a shallow clone of its target, compare it with the plan, and drop the
    clone. It costs one MERGE. Expectations are checked on the clone."""
    from engine.commit.policy import check_writable

    given = read_plan_or_script(file)
    check_writable(invocation.policy)
    if not isinstance(given, Given) and params:
        raise click.UsageError("--param belongs to a FILE.sql: the values are in the plan already.")
    wanted = OnClone(clone_schema, read_expectations(expected, file, invocation.place))
    rehearsal = (
        _rehearse_script(invocation, given, wanted, params, events)
        if isinstance(given, Given)
        else _rehearse_plan(invocation, given, wanted, events)
    )
    code = rehearsal_code(rehearsal)
    with ending(code):
        if as_json:
            print_json(rehearsal.model_dump(mode="json"))
        else:
            from console.cli.view_outcome import rehearsal_page

            show(rehearsal_page(rehearsal, glyphs()))
    return code


def _rehearse_plan(invocation: Invocation, plan: AnyPlan, wanted: OnClone, events: bool) -> Rehearsal:
    with narrate(events) as narrator:
        narrator.planned(plan)
        tell_not_checked(narrator, plan, wanted.expectations)
        session = attach(invocation, plan, narrator)
        try:
            return _run(invocation, session, narrator, plan, wanted)
        finally:
            # its frozen source is merged when the plan is applied
            session.close(keep=session.resumed)


def _rehearse_script(
    invocation: Invocation, given: Given, wanted: OnClone, params: tuple[str, ...], events: bool
) -> Rehearsal:
    script = script_in(given, pairs(params, "--param"))
    with narrate(events) as narrator, invocation.connect(narrator.say) as session:
        plan = make_plan(invocation, session, narrator, script, Wanted(rows=0))
        return _run(invocation, session, narrator, plan, wanted)


def _run(invocation: Invocation, session: Session, narrator: Narrator, plan: AnyPlan, wanted: OnClone) -> Rehearsal:
    """Rehearse in ``session``, where ctrl-c reaches it."""
    from console.cli.interruptible import Interruptible
    from engine.commit.rehearse import COST
    from engine.commit.rehearse import rehearse as rehearse_plan
    from engine.model.errors import EngineError

    narrator.say(COST)
    rehearsal = Interruptible(
        session,
        narrator,
        lambda tag, say: rehearse_plan(
            session.spark,
            plan,
            clone_schema=wanted.schema,
            tag=tag,
            on_progress=say,
            policy=invocation.policy,
            expectations=wanted.expectations,
            private=invocation.private,
        ),
    ).run()
    try:
        invocation.history().rehearsed(plan, rehearsal)
    except EngineError as error:
        narrator.say(f"the rehearsal is not in the history: {error}")
    narrator.rehearsed(rehearsal)
    return rehearsal
