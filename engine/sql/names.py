"""Names quoted for SQL: foreign text never becomes syntax."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from engine.model.errors import EngineError

# the aliases of the two sides hide no column
OURS = re.compile(r"__dm_(?!target$|source$)", re.IGNORECASE)
# what Spark takes a name for, or what to write instead: [`t`.`id`, `v`]
_SUGGESTED = r"`(?:[^`]|``)*`(?:\.`(?:[^`]|``)*`)*"
SUGGESTED = re.compile(_SUGGESTED)
SUGGESTIONS = re.compile(rf"( Did you mean one of the following\? )?\[{_SUGGESTED}(?:, {_SUGGESTED})*\](\.?)")
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# org.apache.hadoop.fs.Path.isAbsolute
ABSOLUTE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:/(?!/)|//[^/]*/)")
# words that Spark's grammar would not take for a name after a comma or a join
RESERVED = frozenset(
    (
        *("anti", "cross", "except", "full", "inner", "intersect", "join", "lateral", "left"),
        *("minus", "natural", "on", "right", "semi", "union", "using"),
    )
)


def is_in_delta(parts: Sequence[str]) -> bool:
    """Whether a table is named in a schema called delta, or as one by its path."""
    return len(parts) == 2 and parts[0].lower() == "delta"


def names_path(parts: Sequence[str]) -> bool:
    """Whether a table is named by its path: delta.`/path`. delta.name is one in a schema (SupportsPathIdentifier)."""
    return is_in_delta(parts) and ABSOLUTE.match(parts[1]) is not None


def quote(name: str) -> str:
    """One identifier in back-quotes."""
    return "`" + name.replace("`", "``") + "`"


def quoted_if_needed(name: str) -> str:
    """One identifier, in back-quotes only if Spark's grammar asks for them."""
    return name if PLAIN_NAME.fullmatch(name) and name.lower() not in RESERVED else quote(name)


def unquoted(name: str) -> str:
    """One name as it is, without the back-quotes that it may be written in."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def string(value: str) -> str:
    """A SQL string literal. Spark puts no conf's value into it: ``${`` is written as an escape."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{") + "'"


def is_ours(name: str) -> bool:
    """Whether a column is called as one of those that our queries add."""
    return bool(OURS.match(name))


def without_ours(message: str) -> str:
    """A message of Spark's that suggests no column of ours."""

    def theirs(found: re.Match[str]) -> str:
        names = [name for name in SUGGESTED.findall(found[0]) if not any(is_ours(part) for part in _parts(name))]
        return f"{found[1] or ''}[{', '.join(names)}]{found[2]}" if names else ""

    return SUGGESTIONS.sub(theirs, message)


def _parts(name: str) -> list[str]:
    return [unquoted(part) for part in re.findall(r"`(?:[^`]|``)*`", name)]


def check_not_ours(names: Collection[str]) -> None:
    """Raise EngineError for a column that is called as one of those that our queries add."""
    if (name := next(filter(is_ours, names), None)) is not None:
        raise EngineError(
            "RESERVED_COLUMN_NAME",
            f"A column is called {name}: names that begin with __dm_ are those of this program's own queries.",
            "Rename the column; one of the source can be renamed in a query: SELECT … AS other.",
        )


def unused(name: str, names: Iterable[str]) -> str:
    """``name``, or with underscores before it, so that it is none of ``names``."""
    taken = {one.lower() for one in names}
    while name.lower() in taken:
        name = f"_{name}"
    return name


def statistics_key(*path: str) -> str:
    """By what the statistics of a column, or of a field by its path, are known. A name that holds a dot is quoted, as
    it would be the path of another one."""
    return ".".join(f"`{name.replace('`', '``')}`" if "." in name else name for name in path)
