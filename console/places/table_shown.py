"""What is looked at of a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One table at one version (None: the newest), and the predicate that its files are explored with, or ""."""

    name: str
    version: int | None = None
    predicate: str = ""
