"""``:name`` markers filled with literals. EXPLAIN takes no bound parameters, so the text itself is filled."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from engine.errors import UsageError
from engine.positions import Edit, edited
from engine.sql_text import parameter_names, tokenize

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def literal(value: str) -> str:
    """A SQL literal of ``value``: numbers, TRUE, FALSE and NULL stand bare, all else is a quoted string."""
    if NUMBER.fullmatch(value) or value.upper() in ("TRUE", "FALSE", "NULL"):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fill(sql: str, params: Mapping[str, str]) -> str:
    """``sql`` with each ``:name`` outside quotes replaced by its literal. A missing one is a UsageError."""
    return edited(sql, markers(sql, params))


def markers(sql: str, params: Mapping[str, str]) -> tuple[Edit, ...]:
    """How the ``:name`` markers of ``sql`` are filled. A missing one is a UsageError."""
    names = parameter_names(sql)
    missing = [name for name in names if name not in params]
    if missing:
        raise UsageError(
            "UNBOUND_SQL_PARAMETER",
            f"The parameter :{missing[0]} has no value.",
            f"Give it with --param {missing[0]}=VALUE.",
        )
    if not names:
        return ()
    return tuple(
        Edit(token.start, following.end, literal(params[following.text]))
        for token, following in itertools.pairwise(tokenize(sql))
        if token.text == ":" and token.end == following.start and following.text in names
    )
