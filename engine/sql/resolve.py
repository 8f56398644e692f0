"""Expression as typed → the same with every column qualified by its side and quoted.

Our own queries put an expression into other scopes than the MERGE's: beside columns of ours, with both sides in reach
where the MERGE has one. So each column reference is written out. Names are resolved as Spark does
(AttributeSeq.resolve): the longest qualifier first, then the bare name. engine.merge.check_reading holds the result to
Spark's analyzed MERGE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.model.plan import ClauseKind
from engine.sql.expressions import read_expression
from engine.sql.names import quote, unquoted
from engine.sql.parse import MergeClause, MergeStatement
from engine.sql.positions import Edit, edited
from engine.sql.sql_text import free_names, tokenize
from engine.sql.token_reader import Node

TARGET, SOURCE = "__dm_target", "__dm_source"
"""The names of the two sides in our queries."""
BOOLEAN = frozenset(("=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<", "AND", "OR", "NOT"))


@dataclass(frozen=True)
class Side:
    """One side of a MERGE: ``name`` in our queries, the ``qualifier`` that the text may use, its columns.

    With ``has_alias`` the alias is the whole qualifier; else catalog and schema may stand before it.
    """

    name: str
    qualifier: tuple[str, ...]
    has_alias: bool
    columns: tuple[str, ...]
    case_sensitive: bool = False

    def column(self, name: str) -> str | None:
        """The column with that name; None if there is none or several. One that stands twice is one: Spark has refused
        the statement if another one of its name is meant."""
        matches = {one for one in self.columns if self.same(one, name)}
        return next(iter(matches)) if len(matches) == 1 else None

    def has(self, name: str) -> bool:
        return any(self.same(one, name) for one in self.columns)

    def key(self, name: str) -> str:
        """What names have in common that are one name to the session."""
        return name if self.case_sensitive else name.lower()

    def same(self, one: str, other: str) -> bool:
        """Whether both are one name, as the session takes names."""
        return self.key(one) == self.key(other)

    def qualifies(self, names: Sequence[str]) -> bool:
        """Whether ``names`` are a qualifier of this side."""
        if not names or not self.qualifier:
            return False
        if self.has_alias and len(names) > 1:
            return False
        pairs = zip(reversed(names), reversed(self.qualifier), strict=False)
        return all(self.same(one, other) for one, other in pairs)


@dataclass(frozen=True)
class Resolved:
    """``text`` with qualified columns, and the columns of either side that it refers to."""

    text: str
    source_columns: tuple[str, ...]
    target_columns: tuple[str, ...]


def sides_of(
    statement: MergeStatement, source: Sequence[str], target: Sequence[str], *, case_sensitive: bool
) -> tuple[Side, Side]:
    """(source, target), of the names of their columns."""
    names = []
    for name, relation, columns in ((SOURCE, statement.source, source), (TARGET, statement.target, target)):
        alias = None if relation.alias is None else unquoted(relation.alias)
        qualifier = (alias,) if alias is not None else relation.qualifier
        names.append(Side(name, qualifier, alias is not None, tuple(columns), case_sensitive))
    return names[0], names[1]


def resolve(
    text: str, sides: Sequence[Side], *, prefix: str = "", name: Callable[[Side, str], str] | None = None
) -> Resolved:
    """``text`` as an expression over ``sides``. ``prefix`` is a WITH clause, which subqueries get; ``name`` says what
    a column is called, by default its quoted name behind its side's."""
    called = name or (lambda side, column: f"{side.name}.{quote(column)}")
    tokens, root = read_expression(text)
    parts: list[Edit] = []
    by_side: dict[str, dict[str, None]] = {SOURCE: {}, TARGET: {}}
    for node in free_names(root):
        end, columns = _columns(root, node, sides)
        for side, column in columns:
            by_side[side.name][column] = None
        if columns:
            parts.append(
                Edit(tokens[node.start].start, tokens[end - 1].end, ", ".join(called(*one) for one in columns))
            )
    if prefix:
        for node in root.walk():
            if node.kind == "subquery":
                begin = tokens[node.start + 1 if node.name == "EXISTS" else node.start].end
                parts.append(Edit(begin, begin, f"{prefix} "))
    return Resolved(edited(text, parts), tuple(by_side[SOURCE]), tuple(by_side[TARGET]))


