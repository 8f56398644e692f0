"""``plan`` looks at a statement and writes nothing to its table; ``show`` prints a plan that was saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.completion import files
from console.cli.exits import CHANGES, DONE, ON_SPARK, REFUSED, WITHOUT_SPARK, ending, plan_code, told_codes
from console.cli.inputs import STDIN, Script, pairs, read_expectations, read_plan, read_script
from console.cli.invocation import Invocation, with_invocation
from console.cli.narrator import Narrator, narrate
from console.cli.new_file import Command, output_option
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, paper, print_json, put
from console.cli.streams import show as print_parts
from console.words import plan_summary
from console.words.visible import table_name, visible

if TYPE_CHECKING:
    from engine.expect.read_expectations import Declared
    from engine.model.checks import Checks
    from engine.model.plans import AnyPlan
    from engine.session.connect import Session


FILLS = (
    "Fills :K. Numbers (-5, 0.10), true, false and null are read as such, all else (007, 1e10) as a text. Repeatable."
)


expect_option = click.option(
    "--expect",
    "expected",
    metavar="PATH",
    multiple=True,
    shell_complete=files,
    help="A file or folder of expectations. May be repeated.",
)


def planning_options(command: Command) -> Command:
    """The options that ``plan``, ``rehearse`` and ``apply FILE.sql`` share."""
    for option in (
        click.option("--param", "params", metavar="K=V", multiple=True, help=FILLS),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option("--events", is_flag=True, help="Progress as NDJSON on stderr."),
    ):
        command = option(command)
    return command


@click.command(cls=CliCommand, epilog=told_codes((*ON_SPARK, CHANGES, REFUSED)))
@click.argument("file", metavar="FILE.sql|-", shell_complete=files)
@output_option("P.json", "Save the plan, to be applied.")
@click.option("--freeze", is_flag=True, help="Keep the source in a Delta table beside the target till -o is applied.")
@click.option("--no-prune", is_flag=True, help="Derive no condition from the source's keys.")
@click.option("--no-checks", is_flag=True, help="Look for no silent faults.")
@click.option(
    "--check-policy", is_flag=True, help="Exit 6 where the policy refuses it. The plan is saved all the same."
)
@click.option("--changes", is_flag=True, help="Also say what changes by column. Costs one more join.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 when the plan would commit something.")
@click.option("--rows", default=5, show_default=True, type=click.IntRange(0, 1000), help="Sample rows of each clause.")
@expect_option
@planning_options
@with_invocation
def plan(
    invocation: Invocation,
    file: str,
    output: Path | None,
    freeze: bool,
    no_prune: bool,
    no_checks: bool,
    changes: bool,
    detailed_exitcode: bool,
    check_policy: bool,
    rows: int,
    params: tuple[str, ...],
    expected: tuple[str, ...],
    as_json: bool,
    events: bool,
) -> int:
    """Plan the MERGE, CREATE or REPLACE TABLE of FILE.sql, or from stdin (-): what it would do, without doing it."""
    if freeze:
        from engine.commit.policy import check_writable

        if output is None:
            raise click.UsageError("--freeze keeps the source for a plan that is saved: give -o P.json too.")
        check_writable(invocation.policy)
    script = read_script(file, pairs(params, "--param"))
    expectations = read_expectations(expected, file, invocation.place)
    with narrate(events) as narrator:
        session = invocation.connect(narrator.say)
        keep = False
        try:
            wanted = Wanted(
                rows=rows,
                prune=not no_prune,
                freeze=freeze,
                checks=None if no_checks else invocation.checks,
                changes=changes,
                expectations=tuple(expectations),
            )
            found = make_plan(invocation, session, narrator, script, wanted)
            if expected and found.refused is None and not (found.kind == "merge" and found.expectations):
                narrator.say(f"nothing of what --expect names is for {table_name(found.target.name)}")
            if output is not None:
                from engine.model.plan_file import write_plan

                with dropped_if_lost(session, found):
                    write_plan(output, found)
                keep = found.refused is None
                if keep:
                    session.keep()
        finally:
            session.close(keep=keep)
    if output is not None or as_json:
        _note_saved(invocation, found)
    code = plan_code(found, check_policy=check_policy, detailed=detailed_exitcode)
    with ending(code):
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            # apply has no option for what those two leave out
            given = None if no_prune or no_checks else (*_each("--param", params), *_each("--expect", expected))
            _print_with_next(invocation, found, file, given, output)
    return code


def _note_saved(invocation: Invocation, found: AnyPlan) -> None:
    """The ledger knows that another program may apply the plan; that the plan is not in the ledger was told."""
    from engine.model.errors import EngineError

    with suppress(EngineError):
        invocation.history().saved(found)


def _print_with_next(
    invocation: Invocation, found: AnyPlan, file: str, given: Sequence[str] | None, output: Path | None
) -> None:
    print_plan(found)
    unread = any((one.rule, one.verdict) == ("reviewed_plans", "asks") for one in found.policy)
    if found.refused is None and unread and plan_summary.refused_by_policy(found) is None:
        look = invocation.command("show", str(output)) if output else "save the plan with -o PLAN.json, and show that"
        print_next(f"Next: {look}{'' if output else '.'}")
    elif found.refused is None:
        print_next(next_step(invocation, found, file, given, output))
    elif output is not None:
        print_next(f"Saved in {output}, to be read: it cannot be applied.")


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


@dataclass(frozen=True)
class Wanted:
    """What a plan is to show, and how it is made: see :func:`engine.plan_merge.plan`."""

    rows: int = 5
    prune: bool = True
    freeze: bool = False
    checks: Checks | None = None
    changes: bool = False
    expectations: tuple[Declared, ...] = ()


def make_plan(invocation: Invocation, session: Session, narrator: Narrator, script: Script, wanted: Wanted) -> AnyPlan:
    """Plan in ``session``, where ctrl-c reaches it, and remember the plan in the ledger."""
    from console.cli.interruptible import Interruptible
    from engine.commit.plans_before import beside_plans_before
    from engine.commit.policy import with_verdicts
    from engine.model.errors import CancelledError, EngineError
    from engine.plan_statement import plan as plan_statement

    work = Interruptible(
        session,
        narrator,
        lambda tag, say: plan_statement(
            session.spark,
            script.text,
            params=script.params,
            rows=wanted.rows,
            prune=wanted.prune,
            freeze=wanted.freeze,
            checks=wanted.checks,
            changes=wanted.changes,
            tag=tag,
            on_progress=say,
            private=invocation.private,
            expectations=wanted.expectations,
        ),
    )
    found = work.run()
    if work.was_asked_to_stop:
        with dropped_if_lost(session, found):
            raise CancelledError("CANCELLED", "The work was cancelled.", "Nothing was written.")
    found = with_verdicts(invocation.policy, found)
    try:
        with dropped_if_lost(session, found, but=(EngineError,)):
            history = invocation.history()
            found = beside_plans_before(history, found, wanted.checks)
            history.record_planned(found)
    except EngineError as error:
        # the plan is what was asked for; that it is not in the ledger is told, and harms nothing yet
        narrator.say(f"the plan is not in the history: {error}")
    narrator.planned(found)
    return found


@contextmanager
def dropped_if_lost(session: Session, found: AnyPlan, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """A plan that nobody gets, for any error ``but`` these, keeps no table with its source."""
    try:
        yield
    except but:
        raise
    except BaseException:
        if found.kind == "merge":
            from engine.merge.stage_source import without_staged

            without_staged(session.spark, found)
        raise


def print_plan(found: AnyPlan) -> None:
    """The whole plan on stdout."""
    if found.kind == "create_table":
        from console.cli import view_create

        print_parts(view_create.page(found, glyphs()))
        return
    from console.cli.view_plan import page

    print_parts(page(found, glyphs(), paper().width))


LEDGER_SECONDS = 1.0
"""How long a plan that is shown waits for a ledger that others hold."""


def print_next(step: str) -> None:
    """What to type next, never wrapped: it is there to be copied."""
    put(f"\n{visible(step)}")


def next_step(
    invocation: Invocation, found: AnyPlan, file: str, given: Sequence[str] | None, output: Path | None
) -> str:
    """What to type next. Codes to accept are part of the command; it does not begin with Next then. ``given`` are the
    options that plan the same again, None if none do."""
    from engine.commit.check_allowed import to_accept

    if not found.changes_something:
        return f"Nothing to apply: this {'merge' if found.kind == 'merge' else 'statement'} changes nothing."
    if (refused := plan_summary.refused_by_policy(found)) is not None:
        return f"Not to be applied. {refused}"
    accepted = _each("--accept", dict.fromkeys(one.code for one in to_accept(found)))
    next_ = "If it is meant all the same" if accepted else "Next"
    if output is not None:
        return f"{next_}: {invocation.command('apply', str(output), *accepted)}"
    if file == STDIN or given is None:
        return f"{next_}: save the plan with -o PLAN.json, and apply {' '.join(('that', *accepted))}."
    return f"{next_}: {invocation.command('apply', file, *given, *accepted)}"


@click.command(cls=CliCommand, epilog=told_codes(WITHOUT_SPARK))
@click.argument("file", metavar="P.json|-", shell_complete=files)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as one JSON document.")
@click.option("--markdown", is_flag=True, help="For a pull request.")
@with_invocation
def show(invocation: Invocation, file: str, as_json: bool, markdown: bool) -> int:
    """Print a plan that was saved with plan -o, or comes from stdin (-). Needs no Spark."""
    if as_json and markdown:
        raise click.UsageError("--json and --markdown exclude each other.")
    found = read_plan(file)
    from engine.commit.policy import Policy, with_verdicts

    if invocation.policy.reviewed_plans:
        import getpass

        invocation.history().reviewed(found.plan_id, getpass.getuser())
    if as_json:
        print_json(found.model_dump(mode="json"))
        return DONE
    if invocation.policy != Policy():
        # the rules of now, and not those of who made the plan
        found = with_verdicts(invocation.policy, found, reviewed=True)
    if markdown:
        from console.words.markdown import page

        put(page(found), nl=False)
    else:
        print_plan(found)
        if found.refused is None:
            path = None if file == STDIN else Path(file)
            step = next_step(invocation, found, file, (), path)
            if invocation.policy == Policy() and plan_summary.refused_by_policy(found) is not None:
                step = f"{step} It was planned under that policy; none is in force here, and apply would commit it."
            print_next(committed(invocation, found) or step)
    return DONE


def committed(invocation: Invocation, plan: AnyPlan) -> str:
    """Whether the ledger has a commit of the plan; "" where it cannot be read: a plan is shown without it, too."""
    from engine.ledger.history_rows import COMMITTED
    from engine.model.errors import EngineError
    from engine.session.home import ledger_path

    if not ledger_path(invocation.home).exists():
        return ""
    with suppress(EngineError):
        for one in invocation.history(LEDGER_SECONDS).find_by_plan(plan.plan_id):
            if one.status in COMMITTED:
                done = "applied already, and committed nothing" if one.version is None else "committed already"
                at = "" if one.version is None else f", as v{one.version}"
                after = "" if one.status == "applied" else f", and {one.status} since"
                return f"This plan was {done}{at}{after}."
    return ""
