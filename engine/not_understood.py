"""The refusal of a statement that this program reads in another way than Spark."""

from __future__ import annotations

from engine.errors import EngineError

NOT_UNDERSTOOD = "STATEMENT_NOT_UNDERSTOOD"
LONGEST = 300


def not_understood(theirs: str, ours: str) -> EngineError:
    """The refusal, with both readings from where they part."""
    at = next((i for i, (one, other) in enumerate(zip(theirs, ours, strict=False)) if one != other), 0)
    begin = max(0, at - 60)
    shown = [" ".join(text[begin : begin + LONGEST].split()) for text in (theirs, ours)]
    return EngineError(
        NOT_UNDERSTOOD,
        f"Spark reads the statement as …{shown[0]}… and this program as …{shown[1]}…",
        "Nothing is promised of it. Write it in another way, with qualified and quoted names.",
    )
