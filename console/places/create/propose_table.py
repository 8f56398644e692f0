"""Proposes a statement that creates a table from one that is there: one like it, or a clone of it to rehearse on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from console.statements.table_form import TableForm, clone, like, proposed_name

if TYPE_CHECKING:
    from console.places.create.create import CreatePlace
    from console.places.place import Place
    from console.work import Failure


def create_like(place: Place, name: str) -> None:
    """A form with the columns, the layout and the properties of ``name``."""

    def use(form: TableForm) -> None:
        create = _create(place)
        create.call_after_refresh(create.use_form, form)

    def look() -> TableForm:
        return like(proposed_name(name, "like"), place.backend.table_state(name))

    place.ask_here("like", look, use, partial(_tell, place))


def clone_to_rehearse(place: Place, name: str, version: int | None) -> None:
    """A SHALLOW CLONE of ``name`` at ``version``, or at the one that it is at now."""

    def use(at: int | None) -> None:
        create = _create(place)
        create.call_after_refresh(create.use_text, clone(name, at))

    if version is not None:
        use(version)
    else:
        place.ask_here("clone", lambda: place.backend.table_detail(name).version, use, partial(_tell, place))


def _create(place: Place) -> CreatePlace:
    return cast("CreatePlace", place.console_app.go_to("create"))


def _tell(place: Place, failure: Failure) -> None:
    place.notify(f"{failure} {failure.hint}".strip(), severity="error")
