"""The ``:name`` markers of a statement that is being typed."""

from __future__ import annotations


def markers_of(sql: str) -> tuple[str, ...] | None:
    """The names of the markers, each once, in order; None while a quote or a comment is open."""
    from engine.model.errors import UsageError
    from engine.sql.sql_text import parameter_names

    if ":" not in sql:
        return ()
    try:
        return parameter_names(sql)
    except UsageError:
        return None
