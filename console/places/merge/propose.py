"""Proposes a whole MERGE: asks what is not known (the target, the source, the kind), one question at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from console.dialogs.pick import Choice, PickDialog
from console.statements.forms import FORMS, proposed
from console.statements.templates import TEMPLATES, Sides, sides

if TYPE_CHECKING:
    from console.places.place import Place
    from console.places.statement.statement import StatementPlace
    from console.work import Failure
    from engine.model.browse import TableRef

OWN_QUERY = ""
"""The choice of a source that is yet to be typed."""
LISTING = "Listing the tables…"


def propose_into(place: Place, target: str, *, asks_kind: bool = False) -> None:
    """A merge into ``target``, from a source that is asked for: an upsert, and then another kind with ``asks_kind``."""
    query = Choice(OWN_QUERY, "a query or a path", "to be typed in its place")
    dialog = PickDialog(
        f"Merge into {target}",
        "From which source? ON, SET and INSERT are proposed from the columns that both have.",
        table_choices(place, without=target),
        last=query,
        awaits=LISTING,
    )
    place.app.push_screen(dialog, partial(_source_chosen, place, target, asks_kind))
    load_choices(place, dialog, without=target)


class TakesProposal(Protocol):
    """The Merge place, as far as a proposal needs it."""

    def use_proposal(self, known: Sides) -> None:
        """Write an upsert between two tables."""


def propose_merge(place: Place) -> None:
    """A merge of any kind between two tables that are asked for."""
    dialog = PickDialog(
        "New merge",
        "Into which table?",
        table_choices(place, only_delta=True),
        empty="No Delta table is known here.",
        awaits=LISTING,
    )
    place.app.push_screen(dialog, lambda target: propose_into(place, target, asks_kind=True) if target else None)
    load_choices(place, dialog, only_delta=True)


def propose_template(place: StatementPlace, known: Sides) -> None:
    """Another kind of merge between the tables that were proposed last."""
    place.app.push_screen(template_dialog(known), partial(use_template, place, known))


def template_dialog(known: Sides) -> PickDialog:
    """Asks for a kind of merge."""
    kinds = [Choice(name, label, what) for name, (label, what, _) in (*TEMPLATES.items(), *FORMS.items())]
    return PickDialog("Template", f"What should the merge into {known.target} do?", kinds, last=_OTHER_TABLES)


_OTHER_TABLES = Choice("other", "Other tables", "choose the target and the source anew")


def use_template(place: StatementPlace, known: Sides, kind: str | None) -> None:
    """Write the merge of the ``kind`` that was chosen, if one was."""
    if kind == _OTHER_TABLES.key:
        propose_merge(place)
    elif kind is not None:
        place.use_text(TEMPLATES[kind][2](known) if kind in TEMPLATES else proposed(kind, known))


def _source_chosen(place: Place, target: str, asks_kind: bool, source: str | None) -> None:
    if source is None:
        return
    catalog = place.console_app.catalog

    def look() -> Sides:
        columns = catalog.ask_columns(target)
        return sides(target, columns, source, catalog.ask_columns(source)) if source else sides(target, columns, None)

    place.ask_here(
        "propose",
        look,
        partial(_use, place, asks_kind),
        place.unless_covered(partial(_use_names_only, place, asks_kind, Sides(target=target, source=source or None))),
    )


def _use_names_only(place: Place, asks_kind: bool, names: Sides, failure: Failure) -> None:
    place.notify(f"Columns are not known, so check the proposal: {failure}", severity="warning")
    _use(place, asks_kind, names)


def _use(place: Place, asks_kind: bool, known: Sides) -> None:
    merge = place.console_app.go_to("merge")
    merge.call_after_refresh(cast("TakesProposal", merge).use_proposal, known)
    if asks_kind:
        merge.call_after_refresh(propose_template, cast("StatementPlace", merge), known)


def table_choices(place: Place, *, without: str = "", only_delta: bool = False) -> list[Choice]:
    return _choices(place, place.console_app.catalog.known_tables(), without, only_delta)


def load_choices(place: Place, dialog: PickDialog, *, without: str = "", only_delta: bool = False) -> None:
    def failed(failure: Failure) -> None:
        dialog.add(())
        place.notify(f"Tables cannot be listed: {failure}", severity="warning")

    place.ask(
        "catalog",
        place.console_app.catalog.load_tables,
        lambda tables: dialog.add(_choices(place, tables, without, only_delta)),
        failed,
    )


def _choices(place: Place, in_schemas: list[TableRef], without: str, only_delta: bool) -> list[Choice]:
    schema = without.rpartition(".")[0]
    tables = (*in_schemas, *place.console_app.catalog.in_directories.values())
    fitting = [table for table in tables if table.name != without and not (only_delta and table.is_delta is False)]
    # the source is most often in the same schema
    fitting.sort(key=lambda table: table.name.rpartition(".")[0] != schema)
    return [Choice(table.name, table.name, "" if table.is_delta is not False else "not Delta") for table in fitting]
