"""What the ledger knows of earlier plans of a statement that a plan of now warns of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.commit.fewer_expectations import with_fewer_expectations
from engine.commit.source_shrank import with_source_shrank
from engine.model.checks import Checks
from engine.model.plans import AnyPlan

if TYPE_CHECKING:
    from engine.ledger.history import History


def beside_plans_before(history: History, plan: AnyPlan, checks: Checks | None) -> AnyPlan:
    """``plan`` with these warnings. Raises EngineError if the ledger cannot be read."""
    return with_fewer_expectations(history, with_source_shrank(history, plan, checks))
