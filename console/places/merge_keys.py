"""The keys of the Merge place, in the order in which a narrow key line gives them room."""

from __future__ import annotations

from textual.binding import Binding, BindingType

VIEWS_GROUP = Binding.Group("views", compact=True)

KEYS: list[BindingType] = [
    Binding("c", "commit", "commit…", id="merge.commit", tooltip="Commit exactly this plan; asks first"),
    # the same key, and so the same id, where a plan can never be committed: what it gives is a reason
    Binding("c", "why_not_commit", "why not commit", id="merge.commit",
            tooltip="Why this plan cannot be committed"),
    Binding("x", "cancel", "cancel", id="merge.cancel", tooltip="Cancel the plan or the commit that runs"),
    Binding("ctrl+r,f5,p", "plan", "plan", id="merge.plan",
            tooltip="Plan the statement: see what it would do"),
    Binding("e,i", "edit", "edit", id="merge.edit", tooltip="Go to the text"),
    Binding("f8", "go_to_error", "to the error", id="merge.error", tooltip="Go to where the error is"),
    Binding("ctrl+t,t,m", "template", "template", id="merge.template",
            tooltip="Start from a template: upsert, SCD type 1, delete and sync, deduplicate, insert only"),
    Binding("v", "preview", "preview", id="merge.preview", tooltip="Back to the last plan"),
    Binding("r", "replan", "re-plan", id="merge.replan", tooltip="Plan the text again"),
    Binding("left_square_bracket", "cycle(-1)", "view before", id="merge.view_before",
            group=VIEWS_GROUP, tooltip="The view before this one"),
    Binding("right_square_bracket", "cycle(1)", "next view", id="merge.view_next",
            group=VIEWS_GROUP, tooltip="The next view"),
    Binding("slash", "find_key", "find key", id="merge.find_key",
            tooltip="Find a key: what this plan does to its row, by which clause, and why"),
    Binding("ctrl+o,o", "open_merge", "open", id="merge.open",
            tooltip="Open a saved merge or one that was planned lately"),
    Binding("ctrl+s,w", "save_merge", "save as", show=False, id="merge.save_merge",
            tooltip="Save this merge under a name, with its parameters, to run it again"),
    Binding("f4,E", "external_editor", "$EDITOR", show=False, id="merge.external_editor",
            tooltip="Open the text in $EDITOR; what is saved there comes back"),
    Binding("d", "view('decision')", "why", id="merge.why",
            tooltip="Why the source is materialized, or not"),
    Binding("s", "save_plan", "save", id="merge.save", tooltip="Save the plan as a file"),
    Binding("h", "history", "history", id="merge.history", tooltip="Go to the history of this operation"),
    Binding("y", "copy_text", "copy", id="merge.copy", tooltip="Copy what is shown as text"),
    Binding("Y", "copy_markdown", "copy Markdown", show=False, id="merge.copy_markdown",
            tooltip="Copy the plan as Markdown, for a pull request"),
    Binding("n,alt+n", "app.new_merge", "new", id="merge.new",
            tooltip="Open another merge beside this one, with its own text and plan"),
    Binding("full_stop,alt+right", "app.cycle_merge(1)", "next merge", id="merge.next",
            tooltip="The next of the open merges"),
    Binding("comma,alt+left", "app.cycle_merge(-1)", "merge before", show=False, id="merge.before",
            tooltip="The merge before this one"),
    Binding("X", "close_merge", "close", show=False, id="merge.close",
            tooltip="Close this merge; its text is kept in the drafts folder"),
    Binding("escape", "back", "back", show=False, id="merge.back", tooltip="Back to the text"),
]  # fmt: skip
