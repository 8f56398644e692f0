"""What the form of a merge offers: tables, conditions from keys and same-named columns, and the columns to set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.dialogs.pick import Choice, PickDialog
from console.places.merge.propose import LISTING, load_choices, table_choices
from console.statements.templates import Sides, conditions, quoted, sides

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace
    from console.statements.clause_text import FormClause
    from console.statements.merge_form import MergeForm, Part
    from engine.model.browse import Column


def offer(place: StatementPlace, form: MergeForm, part: Part, taken: Callable[[str | None], None]) -> None:
    """A list of what a part could be; what is chosen replaces it."""
    if part == "condition":
        _with_sides(place, form, partial(_offer_conditions, place, form, taken))
        return
    only_delta = part == "target"
    question = "Into which table?" if only_delta else "From which table? A path or a query is typed in the field."
    choices = table_choices(place, only_delta=only_delta)
    title = "Target" if only_delta else "Source"
    dialog = PickDialog(title, question, choices, empty="No table is known here.", awaits=LISTING)
    place.app.push_screen(dialog, taken)
    load_choices(place, dialog, only_delta=only_delta)


def _offer_conditions(
    place: StatementPlace, form: MergeForm, taken: Callable[[str | None], None], known: Sides
) -> None:
    proposals = conditions(known, form.target_name or "t", form.source_name or "s")
    if not proposals:
        place.notify("The columns of these tables are not known, so there is nothing to propose.")
        return
    choices = [Choice(condition, condition, why) for condition, why in proposals]
    question = "By what do rows of both belong together?"
    if not known.common:
        question += " The source's columns are not known: these are the target's."
    place.app.push_screen(PickDialog("ON", question, choices), taken)


def open_clause(
    place: StatementPlace,
    form: MergeForm,
    clause: FormClause | None,
    fits: Callable[[FormClause], bool],
    taken: Callable[[FormClause | None], None],
) -> None:
    """A clause to edit, or a new one, with the columns that the target has."""

    def open_dialog(known: Sides) -> None:
        from console.dialogs.clause import ClauseDialog

        def complaint(changed: FormClause) -> str:
            return "" if fits(changed) else NOT_TAKEN

        place.app.push_screen(ClauseDialog(clause, _columns(place, form, known), complaint), taken)

    _with_sides(place, form, open_dialog)


def _columns(place: StatementPlace, form: MergeForm, known: Sides) -> list[tuple[str, str]]:
    """Each column of the target, and what the source has for it, if anything."""
    source = form.source_name or "s"
    there = known.common
    if not there:
        # what the source has is not known: its columns may be called like the target's
        there = tuple(column.name for column in place.console_app.catalog.known_columns(form.target) or ())
    columns = [(quoted(name), f"{source}.{quoted(name)}") for name in there]
    return columns + [(quoted(name), "") for name in known.missing]


NOT_TAKEN = "So it would not stay this clause: is a quote, a bracket or a comment open?"


def _with_sides(place: StatementPlace, form: MergeForm, use: Callable[[Sides], None]) -> None:
    """Continue as soon as both tables' columns are known; without Spark, with the columns known before."""
    catalog = place.console_app.catalog

    def made(columns: Sequence[Column], of_source: Sequence[Column]) -> Sides:
        if not columns:
            return Sides(target=form.target)
        return sides(form.target, columns, form.source if of_source else None, of_source)

    names = (form.target, form.source)
    known = [() if name.startswith("(") else catalog.known_columns(name) for name in names]
    if None not in known or place.console_app.status.spark != "warm":
        use(made(known[0] or (), known[1] or ()))
        return

    def look() -> Sides:
        columns, of_source = (() if name.startswith("(") else catalog.try_columns(name) for name in names)
        return made(columns, of_source)

    place.ask_here("sides", look, use, place.unless_covered(lambda _: use(Sides(target=form.target))))
