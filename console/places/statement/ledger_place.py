"""What the ledger knows of the plan that is shown: how long it may take, what moved since, what became of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from console.places.statement.commit_pane import NOT_COMMITTED
from console.places.statement.steps_place import EVER, RECENT, StepsPlace, newest_of
from console.words import outcome_sentences, undo_sentences
from console.words.format import short_id
from console.words.moved import Moved, moved_since, moved_to, newest_since
from console.words.moved import sentence as moved_sentence
from console.work import Failure

if TYPE_CHECKING:
    from console.dialogs.commit import CommitDialog
    from console.words.projection import Projection
    from engine.model.operation import Operation as Recorded
    from engine.model.plans import AnyPlan


class LedgerPlace(StepsPlace):
    """Keeps up with what this console and others commit. Spark is asked before a commit, and by who comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.projection: Projection | None = None
        """How long the commit of the plan may take, as soon as the ledger was asked."""
        self.planning_began = EVER
        self.moved: Moved | None = None
        """What was committed since the plan to a table that it writes or reads."""
        self._seen_version = -1
        """The newest version of the target that Spark told of, since the plan."""
        self.dialog: CommitDialog | None = None
        """The one that asks whether to commit the plan, while it is open."""

    def on_screen_resume(self) -> None:
        # the plan may be an hour old, and look new
        if self.plan is not None and not self.has_commit and self.console_app.status.spark == "warm":
            self._ask_version(self.plan)

    @property
    def is_committed(self) -> bool:
        """Whether the plan that is shown was committed, here or elsewhere."""
        return self.committed is not None or (self.moved is not None and self.moved.own is not None)

    def _project(self, plan: AnyPlan) -> None:
        if plan.kind != "merge":
            return

        def look() -> Projection | None:
            from console.words.projection import projected

            return projected(plan, self.backend.outcomes())

        def found(projection: Projection | None) -> None:
            self.projection = projection

        # if the ledger cannot be read, the places that need it say so
        self.ask("projection", look, found, lambda _: None, of=lambda: self.plan_id)

    # After a commit, here or elsewhere

    def _tell_of_commit(self, what: str, how_on: str = "") -> None:
        """What stands below the text that was planned; below another one stands what Spark says of that. ``how_on``
        names keys: ``what`` may name a table."""
        if not self.is_edited:
            self.pane.say(what + self.with_keys(how_on))

    def _tell_of_failed(self, plan: AnyPlan, became: str) -> None:
        self._tell_of_commit(f"Plan {short_id(plan.plan_id)} of this text was to be committed: {became}.")

    @override
    def ledger_changed(self) -> None:
        if self.failed is not None:
            self._ask_what_became(*self.failed)
        # what is shown of a commit may be taken back, and be there again
        plan, committed = self.plan, self.committed
        if plan is not None:
            self._ask_what_moved(plan)
        if plan is None or committed is None or not committed.op_id:
            return

        def look() -> tuple[str, str]:
            listed = self.backend.history(plan.target.path, RECENT)
            status = next((one.status for one in listed if one.op_id == committed.op_id), "applied")
            return undo_sentences.GONE.get(status, ""), undo_sentences.later(
                plan, newest_since(committed.op_id, listed)
            )

        def found(since: tuple[str, str]) -> None:
            gone, later = since
            before = self.commit_pane.since
            if (gone or later) == before:
                return
            self.commit_pane.show_outcome(plan, committed, self.projection, gone=gone, later=later)
            already = outcome_sentences.committed_already(committed)
            self.preview.plan_became(f"{already} {gone}".rstrip())
            if gone or before in undo_sentences.GONE.values():
                became = gone or "Its rows are there again."
                self._tell_of_commit(f"Plan {short_id(plan.plan_id)} of this text was committed. {became}")

        self.ask("taken back", look, found, lambda _: None, of=lambda: (self.plan_id, self.committed))

    def _ask_version(self, plan: AnyPlan) -> None:
        """Others commit too, of whom the ledger knows nothing: Spark is asked."""
        if plan.target.version < 0:
            return  # there is no such table yet

        def found(version: int) -> None:
            self._seen_version = version
            self._ask_what_moved(plan)

        # if it cannot be asked, apply says so
        self.ask(
            "version",
            lambda: self.backend.table_version(plan.target.path),
            found,
            lambda _: None,
            of=lambda: self.plan_id,
        )

    def _ask_what_moved(self, plan: AnyPlan) -> None:
        if self.has_commit:
            return  # it is this commit that moved the table

        def found(known: Moved | None) -> None:
            moved = known or moved_to(plan, self._seen_version)
            if moved is not None and moved.own is not None and moved != self.moved:
                self._tell_of_commit(moved_sentence(moved))
            self.moved = moved
            self.refresh_bindings()
            self.preview.plan_moved(moved)
            if self.dialog is not None:
                self.dialog.plan_moved(moved)

        self.ask(
            "moved",
            lambda: moved_since(plan, self.planning_began, partial(self.backend.history, limit=RECENT)),
            found,
            lambda _: None,
            of=lambda: (self.plan_id, self.operation, self.committed),
        )

    def _ask_what_became(self, plan: AnyPlan, failure: Failure) -> None:
        """The ledger has it: if Spark answers, as soon as the commit ends, else when Spark is there again."""

        def found(newest: Recorded | None) -> None:
            if newest != self.became:
                self.became = newest
                self.commit_pane.show_failure(plan, failure, newest)
                if newest is not None and newest.status in NOT_COMMITTED:
                    self._tell_of_failed(plan, "nothing was committed")
                elif newest is not None and newest.status == "applied":
                    self._tell_of_failed(plan, f"it is committed, as v{newest.version}")

        self.ask(
            "settled",
            lambda: newest_of(plan.plan_id, self.backend.history(limit=RECENT), self.commit_began),
            found,
            lambda _: None,
            of=lambda: (self.plan_id, self.operation, self.committed),
        )
