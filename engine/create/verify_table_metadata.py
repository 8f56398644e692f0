"""CREATE TABLE over a Delta log that is there: what is given must be what the log has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, refusal
from engine.model.create_values import StateColumn
from engine.model.plan import Refused
from engine.sql.parse_create import ParsedCreate
from engine.table.table_features import is_protocol_property

CHAR = re.compile(r"\b(?:var)?char\(\d+\)")
MAX_COLUMN_ID = "delta.columnMapping.maxColumnId"


def verify_table_metadata(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """CreateDeltaTableCommand.verifyTableMetadata: what is given must be what the log has."""
    before = around.before
    if before is None or effect_of(create, around) != "adopt":
        return
    can_cluster = "clustering" in before.features
    if provided.columns:
        # a log keeps how far an identity column has counted, and a column's default otherwise than a statement gives it
        kept = any(column.identity or column.default is not None for column in provided.columns)
        same = _by_name(provided.columns) == _by_name(before.columns) and provided.inside == around.inside
        if kept or not same:
            yield _differs("DELTA_CREATE_TABLE_SCHEME_MISMATCH", "columns", around.location)
        if provided.partition_columns != before.partition_columns:
            yield _differs("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", "partitioning", around.location)
        if provided.clustering_columns != before.clustering_columns or (can_cluster and not before.clustering_columns):
            yield _differs("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING", "clustering", around.location)
    if provided.configuration or provided.clustering_columns:
        ours = {k: v for k, v in provided.configuration.items() if k != MAX_COLUMN_ID and not is_protocol_property(k)}
        there = {k: v for k, v in before.properties.items() if k != MAX_COLUMN_ID}
        # Delta counts the clustering of the log among its properties, which a statement without columns has not
        if ours != there or (can_cluster and not provided.columns):
            yield _differs("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", "properties", around.location)


def _by_name(columns: Sequence[StateColumn]) -> dict[str, StateColumn]:
    """The columns as SchemaUtils.reportDifferences compares them: in any order, and so are the fields of structs."""
    return {column.name: column.model_copy(update={"type": _fields_by_name(column.type)}) for column in columns}


def _fields_by_name(type_: str) -> str:
    """``type_`` with the fields of each struct sorted, from the innermost."""

    def written(found: re.Match[str]) -> str:
        parts = re.split(r",(?![^(]*\))", found[2])
        return f"{found[1]}«{';'.join(sorted(parts) if found[1] == 'struct' else parts)}»"

    # inside of other types the statement's own are not known: a CAST makes them strings
    if not CHAR.fullmatch(type_):
        type_ = CHAR.sub("string", type_)
    while (inner := re.sub(r"\b(array|map|struct)<([^<>]*)>", written, type_)) != type_:
        type_ = inner
    return type_


def _differs(condition: str, what: str, location: str) -> Refused:
    return refusal(
        condition,
        f"The table at {location} exists, with other {what} than the statement gives.",
        "Leave them out, and the log's are taken; or write what the log has.",
    )
