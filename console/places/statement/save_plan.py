"""Writes a plan to a file that the command line can show and apply."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.dialogs.path import PathDialog, bare_name, expanded
from console.words import plan_summary
from console.words.format import short_id

if TYPE_CHECKING:
    from console.places.place import Place
    from engine.model.plans import AnyPlan


LATER = "`deltamerge-console apply` commits the file later, if nothing moved meanwhile."
NEVER = "It cannot be committed: the file is to be read."
COMMITTED = "It is committed: the file is a record of it, and `deltamerge-console apply` would change nothing."


def ask_where_to_save(place: Place, plan: AnyPlan, *, is_committed: bool = False) -> None:
    """Ask for a path, then write the plan there."""
    name = short_id(plan.plan_id)
    later = LATER if plan_summary.why_not_committable(plan) is None else NEVER
    dialog = PathDialog(
        f"Save plan {name}",
        f"{COMMITTED if is_committed else later} {bare_name()}",
        value=f"plan-{name}.json",
        accept_label="save",
        check=_why_not,
        ask_twice=partial(_exists, place),
    )
    place.app.push_screen(dialog, partial(_save, place, plan))


def _why_not(path: str) -> str | None:
    target = expanded(path)
    if target.is_dir():
        return "That is a directory."
    if not target.parent.is_dir():
        return f"There is no directory {target.parent}."
    return None


def _exists(place: Place, path: str) -> str | None:
    warning = place.console_app.with_keys("It exists already: {path.insist} overwrites it.")
    return warning if expanded(path).exists() else None


def _save(place: Place, plan: AnyPlan, path: str | None) -> None:
    if path is None:
        return
    target = expanded(path)
    place.ask(
        "save",
        lambda: place.backend.save_plan(plan, target),
        lambda _: place.notify(f"Saved as {target}."),
        lambda failure: place.notify(f"The plan was not saved: {failure.message}", severity="error"),
    )
