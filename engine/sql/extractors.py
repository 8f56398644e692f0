"""CHECKs and generation expressions as Delta reads them of a row that it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.model.errors import UsageError
from engine.sql.expressions import read_expression
from engine.sql.names import quote
from engine.sql.positions import Edit, edited
from engine.sql.sql_text import free_names
from engine.sql.token_reader import Node

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def with_extractors(text: str, columns: Mapping[str, DataType]) -> str:
    """``text`` with each column, and each field behind its dots, spelled as it is in ``columns``: Delta looks them up
    in any case, whatever spark.sql.caseSensitive says, and takes NULL for a column that is not there
    (DeltaInvariantCheckerExec.buildExtractor)."""
    try:
        tokens, root = read_expression(text)
    except UsageError:  # a text that is not understood must not keep the table from being written to
        return text
    edits = []
    for node in free_names(root):
        path = _extractor(node, columns)
        if path is not None:
            edits.append(Edit(tokens[node.start].start, tokens[node.end - 1].end, path))
    return edited(text, edits)


def _extractor(node: Node, columns: Mapping[str, DataType]) -> str | None:
    """None for what is no column, or no field of it: Spark says what it is."""
    if node.kind == "star":
        return None
    column = next((name for name in columns if name.lower() == node.names[0].lower()), None)
    if column is None:
        return "NULL" if node.kind == "name" else None
    fields = _fields(columns[column], node.names[1:])
    return None if fields is None else ".".join(quote(name) for name in (column, *fields))


def _fields(type_: DataType, names: Sequence[str]) -> list[str] | None:
    found = []
    for name in names:
        field = next((one for one in getattr(type_, "fields", ()) if one.name.lower() == name.lower()), None)
        if field is None:
            return None
        found.append(field.name)
        type_ = field.dataType
    return found
