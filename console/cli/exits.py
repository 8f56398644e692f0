"""The exit codes of the contract, and which error has which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.model.errors import EngineError
    from engine.model.operation import Outcome, Rehearsal
    from engine.model.plans import AnyPlan

DONE: Final = 0
FAILED: Final = 1
CHANGES: Final = 2
UNREACHABLE: Final = 3
STALE: Final = 5
REFUSED: Final = 6
DEVIATED: Final = 7
USAGE: Final = 64
CANCELLED: Final = 130

MEANINGS: Final = {
    DONE: "done",
    FAILED: "failed, or (of plan and rehearse) Delta would refuse the statement",
    CHANGES: "the plan would commit something (only with --detailed-exitcode)",
    UNREACHABLE: "Spark cannot be reached",
    STALE: "the plan or the undo is stale, or it is taken back already",
    REFUSED: "not confirmed, or refused by policy, by an expectation, or (of apply) by a plan that Delta would refuse",
    DEVIATED: "committed, but not as promised or expected, or the commit is lost",
    USAGE: "wrong usage",
    CANCELLED: "cancelled",
}
ON_SPARK: Final = (DONE, FAILED, UNREACHABLE, USAGE, CANCELLED)
WITHOUT_SPARK: Final = (DONE, FAILED, USAGE, CANCELLED)
WRITING: Final = (DONE, FAILED, UNREACHABLE, STALE, REFUSED, DEVIATED, USAGE, CANCELLED)


def told_codes(codes: Iterable[int]) -> str:
    """The end of a command's help: each exit code that it has, in order."""
    lines = (f"  {code:<4} {MEANINGS[code]}" for code in sorted(codes))
    # click keeps the lines below \b as they are
    return "\n".join(("\b", "Exit codes:", *lines))


def exit_code(error: EngineError) -> int:
    """The exit code for what the engine refuses."""
    from engine.model import errors

    codes = (
        (errors.UnreachableError, UNREACHABLE),
        (errors.StalePlanError, STALE),
        (errors.RefusedError, REFUSED),
        (errors.UsageError, USAGE),
        (errors.CancelledError, CANCELLED),
        (errors.LostCommitError, DEVIATED),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), FAILED)


def plan_code(plan: AnyPlan, *, check_policy: bool, detailed: bool) -> int:
    """The exit code for a plan: what Delta refuses comes before what the policy or an expectation refuses, and both
    before a change."""
    from engine.model.expectation import failing

    if plan.refused is not None:
        return FAILED
    if check_policy and any(one.verdict == "refused" for one in plan.policy):
        return REFUSED
    if plan.kind == "merge" and failing(plan.expectations):
        return REFUSED
    return CHANGES if detailed and plan.changes_something else DONE


def outcome_code(outcome: Outcome) -> int:
    """The exit code for what was committed: a broken promise is no success, nor is an expectation that fails."""
    from engine.model.expectation import failing

    return DONE if outcome.kept and not failing(outcome.expectations) else DEVIATED


def rehearsal_code(rehearsal: Rehearsal) -> int:
    """The exit code for a rehearsal: a MERGE that Delta refuses, as the plan says, is no success either, nor is an
    expectation that fails on the clone."""
    from engine.model.expectation import failing

    if not rehearsal.kept:
        return DEVIATED
    if rehearsal.refused:
        return FAILED
    return REFUSED if failing(rehearsal.expectations) else DONE


class CrashError(Exception):
    """Something that nobody foresaw: its traceback is in the file ``log`` (None: it could not be written)."""

    def __init__(self, message: str, log: str | None) -> None:
        super().__init__(message)
        self.log = log


class PipeClosedError(Exception):
    """Who reads our output has seen enough (``… | head``), which changes nothing of the exit code. No OSError, which
    click would take for a failure."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class OutputError(Exception):
    """What was to be printed could not be written (a full disk): ``reason`` is the system's. No OSError, as above."""

    def __init__(self, reason: str, code: int = FAILED) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


@contextmanager
def ending(code: int) -> Iterator[None]:
    """What is printed last, when it is known that the program ends with ``code``."""
    try:
        yield
    except BrokenPipeError as error:
        raise PipeClosedError(code) from error
    except OutputError as error:
        raise OutputError(error.reason, code or FAILED) from error
