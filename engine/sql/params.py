"""``:name`` markers filled with literals. EXPLAIN takes no bound parameters, so the text itself is filled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.model.errors import UsageError
from engine.sql.names import string
from engine.sql.positions import Edit, edited
from engine.sql.sql_text import parameter_markers

NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?")
"""Not 007, which is a code: as a number it is 7."""


def bare_or_quoted(value: str) -> str:
    """A SQL literal of ``value``: numbers, TRUE, FALSE and NULL stand bare, all else is a quoted string."""
    # digits and capitals of other scripts are none to Spark
    if value.isascii() and (NUMBER.fullmatch(value) or value.upper() in ("TRUE", "FALSE", "NULL")):
        return value
    return string(value)


def fill(sql: str, params: Mapping[str, str]) -> str:
    """``sql`` with each ``:name`` outside quotes replaced by its literal. Raises UsageError for a name without a value
    and for a value without a name."""
    return edited(sql, markers(sql, params))


def markers(sql: str, params: Mapping[str, str]) -> tuple[Edit, ...]:
    """How the ``:name`` markers of ``sql`` are filled. Raises UsageError as :func:`fill` does."""
    places = parameter_markers(sql)
    names = {name for name, _, _ in places}
    if missing := list(dict.fromkeys(name for name, _, _ in places if name not in params)):
        one = len(missing) == 1
        has = f"parameter :{missing[0]} has" if one else f"parameters {', '.join(f':{name}' for name in missing)} have"
        options = " ".join(f"--param {name}=VALUE" for name in missing)
        give = f"Give {'it' if one else 'them'} with {options}."
        raise UsageError("UNBOUND_SQL_PARAMETER", f"The {has} no value.", give)
    for name in params:
        if name not in names:
            raise UsageError(
                "UNUSED_SQL_PARAMETER",
                f"The statement has no parameter :{name}.",
                f"Write :{name} into the statement, or leave the value of {name} out.",
            )
    for name, value in params.items():
        if not isinstance(value, str):
            raise UsageError(
                "SQL_PARAMETER_NOT_TEXT",
                f"The value of :{name} is of the type {type(value).__name__}, not a text.",
                "Give it as a str: numbers, TRUE, FALSE and NULL in it stand bare in the SQL, all else in quotes.",
            )
    return tuple(Edit(start, end, bare_or_quoted(params[name])) for name, start, end in places)
