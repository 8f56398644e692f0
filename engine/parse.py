"""text → MergeStatement: where the parts of a MERGE begin and end. Spark is the one that parses it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import UsageError
from engine.sql_text import Token, depths, statement_spans, text_of, tokenize, top_level_parts
from engine.values import ActionKind, Clause, ClauseKind

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


@dataclass(frozen=True)
class Relation:
    """A table or query as written. ``text`` is the name or the bracketed query, ``[start, end)`` its place.

    ``parts`` are the parts of a dotted name, () for a query or IDENTIFIER(…). ``end_alias`` ends the
    alias too, where there is one.
    """

    text: str
    start: int
    end: int
    alias: str | None
    end_alias: int
    parts: tuple[str, ...]

    @property
    def is_query(self) -> bool:
        return self.text.startswith("(")

    @property
    def reference(self) -> str:
        """What names its columns: the alias, else the last part of the name."""
        return self.alias or (f"`{self.parts[-1].replace('`', '``')}`" if self.parts else "")


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
        """The WITH clause and a blank, to be put before a SELECT over the source."""
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
    """A file of statements: those that set up the session, then the one that is planned, at ``start`` of the file."""

    setup: tuple[str, ...]
    statement: str
    start: int


def parse_script(text: str) -> Script:
    """Split a file into its setup statements and its last one. Anything else between is refused."""
    spans = statement_spans(text)
    if not spans:
        raise UsageError("EMPTY_STATEMENT", "There is no statement in the input.", "Write a MERGE and try again.")
    *setup, statement = (text[start:end] for start, end in spans)
    for one in setup:
        words = " ".join(token.word for token in tokenize(one)[:6])
        if not words.startswith(SETUP_WORDS):
            raise UsageError(
                "UNSUPPORTED_STATEMENT",
                f"Before the MERGE only SET, USE, CACHE and temporary views may stand, not: {one.split()[0]}",
                "Run that statement by itself first.",
            )
    return Script(tuple(setup), statement, spans[-1][0])


def parse_merge(sql: str) -> MergeStatement:
    """The parts of one MERGE. What is not shaped like a MERGE raises a UsageError; Spark judges the rest."""
    tokens = tokenize(sql)
    top = [(index, token) for index, token, depth in depths(tokens) if depth == 0]
    start = _find(top, "MERGE", 0)
    if start is None or (start != 0 and tokens[0].word != "WITH"):
        first = tokens[0].text if tokens else ""
        raise UsageError(
            "NOT_A_MERGE",
            f"The statement starts with {first!r}: it is no MERGE.",
            "Plan a statement of the form MERGE INTO target USING source ON … WHEN …",
        )
    into = _find(top, "INTO", start)
    using = _find(top, "USING", start)
    on = _find(top, "ON", using or start)
    whens = [index for index, token in top if token.word == "WHEN" and on is not None and index > on]
    if into is None or using is None or on is None or not whens:
        missing = next(
            word
            for word, found in (("INTO", into), ("USING", using), ("ON", on), ("WHEN", whens or None))
            if found is None
        )
        raise UsageError(
            "PARSE_SYNTAX_ERROR",
            f"The MERGE has no {missing}.",
            "Write MERGE INTO target USING source ON condition WHEN MATCHED THEN …",
        )
    bounds = [*whens, len(tokens)]
    clauses = tuple(_clause(sql, tokens[begin:end]) for begin, end in itertools.pairwise(bounds))
    condition_tokens = tokens[on + 1 : whens[0]]
    return MergeStatement(
        sql=sql,
        prefix=text_of(sql, tokens[:start]),
        target=_relation(sql, tokens[into + 1 : using]),
        source=_relation(sql, tokens[using + 1 : on]),
        condition=text_of(sql, condition_tokens),
        condition_end=condition_tokens[-1].end if condition_tokens else tokens[on].end,
        clauses=clauses,
        schema_evolution=any(token.word == "EVOLUTION" for token in tokens[start:into]),
    )


def _find(top: Sequence[tuple[int, Token]], word: str, after: int) -> int | None:
    return next((index for index, token in top if index >= after and token.word == word), None)


def _relation(sql: str, tokens: Sequence[Token]) -> Relation:
    if not tokens:
        raise UsageError(
            "PARSE_SYNTAX_ERROR",
            "A table name is missing.",
            "Name the target after INTO, the source after USING.",
        )
    first, last = 0, len(tokens)
    alias: str | None = None
    if last >= 3 and tokens[-2].word == "AS":
        alias, last = tokens[-1].text, last - 2
    elif last >= 2 and (tokens[-1].word or tokens[-1].text.startswith("`")) and _ends_name(tokens[-2]):
        alias, last = tokens[-1].text, last - 1
    body = tokens[first:last]
    dotted = all((token.text == ".") == bool(index % 2) for index, token in enumerate(body))
    parts = tuple(token.name for token in body[::2]) if dotted and not body[0].text.startswith("(") else ()
    return Relation(
        text=text_of(sql, body),
        start=body[0].start,
        end=body[-1].end,
        alias=alias,
        end_alias=tokens[-1].end,
        parts=parts,
    )


def _ends_name(token: Token) -> bool:
    return bool(token.word) or token.text.startswith("`") or token.text == ")" or token.is_string


def _clause(sql: str, tokens: Sequence[Token]) -> MergeClause:
    at_top = [(index, token) for index, token, depth in depths(tokens) if depth == 0]
    then = _find(at_top, "THEN", 0)
    if then is None:
        raise UsageError(
            "PARSE_SYNTAX_ERROR",
            "A WHEN clause has no THEN.",
            "Write WHEN MATCHED THEN UPDATE SET *, for one.",
        )
    head = [token.word for token in tokens[:then]]
    kind: ClauseKind = "matched"
    if head[1:2] == ["NOT"]:
        kind = "not_matched_by_source" if head[3:5] == ["BY", "SOURCE"] else "not_matched"
    begin = {"matched": 2, "not_matched": 5 if head[3:4] == ["BY"] else 3, "not_matched_by_source": 5}[kind]
    written = tokens[begin + 1 : then] if head[begin : begin + 1] == ["AND"] else None
    action = tokens[then + 1 :]
    verb = action[0].word if action else ""
    kinds: dict[str, ActionKind] = {"UPDATE": "update", "DELETE": "delete", "INSERT": "insert"}
    if verb not in kinds:
        raise UsageError(
            "PARSE_SYNTAX_ERROR",
            "After THEN stands UPDATE, DELETE or INSERT.",
            "Complete the last WHEN clause.",
        )
    star = len(action) > 1 and action[-1].text == "*" and len(action) <= 3
    return MergeClause(
        kind=kind,
        condition=None if written is None else text_of(sql, written),
        action=text_of(sql, action),
        action_kind=kinds[verb],
        star=star,
        assignments=() if star else _assignments(sql, kinds[verb], action),
        start=tokens[0].start,
        end_kind=tokens[begin - 1].end,
        condition_start=written[0].start if written else None,
        end=tokens[-1].end,
    )


def _assignments(sql: str, kind: ActionKind, action: Sequence[Token]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (text_of(sql, column), text_of(sql, expression)) for column, expression in assignment_parts(kind, action)
    )


def assignment_parts(kind: ActionKind, action: Sequence[Token]) -> list[tuple[list[Token], list[Token]]]:
    """The tokens of each column of an action without ``*`` and of the expression that it is set to."""
    if kind == "delete":
        return []
    if kind == "update":
        pairs = []
        for part in filter(None, top_level_parts(action[2:], ",")):
            sign = next((index for index, token in enumerate(part) if token.text in ("=", "==")), len(part))
            pairs.append((part[:sign], part[sign + 1 :]))
        return pairs
    groups = _bracketed(action)
    if len(groups) != 2:
        return []
    columns, values = ([part for part in top_level_parts(group, ",") if part] for group in groups)
    return list(zip(columns, values, strict=False))


def _bracketed(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The insides of the outermost round brackets."""
    groups, begin = [], 0
    for index, token, depth in depths(tokens):
        if depth == 0 and token.text == "(":
            begin = index + 1
        elif depth == 0 and token.text == ")":
            groups.append(tokens[begin:index])
    return groups
