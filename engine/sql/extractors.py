"""CHECKs and generation expressions as Delta reads them of a row that it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.model.errors import UsageError
from engine.sql.expressions import read_expression
from engine.sql.names import quote
from engine.sql.positions import Edit, edited
from engine.sql.sql_text import free_names

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


# Spark puts their values into a plan as it optimizes it; into a CHECK it never does
OF_PLANS = frozenset(("current_user", "user", "session_user", "current_catalog", "current_database", "current_schema"))
INTERNAL_ERROR = "INTERNAL_ERROR"
NOT_COMPUTED = "Delta computes no such function of a row that it writes: "


@dataclass(frozen=True)
class Extracted:
    """An expression as Delta reads it (DeltaInvariantCheckerExec.buildExtractor).

    ``text`` is SQL that gives its value, or raises NOT_COMPUTED. ``otherwise``: a query reads the expression otherwise,
    as Delta takes NULL for a name that is no column, or no field. ``leaves_structs``: a name goes on behind a dot into
    what is no struct, at which each write fails.
    """

    text: str
    otherwise: bool = False
    leaves_structs: bool = False


def with_extractors(text: str, columns: Mapping[str, DataType], *, reserved: bool = False) -> Extracted:
    """``text`` with each column, and each field behind its dots, spelled as it is in ``columns``: Delta looks them up
    in any case, whatever spark.sql.caseSensitive says, before Spark looks for a function of that name. ``reserved``:
    the session knows CURRENT_DATE and its like by themselves (target_rules.reserves_words)."""
    try:
        tokens, root = read_expression(text)
    except UsageError:  # a text that is not understood must not keep the table from being written to
        return Extracted(text)
    edits, otherwise, leaves_structs = [], False, False
    functions = [node for node in root.walk() if node.kind == "call"]
    for node in free_names(root):
        if node.kind == "star":
            continue
        if node.kind == "current" and reserved:
            functions.append(replace(node, name=node.names[0].lower()))
            continue
        path, ends_at = _found(node.names, columns)
        missing = len(path) < len(node.names)
        leaves_structs = leaves_structs or (ends_at is not None and missing and ends_at.typeName() != "struct")
        read = "NULL" if missing else ".".join(map(quote, path))
        otherwise = otherwise or missing
        edits.append(Edit(tokens[node.start].start, tokens[node.end - 1].end, read))
    for node in functions:
        if node.name.removeprefix("system.builtin.") in OF_PLANS and not node.children:
            otherwise = True
            # by itself it has no type, and Spark makes NULL of its cast
            raised = f"CAST(isnull(raise_error('{NOT_COMPUTED}{node.name}()')) AS STRING)"
            edits.append(Edit(tokens[node.start].start, tokens[node.end - 1].end, raised))
    return Extracted(edited(text, edits), otherwise, leaves_structs)


def _found(names: Sequence[str], columns: Mapping[str, DataType]) -> tuple[list[str], DataType | None]:
    """As many of ``names`` as there are a column and fields of, each inside of the one before, and the last one's
    type."""
    path: list[str] = []
    last: DataType | None = None
    inside = columns
    for name in names:
        known = next((one for one in inside if one.lower() == name.lower()), None)
        if known is None:
            break
        path.append(known)
        last = inside[known]
        inside = {field.name: field.dataType for field in getattr(last, "fields", ())}
    return path, last
