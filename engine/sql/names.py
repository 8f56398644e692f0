"""Names quoted for SQL: foreign text never becomes syntax."""

from __future__ import annotations

import re

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# words that Spark's grammar would not take for a name after a comma or a join
RESERVED = frozenset(
    (
        *("anti", "cross", "except", "full", "inner", "intersect", "join", "lateral", "left"),
        *("minus", "natural", "on", "right", "semi", "union", "using"),
    )
)


def quote(name: str) -> str:
    """One identifier in back-quotes."""
    return "`" + name.replace("`", "``") + "`"


def quoted_if_needed(name: str) -> str:
    """One identifier, in back-quotes only if Spark's grammar asks for them."""
    return name if PLAIN_NAME.fullmatch(name) and name.lower() not in RESERVED else quote(name)


def string(value: str) -> str:
    """A SQL string literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
