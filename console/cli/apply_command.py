"""``apply``: commit exactly what was planned, after asking, and compare promise with actual."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from console.cli.completion import files
from console.cli.exits import WRITING, ending, outcome_code, told_codes
from console.cli.inputs import STDIN, Given, pairs, read_expectations, read_plan_or_script, script_in
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import Narrator, narrate
from console.cli.plan_command import Wanted, committed, expect_option, make_plan, planning_options
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, paper, print_json, show
from console.cli.verification import Verification, tell_not_checked, verified
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.commit.policy import Broken
    from engine.model.operation import Outcome
    from engine.model.plans import AnyPlan
    from engine.session.connect import Session


@click.command(cls=CliCommand, epilog=told_codes(WRITING))
@click.argument("file", metavar="P.json|FILE.sql|-", shell_complete=files)
@click.option("--yes", is_flag=True, help="Commit without asking.")
@click.option("--accept", metavar="CODE", multiple=True, help="A warning, or expect:NAME. May be repeated.")
@click.option("--verify", is_flag=True, help="Check the expectations on what was committed. Exit 7 if one fails.")
@click.option("--undo-on-failure", is_flag=True, help="--verify, and take the commit back if one fails.")
@expect_option
@planning_options
@with_invocation
def apply(
    invocation: Invocation,
    file: str,
    yes: bool,
    accept: tuple[str, ...],
    verify: bool,
    undo_on_failure: bool,
    params: tuple[str, ...],
    expected: tuple[str, ...],
    as_json: bool,
    events: bool,
) -> int:
    """Commit the plan P.json; or plan FILE.sql, ask, and commit that. Applying a plan twice changes nothing. From stdin
    (-) it takes either, with --yes."""
    if file == STDIN and not yes:
        # who would answer is the one who hands it in
        need_person(events, file)
    given = read_plan_or_script(file)
    verifies = verify or undo_on_failure or invocation.policy.verify
    if not isinstance(given, Given) and params:
        raise click.UsageError("--param belongs to a FILE.sql: the values are in the plan already.")
    if not isinstance(given, Given) and expected and not verifies:
        raise click.UsageError("--expect belongs to a FILE.sql, or to --verify: the plan has been checked already.")
    checks_rows = verifies or isinstance(given, Given)
    expectations = read_expectations(expected, file, invocation.place) if checks_rows else ()
    wanted = Verification(expectations, verifies, undo_on_failure, is_typed=verify or undo_on_failure)
    if isinstance(given, Given):
        plan, outcome = _apply_script(invocation, given, yes, accept, params, wanted, events)
    else:
        plan, outcome = _apply_plan(invocation, given, yes, accept, wanted, events)
    code = outcome_code(outcome)
    with ending(code):
        if as_json:
            print_json(outcome.model_dump(mode="json"))
        else:
            from console.cli.view_outcome import page

            show(page(outcome, plan, glyphs(), invocation.command("undo", outcome.op_id)))
    return code


def _apply_plan(
    invocation: Invocation, plan: AnyPlan, yes: bool, accept: tuple[str, ...], wanted: Verification, events: bool
) -> tuple[AnyPlan, Outcome]:
    from engine.commit.policy import Policy, with_verdicts

    wanted.check(plan)
    # the rules of now, and not those of who made the plan
    judged = with_verdicts(invocation.policy, plan, reviewed=_is_reviewed(invocation, plan))
    with narrate(events) as narrator:
        if told := committed(invocation, plan):
            narrator.say(told)
        # an event is of the plan file where no rules are in force
        narrator.planned(plan if invocation.policy == Policy() else judged)
        _tell_unknown(narrator, plan, accept, wanted)
        if wanted.verifies:
            tell_not_checked(narrator, plan, wanted.expectations)
        _confirm(invocation, judged, narrator, yes, accept, events, is_committed=bool(told))
        session = attach(invocation, plan, narrator, is_committed=bool(told))
        keep = session.resumed
        try:
            outcome = commit(invocation, session, narrator, plan, accept)
            keep = False  # its frozen source has served
            outcome = verified(invocation, session, narrator, plan, outcome, wanted, accept)
            narrator.committed(outcome)
        finally:
            session.close(keep=keep)
    return plan, outcome


def _apply_script(
    invocation: Invocation,
    given: Given,
    yes: bool,
    accept: tuple[str, ...],
    params: tuple[str, ...],
    wanted: Verification,
    events: bool,
) -> tuple[AnyPlan, Outcome]:
    if not yes:
        # before any work: nobody could answer when it is done
        need_person(events)
    script = script_in(given, pairs(params, "--param"))
    with narrate(events) as narrator, invocation.connect(narrator.say) as session:
        # no samples: the summary is what is confirmed
        plan = make_plan(
            invocation,
            session,
            narrator,
            script,
            Wanted(rows=0, checks=invocation.checks, expectations=tuple(wanted.expectations)),
        )
        wanted.check(plan)
        _tell_unknown(narrator, plan, accept, wanted)
        _confirm(invocation, plan, narrator, yes, accept, events)
        outcome = commit(invocation, session, narrator, plan, accept)
        outcome = verified(invocation, session, narrator, plan, outcome, wanted, accept)
        narrator.committed(outcome)
        return plan, outcome


def _tell_unknown(narrator: Narrator, plan: AnyPlan, accept: tuple[str, ...], wanted: Verification) -> None:
    """A code that is mistyped accepts nothing, and one of a warning that other days have need not be there."""
    from engine.model.expectation import ACCEPTED_BY

    known = {one.code for one in plan.warnings}
    known |= {f"{ACCEPTED_BY}{one.expectation.name}" for one in wanted.expectations}
    if plan.kind == "merge":
        known |= {one.code for one in plan.expectations}
    for code in dict.fromkeys(accept):
        if code not in known:
            narrator.say(f"--accept {code}: this plan has no warning and no expectation of that name")


def _confirm(
    invocation: Invocation,
    plan: AnyPlan,
    narrator: Narrator,
    yes: bool,
    accept: tuple[str, ...],
    events: bool,
    *,
    is_committed: bool = False,
) -> None:
    """Show what would be committed and ask. Raises RefusedError unless it may be: where the ledger says that it
    ``is_committed``, the engine refuses it if the table does not say so, too."""
    from console.cli import view_create
    from console.cli.view_plan import summary
    from engine.commit.exactly_once import refusal_is_recorded

    narrator.pause()
    if not events:
        signs = glyphs(error=True)
        shown = (
            view_create.summary(plan, signs)
            if plan.kind == "create_table"
            else summary(plan, signs, paper(error=True).width)
        )
        show(shown, error=True)
    with refusal_is_recorded(invocation.history(), plan):
        if not is_committed:
            _check(invocation, plan, accept)
        if plan.changes_something:
            _ask(invocation, plan, yes, events)


def _check(invocation: Invocation, plan: AnyPlan, accept: tuple[str, ...]) -> None:
    from engine.commit.check_allowed import refuse
    from engine.commit.policy import check_policy

    if plan.refused is None:
        # what is accepted changes nothing of that
        check_policy(invocation.policy, plan, reviewed=_is_reviewed(invocation, plan))
    refuse(plan, accept)


def _ask(invocation: Invocation, plan: AnyPlan, yes: bool, events: bool) -> None:
    from engine.commit.policy import to_be_typed
    from engine.model.errors import NOT_CONFIRMED, RefusedError

    policy = invocation.policy
    if (rule := to_be_typed(policy, plan)) is not None:
        need_name(plan.target.name, rule, "commit", yes=yes, events=events)
        return
    if yes:
        return
    need_person(events)
    click.echo("\nCommit? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RefusedError(NOT_CONFIRMED, "The plan was not confirmed.", "Nothing was written.")


def _is_reviewed(invocation: Invocation, plan: AnyPlan) -> bool:
    """The ledger is read only for the rule that asks it."""
    return invocation.policy.reviewed_plans and invocation.history().is_reviewed(plan.plan_id)


def need_name(name: str, rule: Broken, to_do: str, *, yes: bool, events: bool = False) -> None:
    """A rule of the policy: only who types the table's name goes on, so no --yes will do."""
    from engine.commit.policy import refusal
    from engine.model.errors import NOT_CONFIRMED, RefusedError

    if yes:
        raise refusal(replace(rule, how=f"--yes will not do, {rule.how}"))
    need_person(events, hint="The policy asks for the table's name, typed at a terminal.")
    click.echo(f"\nType {table_name(name)} to {to_do}: ", nl=False, err=True)
    if table_name(sys.stdin.readline().strip()) != table_name(name):
        raise RefusedError(NOT_CONFIRMED, "The table's name was not typed.", "Nothing was written.")


