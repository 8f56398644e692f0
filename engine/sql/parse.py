"""text → MergeStatement: where the parts of a MERGE begin and end, by Spark's grammar (SqlBaseParser: mergeIntoTable).

engine.merge.check_reading compares this reading with what Spark parsed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model.counted import count
from engine.model.errors import UsageError
from engine.model.plan import ActionKind, Clause, ClauseKind
from engine.sql.expressions import Reader
from engine.sql.lexer import Token, tokenize
from engine.sql.params import fill
from engine.sql.relation import Relation, read_relation
from engine.sql.sql_text import statement_spans, text_of
from engine.sql.store_paths import refuse_credentials
from engine.sql.substitution import refuse_substituted
from engine.sql.token_reader import Node, NotReadError, read_list, refused_with_place

__all__ = ["MergeClause", "MergeStatement", "Relation", "Script", "parse_merge", "parse_script"]

SETUP_WORDS = (
    "SET",
    "USE",
    "CACHE",
    # views alone: a temporary function may bring code of its own
    *(
        f"CREATE {replace}{scope}{temporary} VIEW"
        for replace in ("", "OR REPLACE ")
        for scope in ("", "GLOBAL ")
        for temporary in ("TEMPORARY", "TEMP")
    ),
    "RESET",
    "DECLARE",
    "REFRESH",
)


@dataclass(frozen=True, eq=False)
class MergeClause:
    """One WHEN clause. ``assignments`` are (column text, expression text); () with ``star``.

    It is at ``[start, end)`` of the statement and ends with its action; ``end_kind`` is behind WHEN … MATCHED and
    BY SOURCE, ``condition_start`` where the condition begins.

    Two clauses of a statement are never equal, whatever they say: the first takes the rows.
    """

    kind: ClauseKind
    condition: str | None
    action: str
    action_kind: ActionKind
    star: bool
    assignments: tuple[tuple[str, str], ...]
    start: int
    end_kind: int
    condition_start: int | None
    end: int

    def value(self) -> Clause:
        return Clause(kind=self.kind, condition=self.condition, action=self.action, action_kind=self.action_kind)


@dataclass(frozen=True)
class MergeStatement:
    """A MERGE and where its parts are in ``sql``. ``prefix`` is a leading WITH clause, or ""."""

    sql: str
    prefix: str
    target: Relation
    source: Relation
    condition: str
    condition_end: int
    clauses: tuple[MergeClause, ...]
    schema_evolution: bool

    @property
    def before_select(self) -> str:
        """The WITH clause and a blank, for a SELECT over the source."""
        return f"{self.prefix} " if self.prefix else ""

    def of_kind(self, kind: ClauseKind) -> tuple[MergeClause, ...]:
        return tuple(clause for clause in self.clauses if clause.kind == kind)

    @property
    def matched(self) -> tuple[MergeClause, ...]:
        return self.of_kind("matched")

    @property
    def not_matched(self) -> tuple[MergeClause, ...]:
        return self.of_kind("not_matched")

    @property
    def not_matched_by_source(self) -> tuple[MergeClause, ...]:
        return self.of_kind("not_matched_by_source")

    @property
    def matched_only(self) -> bool:
        """MergeIntoCommandBase.isMatchedOnly."""
        return bool(self.matched) and not self.not_matched and not self.not_matched_by_source

    @property
    def insert_only(self) -> bool:
        """MergeIntoCommandBase.isInsertOnly."""
        return bool(self.not_matched) and not self.matched and not self.not_matched_by_source

    @property
    def only_one_unconditional_delete(self) -> bool:
        """MergeIntoCommandBase.isOnlyOneUnconditionalDelete."""
        return [(c.action_kind, c.condition) for c in self.matched] == [("delete", None)]


@dataclass(frozen=True)
class Script:
    """A file of statements: those that set up the session, then the one that is planned, at ``start`` of the file.
    ``template`` is the file with its ``:parameters``, "" if it has none."""

    setup: tuple[str, ...]
    statement: str
    start: int
    template: str = ""


def filled_script(text: str, params: Mapping[str, str]) -> Script:
    """The script of a file, its ``:parameters`` filled in. Raises UsageError as ``fill`` and ``parse_script`` do."""
    return parse_script(fill(text, params), text if params else "")


def parse_script(text: str, template: str = "") -> Script:
    """Split a file into its setup statements and its last one. Anything else between is refused."""
    refuse_credentials(text)
    spans = statement_spans(text)
    if not spans:
        raise UsageError("EMPTY_STATEMENT", "There is no statement in the input.", "Write a MERGE and try again.")
    *setup, statement = (text[start:end] for start, end in spans)
    for at, one in enumerate(setup, start=1):
        tokens = tokenize(one)
        words = " ".join(token.word for token in tokens[:6])
        if words.startswith(SETUP_WORDS):
            continue
        if tokens[0].word in ("MERGE", "WITH"):
            behind = tokenize(text[slice(*spans[at])])[0].text
            raise UsageError(
                "UNSUPPORTED_STATEMENT",
                f"Nothing may stand behind the MERGE that is planned, but there is: {behind}",
                "Plan each MERGE in a file of its own, and run by itself what comes after it.",
            )
        raise UsageError(
            "UNSUPPORTED_STATEMENT",
            f"Before the statement only SET, USE, CACHE and temporary views may stand, not: {tokens[0].text}",
            "Run that statement in Spark by other means first: only one MERGE or CREATE TABLE is run here.",
        )
    refuse_substituted(statement)
    return Script(tuple(setup), statement, spans[-1][0], template)


class _TypingReader(Reader):
    """Reads text that is being typed: an unfinished expression extends to the end of its part."""

    def part(self, at: int) -> Node:
        try:
            node = super().part(at)
            if self._ends(node.end):
                return node
        except NotReadError:
            pass
        end = at
        while not self._ends(end):
            end = self.closing.get(end, end) + 1
        if end == at:
            raise NotReadError(at, "an expression")
        return Node("name", at, end)

    def _ends(self, at: int) -> bool:
        return at >= len(self.tokens) or self.text(at) in (",", ")") or self.word(at) in ("THEN", "WHEN")


def parse_merge(sql: str, *, typing: bool = False) -> MergeStatement:
    """The parts of one MERGE. Raises a UsageError, with its place, for anything else.

    While ``typing``, expressions and actions may be unfinished: such an action has no ``assignments``.
    """
    tokens = tokenize(sql)
    if not any(token.word == "MERGE" for token in tokens) or tokens[0].word not in ("MERGE", "WITH"):
        first = tokens[0].text if tokens else ""
        raise UsageError(
            "NOT_A_MERGE",
            f"The statement starts with {first[:40]!r}: there is nothing to plan.",
            "A plan is of MERGE INTO target USING source ON … WHEN …, or of CREATE or REPLACE TABLE.",
        )
    with refused_with_place(sql, tokens):
        return _merge(sql, tokens, _TypingReader(tokens) if typing else Reader(tokens))


def _merge(sql: str, tokens: Sequence[Token], reader: Reader) -> MergeStatement:
    start = _behind_with(reader) if tokens[0].word == "WITH" else 0
    at = reader.expect(start, "MERGE")
    evolves = reader.word(at) == "WITH"
    if evolves:
        at = reader.expect(reader.expect(at + 1, "SCHEMA"), "EVOLUTION")
    target, at = read_relation(sql, reader, reader.expect(at, "INTO"), query=False)
    source, at = read_relation(sql, reader, reader.expect(at, "USING"), query=True)
    begin = reader.expect(at, "ON")
    condition = reader.part(begin)
    at = condition.end
    clauses: list[MergeClause] = []
    while at < len(tokens) or not clauses:
        clause, at = _clause(sql, reader, at)
        clauses.append(clause)
    return MergeStatement(
        sql=sql,
        prefix=text_of(sql, tokens[:start]),
        target=target,
        source=source,
        condition=text_of(sql, tokens[begin : condition.end]),
        condition_end=tokens[condition.end - 1].end,
        clauses=tuple(clauses),
        schema_evolution=evolves,
    )


def _behind_with(reader: Reader) -> int:
    """Where the WITH clause that the statement begins with ends (SqlBaseParser: ctes)."""
    at = 2 if reader.word(1) == "RECURSIVE" and reader.is_name(2) and reader.word(2) != "AS" else 1
    while True:
        if not reader.is_name(at):
            raise NotReadError(at, "the name of a query")
        at += 1
        query = reader.behind(at) if reader.text(at) == "(" else at
        if reader.text(at) == "(" and (reader.word(query) in ("AS", "MAX") or reader.text(query) == "("):
            at = query
        if reader.word(at) == "MAX" and reader.word(at + 1) == "RECURSION":
            at = reader.expect(at + 2, "LEVEL") + 1
        at = reader.behind(at + 1 if reader.word(at) == "AS" else at)
        if reader.text(at) != ",":
            return at
        at += 1


def _clause(sql: str, reader: Reader, at: int) -> tuple[MergeClause, int]:
    """(The WHEN clause at ``at``, the place behind it)."""
    begin = reader.expect(at, "WHEN")
    kind: ClauseKind = "matched"
    if reader.word(begin) == "NOT":
        begin, kind = begin + 1, "not_matched"
    begin = reader.expect(begin, "MATCHED")
    if kind == "not_matched" and reader.word(begin) == "BY":
        by_source = reader.word(begin + 1) == "SOURCE"
        kind = "not_matched_by_source" if by_source else kind
        begin = begin + 2 if by_source else reader.expect(begin + 1, "TARGET")
    kind_end = begin
    node = reader.part(begin + 1) if reader.word(begin) == "AND" else None
    if node is not None:
        begin = node.end
    action = reader.expect(begin, "THEN")
    verb, star, assignments, end = _unfinished(reader, action) or _action(reader, action)
    tokens = reader.tokens
    return MergeClause(
        kind=kind,
        condition=None if node is None else text_of(sql, tokens[node.start : node.end]),
        action=text_of(sql, tokens[action:end]),
        action_kind=verb,
        star=star,
        assignments=tuple((text_of(sql, column), text_of(sql, value)) for column, value in assignments),
        start=tokens[at].start,
        end_kind=tokens[kind_end - 1].end,
        condition_start=tokens[node.start].start if node else None,
        end=tokens[end - 1].end,
    ), end


Assignments = list[tuple[Sequence[Token], Sequence[Token]]]
VERBS: dict[str, ActionKind] = {"UPDATE": "update", "DELETE": "delete", "INSERT": "insert"}


def _unfinished(reader: Reader, at: int) -> tuple[ActionKind, bool, Assignments, int] | None:
    """An action that is being typed, up to the next clause; None for one that can be read."""
    if not isinstance(reader, _TypingReader) or reader.word(at) not in VERBS:
        return None
    try:
        end = _action(reader, at)[3]
    except NotReadError:
        end = -1
    if end >= len(reader.tokens) or (end > 0 and reader.word(end) == "WHEN"):
        return None
    end = at
    while end < len(reader.tokens) and reader.word(end) != "WHEN":
        end = reader.closing.get(end, end) + 1
    return VERBS[reader.word(at)], False, [], min(end, len(reader.tokens))


def _action(reader: Reader, at: int) -> tuple[ActionKind, bool, Assignments, int]:
    """(What a clause does, whether with ``*``, the columns and their expressions, the place behind it)."""
    word = reader.word(at)
    if word == "DELETE":
        return "delete", False, [], at + 1
    if word == "UPDATE":
        begin = reader.expect(at + 1, "SET")
        if reader.text(begin) == "*":
            return "update", True, [], begin + 1
        return "update", False, *_set(reader, begin)
    if word == "INSERT":
        if reader.text(at + 1) == "*":
            return "insert", True, [], at + 2
        return "insert", False, *_insert(reader, at + 1)
    raise NotReadError(at, "UPDATE, DELETE or INSERT")


def _set(reader: Reader, at: int) -> tuple[Assignments, int]:
    assignments: Assignments = []
    while True:
        sign = _column(reader, at)
        if reader.text(sign) not in ("=", "=="):
            raise NotReadError(sign, "=")
        value = reader.part(sign + 1)
        assignments.append((reader.tokens[at:sign], reader.tokens[value.start : value.end]))
        if reader.text(value.end) != ",":
            return assignments, value.end
        at = value.end + 1


def _insert(reader: Reader, at: int) -> tuple[Assignments, int]:
    columns, behind = read_list(reader, at, _column)
    begin = reader.expect(behind, "VALUES")
    values, end = read_list(reader, begin, lambda _, one: reader.part(one).end)
    if len(columns) != len(values):
        raise NotReadError(begin, f"{count(len(columns), 'value')} for {count(len(columns), 'column')}")
    tokens = reader.tokens
    return [(tokens[a:b], tokens[c:d]) for (a, b), (c, d) in zip(columns, values, strict=True)], end


def _column(reader: Reader, at: int) -> int:
    """The end of multipartIdentifier."""
    if not reader.is_name(at):
        raise NotReadError(at, "a column")
    return reader.dotted(at)


def assignment_parts(action: Sequence[Token]) -> Assignments:
    """The tokens of each column of an action and of its expression; none if ``action`` is not one."""
    reader = Reader(action)
    try:
        _, _, assignments, end = _action(reader, 0)
    except NotReadError:
        return []
    return assignments if end == len(action) else []
