"""The statements of a script as one text."""

from __future__ import annotations

from collections.abc import Iterable


def joined(statements: Iterable[str]) -> str:
    """``statements`` as one text, in which ``engine.sql.parse.parse_script`` finds each of them again.

    A statement may end with a line comment, which would take the semicolon: after one it has a line of its own, and
    the blank before it keeps a backslash from carrying the comment on.
    """
    *before, last = statements
    return "".join(f"{one} \n;\n" if "--" in one else f"{one};\n" for one in before) + last
