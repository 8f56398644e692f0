"""What a MERGE changes, by column: how many rows, to and from NULL, sums, the commonest transitions, and where."""

from __future__ import annotations

from math import inf

from pydantic import Field

from engine.model.value import Accuracy, Value


class Transition(Value):
    """One value that becomes another, and in how many rows. None is NULL."""

    before: str | None
    after: str | None
    rows: int


class ColumnChange(Value):
    """The updated rows in which one column gets another value, ``changed`` of them.

    Of a number ``sum_before`` and ``sum_after`` are the sums over these rows, estimated for floats, whose sum depends
    on the order; None for other types, and if the sum does not fit. ``transitions``: the three commonest of a text, a
    date, a timestamp or a boolean.
    """

    name: str
    type: str
    changed: int
    to_null: int
    from_null: int
    sum_before: str | None = None
    sum_after: str | None = None
    sums: Accuracy = "exact"
    transitions: tuple[Transition, ...] = ()


class Concentration(Value):
    """A value that most of the changed rows have, and few others: ``share`` of the ``rows`` changed, ``table_share`` of
    the rows of the table, both from 0 to 1."""

    column: str
    value: str | None
    rows: int
    share: float
    table_share: float

    @property
    def lift(self) -> float:
        """How many times its share in the table: infinitely many if no row there has it."""
        return self.share / self.table_share if self.table_share else inf


class Changes(Value):
    """Updated rows keep their place: ``rows_before`` + ``inserted`` - ``deleted`` = ``rows_after``.

    ``updated_same`` are updated rows in which no compared column changes. ``columns`` are those that change in some
    row, the most changed first; ``not_compared`` maps a column to the reason. ``concentrations`` is None if they were
    not looked for.
    """

    rows_before: int
    inserted: int
    updated: int
    updated_same: int
    deleted: int
    columns: tuple[ColumnChange, ...] = ()
    not_compared: dict[str, str] = Field(default_factory=dict)
    concentrations: tuple[Concentration, ...] | None = None

    @property
    def rows_after(self) -> int:
        return self.rows_before + self.inserted - self.deleted

    @property
    def rows_changed(self) -> int:
        """Rows that are inserted or deleted, or get another value."""
        return self.inserted + self.deleted + self.updated - self.updated_same
