"""Create: says what cannot be done here yet, and what can."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.places.place import Place


class CreatePlace(Place):
    PLACE = "create"
    HELP = "Create: not built yet."
    BINDINGS: ClassVar[list[BindingType]] = []

    def compose_body(self) -> Iterable[Widget]:
        yield Static(
            Content.assemble(
                ("\n  Creating tables is not built yet.\n\n", "bold"),
                "  CREATE and REPLACE TABLE will be planned and committed here as merges are.\n"
                "  Until then, create tables with Spark itself; they appear in Tables (1) after r.\n",
            ),
            markup=False,
        )
