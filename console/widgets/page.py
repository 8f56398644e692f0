"""A page: a few sentences, then perhaps a table. Pages are plain values, made off the UI thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from textual.content import Content

Row = tuple["str | None", ...]


@dataclass(frozen=True)
class Column:
    """``fit`` columns give way to the others: their cells are elided to the room that is left."""

    label: str
    align: Literal["left", "right"] = "left"
    fit: Literal["path", "end"] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of text, already made visible. None is NULL."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    empty: str = "Nothing here."
    """The sentence shown where there are no rows."""


@dataclass(frozen=True)
class Page:
    head: Content = field(default_factory=lambda: Content(""))
    table: Table | None = None
    sql: str | None = None
    """SQL shown read-only below the sentences."""
