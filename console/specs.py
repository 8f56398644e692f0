"""The places by name: what the tab line shows, and where the code of each is. Cheap to import."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.places.place import Place


@dataclass(frozen=True)
class PlaceSpec:
    """A place. Its module is imported when it is first gone to."""

    name: str
    key: str
    label: str
    module: str
    class_name: str

    @property
    def place_class(self) -> type[Place]:
        place: type[Place] = getattr(import_module(self.module), self.class_name)
        return place

    def make(self) -> Place:
        return self.place_class()


PLACES = (
    PlaceSpec("tables", "1", "Tables", "console.places.tables.tables", "TablesPlace"),
    PlaceSpec("merge", "2", "Merge", "console.places.merge.merge", "MergePlace"),
    PlaceSpec("history", "3", "History", "console.places.history.history", "HistoryPlace"),
    PlaceSpec("create", "4", "Create", "console.places.create.create", "CreatePlace"),
    PlaceSpec("session", "5", "Session", "console.places.session", "SessionPlace"),
    PlaceSpec("log", "6", "Log", "console.places.log", "LogPlace"),
)
