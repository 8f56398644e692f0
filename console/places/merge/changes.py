"""What a plan changes by column, asked when its view is opened."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from console.places.statement.plan_pages import changes_page
from console.places.statement.preview import ASKED_FOR
from console.status import Job
from console.widgets.page import Page, sentence

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace
    from engine.model.changes import Changes
    from engine.model.plan import Plan


def ask_for_changes(place: StatementPlace, plan: Plan) -> None:
    """Ask the engine, and show the answer in the preview of that plan."""
    operation_id = uuid.uuid4().hex
    place.console_app.begin(Job(operation_id, "reading changes"))

    def found(changes: Changes) -> None:
        place.preview.show_asked("changes", changes_page(changes, place.console_app.glyphs))

    place.preview.show_asked("changes", Page((sentence(ASKED_FOR["changes"], "$foreground-muted"),)))
    place.ask(
        "changes",
        lambda: place.backend.changes(plan, operation_id=operation_id),
        found,
        lambda failure: place.preview.fail_asked("changes", place.of_committed(failure)),
        of=lambda: place.plan_id,
        ended=lambda: place.console_app.end(operation_id),
    )
