"""Merge: write a statement, see what it would do, commit exactly that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher
from typing_extensions import override

from console.drafts import Draft
from console.places.commit_pane import CommitPane
from console.places.compose import ComposePane
from console.places.merge_keys import KEYS
from console.places.plan_pages import spark_page
from console.places.preview import Preview
from console.places.statement import StatementPlace
from console.visible import visible
from console.widgets.lines import TabLine
from console.widgets.running import Running

if TYPE_CHECKING:
    from console.places.templates import Sides
    from console.widgets.page import Page


EMPTY = "Type a MERGE statement, or press {tables.merge} on a table. {merge.plan} plans it and writes nothing."


class MergePlace(StatementPlace):
    PLACE = "merge"
    HELP = (
        "Merge: type a MERGE statement, plan it, look at what it would do, and commit exactly that. "
        "Planning writes nothing. The text is saved as you type and comes back after a crash."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, number: int = 1) -> None:
        super().__init__()
        self.number = number
        self.proposed: Sides | None = None
        """The tables of the last proposal, for another template."""

    def compose_body(self) -> Iterable[Widget]:
        becomes = self.console_app.glyphs.becomes
        yield TabLine(self._merges(), "app.merge", chosen=str(self.number), id="merges")
        yield TabLine(self._steps(), "screen.pane", chosen="compose", id="steps", separator=becomes)
        with ContentSwitcher(initial="compose-pane", id="panes"):
            yield ComposePane(f"merge-{self.number}", empty=EMPTY, id="compose-pane")
            yield Preview(id="preview-pane")
            yield CommitPane(id="commit-pane")
        yield Running(id="running")

    def on_mount(self) -> None:
        self.console_app.merges_signal.subscribe(self, self._merges_changed)
        self._merges_changed(self.number)
        if self.console_app.open_sql and self.number == 1:
            self.use_text(self.console_app.open_sql)
        self.editor.focus()

    # Several merges

    def _merges(self) -> list[tuple[str, str]]:
        return [
            (str(number), f"{number} {visible(table) or 'new'}") for number, table in self.console_app.merges.items()
        ]

    def _merges_changed(self, _number: int) -> None:
        line = self.query_one("#merges", TabLine)
        line.tabs = self._merges()
        # one merge is no choice
        line.display = len(line.tabs) > 1
        line.refresh()
        self.refresh_bindings()

    async def action_close_merge(self) -> None:
        if self.operation is not None:
            self.notify(self._busy(self.operation, "now; wait for it, or {merge.cancel} cancels it."))
            return
        if (kept := self.pane.discard()) is not None:
            self.app.notify(f"The text is kept in drafts/{kept.name}.")
        self.app.run_worker(self.console_app.close_merge(self.number), name="close merge")

    @on(ComposePane.Edited)
    def _name_by_target(self) -> None:
        self.console_app.name_merge(self.number, self.pane.target)

    def use_draft(self, draft: Draft) -> None:
        """A statement from elsewhere with the values of its parameters."""
        self.pane.remember(draft.params)
        self.use_text(draft.sql)

    def use_proposal(self, known: Sides) -> None:
        """An upsert between two tables, ready to be edited; ``t`` makes another kind of merge of them."""
        from console.places.templates import upsert

        self.proposed = known
        self.use_text(upsert(known))

    # Small actions

    @override
    def possible(self) -> dict[str, bool]:
        typing = self.view == "compose"
        looking = self.view == "preview" and self.plan is not None and self.operation is None
        own = {"template": typing, "close_merge": self.number != 1, "open_merge": typing, "save_merge": typing}
        return super().possible() | own | {"find_key": looking}

    def action_find_key(self) -> None:
        if self.plan is None or self.plan.kind != "merge":
            self.notify("There is no plan of a MERGE to look into yet.")
            return
        from console.places.find_key import ask_for_key

        ask_for_key(self, self.plan, self.preview.typed)

    @on(Preview.SparkPlanWanted)
    def _ask_spark_plan(self, event: Preview.SparkPlanWanted) -> None:
        event.stop()
        plan = self.plan
        if plan is None or plan.kind != "merge":
            return
        self.ask(
            "explain",
            lambda: spark_page(self.backend.explain_merge(plan)),
            self._spark_plan_told,
            self.preview.page.fail,
        )

    def _spark_plan_told(self, page: Page) -> None:
        self.preview.show_asked("spark", page)

    def action_template(self) -> None:
        from console.places.propose import propose_template

        propose_template(self)

    def action_open_merge(self) -> None:
        from console.places.saved import ask_which_to_open

        ask_which_to_open(self)

    def action_save_merge(self) -> None:
        if not self.pane.text.strip():
            self.notify("There is no statement to save yet.")
            return
        from console.places.saved import ask_name_to_save

        ask_name_to_save(self)
