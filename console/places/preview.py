"""The preview of a plan: the verdict in four lines, then its views."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from console.format import local_clock, short_id
from console.places import create_pages, plan_pages, sentences
from console.places.before import before_page
from console.widgets.glyphs import Glyphs
from console.widgets.lines import TabLine
from console.widgets.page import Head, Page, Paragraph, signed
from console.widgets.page_view import PageView
from console.widgets.sentences import Sentences

if TYPE_CHECKING:
    from console.app import DeltaMergeApp
    from engine.plans import AnyPlan
    from engine.values import Plan


class Verdict(Sentences):
    """The first lines of a preview. The title is laid out anew at every width."""

    DEFAULT_CSS = """
    Verdict { padding: 0 1; }
    """

    plan: AnyPlan | None = None

    def show_plan(self, plan: AnyPlan, *, edited: bool, glyphs: Glyphs) -> None:
        self.plan = plan
        self._glyphs = glyphs
        self.show(verdict(plan, glyphs, edited=edited))

    def laid_out(self, width: int) -> Content:
        if self.plan is None:
            return Content("")
        plan, glyphs = self.plan, self._glyphs
        label = f"plan {short_id(plan.plan_id)}  {local_clock(plan.created_at)}"
        head = sentences.headline(plan, glyphs, width - len(label) - 2)
        gap = " " * max(width - len(head) - len(label), 1)
        title = Content.assemble((head, "bold"), gap, (label, "$foreground-muted"))
        return Content.assemble(title, "\n", super().laid_out(width))


def verdict(plan: AnyPlan, glyphs: Glyphs, *, edited: bool) -> Head:
    """The first lines: what to know before anything else, and that the text is another by now."""
    lines = create_pages.verdict(plan, glyphs) if plan.kind == "create_table" else _of_merge(plan, glyphs)
    if not edited:
        return lines
    told = "The text was edited since this plan: r plans it again."
    return (*lines, signed(f"  {glyphs.warning}", "$text-warning", told, "$text-warning"))


def _of_merge(plan: Plan, glyphs: Glyphs) -> Head:
    """Counts and files, the decision, what could stop it, what to mind."""

    def line(sign: str, sign_style: str, text: str, style: str = "") -> Paragraph:
        return signed(f"  {sign}", sign_style, text, style)

    good, bad, mind = (
        (glyphs.ok, "$text-success"),
        (glyphs.error, "$text-error"),
        (glyphs.warning, "$text-warning"),
    )
    stopped = line(*bad, sentences.conflict(plan), "bold $text-error")
    counted = f"{sentences.counts(plan, glyphs.dot)}  ({glyphs.exact} exact)"
    lines = [line(*good, counted, "bold"), line(glyphs.points_to, "$text-primary", sentences.rewrite(plan))]
    if plan.refused is not None:
        lines = [stopped]
    lines.append(line(*(mind if plan.decision.materialize else good), sentences.decision(plan)))
    if plan.refused is None:
        lines.append(line(*good, sentences.conflict(plan)))
    lines += [line(*mind, f"[{remark.code}] {remark.sentence}", "$text-warning") for remark in plan.warnings]
    return tuple(lines)


class Preview(Vertical):
    """A plan that was looked at and not yet run."""

    DEFAULT_CSS = """
    Preview { height: 1fr; }
    Preview #verdict-scroll { height: auto; max-height: 45%; }
    """
    HELP: ClassVar[str] = (
        "What this statement would do. The first line is the verdict; [ and ] go through the views below it; "
        "c commits exactly this, e edits the text, r plans again."
    )

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.plan: AnyPlan | None = None
        self.before: AnyPlan | None = None
        """The plan before this one, of the same text."""
        self._view = self._chosen = "files"
        self._edited = False

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="verdict-scroll", can_focus=False):
            yield Verdict()
        yield TabLine(
            self._tabs(),
            "screen.view",
            chosen=self._view,
            id="views",
        )
        yield PageView(id="view")

    def _tabs(self) -> list[tuple[str, str]]:
        views = create_pages.VIEWS if self.plan is not None and self.plan.kind == "create_table" else plan_pages.VIEWS
        shown = [(name, label) for name, (label, _) in views.items()]
        return [*shown, ("before", "Before")] if self.before is not None else shown

    def show(self, plan: AnyPlan, before: AnyPlan | None = None) -> None:
        """Another plan, in the view that was chosen last; and the one ``before`` it, to compare."""
        self.plan = plan
        self.before = before
        self.query_one("#views", TabLine).tabs = self._tabs()
        self._edited = False
        self._show_verdict()
        # what stops a plan is the first thing to look at
        wanted = "conflicts" if plan.refused is not None else self._chosen
        names = list(dict(self._tabs()))
        self.choose(wanted if wanted in names else names[0])

    def edited(self, edited: bool) -> None:
        """Say whether the text is another than what was planned."""
        if self.plan is not None and edited != self._edited:
            self._edited = edited
            self._show_verdict()

    def _show_verdict(self) -> None:
        if self.plan is not None:
            glyphs = cast("DeltaMergeApp", self.app).glyphs
            self.query_one(Verdict).show_plan(self.plan, edited=self._edited, glyphs=glyphs)

    def choose(self, view: str) -> None:
        """Show one of the views."""
        if self.plan is None or view not in dict(self._tabs()):
            return
        self._view = view
        line = self.query_one("#views", TabLine)
        line.chosen = view
        line.refresh()
        glyphs = cast("DeltaMergeApp", self.app).glyphs
        self.query_one("#view", PageView).show(self._page_of(self.plan, view, glyphs))

    def _page_of(self, plan: AnyPlan, view: str, glyphs: Glyphs) -> Page:
        if view == "before" and self.before is not None:
            return before_page(self.before, plan, glyphs)
        if plan.kind == "create_table":
            return create_pages.VIEWS[view][1](plan, glyphs)
        return plan_pages.VIEWS[view][1](plan, glyphs)

    def turn_to(self, view: str) -> None:
        """Show one of the views, for this plan and the next ones."""
        self._chosen = view
        self.choose(view)

    def cycle(self, step: int) -> None:
        """The next view, or the one before."""
        names = list(dict(self._tabs()))
        self.turn_to(names[(names.index(self._view) + step) % len(names)])

    @property
    def view(self) -> str:
        return self._view

    @property
    def page(self) -> PageView:
        return self.query_one("#view", PageView)
