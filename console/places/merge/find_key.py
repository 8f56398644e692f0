"""Find a key in a plan: asks for it, asks the engine, shows what becomes of its row and why."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

from console.dialogs.key import KeyDialog
from console.places.statement.plan_pages import nothing_written, sample_lines
from console.status import Job
from console.widgets.page import Column, Head, Page, Paragraph, Row, Table, facts, sentence, signed
from console.widgets.page_view import failure_in
from console.words import plan_summary
from console.words.format import count, elide_end, elide_file
from console.words.glyphs import Glyphs
from console.words.visible import cell, grid_cell, visible
from console.work import Failure

if TYPE_CHECKING:
    from console.places.statement.statement import StatementPlace
    from engine.explore.find_key import ClauseTest, FoundKey, FoundRow
    from engine.model.plan import Clause, Plan

KINDS = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}
NOT_READ, NO_COLUMN = "(not read)", "(no such column)"
"""What is not there: an empty cell is an empty text. The plan knows only the columns of the source that it uses."""
CLAUSE_WIDTH = 44
FILE_WIDTH = 40
VERBS = {"update": "updated", "delete": "deleted", "insert": "inserted"}
FAULTS = {
    "NULL_KEYS_INSERTED": "Its key is written as NULL: no later MERGE finds the row.",
    "DUPLICATE_INSERTS": "Another row with its key is inserted, too.",
    "KEY_EXISTS_OUTSIDE_ON": "The table has its key already, in a row that ON leaves out.",
    "UPDATES_CHANGE_NOTHING": "The update changes no value that is compared.",
    "UPDATES_GO_BACK": "The update gives it a lower version than the table has.",
    "DELETES_BY_ABSENCE": "It is deleted because the source lacks it.",
    "KEYS_COLLIDE_BY_CAST": "Another key of the source becomes equal to its key, by a cast.",
}

OF_PAIRS = "It names both sides, so only rows that ON ties are looked at. Ask about one side for those without a match."


def ask_for_key(place: StatementPlace, plan: Plan, last: str) -> None:
    """Ask for a key, then show in the preview what the plan does to its rows. ``last`` is what was typed before."""
    dialog = KeyDialog(
        "Find a key",
        f"ON {plan_summary.sql_line(plan.statement.condition)}\n\n"
        "A value for each key that it ties, separated by commas, or a predicate about either side.",
        value=last,
        accept_label="find",
        check=lambda _: None,
    )
    place.app.push_screen(dialog, partial(_look, place, plan))


def _look(place: StatementPlace, plan: Plan, typed: str | None) -> None:
    if typed is None or place.plan is not plan:
        return
    operation_id = uuid.uuid4().hex
    place.console_app.begin(Job(operation_id, "looking for a key"))
    if place.view != "preview":
        place.show_view("preview")
    place.preview.typed = typed
    place.preview.show_asked("key", Page((sentence(f"Looking for {typed}…", "$foreground-muted"),)))

    def found(key: FoundKey) -> None:
        place.preview.show_asked("key", key_page(plan, key, place.console_app.glyphs))

    def failed(failure: Failure) -> None:
        head = failure_in(typed, place.of_committed(failure), place.console_app.glyphs)
        place.preview.show_asked("key", Page(head))

    place.ask(
        "find_key",
        lambda: place.backend.find_key(plan, typed, operation_id=operation_id),
        found,
        failed,
        of=lambda: place.plan_id,
        ended=lambda: place.console_app.end(operation_id),
    )


def key_page(plan: Plan, key: FoundKey, glyphs: Glyphs) -> Page:
    """What becomes of each row, above the cells of all of them."""
    predicate = plan_summary.sql_line(" AND ".join(key.asked))
    if not key.rows:
        nothing = "In neither the source nor the target: no row has this key."
        if key.side:
            nothing = f"No row of the {key.side}, which alone it names, fulfils it."
        if key.of_pairs:
            nothing = f"No pair of rows fulfils it. {OF_PAIRS}"
        missing = signed(glyphs.off, "$text-warning", nothing)
        return Page((*nothing_written(plan, glyphs), sentence(predicate, "$foreground-muted"), missing))
    counted = f"the first {len(key.rows)} rows of more" if key.more else count(len(key.rows), "row")
    head: list[Paragraph] = [*nothing_written(plan, glyphs), sentence(f"{predicate}: {counted}", "$foreground-muted")]
    if key.of_pairs:
        head.append(sentence(OF_PAIRS, "$foreground-muted"))
    rows: list[Row] = []
    for number, row in enumerate(key.rows, start=1):
        head += _row_head(plan, row, number if len(key.rows) > 1 else None, glyphs)
        rows += _cells(row, str(number), glyphs)
    columns = [Column("row", align="right"), Column("column"), Column("source"), Column("target")]
    # one row needs no number
    at = 0 if len(key.rows) > 1 else 1
    table = Table(columns[at:], [row[at:] for row in rows], "The values are private.")
    return Page(tuple(head), table)


def _row_head(plan: Plan, row: FoundRow, number: int | None, glyphs: Glyphs) -> Head:
    lead = f"{number}. " if number is not None else ""
    sign = glyphs.points_to if row.change is not None else glyphs.off
    headline = signed(sign, "$text-primary", f"{lead}{fate(row, is_refused=plan.refused is not None)}", "bold")
    tests = [(_clause(plan, test, glyphs), _value(plan, row, test)) for test in row.tests]
    if row.file is not None:
        tests.append(("file", f"{elide_file(visible(row.file), FILE_WIDTH, glyphs.ellipsis)}, {_touched(plan, row)}"))
    lines = [headline, *facts(tests)]
    if row.source_rows > 1:
        rivals = f"{count(row.source_rows, 'source row')} match this target row: see Conflicts."
        lines.append(signed(glyphs.warning, "$text-warning", rivals))
    lines += [signed(glyphs.warning, "$text-warning", f"{FAULTS[code]} [{code}]") for code in row.faults]
    return tuple(lines)


def fate(row: FoundRow, *, is_refused: bool = False) -> str:
    """What becomes of a row, or would if the plan were not refused, in one line."""
    where = {
        "matched": "in the source and the target",
        "not_matched": "only in the source",
        "not_matched_by_source": "only in the target",
    }[row.kind]
    if row.change is not None:
        verb = VERBS[row.change.action]
        same = ""
        if row.change.action == "update" and row.change.before and row.change.before == row.change.shown_after:
            same = ", to the values it has"
        return f"{'would be ' if is_refused else ''}{verb} by clause {row.change.clause + 1}{same}: {where}"
    no = "no clause takes it" if row.tests else f"there is no {KINDS[row.kind]} clause"
    return f"{'not inserted' if row.kind == 'not_matched' else 'unchanged'}: {where}, and {no}"


def _clause(plan: Plan, test: ClauseTest, glyphs: Glyphs) -> str:
    clause: Clause = plan.statement.clauses[test.clause]
    condition = f" AND {clause.condition}" if clause.condition else ""
    text = plan_summary.sql_line(f"{test.clause + 1} {KINDS[clause.kind]}{condition} THEN {clause.action}")
    return elide_end(text, CLAUSE_WIDTH, glyphs.ellipsis)


def _value(plan: Plan, row: FoundRow, test: ClauseTest) -> str:
    if row.change is not None and test.clause > row.change.clause:
        return "not asked: an earlier clause takes the row"
    has_condition = plan.statement.clauses[test.clause].condition is not None
    truth = {True: "true", False: "false", None: "NULL, so not true"}[test.value] if has_condition else "no condition"
    return f"{truth}: takes the row" if row.change is not None and test.clause == row.change.clause else truth


def _touched(plan: Plan, row: FoundRow) -> str:
    if row.touched is None:
        return "of which the plan does not say whether it is touched"
    if plan.refused is not None:
        return "would be touched" if row.touched else "would not be touched"
    if not row.touched:
        return "not touched"
    if plan.write.deletion_vectors:
        replaced = [file.path for file in plan.changed_files if file.updated + file.deleted == file.rows]
        removed = plan_summary.removed_whole(plan)
        if row.file not in replaced or not removed:
            return "rows of it are marked"
        # without a count of rows in the log Delta keeps such a file
        sure = removed == len(replaced)
        return f"{'' if sure else 'rows of it are marked, or '}it is removed: each of its rows changes"
    became = "with it" if row.change is None else "left out" if row.change.action == "delete" else "changed"
    return f"written anew, this row {became}"


def _cells(row: FoundRow, number: str, glyphs: Glyphs) -> list[Row]:
    """Each column of a row, by its side; a changed cell of the target as before → after."""
    source = {name.lower(): cell for name, cell in (row.source or {}).items()}
    names = {name.lower(): name for name in (row.source or {})}
    changes = sample_lines(row.change) if row.change is not None else []
    target = {name: (cell, cell) for name, cell in (row.target or {}).items()}
    target |= {name: (before, after) for name, before, after in changes}
    rows: list[Row] = []
    for name in [*target, *(name for low, name in names.items() if low not in {one.lower() for one in target})]:
        of_source = grid_cell(source.get(name.lower(), NOT_READ)) if row.source else ""
        of_target = _target(row, target[name], glyphs) if name in target else NO_COLUMN if target else ""
        rows.append((number, visible(name), of_source, of_target))
    return rows


def _target(row: FoundRow, cells: tuple[str | None, str | None], glyphs: Glyphs) -> str | None:
    before, after = cells
    action = row.change.action if row.change is not None else None
    if action == "insert":
        return f"{glyphs.insert} {cell(after)}"
    if action == "delete":
        return f"{glyphs.delete} {cell(before)}"
    return grid_cell(before) if before == after else f"{glyphs.changed} {cell(before)} {glyphs.becomes} {cell(after)}"