def _columns(root: Node, node: Node, sides: Sequence[Side]) -> tuple[int, list[tuple[Side, str]]]:
    """(The place behind the part of a reference that names columns, the columns that it names)."""
    if node.kind == "star":
        in_count = any(one.kind == "call" and one.name == "count" and node in one.children for one in root.walk())
        owners = [side for side in sides if (side.qualifies(node.names) if node.names else not in_count)]
        if owners or not node.names:
            return node.end, [(side, column) for side in owners for column in side.columns]
    # last, what would stand for the catalog or schema of a table that is typed without: t.t.id is a field of t.t
    order = [(beyond, length) for beyond in (False, True) for length in range(len(node.names) - 1, -1, -1)]
    for beyond, qualifiers in order:
        name, before = node.names[qualifiers], node.names[:qualifiers]
        reached = [one for one in sides if beyond or qualifiers <= len(one.qualifier)]
        fits = [one for one in reached if (not before or one.qualifies(before)) and one.has(name)]
        if fits:
            column = fits[0].column(name) if len(fits) == 1 else None
            # Spark refuses what is ambiguous
            return node.start + 2 * qualifiers + 1, [] if column is None else [(fits[0], column)]
    return node.end, []


def as_column(text: str) -> str:
    """What is assigned, as an expression: a word alone is the name of a column there, be it true or null."""
    tokens = tokenize(text)
    return quote(tokens[0].name) if len(tokens) == 1 and tokens[0].is_name else text


def resolve_target_column(text: str, target: Side) -> str:
    """A column that is assigned, without its qualifier: Delta looks for it in the target alone, and takes a nested
    field that evolution adds by its bare name only. It is spelt as typed: id and ID are two to Delta's INSERT."""
    typed = as_column(text)
    tokens, root = read_expression(typed)
    end, columns = _columns(root, root, [target])
    if columns:
        return f"{quote(tokens[end - 1].name)}{typed[tokens[end - 1].end :]}"
    tokens, root = read_expression(text)
    for qualifiers in range(len(root.names) - 1, 0, -1):
        if target.qualifies(root.names[:qualifiers]):
            return text[tokens[root.start + 2 * qualifiers].start :]
    return text


def resolve_merge(statement: MergeStatement, source: Side, target: Side, *, prefix: str = "") -> MergeStatement:
    """The statement over our names of the two sides: what stays as typed is the two relations and the WITH clause.

    ``prefix`` is that WITH clause where the expressions are to stand in queries without it."""

    def clause(one: MergeClause) -> MergeClause:
        scope = scope_of(one.kind, (source, target))
        assignments = tuple(
            (resolve_target_column(column, target), resolve(value, scope, prefix=prefix).text)
            for column, value in one.assignments
        )
        condition = None if one.condition is None else resolve(one.condition, scope, prefix=prefix).text
        return replace(one, condition=condition, assignments=assignments)

    return replace(
        statement,
        target=replace(statement.target, alias=TARGET),
        source=replace(statement.source, alias=SOURCE),
        condition=resolve(statement.condition, (target, source), prefix=prefix).text,
        clauses=tuple(clause(one) for one in statement.clauses),
    )


def scope_of(kind: ClauseKind, sides: tuple[Side, Side]) -> tuple[Side, ...]:
    """The sides that the expressions of a clause may name. ``sides`` are (source, target)."""
    source, target = sides
    return {"matched": (target, source), "not_matched": (source,), "not_matched_by_source": (target,)}[kind]


def is_boolean(text: str) -> bool:
    """Whether an expression is a boolean by its shape."""
    _, root = read_expression(text)
    while root.kind == "brackets":
        root = root.children[0]
    return root.kind in ("between", "in", "like", "is") or (root.kind in ("binary", "unary") and root.name in BOOLEAN)
