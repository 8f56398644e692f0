"""A MERGE as a form shows it: the parts of the operator's own text, and that text with one of them replaced. Pure.

The statement is never written anew: a part is changed where it stands, all around it stays as it was typed. A change
after which the text would not read as the form says is not made: those functions give None.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from console.statements.clause_text import (
    Edit,
    FormClause,
    action_edits,
    clause_sql,
    cut,
    edited,
    form_clause,
    put,
)
from console.statements.templates import Sides, upsert

if TYPE_CHECKING:
    from engine.model.plan import ClauseKind
    from engine.sql.parse import MergeStatement, Relation

Part = Literal["target", "target_alias", "source", "source_alias", "condition"]
NEVER_EMPTY: tuple[Part, ...] = ("target", "source", "condition")
ORDER: tuple[ClauseKind, ...] = ("matched", "not_matched", "not_matched_by_source")
"""Spark's grammar takes the clauses in this order of their kinds."""


@dataclass(frozen=True)
class MergeForm:
    """SQL text, each part as typed; "" for an alias that is not given.

    ``around`` is what the form does not change: the statements before, a WITH clause, SCHEMA EVOLUTION.
    """

    target: str = ""
    target_alias: str = ""
    source: str = ""
    source_alias: str = ""
    condition: str = ""
    clauses: tuple[FormClause, ...] = ()
    around: tuple[str, ...] = ()
    target_name: str = ""
    """What names the target's columns: its alias, else the last part of its name."""
    source_name: str = ""


def read_form(text: str) -> MergeForm | None:
    """The parts of the MERGE in ``text``, all empty if it is blank; None if it is no MERGE that the form can show."""
    if not text.strip():
        return MergeForm()
    found = _parsed(text)
    if found is None:
        return None
    merge = found[0]
    return MergeForm(
        target=merge.target.text,
        target_alias=merge.target.alias or "",
        source=merge.source.text,
        source_alias=merge.source.alias or "",
        condition=merge.condition,
        clauses=tuple(map(form_clause, merge.clauses)),
        around=(*found[2], merge.prefix, str(merge.schema_evolution)),
        target_name=merge.target.reference,
        source_name=merge.source.reference,
    )


def started(part: Part, text: str) -> str:
    """A statement to start from if there is none yet, with one of its parts."""
    sides = Sides(target=text if part == "target" else "target", source=text if part == "source" else "changes")
    begun = upsert(sides)
    return begun if part in ("target", "source") else with_part(begun, part, text) or begun


def with_part(text: str, part: Part, new: str) -> str | None:
    """``text`` with another target, source, alias or condition."""
    form, found = read_form(text), _parsed(text)
    new = new.strip()
    if not text.strip():
        new_text = started(part, new) if new else ""
        read = read_form(new_text)
        return new_text if read is not None and (not new or getattr(read, part) == new) else None
    if form is None or found is None:
        return None
    if getattr(form, part) == new:
        return text
    if not new and part in NEVER_EMPTY:
        return None
    merge, start, _ = found
    if part == "condition":
        edits = [put(merge.sql, merge.condition_end - len(merge.condition), merge.condition_end, new)]
    elif part in ("target", "source"):
        relation: Relation = getattr(merge, part)
        edits = [put(merge.sql, relation.start, relation.end, new)]
    else:
        edits = _alias_edits(merge.sql, merge.target if part == "target_alias" else merge.source, new)
    return _checked(text, start, edits, replace(form, **{part: new}))  # type: ignore[arg-type]


def _alias_edits(sql: str, relation: Relation, new: str) -> list[Edit]:
    from engine.sql.sql_text import tokenize

    if relation.alias is None:
        return [put(sql, relation.end, relation.end, f" AS {new}")]
    begin = relation.end_alias - len(relation.alias)
    if new:
        return [put(sql, begin, relation.end_alias, new)]
    # without AS, as that alone would be an alias
    words = [(relation.end + one.start, relation.end + one.end) for one in tokenize(sql[relation.end : begin])]
    return [cut(sql, start, end) for start, end in (*words, (begin, relation.end_alias))]


def with_clause(text: str, at: int, new: FormClause) -> str | None:
    """``text`` with another condition and another action in one clause, which keeps its kind."""
    form, found = read_form(text), _parsed(text)
    if form is None or found is None:
        return None
    merge, start, _ = found
    old, clause = form.clauses[at], merge.clauses[at]
    edits: list[Edit] = []
    if new.condition != old.condition:
        edits += _condition_edits(merge.sql, clause.end_kind, clause.condition_start, old.condition, new.condition)
    edits += action_edits(merge.sql, clause.end - len(old.action), old, new)
    clauses = (*form.clauses[:at], new, *form.clauses[at + 1 :])
    return _checked(text, start, edits, replace(form, clauses=clauses), rewritten=at)


