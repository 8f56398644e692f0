"""``apply --verify``: the expectations on the committed version, and the undo where one fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from console.cli.invocation import Invocation
from console.cli.narrator import Narrator
from console.cli.streams import glyphs
from console.words import undo_sentences
from console.words.format import count
from console.words.visible import table_name

if TYPE_CHECKING:
    from console.backend import OnProgress
    from engine.expect.read_expectations import Declared
    from engine.model.operation import Outcome, UndoPlan
    from engine.model.plans import AnyPlan
    from engine.session.connect import Session


@dataclass(frozen=True)
class Verification:
    """What is expected, whether that is checked after the commit, and whether a failure is taken back. ``is_typed``: it
    was asked for by an option, and not by the policy alone."""

    expectations: tuple[Declared, ...]
    verifies: bool = False
    undoes: bool = False
    is_typed: bool = False

    def check(self, plan: AnyPlan) -> None:
        """Raise UsageError if there is nothing to verify: before anything is written."""
        if not self.is_typed:
            return
        if plan.kind == "create_table":
            raise click.UsageError("--verify is for a MERGE.")
        from engine.commit.verify import expected_of

        if not expected_of(self.expectations, plan):
            why = " The plan holds only what its expectations came to." if plan.expectations else ""
            raise click.UsageError(
                f"Nothing is expected of {table_name(plan.target.name)}: name a file with --expect.{why}"
            )


def tell_not_checked(narrator: Narrator, plan: AnyPlan, expectations: Sequence[Declared]) -> None:
    """Those of the plan that are not among ``expectations``: it holds what they came to, and not the expectations."""
    if plan.kind == "create_table":
        return
    from engine.commit.verify import expected_of

    given = {one.expectation.name for one in expected_of(expectations, plan)}
    names = [one.name for one in plan.expectations if one.name not in given]
    if names:
        what = f"{count(len(names), 'expectation')} of the plan"
        narrator.say(f"{what} not checked, name the file with --expect: {', '.join(names)}")


def verified(
    invocation: Invocation,
    session: Session,
    narrator: Narrator,
    plan: AnyPlan,
    outcome: Outcome,
    wanted: Verification,
    accept: tuple[str, ...],
) -> Outcome:
    """The outcome with what the expectations came to, recorded in the ledger; taken back if that is wanted. What was
    accepted before the commit is warned of after it."""
    if not wanted.verifies or plan.kind == "create_table" or outcome.version is None:
        return outcome
    from console.cli.interruptible import Interruptible
    from engine.commit.verify import as_accepted, not_verified, verify
    from engine.model.errors import CancelledError, EngineError
    from engine.model.expectation import failing

    declared = as_accepted(wanted.expectations, accept)
    work = Interruptible(
        session,
        narrator,
        lambda tag, say: verify(
            session.spark,
            plan,
            outcome,
            declared,
            history=invocation.history(),
            private=invocation.private,
            tag=tag,
            on_progress=say,
        ),
    )
    try:
        checked = work.run()
    except CancelledError as error:
        narrator.committed(outcome)
        hint = f"It was committed as v{outcome.version}, and is not verified: undo it if need be."
        raise CancelledError("CANCELLED", error.message, hint) from error
    except EngineError as error:
        checked = not_verified(outcome, declared, error)
    if wanted.undoes and failing(checked.expectations):
        return _taken_back(invocation, session, narrator, checked)
    return checked


def _taken_back(invocation: Invocation, session: Session, narrator: Narrator, outcome: Outcome) -> Outcome:
    """Undo the commit, unless something else was committed meanwhile or Delta cannot restore it; say which. Another
    apply of the plan may have been faster to undo it."""
    from console.cli.interruptible import Interruptible
    from engine.model.errors import CancelledError, EngineError
    from engine.recovery.undo import plan_undo, undo

    history, signs = invocation.history(), glyphs(error=True)

    def work(tag: str, say: OnProgress) -> tuple[UndoPlan, Outcome]:
        found = plan_undo(session.spark, history.get(outcome.op_id), history=history, tag=tag)
        # nothing is accepted: with later commits, or a property to raise, it is refused
        return found, undo(session.spark, found, history=history, tag=tag, on_progress=say)

    try:
        found, done = Interruptible(session, narrator, work).run()
    except CancelledError as error:
        narrator.committed(outcome)
        hint = f"It was committed as v{outcome.version}; `history` says whether that is taken back."
        raise CancelledError("CANCELLED", error.message, hint) from error
    except EngineError as error:
        faster = history.get(outcome.op_id).taken_back_by if error.condition == "ALREADY_UNDONE" else None
        if faster is not None:
            return outcome.model_copy(update={"undone_as": faster.version})
        narrator.say(f"{signs.error} it is not taken back: {error}")
        return outcome
    if not done.kept:
        narrator.say(f"{signs.error} {undo_sentences.done(found, done, signs.dot)}")
    return outcome.model_copy(update={"undone_as": done.version})
