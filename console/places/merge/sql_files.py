"""Files of SQL to open: those of the demo, and one by its path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from console.dialogs.path import PathDialog, expanded
from console.dialogs.pick import Choice
from console.drafts import Draft

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace

MAX_BYTES = 16 * 1024 * 1024
BY_PATH = Choice("path", "a .sql file", "type its path")


def typed_path(typed: str) -> Choice | None:
    """What looks like the path of a file, as a choice. Whether it is there is asked when it is taken."""
    path = typed.strip()
    if "/" not in path and not path.lower().endswith(".sql"):
        return None
    return Choice(f"file {expanded(path)}", path, "the file of this path")


def demo_merges(home: Path) -> list[Choice]:
    """The merges that ``demo`` has written, if it was run."""
    return [Choice(f"file {path}", path.stem, "of the demo") for path in sorted((home / "demo").glob("*.sql"))]


def read_sql(path: Path) -> str:
    """The text of a file. Raises UsageError with why it cannot be read."""
    from engine.model.errors import UsageError

    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError("FILE_TOO_BIG", f"{path} is too big for a file of SQL.", "Name a file with one MERGE.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(
            "FILE_NOT_READ", f"{path} cannot be read: {error.strerror or error}.", "Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError("NOT_UTF8", f"{path} is not UTF-8.", "Save it as UTF-8 and try again.") from error


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
        lambda: Draft(read_sql(path)),
        place.use_draft,
        lambda failure: place.notify(f"It cannot be opened: {failure}", severity="error"),
    )
