"""A colour of the theme for what is drawn by hand."""

from __future__ import annotations

from collections.abc import Mapping

from rich.color import Color as RichColor
from textual.color import Color


def theme_colour(variables: Mapping[str, str], name: str) -> RichColor:
    """The colour of the variable ``name``, on the theme's background if it is translucent.

    The themes of the terminal's own colours have texts as ``ansi_default 50%``: those are opaque.
    """
    text, _, alpha = variables[name].partition(" ")
    colour = Color.parse(text)
    if colour.ansi is not None:
        return colour.rich_color
    if alpha:
        colour = colour.multiply_alpha(float(alpha.rstrip("%")) / 100)
    ground = Color.parse(variables["background"])
    return (colour if ground.ansi is not None else ground + colour).rich_color
