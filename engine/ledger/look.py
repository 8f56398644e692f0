"""What there is in a ledger, and what is wrong with its file. Nothing is made and nothing is mended here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.ledger import abandoned
from engine.ledger import history_rows as rows
from engine.ledger.history_store import MIGRATIONS, DamagedError, OldFormatError, Store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from engine.ledger.abandoned import Abandoned
    from engine.model.operation import Operation


@dataclass(frozen=True)
class LedgerState:
    """The newest operation, and those that a program left behind. ``fault``: why they cannot be told, "" if they can;
    ``next``: what the next command does about it."""

    newest: Operation | None = None
    abandoned: tuple[Abandoned, ...] = ()
    fault: str = ""
    next: str = ""


def look(path: Path, wait_seconds: float) -> LedgerState:
    """Read the ledger at ``path``, which is there. Raises EngineError where it cannot be read by this program."""

    def work(db: DuckDBPyConnection) -> LedgerState:
        newest = rows.operations(db, "ORDER BY seq DESC LIMIT 1", [])
        left = (one for one in abandoned.unsettled(db) if not (one.elsewhere or one.is_saved))
        return LedgerState(newest[0] if newest else None, tuple(left))

    try:
        return Store(path, wait_seconds=wait_seconds, on_notice=None).look(work)
    except OldFormatError:
        after = f"The next command brings it forward to format {len(MIGRATIONS)}, which older programs cannot read."
        return LedgerState(fault=f"the history {path} is of an older program", next=after)
    except DamagedError as damage:
        after = "The next command sets it aside and begins a fresh one."
        return LedgerState(fault=f"the history {path} is damaged: {' '.join(str(damage).split())}", next=after)
