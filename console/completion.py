"""Completions in a statement: the columns, tables, keywords and functions that start with the typed word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from engine.model.errors import UsageError
from engine.sql.lexer import tokenize
from engine.sql.names import is_ours

KEYWORDS = (
    *("MERGE", "INTO", "USING", "WHEN", "MATCHED", "NOT", "THEN", "UPDATE", "SET", "INSERT", "VALUES", "DELETE"),
    *("WITH", "SCHEMA", "EVOLUTION", "SOURCE", "TARGET", "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "QUALIFY"),
    *("PARTITION", "OVER", "JOIN", "LEFT", "INNER", "UNION", "DISTINCT", "BETWEEN", "LIKE", "NULL", "TRUE", "FALSE"),
    *("CASE", "ELSE", "EXISTS", "VERSION", "TIMESTAMP", "INTERVAL", "CAST", "DESC"),
)
FUNCTIONS = (
    *("coalesce(", "concat(", "count(", "current_date()", "current_timestamp()", "date_add(", "date_trunc("),
    *("greatest(", "least(", "lower(", "nullif(", "regexp_replace(", "row_number()", "substring(", "to_date("),
    *("to_timestamp(", "trim(", "try_cast(", "upper("),
)
LEAST_LETTERS = 2

_PART = r"(?:`(?:[^`]|``)+`|[A-Za-z_]\w*)"
_NAME = rf"{_PART}(?:\.{_PART})*"
_NO_ALIAS = "|".join((*KEYWORDS, "ON", "AS"))
_RELATION = re.compile(
    rf"\b(?:INTO|USING|FROM|JOIN)\s+({_NAME})(?:\s+(?:AS\s+)?(?!(?:{_NO_ALIAS})\b)({_PART}))?", re.IGNORECASE
)
_USE = re.compile(rf"(?:^|;)\s*USE\s+(?!CATALOG\b)(?:(?:SCHEMA|DATABASE|NAMESPACE)\s+)?({_NAME})\s*;", re.IGNORECASE)
_AFTER_RELATION = re.compile(r"\b(?:INTO|USING|FROM|JOIN|TABLE)\s+$", re.IGNORECASE)
_TYPED = re.compile(rf"((?:{_PART}\.)*)([A-Za-z_]\w*)?$")
# a quoted name, kept whole; comments and strings: one that is not closed reaches to the end
_OPAQUE = re.compile(
    r"(`(?:[^`]|``)*`)|--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)", re.DOTALL
)

ColumnsOf = Callable[[str], Sequence[str]]


def relations(sql: str) -> dict[str, str]:
    """The tables that a statement names, by their alias or, without one, by their last part; each as a session knows
    it that has not run the USE before the statement."""
    names = {}
    readable = _readable(sql)
    for match in _RELATION.finditer(readable):
        name, alias = match.groups()
        names[(alias or name.rpartition(".")[2]).lower()] = _behind_use(readable, name)
    return names


def behind_use(sql: str, name: str) -> str:
    """A table that ``sql`` names, in the same way."""
    return _behind_use(_readable(sql), name)


def _readable(sql: str) -> str:
    """A text without its comments and strings."""
    return _OPAQUE.sub(lambda found: found[1] or " ", sql)


def _behind_use(readable: str, name: str) -> str:
    schemas = _USE.findall(readable) if re.fullmatch(_PART, name) else []
    return f"{schemas[-1]}.{name}" if schemas else name


def completions(before: str, after: str, tables: Sequence[str], columns_of: ColumnsOf) -> tuple[str, list[str]]:
    """The word that is being typed, and what it could become, likeliest first.

    ``before`` and ``after`` are the statement left and right of the cursor; ``tables`` are names as Spark wants them.
    """
    if re.match(r"\w", after) or _is_opaque(before):
        return "", []
    typed = _TYPED.search(before)
    if typed is None:
        return "", []
    qualifier, word = typed[1].rstrip("."), typed[2] or ""
    if _AFTER_RELATION.search(before[: typed.start()]):
        whole = f"{typed[1]}{word}"
        return whole, _starting(whole, tables) if whole else []
    if not qualifier and len(word) < LEAST_LETTERS:
        return word, []
    sides = relations(before + " " + after)
    if qualifier:
        name = sides.get(qualifier.lower())
        return word, _starting(word, columns_of(name) if name else [])
    columns = dict.fromkeys(column for name in sides.values() for column in columns_of(name))
    words = [keyword.lower() for keyword in KEYWORDS] if word.islower() else KEYWORDS
    return word, _starting(word, [*columns, *words, *FUNCTIONS])


def _starting(word: str, names: Iterable[str]) -> list[str]:
    # what is typed stays as it is typed; only its rest is offered
    longer = (name for name in names if len(name) > len(word) and name.lower().startswith(word.lower()))
    return [name for name in longer if not is_ours(name.strip("`"))]


def _is_opaque(before: str) -> bool:
    """Whether the cursor is in a comment, a string or a quoted name."""
    try:
        # a letter that is typed in a comment is in no token
        tokens = tokenize(f"{before}x")
    except UsageError:
        return True
    return not tokens or tokens[-1].end <= len(before)
