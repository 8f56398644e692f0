"""Create: says what cannot be done here yet, and what can."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from console.places.place import Place
from console.widgets.page import Page, sentence
from console.widgets.page_view import PageView


class CreatePlace(Place):
    PLACE = "create"
    HELP = "Create: not built yet."
    BINDINGS: ClassVar[list[BindingType]] = []

    def compose_body(self) -> Iterable[Widget]:
        yield PageView(id="page")

    def on_mount(self) -> None:
        told = (
            sentence("Creating tables is not built yet.", "bold"),
            sentence(""),
            sentence("CREATE and REPLACE TABLE will be planned and committed here as merges are."),
            sentence(
                self.console_app.told(
                    "Until then, create tables with Spark itself; {tables.refresh} in Tables ({app.tables}) lists them."
                )
            ),
        )
        self.query_one(PageView).show(Page(told))