def _condition_edits(sql: str, end_kind: int, begin: int | None, old: str, new: str) -> list[Edit]:
    from engine.sql.sql_text import tokenize

    if begin is None:
        return [put(sql, end_kind, end_kind, f" AND {new}")]
    if new:
        return [put(sql, begin, begin + len(old), new)]
    # only the word itself: a comment before it stays
    (word,) = tokenize(sql[end_kind:begin])
    return [cut(sql, end_kind + word.start, end_kind + word.end), cut(sql, begin, begin + len(old))]


def place_of_new(form: MergeForm, kind: ClauseKind) -> int:
    """Where a new clause of a kind comes: behind the others of its kind."""
    return sum(1 for one in form.clauses if ORDER.index(one.kind) <= ORDER.index(kind))


def with_new_clause(text: str, new: FormClause) -> str | None:
    """``text`` with one more clause, at ``place_of_new``."""
    form, found = read_form(text), _parsed(text)
    if form is None or found is None:
        return None
    merge, start, _ = found
    newline = "\r\n" if "\r\n" in text else "\n"
    at = place_of_new(form, new.kind)
    sql = clause_sql(new, newline)
    if at:
        # a comment behind the clause before stays with it
        behind = _end_of_line(merge.sql, merge.clauses[at - 1].end)
        edit = (behind, behind, newline + sql)
    else:
        edit = (merge.clauses[0].start, merge.clauses[0].start, sql + newline)
    clauses = (*form.clauses[:at], new, *form.clauses[at:])
    return _checked(text, start, [edit], replace(form, clauses=clauses), rewritten=at)


def _end_of_line(sql: str, at: int) -> int:
    """The end of the line at ``at`` if only blanks and a comment are left on it, else ``at``."""
    rest = sql[at:].partition("\n")[0].removesuffix("\r")
    return at + len(rest) if rest.lstrip().startswith("--") else at


def without_clause(text: str, at: int) -> str | None:
    """``text`` without one clause. None for the last one that is left: a MERGE has one at least."""
    form, found = read_form(text), _parsed(text)
    if form is None or found is None or len(form.clauses) < 2:
        return None
    merge, start, _ = found
    clause = merge.clauses[at]
    begin, end = clause.start, clause.end
    if not merge.sql[end:].partition("\n")[0].strip():
        # its line with it, unless what is before ends in a comment
        before = merge.clauses[at - 1].end if at else merge.condition_end
        if not merge.sql[before:begin].strip():
            begin = before
    clauses = form.clauses[:at] + form.clauses[at + 1 :]
    return _checked(text, start, [(begin, end, "")], replace(form, clauses=clauses))


def with_moved_clause(text: str, at: int, step: int) -> str | None:
    """``text`` with two neighbours among the clauses swapped; what stands between them stays there.

    None if there is no neighbour of the same kind: clauses of one kind stand together.
    """
    form, found = read_form(text), _parsed(text)
    to = at + step
    if form is None or found is None or not 0 <= to < len(form.clauses):
        return None
    if form.clauses[at].kind != form.clauses[to].kind:
        return None
    merge, start, _ = found
    first, second = sorted((at, to))
    one, two = merge.clauses[first], merge.clauses[second]
    edits = [
        (one.start, one.end, merge.sql[two.start : two.end]),
        (two.start, two.end, merge.sql[one.start : one.end]),
    ]
    clauses = list(form.clauses)
    clauses[first], clauses[second] = clauses[second], clauses[first]
    return _checked(text, start, edits, replace(form, clauses=tuple(clauses)))


def comments_between(text: str, at: int, to: int) -> bool:
    """Whether there are comments between two clauses: they stay where they are when those are swapped."""
    found = _parsed(text)
    if found is None:
        return False
    first, second = sorted((at, to))
    return bool(found[0].sql[found[0].clauses[first].end : found[0].clauses[second].start].strip())


def _parsed(text: str) -> tuple[MergeStatement, int, tuple[str, ...]] | None:
    """The MERGE, where it begins in ``text``, and the statements before it."""
    from engine.model.errors import EngineError
    from engine.sql.parse import parse_merge, parse_script

    try:
        script = parse_script(text)
        return parse_merge(script.statement, typing=True), script.start, script.setup
    except EngineError:
        return None


def _checked(text: str, start: int, edits: list[Edit], wanted: MergeForm, rewritten: int | None = None) -> str | None:
    """The edited text if it reads as ``wanted``; of the clause ``rewritten`` the columns may come in any order."""
    new_text = text[:start] + edited(text[start:], edits)
    read = read_form(new_text)
    if read is None or len(read.clauses) != len(wanted.clauses):
        return None
    if rewritten is not None:
        clauses, now = list(wanted.clauses), read.clauses[rewritten]
        clauses[rewritten] = one = replace(clauses[rewritten], action=now.action, by_columns=now.by_columns)
        if sorted(one.assignments) == sorted(now.assignments):
            clauses[rewritten] = replace(one, assignments=now.assignments)
        wanted = replace(wanted, clauses=tuple(clauses))
    # these follow from the name and its alias
    wanted = replace(wanted, target_name=read.target_name, source_name=read.source_name)
    return new_text if read == wanted else None
