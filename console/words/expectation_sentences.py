"""What expectations came to, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.words.format import count, number
from console.words.plan_rows import pairs
from console.words.visible import visible

if TYPE_CHECKING:
    from engine.model.expectation import ExpectationResult

SAID = {"pass": "holds", "fail": "fails", "error": "cannot be computed", "unknown": "unknown"}
MAX_NAMES = 5
MAX_ROWS = 3


def is_bad(one: ExpectationResult) -> bool:
    """Whether apply refuses for it."""
    return not one.holds and one.severity == "error"


def summary(results: Sequence[ExpectationResult]) -> str:
    """``2 of 5 expectations fail: unique_id, rows``."""
    failing = [one for one in results if not one.holds]
    if failing:
        verb = "fails" if len(failing) == 1 else "fail"
        return f"{len(failing)} of {count(len(results), 'expectation')} {verb}: {_names(failing)}"
    unknown = [one for one in results if one.status == "unknown"]
    if unknown:
        return f"{len(unknown)} of {count(len(results), 'expectation')} unknown: {_names(unknown)}"
    return "1 expectation holds" if len(results) == 1 else f"{len(results):,} expectations hold"


def _names(results: Sequence[ExpectationResult]) -> str:
    more = f" and {len(results) - MAX_NAMES} more" if len(results) > MAX_NAMES else ""
    return ", ".join(visible(one.name) for one in results[:MAX_NAMES]) + more


def sentence(one: ExpectationResult) -> str:
    """``unique_id fails (error): 1 key: several rows have it in id.``"""
    grade = "" if one.holds else f" ({'warning' if one.severity == 'warn' else 'error'})"
    return f"{visible(one.name)} {SAID[one.status]}{grade}: {visible(one.sentence)}"


def rows(one: ExpectationResult) -> list[str]:
    """Some of the failing rows, each on one line, and how many more fail; the plan file has ten of them."""
    told = [pairs(row) for row in one.rows[:MAX_ROWS]]
    failing = int(one.value) if one.value and one.value.isdecimal() else len(one.rows)
    more = failing - len(told) if told else 0
    return [*told, f"and {number(more)} more"] if more > 0 else told
