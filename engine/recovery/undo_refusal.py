"""An undo that is not possible, in the ledger: the operation does not go on to say that it can be taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.model.errors import EngineError, RefusedError

if TYPE_CHECKING:
    from engine.ledger.history import History
    from engine.model.plans import OperationDetail

NOT_POSSIBLE = "UNDO_NOT_POSSIBLE"
"""The error if files or log entries of the version before are gone, or if no commit may bring it back."""


@contextlib.contextmanager
def undo_refusal_is_recorded(history: History | None, detail: OperationDetail) -> Iterator[None]:
    """The history says of an operation that its undo is not possible, until one is found possible after all."""
    try:
        yield
    except RefusedError as error:
        if error.condition == NOT_POSSIBLE:
            _record(history, detail, error)
        raise
    if detail.undo_refused is not None:
        _record(history, detail, None)


def _record(history: History | None, detail: OperationDetail, refused: RefusedError | None) -> None:
    if history is not None:
        with contextlib.suppress(EngineError):
            history.undo_refused(detail.operation.op_id, refused)
