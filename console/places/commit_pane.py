"""A commit while it runs, and what came of it: promise against actual."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from console.format import short_id
from console.places import sentences
from console.visible import visible
from console.widgets.glyphs import Glyphs
from console.widgets.page import Page
from console.widgets.page_view import PageView, failure_text
from console.widgets.promise import promise_table
from console.work import Failure

if TYPE_CHECKING:
    from console.app import DeltaMergeApp
    from engine.values import Outcome, Plan


class CommitPane(Vertical):
    """One commit."""

    DEFAULT_CSS = """
    CommitPane { height: 1fr; }
    """
    HELP: ClassVar[str] = (
        "A commit and what came of it: each promised number beside the one that Delta's commit reports. "
        "h goes to the history, e back to the text."
    )

    def compose(self) -> ComposeResult:
        yield PageView(id="commit-page")

    @property
    def glyphs(self) -> Glyphs:
        return cast("DeltaMergeApp", self.app).glyphs

    @property
    def page(self) -> PageView:
        return self.query_one("#commit-page", PageView)

    def show_running(self, plan: Plan) -> None:
        head = Content.assemble(
            (f"Committing plan {short_id(plan.plan_id)}", "bold"),
            f" into {visible(plan.target.name)}. ",
            ("It goes on while you look at other places.", "$foreground-muted"),
        )
        self.page.show(Page(head, promise_table(plan, None, self.glyphs)))

    def show_outcome(self, plan: Plan, outcome: Outcome) -> None:
        self.page.show(
            Page(outcome_head(plan, outcome, self.glyphs), promise_table(plan, outcome, self.glyphs))
        )

    def show_failure(self, plan: Plan, failure: Failure) -> None:
        lines = [failure_text(failure, self.glyphs.error)]
        lines.append(Content(""))
        lines.append(Content(_what_now(failure)))
        self.page.show(Page(Content("\n").join(lines), promise_table(plan, None, self.glyphs)))


def outcome_head(plan: Plan, outcome: Outcome, glyphs: Glyphs) -> Content:
    """What a commit did, and what else is to know of it."""
    mark = (f"{glyphs.ok} ", "$text-success") if outcome.kept else (f"{glyphs.error} ", "$text-error")
    lines = [Content.assemble(mark, (sentences.outcome(outcome, plan, glyphs.dot), "bold"))]
    if outcome.verdict == "disjoint":
        lines.append(Content("Others committed since the plan, without touching what it touches:"))
    lines += [Content.assemble("  ", visible(commit)) for commit in outcome.moved_by]
    if outcome.version is not None and not outcome.already_applied:
        lines.append(Content.assemble(("undo: ", "$foreground-muted"), sentences.undo(plan)))
    return Content("\n").join(lines)


def _what_now(failure: Failure) -> str:
    if failure.stale:
        return "The table or the source moved since the plan. Nothing was committed; r plans again."
    if failure.cancelled:
        return "It was cancelled. The History place says whether it had committed before (h)."
    if failure.unreachable:
        return (
            "Spark was lost while it ran. After a restart (F9) the History place says whether it committed."
        )
    return "r plans again, e goes back to the text."
