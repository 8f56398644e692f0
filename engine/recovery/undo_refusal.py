"""An undo that is not possible, in the ledger: the operation does not go on to say that it can be taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.model.errors import EngineError, RefusedError, StalePlanError

if TYPE_CHECKING:
    from engine.ledger.history import History
    from engine.model.plans import OperationDetail

NOT_POSSIBLE = "UNDO_NOT_POSSIBLE"
"""The error if files or log entries of the version before are gone, or if no commit may bring it back."""
RECORDED = (NOT_POSSIBLE, "ALREADY_UNDONE", "ANOTHER_COMMIT", "NOT_THERE")
"""After each of them there is nothing to take back by RESTORE; its text would go to another version, or table."""


@contextlib.contextmanager
def undo_refusal_is_recorded(history: History | None, detail: OperationDetail) -> Iterator[None]:
    """The history says of an operation that its undo is not possible, until one is found possible after all."""
    try:
        yield
    except (RefusedError, StalePlanError) as error:
        if error.condition in RECORDED:
            _record(history, detail, error)
        raise
    if detail.undo_refused is not None:
        _record(history, detail, None)


def _record(history: History | None, detail: OperationDetail, refused: RefusedError | StalePlanError | None) -> None:
    if history is not None:
        with contextlib.suppress(EngineError):
            history.undo_refused(detail.operation.op_id, refused)
