"""Merges as SQL text, between tables that need not exist, with what each says known from how it was put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from engine.model.plan import ActionKind, ClauseKind
from engine.sql.parse import MergeClause, MergeStatement, Relation
from tests.engine.random_expressions import Expressions, nested
from tests.engine.random_names import POSITIONS, Names
from tests.engine.text_pieces import GAPS, Part, Writer, part

HEADS: dict[ClauseKind, tuple[str, ...]] = {
    "matched": ("WHEN MATCHED",),
    "not_matched": ("WHEN NOT MATCHED", "when not matched by target"),
    "not_matched_by_source": ("WHEN NOT MATCHED BY SOURCE",),
}
WIDE = 1000
DEEP = 50


@dataclass(frozen=True)
class TextClause:
    kind: ClauseKind
    head: str
    condition: Part | None
    action: ActionKind
    star: bool = False
    assignments: tuple[tuple[Part, Part], ...] = ()


@dataclass(frozen=True)
class Content:
    """What a statement says, as texts of it: the same from the generator and from our reading."""

    prefix: str
    evolution: bool
    target: tuple[str, str | None]
    source: tuple[str, str | None]
    condition: str
    clauses: tuple[tuple[ClauseKind, str | None, ActionKind, bool, tuple[tuple[str, str], ...]], ...]
    markers: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Text:
    """A statement in parts. ``gaps`` are what may stand between two tokens, drawn by ``seed``."""

    seed: int
    gaps: tuple[str, ...]
    prefix: Part | None
    evolution: bool
    target: Part
    target_alias: Part | None
    source: Part
    source_alias: Part | None
    condition: Part
    clauses: tuple[TextClause, ...]

    def write(self) -> tuple[str, Content]:
        return _Composer(self).compose()

    def smaller(self) -> Iterator[Text]:
        """The same with something left out, the boldest first."""
        if self.gaps != GAPS[0]:
            yield replace(self, gaps=GAPS[0])
        if len(self.clauses) > 1:
            for at in range(len(self.clauses)):
                yield replace(self, clauses=(*self.clauses[:at], *self.clauses[at + 1 :]))
        if self.prefix:
            yield replace(self, prefix=None)
        if self.evolution:
            yield replace(self, evolution=False)
        for at, clause in enumerate(self.clauses):
            for less in _smaller_clauses(clause):
                yield replace(self, clauses=(*self.clauses[:at], less, *self.clauses[at + 1 :]))
        yield from (replace(self, condition=less) for less in self.condition.smaller())
        if self.source.pieces != ("s",):
            yield replace(self, source=part("s"))
        if self.target.pieces != ("t",):
            yield replace(self, target=part("t"))
        if self.target_alias:
            yield replace(self, target_alias=None)
        if self.source_alias:
            yield replace(self, source_alias=None)


def _smaller_clauses(clause: TextClause) -> Iterator[TextClause]:
    if clause.condition:
        yield replace(clause, condition=None)
        yield from (replace(clause, condition=less) for less in clause.condition.smaller())
    some = len(clause.assignments)
    if some > 2:
        yield replace(clause, assignments=clause.assignments[: some // 2])
        yield replace(clause, assignments=clause.assignments[some // 2 :])
    for at, (column, value) in enumerate(clause.assignments):
        if some > 1:
            yield replace(clause, assignments=(*clause.assignments[:at], *clause.assignments[at + 1 :]))
        for less in value.smaller():
            changed = (*clause.assignments[:at], (column, less), *clause.assignments[at + 1 :])
            yield replace(clause, assignments=changed)


class _Composer:
    """Writes a statement down and keeps the places of its parts."""

    def __init__(self, text: Text) -> None:
        self._of = text
        self._writer = Writer(text.seed, text.gaps)

    def compose(self) -> tuple[str, Content]:
        of, put = self._of, self._writer.put
        prefix = put(of.prefix) if of.prefix else (0, 0)
        put("MERGE", *(("WITH SCHEMA EVOLUTION",) if of.evolution else ()), "INTO")
        target = put(of.target)
        if of.target_alias:
            put(of.target_alias)
        put("USING")
        source = put(of.source)
        if of.source_alias:
            put(of.source_alias)
        put("ON")
        condition = put(of.condition)
        clauses = [self._clause(clause) for clause in of.clauses]
        sql = self._writer.text

        def text(place: tuple[int, int]) -> str:
            return sql[slice(*place)]

        return sql, Content(
            prefix=text(prefix),
            evolution=of.evolution,
            target=(text(target), _alias(of.target_alias)),
            source=(text(source), _alias(of.source_alias)),
            condition=text(condition),
            clauses=tuple(
                (
                    clause.kind,
                    None if place is None else text(place),
                    clause.action,
                    clause.star,
                    tuple((text(column), text(value)) for column, value in assigned),
                )
                for clause, place, assigned in clauses
            ),
            markers=tuple(self._writer.markers),
        )

    def _clause(
        self, clause: TextClause
    ) -> tuple[TextClause, tuple[int, int] | None, list[tuple[tuple[int, int], tuple[int, int]]]]:
        put = self._writer.put
        put(clause.head)
        condition = None
        if clause.condition:
            put("AND")
            condition = put(clause.condition)
        put("THEN", clause.action.upper())
        assigned = []
        if clause.action == "update":
            put("SET")
            for at, (column, value) in enumerate(clause.assignments):
                place = self._listed(at, column)
                put("=")
                assigned.append((place, put(value)))
        elif clause.assignments:
            put("(")
            columns = [self._listed(at, column) for at, (column, _) in enumerate(clause.assignments)]
            put(") VALUES (")
            values = [self._listed(at, value) for at, (_, value) in enumerate(clause.assignments)]
            put(")")
            assigned = list(zip(columns, values, strict=True))
        if clause.star:
            put("*")
        return clause, condition, assigned

    def _listed(self, at: int, one: Part) -> tuple[int, int]:
        if at:
            self._writer.put(",")
        return self._writer.put(one)


def _alias(alias: Part | None) -> str | None:
    return None if alias is None else list(alias.tokens())[-1]


def content_of(read: MergeStatement, markers: tuple[tuple[int, int], ...]) -> Content:
    """Our reading as the generator says it."""
    return Content(
        prefix=read.prefix,
        evolution=read.schema_evolution,
        target=(read.target.text, read.target.alias),
        source=(read.source.text, read.source.alias),
        condition=read.condition,
        clauses=tuple((one.kind, one.condition, one.action_kind, one.star, one.assignments) for one in read.clauses),
        markers=markers,
    )


class _Texts:
    """Draws one statement."""

    def __init__(self, seed: int, words: tuple[str, ...]) -> None:
        self._seed = seed
        self._random = random = Random(seed)
        pairs = len(words) * len(POSITIONS)
        # a step that shares no factor with the number of pairs goes through all of them
        word, position = divmod(seed * 4001 % pairs, len(POSITIONS))
        self._names = Names(random, words, words[word], POSITIONS[position])

    def draw(self) -> Text:
        random = self._random
        target, target_alias = self._relation("target")
        source, source_alias = self._relation("source")
        if random.random() < 0.3:
            source = self._query()
        sides = [
            tuple(alias.tokens())[-1:] if alias else tuple(piece for piece in one.tokens() if piece != ".")
            for one, alias in ((target, target_alias), (source, source_alias))
        ]
        qualifiers = tuple(side if len(side) < 4 else () for side in sides)
        self._expressions = Expressions(random, self._names, (qualifiers[0], qualifiers[1]))
        return Text(
            seed=self._seed,
            gaps=random.choice(GAPS),
            prefix=self._prefix() if random.random() < 0.2 else None,
            evolution=random.random() < 0.15,
            target=target,
            target_alias=target_alias,
            source=source,
            source_alias=source_alias,
            condition=self._condition(),
            clauses=self._clauses(),
        )

    def _relation(self, side: str) -> tuple[Part, Part | None]:
        random, name = self._random, self._names.name
        if random.random() < 0.04:
            table = part("IDENTIFIER (", "'db.t'", ")")
        else:
            qualifiers = [name("schema"), "."] * random.choice((0, 0, 0, 1, 2))
            table = part(*qualifiers, name(f"{side} table"))
        drawn = random.random()
        alias = name(f"{side} alias")
        return table, part("AS", alias) if drawn < 0.45 else part(alias) if drawn < 0.8 else None

    def _query(self) -> Part:
        random, name = self._random, self._names.name
        table, output = name("source table"), name("source column")
        expressions = Expressions(random, self._names, ((), ()))
        queries = (
            ("( SELECT *", ",", "'{}'", "AS", output, "FROM", table, "WHERE x RLIKE", "'[a-z]{3}'", ")"),
            ("( SELECT /*+ BROADCAST(x) */", expressions.boolean(2), "AS", output, "FROM", table, "x )"),
            ("( VALUES ( 1 ,", "'a'", ") , ( 2 ,", "')'", ") )"),
            ("( WITH", name("query"), "AS ( SELECT 1 )", "SELECT * FROM", table, ")"),
            ("( FROM", table, "SELECT", output, ")"),
            ("( TABLE", table, ")"),
            ("( SELECT", output, "FROM", table, "GROUP BY ALL UNION ALL SELECT", expressions.value(2), "LIMIT 3 )"),
            ("( ( SELECT", name("target column"), "FROM", table, ") )"),
            ("( FROM", table, "|> WHERE", expressions.boolean(2), "|> SELECT", output, ")"),
        )
        return part(*random.choice(queries))

    def _prefix(self) -> Part:
        name = self._names.name
        one = (query := name("query"), *self._random.choice(((), ("(", name("output"), ")"))))
        head = ("WITH", *one, *self._random.choice((("AS",), ())), "( SELECT 1 AS", name("output"), ",", "')'", ")")
        more = (",", "`second`" if query == "x1" else "x1", "AS ( TABLE", name("source table"), ")")
        return part(*head, *(more if self._random.random() < 0.4 else ()))

    def _condition(self) -> Part:
        if self._seed % 800 == 7:
            return nested(self._random, self._expressions.boolean(1), DEEP)
        return self._expressions.boolean(self._random.choice((0, 1, 2, 2, 3)))

    def _clauses(self) -> tuple[TextClause, ...]:
        kinds: list[ClauseKind] = []
        for kind in HEADS:
            kinds += [kind] * self._random.choice((0, 0, 1, 1, 2))
        if self._random.random() < 0.02:
            self._random.shuffle(kinds)
        kinds = kinds or ["matched"]
        return tuple(self._clause(kind, last=kind not in kinds[at:]) for at, kind in enumerate(kinds, 1))

    def _clause(self, kind: ClauseKind, *, last: bool) -> TextClause:
        random = self._random
        condition = None if last and random.random() < 0.4 else self._condition()
        actions: tuple[ActionKind, ...] = ("insert",) if kind == "not_matched" else ("update", "update", "delete")
        action = random.choice(actions)
        head = random.choice(HEADS[kind])
        if action == "delete" or (random.random() < 0.15 and kind != "not_matched_by_source"):
            return TextClause(kind, head, condition, action, star=action != "delete")
        many = WIDE if self._seed % 400 == 11 else random.choice((1, 1, 2, 3))
        depth = 1 if many == WIDE else 2
        return TextClause(
            kind,
            head,
            condition,
            action,
            assignments=tuple((self._assigned(action), self._expressions.boolean(depth)) for _ in range(many)),
        )

    def _assigned(self, action: ActionKind) -> Part:
        name = self._names.name
        column = name("assigned column" if action == "update" else "inserted column")
        before = self._random.choice(((), (), (name("target alias"), ".")))
        after = self._random.choice(((), (), (".", name("assigned field"))))
        return part(*before, column, *after)


def random_text(seed: int, words: tuple[str, ...]) -> Text:
    """The statement of ``seed``; the seeds go through every pair of a word and a position."""
    return _Texts(seed, words).draw()


def statement_of(content: Content) -> MergeStatement:
    """A statement of these parts, whose places are not known."""
    target, source = (
        Relation(text=text, start=0, end=0, alias=alias, end_alias=0, parts=())
        for text, alias in (content.target, content.source)
    )
    clauses = (
        MergeClause(kind, condition, "", action, star, assignments, start=0, end_kind=0, condition_start=None, end=0)
        for kind, condition, action, star, assignments in content.clauses
    )
    return MergeStatement(
        sql="",
        prefix=content.prefix,
        target=target,
        source=source,
        condition=content.condition,
        condition_end=0,
        clauses=tuple(clauses),
        schema_evolution=content.evolution,
    )
