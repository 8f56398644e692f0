"""What the form of a merge offers: tables, conditions from keys and same-named columns, and the columns to set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from console.completion import behind_use
from console.dialogs.pick import Choice, PickDialog
from console.places.merge.propose import (
    LISTING,
    load_choices,
    propose_merge,
    propose_template,
    table_choices,
    template_dialog,
    use_template,
)
from console.statements.clause_text import column_set
from console.statements.merge_form import read_form
from console.statements.templates import Sides, conditions, quoted, sides

if TYPE_CHECKING:
    from console.dialogs.dialog import Dialog
    from console.places.statement.statement import StatementPlace
    from console.statements.clause_text import FormClause
    from console.statements.merge_form import MergeForm, Part
    from engine.model.browse import Column

T = TypeVar("T")


def offer(place: StatementPlace, form: MergeForm, part: Part, taken: Callable[[str | None], None]) -> None:
    """A list of what a part could be; what is chosen replaces it."""
    if part == "condition":
        _open_with_sides(place, (form.target, form.source), partial(_conditions_dialog, place, form), taken)
        return
    only_delta = part == "target"
    question = "Into which table?" if only_delta else "From which table? A path or a query is typed in the field."
    choices = table_choices(place, only_delta=only_delta)
    title = "Target" if only_delta else "Source"
    dialog = PickDialog(title, question, choices, empty="No table is known here.", awaits=LISTING)
    dialog.begin_at(getattr(form, part))
    place.app.push_screen(dialog, taken)
    load_choices(place, dialog, only_delta=only_delta)


def _conditions_dialog(place: StatementPlace, form: MergeForm, known: Sides) -> Dialog[str] | None:
    # a condition that the target's columns alone suggest may name what the source lacks
    if known.source is None:
        place.notify("The columns of both are not known, so there is nothing to propose.")
        return None
    proposals = conditions(known, form.target_name or "t", form.source_name or "s")
    if not proposals:
        place.notify("No column has the same name in both, so there is nothing to propose.")
        return None
    choices = [Choice(condition, condition, why) for condition, why in proposals]
    return PickDialog("ON", "By what do rows of both belong together?", choices)


def open_clause(
    place: StatementPlace,
    form: MergeForm,
    clause: FormClause | None,
    fits: Callable[[FormClause], bool],
    taken: Callable[[FormClause | None], None],
) -> None:
    """A clause to edit, or a new one, with the columns that the target has."""

    def dialog_of(known: Sides) -> Dialog[FormClause]:
        from console.dialogs.clause import ClauseDialog

        def complaint(changed: FormClause) -> str:
            return "" if fits(changed) else NOT_TAKEN

        return ClauseDialog(clause, _columns(place, form, known, clause), complaint)

    _open_with_sides(place, (form.target, form.source), dialog_of, taken)


def ask_for_template(place: StatementPlace, proposed: Sides | None, propose: Callable[[Sides], None]) -> None:
    """Another kind of merge between the tables of the text; ``proposed`` are those of the last proposal, which a
    template may have put into a query. Asks for them where the text has none."""
    form = read_form(place.pane.text)
    target, source = (place.pane.target, "") if form is None else (form.target, form.source)
    if not target:
        propose_merge(place)
        return
    if proposed is not None and proposed.target == target and proposed.source and proposed.source in place.pane.text:
        propose_template(place, proposed)
        return
    offered: list[Sides] = []

    def dialog_of(known: Sides) -> Dialog[str]:
        # of a query the columns may be unknown
        offered.append(replace(known, source=source or None))
        propose(offered[-1])
        return template_dialog(known)

    _open_with_sides(place, (target, source), dialog_of, lambda kind: use_template(place, offered[-1], kind))


def _columns(place: StatementPlace, form: MergeForm, known: Sides, clause: FormClause | None) -> list[tuple[str, str]]:
    """Each column of the target that the clause does not set, and what the source has for it, if anything."""
    from engine.sql.names import unquoted
    from engine.sql.resolve import TARGET, Side

    source = form.source_name or "s"
    lacking = known.missing
    if known.source is None:
        known_as = behind_use(place.pane.text, form.target)
        lacking = tuple(column.name for column in place.console_app.catalog.known_columns(known_as) or ())
    columns = [(name, f"{source}.{quoted(name)}") for name in known.common] + [(name, "") for name in lacking]
    target = Side(TARGET, (unquoted(form.target_name),), bool(form.target_alias), tuple(name for name, _ in columns))
    is_set = {column_set(column, target) for column, _ in clause.assignments} if clause is not None else set()
    return [(quoted(name), proposal) for name, proposal in columns if name not in is_set]


NOT_TAKEN = "So it would not stay this clause: is a quote, a bracket or a comment open?"


def _open_with_sides(
    place: StatementPlace,
    names: tuple[str, str],
    dialog_of: Callable[[Sides], Dialog[T] | None],
    taken: Callable[[T | None], None],
) -> None:
    """Open a dialog as soon as both tables' columns are known; without Spark, with the columns known before."""
    catalog = place.console_app.catalog
    target, source = names
    known_as = [behind_use(place.pane.text, name) for name in names]

    def made(columns: Sequence[Column], of_source: Sequence[Column]) -> Sides:
        if not columns:
            return Sides(target=target)
        return sides(target, columns, source if of_source else None, of_source)

    def open_dialog(known: Sides, *, late: bool = True) -> None:
        dialog = dialog_of(known)
        if dialog is not None:
            # an enter may be on its way that is not meant for one that nobody has seen
            dialog.must_be_read = late
            place.app.push_screen(dialog, taken)

    known = [catalog.known_columns(name) for name in known_as]
    if all(known) or place.console_app.status.spark != "warm":
        open_dialog(made(known[0] or (), known[1] or ()), late=False)
        return

    def look() -> Sides:
        columns, of_source = map(catalog.try_columns, known_as)
        return made(columns, of_source)

    place.ask_here("sides", look, open_dialog, place.unless_covered(lambda _: open_dialog(Sides(target=target))))
