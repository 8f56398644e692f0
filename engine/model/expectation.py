"""What an expectation of a table came to, in a plan or after its commit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from engine.model.value import Cells, Value

Severity = Literal["warn", "error"]
Status = Literal["pass", "fail", "error", "unknown"]
ACCEPTED_BY = "expect:"
"""What stands before its name in ``--accept``."""


class ExpectationResult(Value):
    """``error``: it could not be computed. ``unknown``: only the commit shows it.

    ``value`` is what was found: the number of failing rows, or a number before and after. ``sentence`` says it in
    words. ``checked`` is what was looked at: the rows that change, or the whole table. ``rows`` are up to ten of the
    rows that fail, none under a private profile.
    """

    name: str
    kind: str
    severity: Severity = "error"
    status: Status
    value: str | None = None
    sentence: str
    checked: Literal["changes", "table"] = "table"
    rows: tuple[Cells, ...] = Field(default=(), exclude_if=lambda value: not value)

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it. One that could not be computed does not hold."""
        return self.status in ("pass", "unknown")

    @property
    def code(self) -> str:
        """By which it is accepted: ``--accept expect:NAME``."""
        return f"{ACCEPTED_BY}{self.name}"


def failing(results: Iterable[ExpectationResult]) -> tuple[ExpectationResult, ...]:
    """Those that do not hold and are errors: apply refuses a plan with one of them."""
    return tuple(one for one in results if not one.holds and one.severity == "error")
