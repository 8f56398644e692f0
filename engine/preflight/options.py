"""What a plan of a MERGE may do and show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.checks import Checks

if TYPE_CHECKING:
    from engine.expect.queries import Table
    from engine.expect.read_expectations import Declared


@dataclass(frozen=True)
class Options:
    """See engine.plan_merge.plan. ``table`` is the one that ``expectations`` are of, once it is known."""

    rows: int = 5
    freeze: bool = False
    prune: bool = True
    private: bool = False
    checks: Checks | None = None
    changes: bool = False
    expectations: tuple[Declared, ...] = ()
    table: Table | None = None

    @property
    def derive(self) -> bool:
        """Whether ON gets the bounds of the source's keys, which are values of it."""
        return self.prune and not self.private
