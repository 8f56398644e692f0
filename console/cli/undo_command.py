"""``undo``: take a commit back, after showing what comes back and what would be lost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from console.cli.apply_command import need_name, need_person
from console.cli.exits import WRITING, ending, outcome_code, told_codes
from console.cli.invocation import Invocation, with_invocation
from console.cli.listening import Listening
from console.cli.narrator import Narrator, narrate
from console.cli.printed_help import CliCommand
from console.cli.streams import glyphs, print_json, show
from console.words import undo_sentences
from console.words.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engine.model.operation import Outcome, UndoPlan
    from engine.session.connect import Session

ACCEPT = "With --yes. LATER_COMMITS: lose those as well. RAISE_RETENTION: raise the table property that refuses it."


@click.command(cls=CliCommand, epilog=told_codes(WRITING))
@click.argument("op_id", metavar="OP")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option(
    "--accept", type=click.Choice(("LATER_COMMITS", "RAISE_RETENTION")), metavar="CODE", multiple=True, help=ACCEPT
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_invocation
def undo(invocation: Invocation, op_id: str, yes: bool, accept: tuple[str, ...], as_json: bool) -> int:
    """Take operation OP back: RESTORE to the version before it, or DROP of a table that it made. The beginning of its
    id, or of its plan's, will do."""
    from engine.commit.policy import check_writable, undo_to_be_typed
    from engine.recovery.undo import LATER_COMMITS, RAISE_RETENTION, plan_undo

    check_writable(invocation.policy)
    history = invocation.history()
    found = history.get(op_id)
    with narrate() as narrator, invocation.connect(narrator.say) as session:
        # what connecting found out of operations whose program is gone may be about this one
        detail = history.get(found.operation.op_id)
        with Listening(session, narrator):
            undo_plan = plan_undo(session.spark, detail, history=history)
        narrator.pause()
        show(*_page(undo_plan), error=True)
        if (rule := undo_to_be_typed(invocation.policy, undo_plan)) is not None:
            need_name(undo_plan.table, rule, "undo", yes=yes)
        elif not yes:
            asked = [
                name
                for name, is_asked in ((LATER_COMMITS, undo_plan.lost), (RAISE_RETENTION, undo_plan.raise_retention))
                if is_asked
            ]
            need_person(events=False, hint=f"Undo with {' '.join(('--yes', *(f'--accept {one}' for one in asked)))}.")
            click.echo("\nUndo? [y/N] ", nl=False, err=True)
            _confirmed(sys.stdin.readline())
        if not yes:
            # who confirmed has read what would be lost
            accept = (*accept, LATER_COMMITS, RAISE_RETENTION)
        outcome = _undo(invocation, session, narrator, undo_plan, accept)
    code = outcome_code(outcome)
    with ending(code):
        if as_json:
            print_json(outcome.model_dump(mode="json"))
        else:
            from console.cli.view_outcome import undo_page

            show(undo_page(undo_plan, outcome, glyphs()))
    return code


def _confirmed(answer: str) -> None:
    from engine.model.errors import NOT_CONFIRMED, RefusedError

    if answer.strip().lower() not in ("y", "yes"):
        raise RefusedError(NOT_CONFIRMED, "The undo was not confirmed.", "Nothing was written.")


def _undo(
    invocation: Invocation, session: Session, narrator: Narrator, undo_plan: UndoPlan, accept: tuple[str, ...]
) -> Outcome:
    from console.cli.interruptible import Interruptible
    from engine.recovery.undo import undo as undo_merge

    history = invocation.history()
    return Interruptible(
        session,
        narrator,
        lambda tag, say: undo_merge(session.spark, undo_plan, history=history, accept=accept, tag=tag, on_progress=say),
    ).run()


def _page(undo_plan: UndoPlan) -> list[RenderableType]:
    from rich.text import Text

    from console.cli.view_plan import BOLD, WARNING

    parts: list[RenderableType] = [Text(sql, BOLD) for sql in undo_sentences.statements(undo_plan)]
    parts += [Text(f"  {line}") for line in undo_sentences.page(undo_plan)]
    if undo_plan.lost:
        parts.append(Text(f"{glyphs(error=True).warning} {undo_sentences.lost(undo_plan)}", WARNING))
        parts += [Text(f"    {visible(line)}") for line in undo_plan.lost]
    return parts
