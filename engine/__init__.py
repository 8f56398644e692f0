"""Plan and apply for Delta Lake MERGE, CREATE and REPLACE TABLE, headless: usable from a notebook or a CI job.

from engine import connect, plan, rehearse, apply, History
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.commit.apply_plan import apply
    from engine.commit.rehearse import rehearse
    from engine.ledger.history import History
    from engine.model.errors import EngineError
    from engine.model.plan import Plan
    from engine.plan_statement import plan
    from engine.session.connect import connect

__all__ = ["EngineError", "History", "Plan", "apply", "connect", "plan", "rehearse"]

_HOMES = {
    "apply": "engine.commit.apply_plan",
    "connect": "engine.session.connect",
    "plan": "engine.plan_statement",
    "rehearse": "engine.commit.rehearse",
    "EngineError": "engine.model.errors",
    "History": "engine.ledger.history",
    "Plan": "engine.model.plan",
}


def __getattr__(name: str) -> Any:
    """Import on first use: nothing of Spark or DuckDB is loaded before it is needed."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
