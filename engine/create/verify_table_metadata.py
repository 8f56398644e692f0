"""CREATE TABLE over a Delta log that is there: what is given must be what the log has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, refusal
from engine.model.create_values import StateColumn
from engine.model.plan import Refused
from engine.sql.parse_create import ParsedCreate
from engine.table.table_features import is_protocol_property

MAPPING = ("delta.columnMapping.mode", "delta.columnMapping.maxColumnId")


def verify_table_metadata(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """CreateDeltaTableCommand.verifyTableMetadata: what is given must be what the log has."""
    before = around.before
    if before is None or effect_of(create, around) != "adopt":
        return
    if provided.columns:
        if [_comparable(column) for column in provided.columns] != [_comparable(column) for column in before.columns]:
            yield _differs("DELTA_CREATE_TABLE_SCHEME_MISMATCH", "columns", around.location)
        if provided.partition_columns != before.partition_columns:
            yield _differs("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", "partitioning", around.location)
        if provided.clustering_columns != before.clustering_columns:
            yield _differs("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING", "clustering", around.location)
    if provided.configuration or provided.clustering_columns:
        ours = {k: v for k, v in provided.configuration.items() if k not in MAPPING and not is_protocol_property(k)}
        there = {k: v for k, v in before.properties.items() if k not in MAPPING}
        if ours != there:
            yield _differs("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", "properties", around.location)


def _comparable(column: StateColumn) -> StateColumn:
    return column.model_copy(update={"type": re.sub(r"\b(var)?char\(\d+\)", "string", column.type)})


def _differs(condition: str, what: str, location: str) -> Refused:
    return refusal(
        condition,
        f"The table at {location} exists, with other {what} than the statement gives.",
        "Leave them out, and the log's are taken; or write what the log has.",
    )
