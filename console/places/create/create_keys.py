"""The keys of the Create place, in the order in which a narrow key line gives them room."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from console.places.statement.statement_keys import (
    to_look_at_it,
    to_order_its_parts,
    to_take_it_along,
    to_write_it,
)

KEYS: list[BindingType] = [
    *to_write_it("create"),
    Binding("ctrl+t,f", "form", "form / SQL", id="create.form",
            tooltip="Go from the form to the SQL that it writes, and back"),
    Binding("a", "add_column", "add column", id="create.add_column", tooltip="Add a column"),
    Binding("d", "remove_column", "remove", id="create.remove_column", tooltip="Remove the column under the cursor"),
    *to_order_its_parts("create", "column"),
    *to_look_at_it("create"),
    *to_take_it_along("create"),
]  # fmt: skip
