"""What a plan looks for beside what Delta refuses: faults that a MERGE commits without an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SILENT_FAULTS: Final = (
    "NULL_KEYS_INSERTED",
    "DUPLICATE_INSERTS",
    "KEY_EXISTS_OUTSIDE_ON",
    "ON_WITHOUT_KEY",
    "UPDATES_CHANGE_NOTHING",
    "UPDATES_GO_BACK",
    "SOURCE_EMPTY",
    "SOURCE_SHRANK",
    "DELETES_BY_ABSENCE",
    "KEYS_COLLIDE_BY_CAST",
)
"""Their codes, the likeliest to hurt first."""


@dataclass(frozen=True)
class Checks:
    """Which silent faults a plan looks for, and from when on they count.

    ``off`` are codes that are not looked for, ``errors`` those that apply refuses unless they are accepted.
    ``ignore_columns`` change in each update (audit columns). ``version_column`` is the column of the target that an
    update must not lower; None takes it from its name. ``deletes_share`` is the share of the table that NOT MATCHED BY
    SOURCE may delete. ``max_bytes`` limits the size of the files that are read to find keys outside of ON,
    ``compare_max_bytes`` that of the files in which old and new values are compared: their columns are read beside the
    keys, and a plan is to cost little. ``history``: the table keeps several rows of a key on purpose.
    """

    off: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    ignore_columns: tuple[str, ...] = ()
    version_column: str | None = None
    deletes_share: float = 0.2
    max_bytes: int = 1 << 30
    compare_max_bytes: int = 32 << 20
    history: bool = False

    def looks_for(self, code: str) -> bool:
        return code not in self.off
