"""The preview of a plan: the verdict in four lines, then its views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from console.places.plan_diff import before_page
from console.places.statement import create_pages, plan_pages
from console.shell import shell_of
from console.widgets.lines import TabLine
from console.widgets.page import Head, Page, Paragraph, signed
from console.widgets.page_view import PageView
from console.widgets.sentences import Reading, Sentences
from console.words import expectation_sentences, plan_summary
from console.words.format import local_clock, short_id
from console.words.glyphs import Glyphs
from console.words.moved import Moved
from console.words.moved import sentence as moved_sentence
from console.words.schema_changes import evolution

if TYPE_CHECKING:
    from console.places.place import Place
    from console.work import Failure
    from engine.model.plan import Plan
    from engine.model.plans import AnyPlan


ASKED_FOR = {"spark": "Asking Spark for its plan…", "changes": "Asking Spark what changes…"}
OF_ONE_PLAN = ("key", "rehearsal")
"""The views that a plan has once they were asked for."""
EDITED = "The text was edited since this plan: {merge.replan} plans it again."
NONE_BEFORE = "This is the first plan of this statement here: there is none before it to compare with."
AGAIN = " {merge.replan} plans again."
SMALL_ROWS = 28
"""Of a terminal with fewer, the whole verdict would take half on each view: it is shown above the first."""


class Verdict(Sentences):
    """The first lines of a preview. The title is laid out anew at every width."""

    DEFAULT_CSS = """
    Verdict { padding: 0 1; }
    """

    plan: AnyPlan | None = None

    def show_plan(self, plan: AnyPlan, *, since: Sequence[str], glyphs: Glyphs, is_brief: bool) -> None:
        self.plan = plan
        self._glyphs = glyphs
        self.show((brief if is_brief else verdict)(plan, glyphs, since=since))

    def laid_out(self, width: int) -> Content:
        if self.plan is None:
            return Content("")
        plan, glyphs = self.plan, self._glyphs
        label = f"plan {short_id(plan.plan_id)}  {local_clock(plan.created_at)}"
        head = plan_summary.headline(plan, glyphs, width - len(label) - 2)
        gap = " " * max(width - len(head) - len(label), 1)
        title = Content.assemble((head, "bold"), gap, (label, "$foreground-muted"))
        lines = [title] if title.cell_length <= width else title.wrap(max(width, 1))
        return Content("\n").join([*lines, super().laid_out(width)])


def verdict(plan: AnyPlan, glyphs: Glyphs, *, since: Sequence[str] = ()) -> Head:
    """The first lines: what to know before anything else. ``since`` says what changed since the plan was made."""
    return (*_of_plan(plan, glyphs), *_since(since, glyphs))


def brief(plan: AnyPlan, glyphs: Glyphs, *, since: Sequence[str] = ()) -> Head:
    """The first of these lines, and the one of the others that matters most, if one says to mind something."""
    first, *others = _of_plan(plan, glyphs)
    errors = [one for one in others if glyphs.error in one.lead.plain]
    return (first, *[*errors, *_since(since, glyphs), *_remarks(plan, glyphs)][:1])


def _of_plan(plan: AnyPlan, glyphs: Glyphs) -> Head:
    lines = create_pages.verdict(plan, glyphs) if plan.kind == "create_table" else _of_merge(plan, glyphs)
    return (*lines, *_of_policy(plan, glyphs)) if plan.refused is None else lines


def _since(since: Sequence[str], glyphs: Glyphs) -> Head:
    return tuple(signed(f"  {glyphs.warning}", "$text-warning", each, "$text-warning") for each in since)


def _of_policy(plan: AnyPlan, glyphs: Glyphs) -> Iterator[Paragraph]:
    for is_refused, text in plan_summary.policy(plan):
        sign, style = (glyphs.error, "$text-error") if is_refused else (glyphs.warning, "$text-warning")
        yield signed(f"  {sign}", style, text, style)


def _of_merge(plan: Plan, glyphs: Glyphs) -> Head:
    """Counts and files, the decision, what could stop it, what to mind."""

    def line(sign: str, sign_style: str, text: str, style: str = "") -> Paragraph:
        return signed(f"  {sign}", sign_style, text, style)

    good, bad, mind = (
        (glyphs.ok, "$text-success"),
        (glyphs.error, "$text-error"),
        (glyphs.warning, "$text-warning"),
    )
    stopped = line(*bad, plan_summary.conflict(plan), "bold $text-error")
    rows = f"{plan_summary.counts(plan, glyphs.dot)}  ({glyphs.exact} exact)"
    is_loud = plan_summary.rewrites_much(plan)
    loud = (glyphs.warning, "$text-warning") if is_loud else (glyphs.points_to, "$text-primary")
    effect = good if plan.changes_something else (glyphs.points_to, "$text-primary")
    lines = [line(*effect, rows, "bold"), line(*loud, plan_summary.rewrite(plan))]
    if evolves := evolution(plan):
        lines.append(line(*mind, evolves))
    if plan.refused is not None:
        lines = [stopped]
    lines.append(line(*(mind if plan_summary.is_materialized(plan) else good), plan_summary.source(plan)))
    if plan.refused is None:
        twice = plan.find_touched_files.conflicts.true_count
        lines.append(line(*(mind if twice else good), plan_summary.conflict(plan)))
    if plan.expectations and plan.refused is None:
        words = expectation_sentences.summary(plan.expectations)
        if any(expectation_sentences.is_bad(one) for one in plan.expectations):
            lines.append(line(*bad, words, "bold $text-error"))
        else:
            held = all(one.status == "pass" for one in plan.expectations)
            lines.append(line(*(good if held else mind), words))
    return (*lines, *_remarks(plan, glyphs))


def _remarks(plan: AnyPlan, glyphs: Glyphs) -> Iterator[Paragraph]:
    """What is seldom meant: how much of it there is, then each."""
    errors, warnings = plan_summary.by_severity(plan.warnings)
    bad, mind = f"  {glyphs.error}", f"  {glyphs.warning}"
    # a single one tells it itself
    if len(plan.warnings) > 1:
        counted = plan_summary.warnings_counted(plan.warnings)
        sign, style = (bad, "$text-error") if errors else (mind, "$text-warning")
        yield signed(sign, style, counted, "bold")
    for signs, style, remarks in ((bad, "$text-error", errors), (mind, "$text-warning", warnings)):
        for remark in remarks:
            yield signed(signs, style, f"[{remark.code}] {remark.sentence}", style)


class Preview(Vertical):
    """The preview of one plan."""

    DEFAULT_CSS = """
    Preview { height: 1fr; }
    Preview #verdict-scroll { height: auto; max-height: 45%; }
    """
    HELP: ClassVar[str] = (
        "What this statement would do. The first line is the verdict; {merge.view_before} and {merge.view_next} go "
        "through the views below it; "
        "{merge.commit} commits exactly this, {merge.edit} edits the text, {merge.replan} plans again."
    )

    class ViewWanted(Message):
        """A ``view`` that Spark must be asked for was opened for the first time."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.plan: AnyPlan | None = None
        self.typed = ""
        """The key that was looked for last, in this plan or one before."""
        self._asked: dict[str, Page] = {}
        """The pages that Spark was asked for, of this plan."""
        self.before: AnyPlan | None = None
        """The plan before this one, of the same statement and table."""
        self._view = self._chosen = "files"
        self._edited = False
        self._moved: Moved | None = None
        self._became = ""

    def compose(self) -> ComposeResult:
        with Reading(id="verdict-scroll"):
            yield Verdict()
        yield TabLine(
            self._tabs(),
            "screen.view",
            chosen=self._view,
            id="views",
        )
        yield PageView(id="view")

    def _tabs(self) -> list[tuple[str, str]]:
        of_create = self.plan is not None and self.plan.kind == "create_table"
        views = create_pages.VIEWS if of_create else plan_pages.VIEWS
        tabs = [(name, label) for name, (label, _) in views.items()]
        if not of_create:
            tabs += self._expected()
            tabs.append(("spark", "Spark"))
        tabs += [(name, name.capitalize()) for name in OF_ONE_PLAN if name in self._asked]
        return [*tabs, ("before", "Before")] if self.before is not None else tabs

    def _expected(self) -> list[tuple[str, str]]:
        expects = self.plan is not None and self.plan.kind == "merge" and self.plan.expectations
        return [("expectations", "Expectations")] if expects else []

    def show(self, plan: AnyPlan, before: AnyPlan | None = None) -> None:
        """Another plan, in the view that was chosen last; and the one ``before`` it of the same statement, to compare
        if it is of the same table."""
        self.plan = plan
        is_same = before is not None and (before.kind, before.target.path) == (plan.kind, plan.target.path)
        self.before = before if is_same else None
        self._asked.clear()
        if self._chosen == "before" and self.before is None:
            self._chosen = "files"
            if self.screen.is_current:
                self.notify(NONE_BEFORE)
        elif self._chosen in OF_ONE_PLAN:
            self._chosen = "files"
        self._edited, self._moved, self._became = False, None, ""
        self.query_one("#verdict-scroll", Reading).scroll_home(animate=False)
        # what stops a plan is the first thing to look at
        view = "conflicts" if plan.refused is not None else self._chosen
        names = list(dict(self._tabs()))
        self.choose(view if view in names else names[0])

    def edited(self, edited: bool) -> None:
        """Say whether the text is another than what was planned."""
        if self.plan is not None and edited != self._edited:
            self._edited = edited
            self._show_verdict()

    def plan_moved(self, moved: Moved | None) -> None:
        """Say that a table of the plan was committed to since."""
        if moved != self._moved:
            self._moved = moved
            self._show_verdict()

    def plan_became(self, told: str) -> None:
        """Say what became of the plan: it was committed, or taken back since."""
        if told != self._became:
            self._became = told
            self._show_verdict()

    def _show_verdict(self) -> None:
        if self.plan is not None:
            with_keys = cast("Place", self.screen).with_keys
            since = [self._became] if self._became else []
            since += [with_keys(EDITED)] if self._edited else []
            # who moved the table is no matter for a plan that was committed
            if self._moved is not None and not self._became:
                since.append(moved_sentence(self._moved) + with_keys(AGAIN))
            is_first = self._view == next(iter(dict(self._tabs())))
            is_brief = self.app.size.height < SMALL_ROWS and not is_first
            self.query_one(Verdict).show_plan(self.plan, since=since, glyphs=shell_of(self).glyphs, is_brief=is_brief)

    def on_resize(self) -> None:
        self._show_verdict()

    def has(self, view: str) -> bool:
        """Whether the plan has this view."""
        return self.plan is not None and view in dict(self._tabs())

    def choose(self, view: str) -> None:
        """Show one of the views."""
        if self.plan is None or not self.has(view):
            return
        self._view = view
        self._show_verdict()
        line = self.query_one("#views", TabLine)
        line.tabs = self._tabs()
        line.chosen = view
        line.refresh()
        if view in ASKED_FOR and view not in self._asked and not (view == "changes" and self._knows_changes):
            self.page.say(ASKED_FOR[view])
            self.post_message(self.ViewWanted(view))
            return
        glyphs = shell_of(self).glyphs
        self.query_one("#view", PageView).show(self._page_of(self.plan, view, glyphs))

    @property
    def _knows_changes(self) -> bool:
        plan = self.plan
        return plan is not None and plan.kind == "merge" and bool(plan.changes or plan.refused)

    def _page_of(self, plan: AnyPlan, view: str, glyphs: Glyphs) -> Page:
        if view == "before" and self.before is not None:
            return before_page(self.before, plan, glyphs)
        if plan.kind == "create_table":
            return create_pages.VIEWS[view][1](plan, glyphs)
        if view == "expectations":
            return plan_pages.expectations_page(plan.expectations, glyphs)
        return self._asked.get(view) or plan_pages.VIEWS[view][1](plan, glyphs)

    def show_asked(self, view: str, page: Page) -> None:
        """What Spark answered, or that it is on its way."""
        self._asked[view] = page
        if view in OF_ONE_PLAN:
            self._chosen = view
        if view in (self._view, self._chosen):
            self.choose(view)

    def fail_asked(self, view: str, failure: Failure) -> None:
        """Spark gave no answer: the view says why, and asks again when it is opened anew."""
        self._asked.pop(view, None)
        if view == self._view:
            self.page.fail(failure)

    def ask_again(self) -> None:
        """Spark is there again: what it gave no answer to is asked once more."""
        if self.plan is not None and self._view in ASKED_FOR and self._view not in self._asked:
            self.choose(self._view)

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
