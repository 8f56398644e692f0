"""What a commit leaves of files: a value that each handler of CreateDeltaTableCommand gives."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CommittedFiles:
    """The table's files after the commit, None if Spark decides while it runs; ``metrics`` are operationMetrics."""

    num_files: int | None = 0
    num_bytes: int | None = 0
    metrics: dict[str, int] = field(default_factory=dict)
