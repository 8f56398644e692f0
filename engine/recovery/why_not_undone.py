"""Why an operation of the ledger cannot be taken back, as far as its row tells: the table is not asked."""

from __future__ import annotations

from engine.model.errors import EngineError, RefusedError, StalePlanError
from engine.model.operation import Operation

NOT_APPLIED = "NOT_APPLIED"


def why_not_undone(operation: Operation) -> EngineError | None:
    """The error that an undo of it raises, None if there is something to take back."""
    op_id, status, kind = operation.op_id, operation.status, operation.kind
    if status == "undone":
        return StalePlanError("ALREADY_UNDONE", f"Operation {op_id} is taken back already.")
    if status == "overwritten":
        gone = f"Operation {op_id} is gone already, with a RESTORE to a version before it."
        return StalePlanError("ALREADY_UNDONE", gone)
    if status == "running":
        unknown = f"It is not known yet what operation {op_id} committed."
        return RefusedError(NOT_APPLIED, unknown, "The history says it as soon as it is known.")
    if status == "applied" and kind not in ("merge", "create_table"):
        again = "Plan the statement that it took back again."
        # of a table that was dropped there is no version
        if kind == "restore" and operation.version is not None:
            restore = f"RESTORE TABLE {operation.table} TO VERSION AS OF {operation.version - 1}"
            again = f"{again} Or run in Spark SQL, outside this program: {restore}."
        return RefusedError(NOT_APPLIED, f"Operation {op_id} is an undo itself.", again)
    if status != "applied" or operation.version is None:
        why = "no commit was needed" if operation.committed_nothing else status.replace("_", " ")
        nothing = f"Operation {op_id} committed nothing ({why}): there is nothing to take back."
        return RefusedError(NOT_APPLIED, nothing, "The history says what was committed.")
    if operation.version == 0 and kind != "create_table":
        return RefusedError("FIRST_VERSION", f"v0 of {operation.table} has no version before it to go back to.")
    return None