def need_person(events: bool, file: str = "", hint: str = "Apply with --yes.") -> None:
    from engine.model.errors import NOT_CONFIRMED, RefusedError

    if events or file == STDIN or not sys.stdin.isatty():
        raise RefusedError(NOT_CONFIRMED, "Nobody is there to confirm it.", hint)


def attach(invocation: Invocation, plan: AnyPlan, narrator: Narrator, *, is_committed: bool = False) -> Session:
    """The plan's own session, where its frozen source is; a new one where that is gone. One that ``is_committed`` reads
    no source again."""
    from engine.model.errors import UnreachableError

    if plan.kind == "create_table":
        return invocation.connect(narrator.say)  # it froze nothing in a session
    reference = plan.session
    try:
        session = invocation.connect(narrator.say, session_id=reference.session_id, user_id=reference.user_id)
    except UnreachableError as error:
        if error.condition != "SESSION_GONE":
            raise
        session = invocation.connect(narrator.say)
    if not session.resumed and plan.changes_something and not (reference.staged or is_committed):
        narrator.say("the plan's session is gone: its source is prepared again and compared")
    return session


def commit(
    invocation: Invocation, session: Session, narrator: Narrator, plan: AnyPlan, accept: tuple[str, ...]
) -> Outcome:
    """Apply ``plan`` in ``session``, where ctrl-c reaches it until Delta has committed."""
    from console.cli.interruptible import Interruptible
    from engine.commit.apply_plan import apply as apply_plan

    history = invocation.history()
    work = Interruptible(
        session,
        narrator,
        lambda tag, say: apply_plan(
            session.spark,
            plan,
            history=history,
            accept=accept,
            tag=tag,
            on_progress=say,
            policy=invocation.policy,
        ),
    )
    outcome = work.run()
    if work.was_asked_to_stop and outcome.version is not None:
        narrator.say("too late to cancel: it was committed")
    return outcome
