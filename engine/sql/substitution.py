"""The ``${name}`` of ``spark.sql.variable.substitute``: Spark puts a conf's value there before it reads a text, in
quotes and comments too (VariableSubstitution, ConfigReader)."""

from __future__ import annotations

import re

from engine.model.errors import UsageError

REFERENCE = re.compile(r"\$\{(?:\w+?:)?\S+?\}")


def reference_in(sql: str) -> str:
    """The first ``${name}`` of ``sql``, "" if it has none. One in a comment counts: a value may end the comment."""
    found = REFERENCE.search(sql)
    return found[0] if found else ""


def refuse_substituted(sql: str) -> None:
    """Raise UsageError for one: what it stands for is no part of the text, and may be another thing when it runs."""
    if reference := reference_in(sql):
        raise UsageError(
            "VARIABLE_SUBSTITUTION",
            f"Spark would put the value of a conf in place of {reference}, which may be another one at the commit.",
            "Write the value, or a parameter like :name, whose value may hold ${…} as it is; leave it out of comments.",
        )
