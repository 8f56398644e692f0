"""Files of SQL to open: those of the demo, and one by its path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from console.dialogs.path import PathDialog, expanded
from console.dialogs.pick import Choice
from console.drafts import Draft, read_sql

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace

BY_PATH = Choice("path", "another file of SQL", "type its path")


def typed_path(typed: str) -> Choice | None:
    """What looks like the path of a file, as a choice. Whether it is there is asked when it is taken."""
    path = typed.strip()
    if "/" not in path and not path.lower().endswith(".sql"):
        return None
    return Choice(f"file {expanded(path)}", path, "the file of this path")


def demo_merges(home: Path) -> list[Choice]:
    """The merges that ``demo`` has written, if it was run."""
    return [Choice(f"file {path}", path.stem, "of the demo") for path in sorted((home / "demo").glob("*.sql"))]


def ask_for_file(place: StatementPlace) -> None:
    """Ask for a path, and open the file there. Nothing runs."""

    def why_not(typed: str) -> str | None:
        return None if expanded(typed).is_file() else "There is no such file."

    def chosen(typed: str | None) -> None:
        if typed is not None:
            open_file(place, expanded(typed))

    dialog = PathDialog(
        "Open a file of SQL",
        "Its text comes into the editor; the text of now is put aside.",
        accept_label="open",
        check=why_not,
    )
    place.app.push_screen(dialog, chosen)


def open_file(place: StatementPlace, path: Path) -> None:
    """Put the text of a file into the editor."""
    place.ask_here(
        "open-merge",
        lambda: Draft(read_sql(path), file=str(path.absolute())),
        place.use_draft,
        lambda failure: place.notify(f"It cannot be opened: {failure}", severity="error"),
    )
