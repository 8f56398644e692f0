"""Rehearse a plan from its preview: say what it costs, run it beside all else, show what Delta did on the clone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from console.places.statement.plan_pages import expectation_line
from console.progress import reporter
from console.widgets.page import Column, Head, Page, Row, Table, sentence, signed
from console.widgets.page_view import failure_head
from console.words import outcome_sentences
from console.words.expectation_sentences import is_bad
from console.words.format import number, short_id
from console.words.glyphs import Glyphs
from console.words.plan_rows import beside_promise
from console.words.visible import table_name, visible
from console.work import Failure

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace
    from engine.model.operation import Rehearsal
    from engine.model.plan import Estimate, Plan

VIEW = "rehearsal"


def ask_to_rehearse(place: StatementPlace, plan: Plan) -> None:
    """Say what a rehearsal costs, and rehearse if that is confirmed."""
    from console.dialogs.confirm import ConfirmDialog
    from engine.commit.policy import why_not_writable
    from engine.commit.rehearse import COST

    if (refused := why_not_writable(place.backend.policy)) is not None:
        place.notify(str(refused), severity="error")
        return
    dialog = ConfirmDialog(
        f"Rehearse plan {short_id(plan.plan_id)}",
        f"{COST}\n{table_name(plan.target.name)} is not written.",
        confirm_label="rehearse",
        refuse_label="Cancel",
    )
    place.app.push_screen(dialog, partial(_rehearse, place, plan))


def _rehearse(place: StatementPlace, plan: Plan, confirmed: bool | None) -> None:
    if not confirmed:
        return
    if place.plan is not plan or place.operation is not None:
        reason = "Another plan is shown by now." if place.plan is not plan else "It is at work already."
        place.notify(f"Nothing was rehearsed. {reason}", severity="error")
        return
    operation_id = place.begin("rehearsing").operation_id
    place.rehearsal = None
    if place.view != "preview":
        place.show_view("preview")
    waits = "Delta runs this MERGE on a clone; it goes on while you look at other places."
    place.preview.show_asked(VIEW, Page((sentence(waits, "$foreground-muted"),)))

    def rehearsed(rehearsal: Rehearsal) -> None:
        place.was_rehearsed(rehearsal)
        is_good = rehearsal.kept and not any(map(is_bad, rehearsal.expectations))
        summary = f"Plan {short_id(plan.plan_id)} {outcome_sentences.rehearsal(rehearsal)}."
        place.console_app.record(summary, "information" if is_good else "error")
        _end(place, summary, is_good=is_good)
        place.preview.show_asked(VIEW, rehearsal_page(rehearsal, plan.estimates, place.console_app.glyphs))

    def failed(failure: Failure) -> None:
        text = "The rehearsal was cancelled; its clone is dropped." if failure.cancelled else str(failure)
        _end(place, text, is_good=failure.cancelled)
        head: Head = failure_head(failure, place.console_app.glyphs.error)
        if failure.cancelled:
            head = (signed(place.console_app.glyphs.warning, "$text-warning", text),)
        place.preview.show_asked(VIEW, Page(head))

    place.ask(
        "rehearse",
        lambda: place.backend.rehearse(plan, operation_id=operation_id, on_progress=reporter(place, operation_id)),
        rehearsed,
        failed,
    )


def _end(place: StatementPlace, summary: str, *, is_good: bool) -> None:
    place.end()
    if place.app.screen is not place:
        place.notify(summary, title="Rehearsal", severity="information" if is_good else "error")


def rehearsal_page(rehearsal: Rehearsal, estimates: Mapping[str, int | Estimate], glyphs: Glyphs) -> Page:
    """What Delta did on the clone, each number beside the one of the plan, which has ``estimates`` too."""
    sign, style = (glyphs.ok, "$text-success") if rehearsal.kept else (glyphs.error, "$text-error")
    dropped = outcome_sentences.clone_is_dropped(rehearsal)
    stale = outcome_sentences.stale(rehearsal)
    head = (
        *(expectation_line(one, glyphs) for one in rehearsal.expectations),
        signed(sign, style, outcome_sentences.rehearsal(rehearsal), "bold"),
        *((signed(glyphs.warning, "$text-warning", stale),) if stale else ()),
        sentence(dropped, "$foreground-muted"),
    )
    deviating = {one.metric: one for one in rehearsal.deviations}
    promised = {**({} if rehearsal.refused else rehearsal.promise), **{n: o.promised for n, o in deviating.items()}}
    actual = {**rehearsal.metrics, **{name: one.actual for name, one in deviating.items()}}
    rows: list[Row] = []
    for metric in dict.fromkeys((*deviating, *promised, *actual)):
        if metric in promised:
            shown = _shown(promised[metric])
            word = f"{glyphs.error} DEVIATED" if metric in deviating else f"{glyphs.ok} kept"
        else:
            shown, word = beside_promise(estimates.get(metric))
        rows.append((visible(metric), shown, _shown(actual.get(metric)), word))
    columns = [
        Column("metric"),
        Column("plan", align="right"),
        Column("clone", align="right"),
        Column("", failed=lambda at: "DEVIATED" in (rows[at][-1] or "")),
    ]
    return Page(head, Table(columns, rows, "There are no numbers to compare."))


def _shown(value: int | str | None) -> str:
    return visible(value) if isinstance(value, str) else number(value)
