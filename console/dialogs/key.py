"""Asks for the key of a row, or for a predicate."""

from __future__ import annotations

from console.dialogs.path import PathDialog


class KeyDialog(PathDialog):
    """One input."""

    MISSING = "Type a key first."
    IS_REPLACED = True
    HELP = "A key of the plan. Enter looks for it, esc leaves everything as it is."
