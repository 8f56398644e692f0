"""The status that every place shows: the endpoint, the state of Spark, the work that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

SparkState = Literal["starting", "warm", "lost"]
WRITES: Mapping[str, str] = MappingProxyType({"committing": "The commit to", "undoing": "The undo in"})
"""The kinds of work that write to a table, as the beginning of a sentence about it."""


@dataclass(frozen=True)
class Status:
    """``profile`` is its name, empty without one. ``work`` is empty when idle. ``narration`` is the sentence on the
    rule below the tabs."""

    endpoint: str
    profile: str = ""
    production: bool = False
    spark: SparkState = "starting"
    work: str = ""
    narration: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether Spark is at an address that was given, so that others start and stop it."""
        return self.endpoint.startswith("sc://")


@dataclass(frozen=True)
class LogLine:
    """A line of the Log place."""

    at: datetime
    severity: SeverityLevel
    text: str


@dataclass(frozen=True)
class Job:
    """Work that Spark does for us and that a quit has to cancel."""

    operation_id: str
    kind: str
    """``planning`` or ``committing``: the word in the status."""
    plan_id: str = ""
    table: str = ""
    path: str = ""
    """That of the table."""
    began: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    @property
    def writes(self) -> bool:
        """Whether it may be in the table before it can be cancelled."""
        return self.kind in WRITES
