"""What a statement that Spark accepts would do, as far as can be said while it is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.content import Content

from console.widgets.page import Head, signed
from console.words.glyphs import Glyphs
from console.words.visible import table_name

if TYPE_CHECKING:
    from engine.model.browse import Validation
    from engine.model.create_values import Effect

DOES: Mapping[Effect | None, str] = MappingProxyType(
    {
        None: "MERGE into",
        "create": "creates",
        "adopt": "takes the table that is there for",
        "replace": "replaces",
        "nothing": "changes nothing of",
    }
)


def accepted(validation: Validation, glyphs: Glyphs, with_keys: Callable[[str], str], *, can_plan: bool) -> Head:
    """``can_plan``: whether nothing is missing for a plan of it."""
    if validation.effect == "refused":
        refused = with_keys("Spark accepts it, and it cannot run: {merge.plan} says why.")
        return (signed(glyphs.warning, "$text-warning", refused),)
    version = "" if validation.target_version is None else f" @ v{validation.target_version}"
    told = Content.assemble(
        f"Spark accepts it: {DOES[validation.effect]} ",
        (f"{table_name(validation.target or '?')}{version}", "bold"),
        (with_keys(". {merge.plan} plans it." if can_plan else "."), "$foreground-muted"),
    )
    lines = [signed(glyphs.ok, "$text-success", told)]
    if validation.decision is not None:
        verb = "would be" if validation.decision.materialize else "would not be"
        because = f"source {verb} materialized: {validation.decision.because}"
        lines.append(signed(" ", "", because, "$foreground-muted"))
    return tuple(lines)
