"""The keys of every place of a statement; their ids begin with the place, so that each can be chosen by itself."""

from __future__ import annotations

from textual.binding import Binding

VIEWS_GROUP = Binding.Group("views", compact=True)
OUT_AND_BACK = "Out of a field, and back to the text"


def to_write_it(place: str) -> list[Binding]:
    """What is done with a text; on a narrow key line these have room first."""
    return [
        # in a field every plain key is typed: the way out is named first
        Binding("escape", "leave_field", "leave the field", id=f"{place}.back", tooltip=OUT_AND_BACK),
        Binding("c", "commit", "commit…", id=f"{place}.commit", tooltip="Commit exactly this plan; asks first"),
        # the same key, and so the same id, where a plan can never be committed: what it gives is a reason
        Binding("c", "why_not_commit", "why not commit", id=f"{place}.commit",
                tooltip="Why this plan cannot be committed"),
        Binding("x", "cancel", "cancel", id=f"{place}.cancel", tooltip="Cancel the plan or the commit that runs"),
        Binding("ctrl+r,f5,p", "plan", "plan", id=f"{place}.plan",
                tooltip="Plan the statement: see what it would do"),
        Binding("e,i", "edit", "edit", id=f"{place}.edit", tooltip="Go to the text"),
        Binding("alt+v", "parameters", "values", id=f"{place}.parameters",
                tooltip="Go to the values of the :parameters, and back to the text"),
        Binding("f8", "go_to_error", "to the error", id=f"{place}.error", tooltip="Go to where the error is"),
    ]  # fmt: skip


def to_order_its_parts(place: str, part: str) -> list[Binding]:
    """A ``part`` of a form is a clause or a column."""
    return [
        Binding("ctrl+z", "undo_change", "undo", show=False, id=f"{place}.undo_change",
                tooltip="Take the last change in the form back"),
        Binding("J", f"move_{part}(1)", "move down", show=False, id=f"{place}.move_down",
                tooltip=f"Move the {part} under the cursor down"),
        Binding("K", f"move_{part}(-1)", "move up", show=False, id=f"{place}.move_up",
                tooltip=f"Move the {part} under the cursor up"),
    ]  # fmt: skip


def to_look_at_it(place: str) -> list[Binding]:
    """The plan and its views."""
    return [
        Binding("v", "preview", "preview", id=f"{place}.preview",
                tooltip="Back to the last plan; from its text, to what came of it if it is committed"),
        Binding("r", "replan", "re-plan", id=f"{place}.replan",
                tooltip="In the preview or after a commit: plan the text again"),
        Binding("left_square_bracket", "cycle(-1)", "view before", id=f"{place}.view_before",
                group=VIEWS_GROUP, tooltip="The view before this one"),
        Binding("right_square_bracket", "cycle(1)", "next view", id=f"{place}.view_next",
                group=VIEWS_GROUP, tooltip="The next view"),
    ]  # fmt: skip


def to_take_it_along(place: str) -> list[Binding]:
    """Files, the clipboard and the way back."""
    return [
        Binding("f4,E", "external_editor", "$EDITOR", show=False, id=f"{place}.external_editor",
                tooltip="Open the text in $EDITOR; what is saved there comes back"),
        Binding("s", "save_plan", "save", id=f"{place}.save", tooltip="Save the plan as a file"),
        # the key that saves the text where that is shown
        Binding("ctrl+s", "save_plan", "save", show=False, id=f"{place}.save_plan", tooltip="Save the plan as a file"),
        Binding("h", "history", "history", id=f"{place}.history", tooltip="Go to the history of this operation"),
        Binding("y", "copy_text", "copy", id=f"{place}.copy", tooltip="Copy what is shown as text"),
        Binding("Y", "copy_markdown", "copy Markdown", show=False, id=f"{place}.copy_markdown",
                tooltip="Copy the plan as Markdown, for a pull request"),
        Binding("escape", "back", "back", show=False, id=f"{place}.back", tooltip=OUT_AND_BACK),
    ]  # fmt: skip
