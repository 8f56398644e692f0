"""The last question before a commit: what will happen, in counts and names, and how to undo it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button
from typing_extensions import override

from console.dialogs.writing import WritingDialog
from console.widgets.accept import Accept
from console.widgets.lines import where_this_is
from console.widgets.page import Head, Paragraph, sentence, signed
from console.widgets.sentences import Sentences
from console.words import create_sentences, expectation_sentences, outcome_sentences, plan_summary, undo_sentences
from console.words.format import duration, number, short_id
from console.words.moved import Moved
from console.words.moved import sentence as moved_sentence
from console.words.schema_changes import evolution
from console.words.visible import table_name, visible
from engine.model.checks import SILENT_FAULTS

if TYPE_CHECKING:
    from console.words.projection import Projection
    from engine.commit.policy import Broken
    from engine.model.expectation import ExpectationResult
    from engine.model.operation import Rehearsal
    from engine.model.plan import Remark
    from engine.model.plans import AnyPlan


def failing_expectations(plan: AnyPlan) -> tuple[ExpectationResult, ...]:
    """Those that must be accepted."""
    return () if plan.kind == "create_table" else tuple(filter(expectation_sentences.is_bad, plan.expectations))


class CommitDialog(WritingDialog["tuple[str, ...]"]):
    """Gives back the codes of the warnings that were accepted, or None if nothing is to be done."""

    AUTO_FOCUS = "#refuse"
    HELP = "The commit of one plan. Enter or esc changes nothing; {commit.confirm} commits."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "commit", "commit", id="commit.confirm", tooltip="Commit exactly this plan"),
    ]

    def __init__(
        self,
        plan: AnyPlan,
        *,
        edited: bool,
        typed: Broken | None = None,
        projection: Projection | None = None,
        rehearsal: Rehearsal | None = None,
        moved: Moved | None = None,
    ) -> None:
        super().__init__()
        self._plan = plan
        self._edited = edited
        self.to_be_typed = None if typed is None else (typed, plan.target.name)
        self._projection = projection
        self._rehearsal = rehearsal
        self._moved = moved
        to_accept = [one for one in plan.warnings if one.code not in SILENT_FAULTS or one.severity == "error"]
        self._codes = tuple(dict.fromkeys(remark.code for remark in to_accept))
        self._failing = failing_expectations(plan)

    def title_text(self) -> str:
        return f"Commit plan {short_id(self._plan.plan_id)}"

    def compose_content(self) -> Iterable[Widget]:
        plan = self._plan
        yield Sentences(self._head(), id="what")
        if self._codes or self._failing:
            yield Sentences((sentence(""), sentence("To be accepted first (tab goes there, space ticks):")))
        for index, code in enumerate(self._codes):
            # one tick is for all that is told with its code
            yield Sentences(self._warning(one) for one in plan.warnings if one.code == code)
            yield Accept(name=code, id=f"accept-{index}")
        for index, one in enumerate(self._failing):
            yield Sentences(
                (signed(self.console_app.glyphs.error, "$text-error", expectation_sentences.sentence(one)),)
            )
            yield Accept(name=one.code, id=f"expect-{index}")
        others = [one for one in plan.warnings if one.code not in self._codes]
        if others:
            # apart from those above, which are to be accepted
            head = (sentence("To be known:"),) if self._codes or self._failing else ()
            yield Sentences((sentence(""), *head, *(self._warning(one) for one in others)))
        yield from self.compose_typed()

    def _head(self) -> Head:
        title = Content.assemble((table_name(self._plan.target.name), "bold"), f"  {self._versions()}")
        what = (sentence(line) for line in self._what())
        return (Paragraph(title), *self._where(), *what, *self._undo(), *self._review())

    def plan_moved(self, moved: Moved | None) -> None:
        """What was committed to the plan's tables while this is read, None if nothing was."""
        self._moved = moved
        for what in self.query("#what").results(Sentences):  # none yet, if it is about to open
            what.show(self._head())

    def _warning(self, remark: Remark) -> Paragraph:
        text = Content.assemble((f"[{visible(remark.code)}] ", "bold"), visible(remark.sentence, lines=True))
        return signed(self.console_app.glyphs.warning, "$text-warning", text)

    def compose_buttons(self) -> Iterable[Widget]:
        yield Button("Cancel", id="refuse")
        yield Button(Content(self.confirm_label()), id="confirm")

    def confirm_label(self) -> str:
        return self.console_app.with_keys("{commit.confirm}  commit")

    @override
    def missing(self) -> str:
        if not (boxes := self._not_accepted()):
            return super().missing()
        more = f" and {len(boxes) - 1} more" if len(boxes) > 1 else ""
        named = visible(boxes[0].name or "")
        return f"To be accepted first: {named}{more} (tab, then space)."

    @override
    def missing_at(self) -> Widget | None:
        return next(iter(self._not_accepted()), None) or super().missing_at()

    @on(Accept.Changed)
    def _changed(self) -> None:
        self._draw_button()

    @on(Button.Pressed, "#refuse")
    def action_refuse(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed, "#confirm")
    def action_commit(self) -> None:
        self.confirmed((*self._codes, *(one.code for one in self._failing)))

    def _not_accepted(self) -> list[Accept]:
        return [box for box in self.query(Accept) if not box.value]

    def _where(self) -> Head:
        status, glyphs = self.console_app.status, self.console_app.glyphs
        return (Paragraph(where_this_is(status, glyphs)),) if status.production else ()

    def _undo(self) -> Head:
        glyphs = self.console_app.glyphs
        lines: Head = ()
        if self._is_behind:
            return (sentence("undo: to the version before this commit, which is not known yet"), *self._since())
        if self._plan.undo is None or self._plan.undo.possible is not False:
            statement = Content(undo_sentences.undo(self._plan))
            lines = (Paragraph(statement, Content.styled("undo: ", "$foreground-muted")),)
        until = undo_sentences.until_short(self._plan)
        if undo_sentences.is_sure(self._plan):
            lines = (*lines, sentence(f"      {until}", "$foreground-muted"))
        else:
            lines = (*lines, signed(glyphs.warning, "$text-warning", f"undo {until}"))
        return (*lines, *self._since())

    def _since(self) -> Head:
        """What changed since the plan was made."""
        told = ["The text was edited since; what is committed is the plan, not the text."] if self._edited else []
        if self._moved is not None:
            again = " Plan again." if self._moved.is_stale else " Plan again to be sure."
            told.append(f"{moved_sentence(self._moved)}{'' if self._moved.own else again}")
        if self._writing:
            told.append(f"{self._writing} runs now: which version this commit makes is not known.")
        return tuple(signed(self.console_app.glyphs.warning, "$text-warning", each) for each in told)

    def _review(self) -> Head:
        """That the policy lets only plans be committed that were looked at elsewhere: the console does not know it."""
        if not any((one.rule, one.verdict) == ("reviewed_plans", "asks") for one in self._plan.policy):
            return ()
        save = "{merge.save}" if self._plan.kind == "merge" else "{create.save}"
        told = (
            f"The policy refuses this (reviewed_plans) unless the plan was saved, with {save} in the preview, and then "
            "looked at in a shell, under the same profile, with `show PLAN.json`."
        )
        return (signed(self.console_app.glyphs.warning, "$text-warning", self.console_app.with_keys(told)),)

    @property
    def _is_behind(self) -> bool:
        """Whether the table is at another version than the plan's, or may be in a moment, so that what this commit
        makes is not known."""
        return bool(self._writing) or (self._moved is not None and self._moved.is_target)

    @property
    def _writing(self) -> str:
        """What else this console does in the table: a write that ends tells the ledger, and that this dialog."""
        return self.console_app.writing_in(self._plan.target.path)

    def _versions(self) -> str:
        version, becomes = self._plan.target.version, self.console_app.glyphs.becomes
        if self._is_behind:
            return "" if version < 0 else f"planned at v{version}"
        if version < 0:
            return f"new {becomes} v0"
        # a table that is only added to the catalog gets no version
        taken = self._plan.kind == "create_table" and self._plan.operation is None
        return f"v{version}" if taken else f"v{version} {becomes} v{version + 1}"

    def _what(self) -> list[str]:
        """What will happen, a line each."""
        plan = self._plan
        if plan.kind == "create_table":
            lines = [create_sentences.headline(plan), create_sentences.summary(plan)]
            lines += [create_sentences.rows_written(plan), create_sentences.leaving(plan)]
            return [line for line in lines if line]
        lines = [self._counts(), plan_summary.rewrite(plan), *filter(None, [evolution(plan)])]
        if self._rehearsal is not None:
            return [*lines, outcome_sentences.rehearsal(self._rehearsal)]
        return lines if self._projection is None else [*lines, self._takes(self._projection)]

    def _takes(self, projection: Projection) -> str:
        took = duration(projection.milliseconds)
        return f"takes about {took} ({self.console_app.glyphs.estimated} {projection.basis})"

    def _counts(self) -> str:
        promise = self._plan.promise
        return "   ".join(
            f"{number(promise.get(metric))} {word}"
            for metric, word in (
                (plan_summary.UPDATED, "updated"),
                (plan_summary.INSERTED, "inserted"),
                (plan_summary.DELETED, "deleted"),
            )
        )
