"""The statements of an undo."""

from __future__ import annotations

from engine.model.operation import UndoPlan
from engine.sql.names import string


def undo_statement(undo: UndoPlan) -> str:
    """The statement that takes the operation back."""
    if undo.kind == "drop":
        return f"DROP TABLE {undo.table}"
    return f"RESTORE TABLE {undo.table} TO VERSION AS OF {undo.to_version}"


def raise_retention_statement(undo: UndoPlan) -> str:
    """The statement that runs before it and raises the properties of retention, if there are any."""
    properties = ", ".join(f"{string(one.name)} = {string(one.after)}" for one in undo.raise_retention)
    return f"ALTER TABLE {undo.table} SET TBLPROPERTIES ({properties})"


def undo_statements(undo: UndoPlan) -> tuple[str, ...]:
    """All statements that are run, in order."""
    last = undo_statement(undo)
    return (raise_retention_statement(undo), last) if undo.raise_retention else (last,)
