"""How an identity column counts."""

from __future__ import annotations

from engine.model.value import Value


class Identity(Value):
    """Values that Delta counts, in steps of ``step`` from ``start`` on. ``always``: a statement may give no other."""

    start: int
    step: int
    always: bool
