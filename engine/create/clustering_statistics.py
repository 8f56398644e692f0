"""The columns of CLUSTER BY: Spark wants them as they are written, and Delta with statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, refusal
from engine.create.validate_delta_stats_columns import INDEXED_NAMES, SKIPPING_TYPES, named_columns
from engine.model.plan import Refused
from engine.sql.parse_create import ParsedCreate

INDEXED_NUMBER = "delta.dataSkippingNumIndexedCols"


def clustering_columns(create: ParsedCreate, _: Situation, provided: Provided) -> Iterator[Refused]:
    """CheckAnalysis of V2CreateTablePlan, which looks for them with all their capital letters."""
    if create.form not in ("empty", "as_select"):
        return
    parts = [name.split(".") for name in provided.leaves]
    paths = {".".join(one[:length]) for one in parts for length in range(1, len(one) + 1)}
    paths.update(column.name for column in provided.columns)
    for name in create.cluster_by:
        if name not in paths:
            yield refusal(
                "UNSUPPORTED_FEATURE.PARTITION_WITH_NESTED_COLUMN_IS_UNSUPPORTED",
                f"CLUSTER BY names no column of the table, as it is written: {name}",
                "Name a column of the table, with its capital letters.",
            )


def clustering_statistics(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """ClusteredTableUtils.validateClusteringColumnsInStatsSchema."""
    if create.form == "clone" or effect_of(create, around) == "adopt":
        return
    types = {column.name.lower(): column.type for column in provided.columns}
    types |= {name.lower(): type_ for name, type_ in provided.leaves.items()}
    # Spark refuses a column that is not there
    keys = [(name, types[name.lower()]) for name in provided.clustering_columns if name.lower() in types]
    indexed = _with_statistics(around, provided)
    for name, type_ in keys:
        if not SKIPPING_TYPES.match(type_):
            yield refusal(
                "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED",
                f"{name} is {type_}, of which Delta keeps no minimum and maximum to cluster by.",
                "Cluster by a column of a number, string, date or time.",
            )
    for name, _ in keys:
        if name.lower() not in indexed:
            yield refusal(
                "DELTA_CLUSTERING_COLUMN_MISSING_STATS",
                f"CLUSTER BY names {name}, and the table is to have no statistics on it.",
                f"Declare it further ahead, or name it in the property {INDEXED_NAMES}.",
            )


def _with_statistics(around: Situation, provided: Provided) -> set[str]:
    """The leaves of the columns that get statistics (StatisticsCollection.getIndexedColumns)."""
    leaves = [name.lower() for name in provided.leaves]
    properties = around.with_defaults(provided.configuration)
    named = properties.get(INDEXED_NAMES)
    if named is not None:
        columns = [one.lower() for one in named_columns(named) or []]
        return {leaf for leaf in leaves for one in columns if leaf == one or leaf.startswith(f"{one}.")}
    number = properties.get(INDEXED_NUMBER, "32")
    # what is no number is refused as such
    most = int(number) if re.fullmatch(r"[+-]?\d+", number) else -1
    return set(leaves[: None if most < 0 else most])
