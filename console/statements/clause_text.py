"""One WHEN clause of a MERGE: what a form holds of it, and the edits that make its text say something else. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.model.plan import ActionKind, ClauseKind
    from engine.sql.parse import MergeClause
    from engine.sql.resolve import Side
    from engine.sql.sql_text import Token

HEADS: dict[ClauseKind, str] = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}
LINE = 66

Edit = tuple[int, int, str]
"""``[start, end)`` of a text, and what comes there instead."""


@dataclass(frozen=True)
class FormClause:
    """``condition``, ``assignments`` (column, expression) and ``action`` are SQL text as typed; "" without condition.

    ``by_columns``: ``star`` or ``assignments`` say all of the action.
    """

    kind: ClauseKind
    action_kind: ActionKind
    condition: str = ""
    star: bool = False
    assignments: tuple[tuple[str, str], ...] = ()
    action: str = ""
    by_columns: bool = True


def form_clause(clause: MergeClause) -> FormClause:
    return FormClause(
        kind=clause.kind,
        action_kind=clause.action_kind,
        condition=clause.condition or "",
        star=clause.star,
        assignments=clause.assignments,
        action=clause.action,
        by_columns=clause.star or _says_all(clause.action_kind, clause.action),
    )


def column_set(column: str, target: Side) -> str:
    """The column of ``target`` that an assignment to ``column`` sets or has a field of; "" if it has none."""
    from engine.sql.resolve import as_column, resolve

    return next(iter(resolve(as_column(column), [target]).target_columns), "")


def clause_sql(clause: FormClause, newline: str = "\n") -> str:
    """The clause as a new text."""
    condition = f" AND {clause.condition}" if clause.condition else ""
    return f"{HEADS[clause.kind]}{condition} THEN {action_sql(clause, newline)}"


def action_sql(clause: FormClause, newline: str = "\n") -> str:
    if clause.action_kind == "delete":
        return "DELETE"
    if clause.action_kind == "update":
        return "UPDATE SET " + ("*" if clause.star else _listed([f"{a} = {b}" for a, b in clause.assignments], newline))
    if clause.star:
        return "INSERT *"
    columns, values = (_listed([pair[side] for pair in clause.assignments], newline) for side in (0, 1))
    return f"INSERT ({columns}) VALUES ({values})"


def _listed(items: Sequence[str], newline: str) -> str:
    line = ", ".join(items)
    return line if len(line) <= LINE else f",{newline}    ".join(items)


def action_edits(sql: str, begin: int, old: FormClause, new: FormClause) -> list[Edit]:
    """What makes the action at ``begin`` of ``sql`` that of ``new``: only the columns that differ are touched."""
    action = (old.action_kind, old.star, old.assignments)
    if action == (new.action_kind, new.star, new.assignments):
        return []
    kept = {column for column, _ in old.assignments} & {column for column, _ in new.assignments}
    if action[:2] != (new.action_kind, new.star) or not old.by_columns or not kept:
        newline = "\r\n" if "\r\n" in sql else "\n"
        return [(begin, begin + len(old.action), action_sql(new, newline))]
    return [(begin + start, begin + end, text) for start, end, text in _column_edits(old, dict(new.assignments))]


def _column_edits(old: FormClause, wanted: dict[str, str]) -> list[Edit]:
    """Edits of the action's own text."""
    from engine.sql.parse import assignment_parts
    from engine.sql.sql_text import tokenize

    action = old.action
    tokens = tokenize(action)
    parts = assignment_parts(tokens)
    columns = [_span(column) for column, _ in parts]
    values = [_span(value) for _, value in parts]
    keep = [column in wanted for column, _ in old.assignments]
    edits = [
        put(action, *values[at], wanted[column])
        for at, (column, expression) in enumerate(old.assignments)
        if keep[at] and wanted[column] != expression
    ]
    there = {column for column, _ in old.assignments}
    added = [(column, expression) for column, expression in wanted.items() if column not in there]
    commas = [token for token in tokens if token.text == ","]
    if old.action_kind == "update":
        items = [(column[0], value[1]) for column, value in zip(columns, values, strict=True)]
        return edits + _list_edits(action, items, commas, keep, [f"{a} = {b}" for a, b in added])
    return [
        *edits,
        *_list_edits(action, columns, commas, keep, [column for column, _ in added]),
        *_list_edits(action, values, commas, keep, [expression for _, expression in added]),
    ]


def _list_edits(
    text: str, items: Sequence[tuple[int, int]], all_commas: Sequence[Token], keep: Sequence[bool], added: Sequence[str]
) -> list[Edit]:
    """Edits that leave those of the listed ``items`` away that are not to ``keep``, and add others behind them."""
    commas = [
        next(comma for comma in all_commas if one[1] <= comma.start < other[0])
        for one, other in itertools.pairwise(items)
    ]
    edits = [cut(text, *item) for item, kept in zip(items, keep, strict=True) if not kept]
    edits += [
        cut(text, comma.start, comma.end)
        for at, comma in enumerate(commas)
        # a comma goes with the column before it
        if not (keep[at] and any(keep[at + 1 :]))
    ]
    if added:
        last = max(at for at, kept in enumerate(keep) if kept)
        between = text[commas[-1].end : items[-1][0]] if commas else " "
        gap = between if between.isspace() else " "
        edits.append((items[last][1], items[last][1], "".join(f",{gap}{one}" for one in added)))
    return edits


def _says_all(kind: ActionKind, action: str) -> bool:
    """Whether there is nothing in an action but its columns and what they are set to."""
    from engine.sql.parse import assignment_parts
    from engine.sql.sql_text import tokenize

    tokens = tokenize(action)
    parts = assignment_parts(tokens)
    inside = sum(len(column) + len(value) for column, value in parts)
    names = {tuple(token.text for token in column) for column, _ in parts}
    if kind == "delete":
        return len(tokens) == 1
    if not parts or len(names) < len(parts) or not all(column and value for column, value in parts):
        return False
    # UPDATE SET and a sign each; INSERT VALUES and four brackets; commas between
    words = 2 + len(parts) if kind == "update" else 6
    return len(tokens) == words + inside + (len(parts) - 1) * (1 if kind == "update" else 2)


def _span(tokens: Sequence[Token]) -> tuple[int, int]:
    return tokens[0].start, tokens[-1].end


def put(sql: str, start: int, end: int, new: str) -> Edit:
    """``new`` in place of ``[start, end)``, kept apart from the words beside it."""
    before, after = sql[start - 1 : start], sql[end : end + 1]
    if new and _joins(before, new[0]):
        new = " " + new
    if new and _joins(new[-1], after):
        new += " "
    return start, end, new


def _joins(one: str, other: str) -> bool:
    return bool(one and other) and all(sign.isalnum() or sign in "_`'\"" for sign in (one, other))


def cut(sql: str, start: int, end: int) -> Edit:
    """``[start, end)`` taken out, with the blanks before it if others follow."""
    after = sql[end : end + 1]
    if not after or after.isspace() or after in ",;)":
        while start and sql[start - 1] in " \t":
            start -= 1
    return start, end, ""


def edited(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with ``edits`` made; if two of them touch, the one that begins first comes first."""
    out: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        begin = max(start, at)
        out += [text[at:begin], new]
        at = max(end, begin)
    return "".join(out) + text[at:]
