"""Session: which Spark this is, and whether it is still there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from typing_extensions import override

from console.places.place import Place
from console.widgets.page import Column, Page, Row, Table, sentence, signed
from console.widgets.page_view import PageView
from console.words.visible import visible
from console.work import Failed, Failure


class SessionPlace(Place):
    PLACE = "session"
    HELP = (
        "Session: where Spark runs, its versions, the policy and the checks of the profile, and the settings that "
        "matter. {app.restart_spark} brings Spark back if it was lost."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reload", "refresh", id="session.refresh", tooltip="Ask Spark again"),
        Binding("s", "stop_server", "stop the server", id="session.stop",
                tooltip="Stop the Spark server that the console has started; asks first"),
        Binding("y", "copy_session", "copy", id="session.copy", tooltip="Copy the session's facts as text"),
    ]  # fmt: skip

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        status = self.console_app.status
        return status.spark == "warm" and not status.is_remote if action == "stop_server" else True

    def __init__(self) -> None:
        super().__init__()
        self.facts: Mapping[str, str] = {}
        """Those that are shown."""
        self._said = ""
        """The state of Spark that the page is about."""

    def compose_body(self) -> Iterable[Widget]:
        yield PageView(id="page")

    def on_mount(self) -> None:
        self.console_app.status_signal.subscribe(self, lambda _: self._status_changed())
        self.action_reload()

    @property
    def page(self) -> PageView:
        return self.query_one("#page", PageView)

    @on(PageView.RowOpened)
    def _row_opened(self, event: PageView.RowOpened) -> None:
        event.stop()
        self.open_row(event, "One setting")

    def spark_is_warm(self) -> None:
        self.action_reload()

    def _status_changed(self) -> None:
        # what is shown is of a Spark that is there
        if self._spark() != self._said:
            self._say_state()

    def action_reload(self) -> None:
        if self.console_app.status.spark != "warm":
            self._say_state()
            return
        self.ask("session", self.backend.describe_session, self._described, self._not_described, of=self._spark)

    def _spark(self) -> str:
        return self.console_app.status.spark

    def _say_state(self) -> None:
        status = self.console_app.status
        self._said, self.facts = status.spark, {}
        if status.spark == "warm":
            self.page.say("Asking Spark…")
        elif status.spark == "lost":
            again = self.console_app.spark_again()
            text = f"Spark at {status.endpoint} is lost. {again}; drafts and history are untouched."
            self.page.show(Page((signed(self.console_app.glyphs.error, "$text-error", text),)))
        else:
            self.page.say(f"Spark at {status.endpoint} is starting.")

    def _described(self, facts: Mapping[str, str]) -> None:
        self.facts = facts
        self._said = "warm"
        rows: list[Row] = [(visible(name), visible(value)) for name, value in facts.items()]
        head = (sentence(f"Spark is warm at {self.console_app.status.endpoint}."),)
        self.page.show(
            Page(
                head,
                Table([Column("what"), Column("value", fit="end")], rows, "Spark tells nothing about itself."),
            )
        )
        if self.focused is None:
            self.page.focus_page()

    def _not_described(self, failure: Failure) -> None:
        self.facts = {}
        self.page.fail(failure)

    def action_stop_server(self) -> None:
        if work := self.console_app.status.work:
            self.notify(f"Spark is {work}: wait for it, or cancel it first.", severity="warning")
            return
        from console.dialogs.confirm import ConfirmDialog

        dialog = ConfirmDialog(
            "Stop the Spark server",
            "Every console that uses it loses Spark, and the frozen sources of saved plans are gone with it. Drafts, "
            "tables and the history stay. The next start takes longer.",
            confirm_label="stop it",
            refuse_label="Cancel",
        )
        self.app.push_screen(dialog, self._stop_confirmed)

    def _stop_confirmed(self, confirmed: bool | None) -> None:
        if confirmed:
            stopped = partial(self._stopped, self.console_app.spark_starts)
            self.ask("stop", self.backend.stop_server, stopped, self._not_stopped)

    def _stopped(self, spark: int, _: None) -> None:
        self.console_app.record("The Spark server was stopped from here.")
        # whoever hears of it says so on every place
        failure = Failure("", "its server was stopped here", unreachable=True)
        self.post_message(Failed(failure, spark))

    def _not_stopped(self, failure: Failure) -> None:
        self.notify(str(failure), title="Not stopped", severity="error")

    def action_copy_session(self) -> None:
        self.copy("\n".join(f"{name}: {value}" for name, value in self.facts.items()), "the session's facts")
