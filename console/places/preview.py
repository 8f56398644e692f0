"""The preview of a plan: the verdict in four lines, then its views."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from console.format import local_clock, short_id
from console.places import sentences
from console.places.plan_pages import VIEWS
from console.visible import visible
from console.widgets.glyphs import Glyphs
from console.widgets.lines import TabLine
from console.widgets.page_view import PageView

if TYPE_CHECKING:
    from console.app import DeltaMergeApp
    from engine.values import Plan


class Verdict(Static):
    """The first lines of a preview. Drawn anew at every width."""

    DEFAULT_CSS = """
    Verdict { height: auto; padding: 0 1; text-wrap: wrap; }
    """

    plan: Plan | None = None
    edited: reactive[bool] = reactive(False)

    def render(self) -> Content:
        plan = self.plan
        if plan is None:
            return Content("")
        glyphs = cast("DeltaMergeApp", self.app).glyphs
        label = f"plan {short_id(plan.plan_id)} {local_clock(plan.created_at)}"
        width = max(self.size.width, 40)
        head = sentences.headline(plan, glyphs, width - len(label) - 2)
        gap = " " * max(width - len(head) - len(label), 1)
        lines = [
            Content.assemble((head, "bold"), gap, (label, "$foreground-muted")),
            *verdict_lines(plan, glyphs),
        ]
        if self.edited:
            lines.append(
                Content.styled(
                    f"{glyphs.warning} The text was edited since this plan: r plans it again.",
                    "$text-warning",
                )
            )
        return Content("\n").join(lines)


def verdict_lines(plan: Plan, glyphs: Glyphs) -> list[Content]:
    """Counts and files, the decision, what could stop it, what to mind."""
    good, bad = (glyphs.ok, "$text-success"), (glyphs.error, "$text-error")
    mind = (glyphs.warning, "$text-warning")
    refused = plan.refused is not None
    lines = [
        _line(good if not refused else bad, sentences.counts(plan, glyphs.dot), "bold"),
        _line((glyphs.points_to, "$text-primary"), sentences.rewrite(plan)),
        _line(mind if plan.decision.materialize else good, sentences.decision(plan)),
        _line(bad if refused else good, sentences.conflict(plan), "$text-error" if refused else ""),
    ]
    lines += [_line(mind, f"[{remark.code}] {remark.sentence}", "$text-warning") for remark in plan.warnings]
    return lines


def _line(sign: tuple[str, str], text: str, style: str = "") -> Content:
    return Content.assemble("  ", sign, " ", (visible(text), style) if style else visible(text))


class Preview(Vertical):
    """A plan that was looked at and not yet run."""

    DEFAULT_CSS = """
    Preview { height: 1fr; }
    Preview #verdict-scroll { height: auto; max-height: 45%; }
    """
    HELP: ClassVar[str] = (
        "What this merge would do. The first line is the verdict; [ and ] go through the views below it; "
        "c commits exactly this, e edits the text, r plans again."
    )

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.plan: Plan | None = None
        self._view = "files"

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="verdict-scroll", can_focus=False):
            yield Verdict()
        yield TabLine(
            [(name, label) for name, (label, _) in VIEWS.items()],
            "screen.view",
            chosen=self._view,
            id="views",
        )
        yield PageView(id="view")

    def show(self, plan: Plan) -> None:
        """Another plan, in the view that was chosen last."""
        self.plan = plan
        verdict = self.query_one(Verdict)
        verdict.plan = plan
        verdict.edited = False
        verdict.refresh(layout=True)
        # what stops a plan is the first thing to look at
        self.choose("conflicts" if plan.refused is not None else self._view)

    def edited(self, edited: bool) -> None:
        """Say whether the text is another than what was planned."""
        verdict = self.query_one(Verdict)
        if verdict.edited != edited:
            verdict.edited = edited
            verdict.refresh(layout=True)

    def choose(self, view: str) -> None:
        """Show one of the views."""
        if self.plan is None or view not in VIEWS:
            return
        self._view = view
        self.query_one("#views", TabLine).chosen = view
        build = VIEWS[view][1]
        self.query_one("#view", PageView).show(build(self.plan, cast("DeltaMergeApp", self.app).glyphs))

    def cycle(self, step: int) -> None:
        """The next view, or the one before."""
        names = list(VIEWS)
        self.choose(names[(names.index(self._view) + step) % len(names)])

    @property
    def view(self) -> str:
        return self._view

    @property
    def page(self) -> PageView:
        return self.query_one("#view", PageView)
