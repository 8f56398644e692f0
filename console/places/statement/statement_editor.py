"""Where a merge is typed: the editor, the values of its markers, and what Spark says of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, TextArea

from console.drafts import Draft, DraftStore
from console.places.statement.accepted import accepted
from console.places.statement.markers import markers_of, target_of
from console.places.statement.origins import Origins
from console.places.statement.python_hint import PYTHON, PYTHON_HINT
from console.statements.templates import quoted
from console.widgets.editor import SqlEditor
from console.widgets.offers import Offers
from console.widgets.page import Head, Paragraph, sentence, signed
from console.widgets.page_view import failure_head
from console.widgets.parameters import Parameters
from console.widgets.sentences import Sentences
from console.words.visible import is_visible, visible
from console.work import Asking, Failure

if TYPE_CHECKING:
    from console.places.place import Place
    from engine.model.browse import Validation

VALIDATE_AFTER_SECONDS = 0.4
SAVE_AFTER_SECONDS = 0.3
UNDONE = "text before is kept: {editor.undo} in the editor, or"
EDITED = "{} was edited; Spark has not checked it yet."


class ComposePane(Vertical, Asking):
    """One statement. Saved as it is typed, checked by Spark when the typing stops."""

    HELP: ClassVar[str] = "This statement's SQL, saved as you type; Spark checks it when you pause, and runs nothing."

    class Edited(Message):
        """The text or a value of a marker changed."""

    class Checked(Message):
        """Spark has said what it thinks of the text."""

        def __init__(self, *, is_accepted: bool = False) -> None:
            super().__init__()
            self.is_accepted = is_accepted

    class Told(Message):
        """The sentences below the editor changed."""

    def __init__(self, draft_name: str, *, empty: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self.draft_name = draft_name
        self._empty = empty
        """The sentence that shows as long as nothing is typed."""
        self.error_at: tuple[int, int | None] | None = None
        self.plan_is_wanted = False
        """A plan is made as soon as Spark is up."""
        self._latest: Draft | None = None
        """The text that may not be on disk yet."""
        self._given = Draft()
        """The last text that came from elsewhere: not worth keeping until it is edited."""
        self._message_of = Draft("")
        """The text that the sentences below the editor are about."""
        self._saves = itertools.count()
        self.origins = Origins()
        self._values_of: dict[str, dict[str, str]] = {}
        """The values that texts had which may come back."""
        self._save_timer: Timer | None = None
        self._validate_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield SqlEditor(id="editor")
        yield Offers(id="offers")
        yield Parameters(id="parameters")
        yield Sentences(id="message")

    def on_mount(self) -> None:
        self.editor.completer = self._completions
        self.watch(self.editor, "suggestion", self._show_offers)
        self._drafts = DraftStore(self.console_app.home)
        self._restore()

    def on_unmount(self) -> None:
        # the editor is gone by now: its text was kept aside
        if self._latest is None:
            return
        try:
            self._drafts.save(self.draft_name, self._latest, next(self._saves))
        except OSError as error:
            self.console_app.record(f"The draft could not be saved: {error}", "warning")

    @property
    def place(self) -> Place:
        """The place that this is in: its keys are the ones to name."""
        return cast("Place", self.screen)

    @property
    def editor(self) -> SqlEditor:
        return self.query_one("#editor", SqlEditor)

    @property
    def text(self) -> str:
        return self.editor.text

    @property
    def params(self) -> dict[str, str]:
        return self.query_one(Parameters).values

    @property
    def draft(self) -> Draft:
        return Draft(self.text, self.params, self.origins.file)

    def say(self, *paragraphs: Paragraph | str) -> None:
        """Sentences below the editor, about the text that is in it now."""
        self._message_of = self.draft
        self.query_one("#message", Sentences).show(
            sentence(one, "$foreground-muted") if isinstance(one, str) else one for one in paragraphs
        )
        self.post_message(self.Told())

    @property
    def message(self) -> Head:
        """The sentences below the editor."""
        return self.query_one("#message", Sentences).paragraphs

    def _tell(self, text: str) -> None:
        self.say(self.place.with_keys(text))

    def use_text(self, sql: str, params: Mapping[str, str] | None = None, file: str = "") -> None:
        """Other text in the editor, with its values if there are any. What was typed before is put aside, and undo
        brings it back, with its values; else undo does not go past this text."""
        before = self.draft
        # a value that is not given stays as it is
        new = Draft(sql, {**(before.params if before.sql == sql else {}), **(params or {})})
        given, self._given = self._given, new
        self.origins.came(before.sql, sql, file)
        if params is not None:
            if before.sql != sql:
                self._values_of[before.sql] = before.params
            self.query_one(Parameters).remember(params)
        is_own = bool(before.sql.strip()) and not given.holds(before) and not new.holds(before)
        if is_own:
            # undo brings back a text, and its values with it
            kept_by, end = ("values before are kept:", ".params.json") if before.sql == sql else (UNDONE, ".sql")
            try:
                kept = self._drafts.keep(self.draft_name, before)
            except OSError as error:
                self.notify(f"The text before could not be put aside: {error}", severity="warning")
            else:
                told = self.place.with_keys(f"The {kept_by} drafts/")
                self.notify(f"{told}{kept.with_suffix(end).name if kept else ''}.")
        if is_own or self.editor.history.undo_stack:
            self.editor.replace_all(sql)
        else:
            # nothing was typed that undo could bring back
            self.editor.load_text(sql)

    @property
    def target(self) -> str:
        """The table after MERGE INTO, as it is typed so far."""
        return target_of(self.text)

    def discard(self) -> Path | None:
        """Put the text aside for good, and forget the draft. Where it is kept, or None where there is nothing.

        Raises OSError; then the text goes on being saved.
        """
        kept = self._drafts.keep(self.draft_name, self.draft)
        self._drafts.discard(self.draft_name, next(self._saves))
        for timer in (self._save_timer, self._validate_timer):
            if timer is not None:
                timer.stop()
        self._latest = None
        return kept

    def focus_parameters(self) -> None:
        """Give the focus to the value of the first marker."""
        for first in self.query_one(Parameters).query(Input).results(Input):
            first.focus()
            return

    def edit_outside(self) -> None:
        """The text in $EDITOR; what comes back replaces it, and undo brings the old one back."""
        from console.external_editor import EditorError, edit_in, editor_command

        before = self.text
        path = self.console_app.home / "drafts" / f"{self.draft_name}.in-editor.sql"
        try:
            if path.exists() and path.read_bytes() != before.encode():
                self._drafts.put_aside(self.draft_name, path.stem)
            command = editor_command()
            after, failure = before, None
            with self.app.suspend():
                # what is raised in here keeps Textual from taking the terminal back
                try:
                    after = edit_in(command, path, before)
                except (EditorError, OSError) as error:
                    failure = error
            if failure is not None:
                raise failure
        except SuspendNotSupported:
            self.notify("This terminal cannot be lent to another program.", severity="warning")
        except (EditorError, OSError) as error:
            self.notify(str(error), title="Editor", severity="error", timeout=10)
        else:
            if after == before:
                self.notify(f"{command[0]} changed nothing. One with a window of its own has to be told to wait.")
            else:
                self.editor.replace_all(after)

    def _restore(self) -> None:
        draft, told = self._drafts.restored(self.draft_name)
        if told:
            self.notify(told, title="Draft", severity="warning", timeout=10)
        self.query_one(Parameters).remember(draft.params)
        self.origins = Origins(draft.file)
        if draft.sql:
            with self.prevent(TextArea.Changed):
                self.editor.load_text(draft.sql)
        self._text_changed()
        self.post_message(self.Edited())

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._text_changed()
        self.post_message(self.Edited())

    @on(Parameters.Changed)
    def _parameter_typed(self, event: Parameters.Changed) -> None:
        event.stop()
        self.forget_error()
        self._later()
        self.post_message(self.Edited())

    def forget_error(self) -> None:
        """Of a text that is changed, or planned anew: what else was wrong may be mended by now."""
        self.error_at = None
        self.editor.mark_error(None, None)

    def _text_changed(self) -> None:
        self.forget_error()
        self.origins.typed(self.text)
        names = markers_of(self.text)
        if names is not None:
            self.query_one(Parameters).set_names(names)
        if (values := self._values_of.pop(self.text, None)) is not None:
            # undone, and perhaps done again
            if self._latest is not None:
                self._values_of[self._latest.sql] = self._latest.params
            self.query_one(Parameters).remember(values)
        self._later()

    def _later(self) -> None:
        self._latest = self.draft
        self.forget("validate")
        if self.message and self._message_of != self._latest:
            self.say(EDITED.format("The text" if self._message_of.sql != self.text else "A value"))
        for timer in (self._save_timer, self._validate_timer):
            if timer is not None:
                timer.stop()
        self._save_timer = self.set_timer(SAVE_AFTER_SECONDS, self._save)
        self._validate_timer = self.set_timer(VALIDATE_AFTER_SECONDS, self.validate)

    def _save(self) -> None:
        draft, sequence = self._latest, next(self._saves)
        if draft is None:
            return
        self.ask("draft", lambda: self._drafts.save(self.draft_name, draft, sequence), _nothing, self._not_saved)

    def _not_saved(self, failure: Failure) -> None:
        self.notify(f"The draft could not be saved: {failure.message}", severity="warning")

    def stop_validating(self) -> None:
        """A plan says all that a check would, and what it says is not to be overwritten by one."""
        if self._validate_timer is not None:
            self._validate_timer.stop()
        self.forget("validate")

    def validate(self) -> None:
        """Ask Spark what it says of the text."""
        sql, params = self.text, {name: value for name, value in self.params.items() if value}
        if not sql.strip():
            self._tell(self._empty)
            return
        if PYTHON.search(sql):
            self.say(*map(self.place.with_keys, PYTHON_HINT))
            return
        if self.console_app.status.spark != "warm":
            self._tell(
                "Spark is still starting: the plan is made as soon as it is up. {merge.cancel} takes that back."
                if self.plan_is_wanted
                else "The text is saved; Spark checks it as soon as it is up."
            )
            return
        self._learn_names(sql)
        backend = self.console_app.backend
        self.ask(
            "validate",
            lambda: backend.validate(sql, params),
            self._validated,
            self.show_failure,
            of=lambda: (self.text, self.params),
        )

    # Completion

    def _completions(self, before: str, after: str) -> tuple[str, list[str]]:
        from console.completion import completions

        catalog = self.console_app.catalog

        def columns_of(name: str) -> list[str]:
            return [quoted(column.name) for column in catalog.known_columns(name) or ()]

        return completions(before, after, [table.name for table in catalog.known_tables()], columns_of)

    def _show_offers(self) -> None:
        shown, words = self.query_one(Offers), self.editor.offers
        # one word stands in the text already
        if len(words) < 2:
            shown.display = False
            return
        keys = self.place.with_keys("{editor.complete} takes, {editor.offer_next} next")
        shown.show(words, keys, self.editor.cursor_screen_offset, self.editor.region.bottom)

    def _learn_names(self, sql: str) -> None:
        """Ask for the tables there are and for the columns of those that the text names, once."""
        from console.completion import relations

        catalog = self.console_app.catalog
        wanted = [name for name in relations(sql).values() if catalog.known_columns(name) is None]

        def learn() -> None:
            tables = {table.name for table in catalog.load_tables()}
            for name in wanted:
                # half-typed names are not asked for
                if name in tables or "`" in name:
                    catalog.try_columns(name)

        if wanted or not catalog.known_tables():
            self.ask("names", learn, _nothing, lambda _: None)

    def _validated(self, validation: Validation) -> None:
        glyphs = self.console_app.glyphs
        if not validation.ok:
            where = (validation.line, validation.column)
            self.show_failure(Failure(validation.condition, validation.message, validation.hint, *where))
            return
        if validation.kind not in ("merge", "create"):
            no_plan = "This is no MERGE, CREATE or REPLACE TABLE: there is nothing to plan."
            self.say(signed(glyphs.warning, "$text-warning", no_plan))
            return
        missing = self.without_value()
        lines = [*accepted(validation, glyphs, self.place.with_keys, can_plan=not missing), *missing]
        if not is_visible(self.text.replace("\n", " ").replace("\t", " ")):
            lines.append(signed(glyphs.warning, "$text-warning", "The text holds characters that cannot be seen."))
        self.say(*lines)
        self.post_message(self.Checked(is_accepted=True))

    def show_failure(self, failure: Failure) -> None:
        """An error under the editor, and where it is in the text."""
        missing, lines = self.without_value(), list(failure_head(failure, self.console_app.glyphs.error))
        if missing and failure.condition == "UNBOUND_SQL_PARAMETER":
            lines = []  # it is the command line's way to say the same
        if failure.line is not None:
            self.error_at = (failure.line, failure.column)
            self.editor.mark_error(failure.line, failure.column)
            column = f", column {failure.column}" if failure.column is not None else ""
            place = f"line {failure.line}{column}: {self.place.with_keys('{merge.error} goes there')}"
            lines.append(signed(" ", "", place, "$foreground-muted"))
        self.say(*missing, *lines)
        self.post_message(self.Checked())

    def without_value(self) -> list[Paragraph]:
        """The parameters without a value: nothing is planned before they have one."""
        empty = [f":{visible(name)}" for name, value in self.params.items() if not value]
        if not empty:
            return []
        verb = "has no value" if len(empty) == 1 else "have no values"
        goes = self.place.with_keys("{merge.parameters} goes there")
        said = f"{', '.join(empty)} {verb}: {goes}. For an empty text, write '' in the statement."
        return [signed(self.console_app.glyphs.warning, "$text-warning", said)]

    def go_to_error(self) -> None:
        if self.error_at is not None:
            self.editor.go_to(*self.error_at)


def _nothing(_: None) -> None:
    """A save that worked has nothing to say."""
