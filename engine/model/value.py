"""The base of all values: frozen, and unknown keys are an error.

Sizes are bytes, times ISO 8601 UTC, durations milliseconds. Cells of table rows are Spark's own string form
(``CAST(x AS STRING)``), bytes in hexadecimal, or ``None`` for NULL.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Accuracy = Literal["exact", "estimated", "unknown"]
Cells = dict[str, str | None]


class Value(BaseModel):
    """Base of all values: frozen, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
