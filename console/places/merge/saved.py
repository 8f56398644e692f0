"""Merges to open: those that were saved under a name or planned lately, the demo's, and files."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from console.dialogs.path import NameDialog
from console.dialogs.pick import Choice, PickDialog
from console.drafts import Draft, DraftStore
from console.places.merge.sql_files import BY_PATH, ask_for_file, demo_merges, open_file, typed_path
from console.words.format import elide_end, local_time
from console.words.glyphs import Glyphs
from console.words.outcome_sentences import without_commit
from console.words.plan_summary import sql_line
from console.words.visible import table_name

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace
    from console.work import Failure
    from engine.model.operation import Operation
    from engine.model.plans import OperationDetail

FOLDER = "merges"
SECRET_LEFT_OUT = "A secret was left out of the history: complete the text where *** stands, then plan it."
RECENT = 200
SHOWN_RECENT = 30
SOURCE_WIDTH = 60
_NAME = re.compile(r"\w[\w .-]*")


def ask_name_to_save(place: StatementPlace) -> None:
    """Ask for a name, then save the statement and the values of its parameters under it."""
    store = DraftStore(place.console_app.home, FOLDER)
    draft = place.pane.draft
    values = f" The values of {', '.join(f':{name}' for name in draft.params)} are kept too." if draft.params else ""

    def why_not(name: str) -> str | None:
        return (
            None
            if _NAME.fullmatch(name)
            else "A name begins with a letter or a digit; blanks, points, dashes and underscores may follow."
        )

    def exists(name: str) -> str | None:
        return (
            place.console_app.with_keys("There is one of that name: {path.insist} replaces it.")
            if store.has(name)
            else None
        )

    dialog = NameDialog(
        "Save this merge",
        f"Under which name? {place.console_app.with_keys('{merge.open}')} lists it then, on any day.{values}",
        accept_label="save",
        check=why_not,
        ask_twice=exists,
    )
    place.app.push_screen(dialog, partial(_save, place, store, draft))


def _save(place: StatementPlace, store: DraftStore, draft: Draft, name: str | None) -> None:
    if name is not None:
        lists = place.console_app.with_keys("{merge.open} in the Merge place lists it.")
        place.ask(
            "save-merge",
            lambda: store.save(name, draft, 0),
            lambda _: place.notify(f"Saved as {name}. {lists}"),
            lambda failure: place.notify(f"It was not saved: {failure.message}", severity="error"),
        )


def ask_which_to_open(place: StatementPlace) -> None:
    """List the saved merges and the recent ones, and open the one that is picked."""
    store = DraftStore(place.console_app.home, FOLDER)
    saved = [Choice(f"saved {name}", name, "saved") for name in store.names()]
    dialog = PickDialog(
        "Open a merge",
        "Saved ones and those planned lately, with their parameters; or a file. The text of now is put aside.",
        [*saved, *demo_merges(place.console_app.home)],
        last=BY_PATH,
        typed=typed_path,
        awaits="Reading the history…",
    )

    def failed(failure: Failure) -> None:
        dialog.add(())
        place.notify(f"The history cannot be read: {failure}", severity="warning")

    place.app.push_screen(dialog, partial(_open, place, store))
    place.ask(
        "recent",
        lambda: recent_choices(place.backend.history(limit=RECENT), place.console_app.glyphs),
        dialog.add,
        failed,
    )


def recent_choices(operations: list[Operation], glyphs: Glyphs) -> list[Choice]:
    """Each statement once, where it was planned last."""
    newest: dict[str, Operation] = {}
    for one in operations:
        if one.kind == "merge":
            newest.setdefault(" ".join(one.sql.split()), one)
    return [
        Choice(
            f"operation {one.op_id}",
            f"{table_name(one.table)}  {local_time(one.started_at, seconds=False)}",
            f"{_became(one)}  {elide_end(_source(sql_line(one.sql)), SOURCE_WIDTH, glyphs.ellipsis)}",
        )
        for one in list(newest.values())[:SHOWN_RECENT]
    ]


def _became(one: Operation) -> str:
    return without_commit(one) if one.committed_nothing else one.status


def _source(sql: str) -> str:
    using = re.search(r"\bMERGE\b.*?\bUSING\b\s*(.*?)(?:\bON\b|$)", sql, re.IGNORECASE | re.DOTALL)
    return using[1].rstrip() if using else sql


def draft_of(detail: OperationDetail) -> Draft:
    """What was planned, as the history keeps it: with what ran before it, its parameters, and without its secrets."""
    plan = detail.plan
    if plan is None:
        return Draft(detail.operation.sql)
    return Draft(plan.statement.before_parameters, dict(plan.statement.params))


def use_recorded(place: StatementPlace, draft: Draft) -> bool:
    """Put the history's copy into the editor. Whether it can run as it is: one with the mark of a secret in it would
    write that mark, and a notice says so."""
    from engine.model.secrets import MASK

    place.use_draft(draft)
    lacks_secrets = any(MASK in text for text in (draft.sql, *draft.params.values()))
    if lacks_secrets:
        place.notify(SECRET_LEFT_OUT, severity="warning")
    return not lacks_secrets


def _open(place: StatementPlace, store: DraftStore, key: str | None) -> None:
    if key is None:
        return
    kind, _, name = key.partition(" ")
    if kind == "path":
        ask_for_file(place)
        return
    if kind == "file":
        open_file(place, Path(name))
        return

    def load() -> Draft:
        if kind == "saved":
            return store.open(name)
        return draft_of(place.backend.operation(name))

    def opened(draft: Draft) -> None:
        if kind == "saved":
            place.use_draft(draft)
        else:
            use_recorded(place, draft)

    place.ask_here(
        "open-merge",
        load,
        opened,
        lambda failure: place.notify(f"It cannot be opened: {failure}", severity="error"),
    )
