"""A commit while it runs, and what came of it: promise against actual."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical

from console.places.statement.plan_pages import expectation_line
from console.shell import shell_of
from console.widgets.page import Head, Page, sentence, signed
from console.widgets.page_view import PageView, failure_head
from console.widgets.promise import promise_table
from console.words import create_sentences, outcome_sentences, undo_sentences
from console.words.format import duration, short_id
from console.words.glyphs import Glyphs
from console.words.visible import table_name
from console.work import Failure

if TYPE_CHECKING:
    from console.places.place import Place
    from console.words.projection import Projection
    from engine.model.operation import Operation, Outcome
    from engine.model.plans import AnyPlan


PLAN_UNDONE = "PLAN_UNDONE"
"""The error of a plan that was committed, and taken back since."""
NOT_COMMITTED = ("cancelled", "failed", "not_committed")


class CommitPane(Vertical):
    """One commit."""

    DEFAULT_CSS = """
    CommitPane { height: 1fr; }
    """
    HELP: ClassVar[str] = (
        "A commit and what came of it: each promised number beside the one that Delta's commit reports. "
        "{merge.history} goes to the history, {merge.edit} back to the text."
    )

    since = ""

    def compose(self) -> ComposeResult:
        yield PageView(id="commit-page")

    @property
    def glyphs(self) -> Glyphs:
        return shell_of(self).glyphs

    @property
    def page(self) -> PageView:
        return self.query_one("#commit-page", PageView)

    def show_running(self, plan: AnyPlan) -> None:
        what = (
            f"into {table_name(plan.target.name)}" if plan.kind == "merge" else f"({create_sentences.headline(plan)})"
        )
        title = f"Committing plan {short_id(plan.plan_id)} {what}."
        note = sentence("It goes on while you look at other places.", "$foreground-muted")
        self.page.show(Page((sentence(title, "bold"), note), promise_table(plan, None, self.glyphs)))

    def show_outcome(
        self, plan: AnyPlan, outcome: Outcome, projection: Projection | None = None, *, gone: str = "", later: str = ""
    ) -> None:
        """``gone``: what took the commit back since, in words; ``later``: what was committed since to its table."""
        self.since = gone or later
        table = promise_table(plan, outcome, self.glyphs)
        head = outcome_head(plan, outcome, self.glyphs, gone, later)
        if projection is not None:
            took, about = duration(outcome.duration_ms), duration(projection.milliseconds)
            head = (
                *head,
                sentence(f"took {took}; estimated {about} {projection.basis}", "$foreground-muted"),
            )
        self.page.show(Page(head, table))

    def show_failure(
        self, plan: AnyPlan, failure: Failure, settled: Operation | None = None, *, wrote: bool = True
    ) -> None:
        """``settled``: what the ledger has of it, as soon as it was asked; ``wrote``: whether it had begun to write."""
        if failure.cancelled:
            # a cancel that the user asked for is no error
            lines: Head = (signed(self.glyphs.warning, "$text-warning", "The commit was cancelled.", "bold"),)
        else:
            # what to do of a Spark that was lost then is of no use once it is known what became of the commit
            known = settled is not None and settled.status in (*NOT_COMMITTED, "applied")
            shown = replace(failure, hint="") if known and failure.unreachable else failure
            lines = (*failure_head(shown, self.glyphs.error), sentence(""))
        head = (*lines, sentence(cast("Place", self.screen).with_keys(_what_now(failure, settled, wrote))))
        self.page.show(Page(head, promise_table(plan, None, self.glyphs)))


def outcome_head(plan: AnyPlan, outcome: Outcome, glyphs: Glyphs, gone: str = "", later: str = "") -> Head:
    """What a commit did, and what else to know about it."""
    sign, style = (glyphs.ok, "$text-success") if outcome.kept else (glyphs.error, "$text-error")
    head = [signed(glyphs.warning, "$text-warning", gone, "bold")] if gone else []
    # said first: only apply --verify checks them
    head += [expectation_line(one, glyphs) for one in outcome.expectations]
    head += [signed(sign, style, outcome_sentences.outcome(outcome, plan, glyphs.dot), "bold")]
    if outcome.verdict == "disjoint":
        head.append(
            sentence("Others committed since the plan, in rows that it does not write; its source is as planned:")
        )
    head += [sentence(f"  {commit}") for commit in outcome.moved_by]
    if outcome.version is not None and not outcome.already_applied and not gone:
        statement, until = undo_sentences.made(plan, outcome)
        if statement:
            head.append(sentence(f"undo: {statement}"))
        head.append(sentence(until if statement else f"undo is {until}", "$foreground-muted"))
        if later:
            head.append(signed(glyphs.warning, "$text-warning", later))
    return tuple(head)


def _what_now(failure: Failure, settled: Operation | None, wrote: bool) -> str:
    if settled is not None and settled.status == "lost":
        return "Its rows are not in the table. {merge.replan} plans again."
    if failure.condition == PLAN_UNDONE:
        return "{merge.replan} plans again."
    if failure.stale:
        return "The table or the source moved since the plan. Nothing was committed; {merge.replan} plans again."
    if settled is not None and settled.committed_nothing:
        return "There was nothing to commit. {merge.replan} plans again."
    if settled is not None and settled.status == "applied":
        committed = "It was committed before the answer was lost" if failure.unreachable else "It is committed"
        return f"{committed}, as v{settled.version}. {{merge.history}} shows what it did, and takes it back."
    is_settled = settled is not None and settled.status in NOT_COMMITTED
    # a rule refuses the next plan, too
    again = "" if failure.condition.startswith("POLICY_") else " {merge.replan} plans again."
    if not wrote and (is_settled or not again or failure.cancelled or failure.unreachable):
        return f"Nothing was committed: it had not begun to write.{again}"
    if is_settled:
        return f"Nothing was committed: the table's log was asked.{again}"
    if failure.cancelled:
        return "Spark was told to stop. Whether it had committed before is not known yet: the History place says it."
    if failure.unreachable:
        return (
            "Spark was lost while it ran. After a restart ({app.restart_spark}) the History place says whether it "
            "committed."
        )
    return "{merge.replan} plans again, {merge.edit} goes back to the text."
