"""The keys of the Merge place, in the order in which a narrow key line gives them room."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from console.places.statement.statement_keys import (
    to_look_at_it,
    to_order_its_parts,
    to_take_it_along,
    to_write_it,
)

KEYS: list[BindingType] = [
    *to_write_it("merge"),
    Binding("ctrl+t,f", "form", "form / SQL", id="merge.form",
            tooltip="Go from the SQL to the form that shows its parts, and back"),
    Binding("a", "add_clause", "add", id="merge.add_clause", tooltip="Add a WHEN clause in the form"),
    # the same key as that of another view: only one of the two is ever possible
    Binding("d", "remove_clause", "remove", id="merge.remove_clause",
            tooltip="In the form: remove the clause under the cursor"),
    *to_order_its_parts("merge", "clause"),
    Binding("ctrl+l,t,m", "template", "template", id="merge.template",
            tooltip="Start from a template: upsert, CDC, SCD types 1 and 2, sync, deduplicate, insert only"),
    *to_look_at_it("merge"),
    Binding("slash", "find_key", "find key", id="merge.find_key",
            tooltip="Find a key: what this plan does to its row, by which clause, and why"),
    Binding("R", "rehearse", "rehearse", show=False, id="merge.rehearse",
            tooltip="In the preview: rehearse it, Delta's own MERGE on a clone, beside the plan; asks first"),
    Binding("ctrl+o,o", "open_merge", "open", show=False, id="merge.open",
            tooltip="Open a saved merge, one that was planned lately, one of the demo, or a .sql file"),
    Binding("ctrl+s,w", "save_merge", "save as", show=False, id="merge.save_merge",
            tooltip="Save this merge under a name, with its parameters, to run it again"),
    Binding("d", "view('decision')", "why", id="merge.why",
            tooltip="In the preview: why the source is materialized, or not"),
    *to_take_it_along("merge"),
    Binding("n,alt+n", "app.new_merge", "new", id="merge.new",
            tooltip="Open another merge beside this one, with its own text and plan"),
    Binding("full_stop,alt+right", "app.cycle_merge(1)", "next merge", id="merge.next",
            tooltip="The next of the open merges"),
    Binding("comma,alt+left", "app.cycle_merge(-1)", "merge before", show=False, id="merge.before",
            tooltip="The merge before this one"),
    Binding("X", "close_merge", "close", show=False, id="merge.close",
            tooltip="Close this merge; its text is kept in the drafts folder"),
]  # fmt: skip
