"""What is looked at of a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One table at one version (None: the newest), and the predicate that its files are explored with, or "".

    ``rows``: how many are fetched at most, the first ones or, if ``sampled``, some by chance.
    """

    name: str
    version: int | None = None
    predicate: str = ""
    rows: int = 100
    sampled: bool = False

    def is_newest(self, newest: int | None) -> bool:
        """Whether the rows are those of the table as it is now, which is at version ``newest``."""
        return self.version in (None, newest)
