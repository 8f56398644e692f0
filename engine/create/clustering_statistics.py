"""Whether the columns of CLUSTER BY get statistics, without which Delta refuses to cluster by them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of
from engine.model.plan import Refused
from engine.sql.parse_create import ParsedCreate

INDEXED_NAMES, INDEXED_NUMBER = "delta.dataSkippingStatsColumns", "delta.dataSkippingNumIndexedCols"
# types whose minimum and maximum Delta keeps (SkippingEligibleDataType)
SKIPPING_TYPES = re.compile(r"^(tinyint|smallint|int|bigint|float|double|decimal|date|timestamp|string|char|varchar)")


def clustering_statistics(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """ClusteredTableUtils.validateClusteringColumnsInStatsSchema."""
    if create.form == "clone" or effect_of(create, around) == "adopt":
        return
    types = {**{column.name.lower(): column.type for column in provided.columns}, **provided.leaves}
    # Spark refuses a column that is not there
    keys = [(name, types[name.lower()]) for name in provided.clustering_columns if name.lower() in types]
    indexed = _with_statistics(around, provided)
    for name, type_ in keys:
        if not SKIPPING_TYPES.match(type_):
            yield Refused(
                condition="DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED",
                message=f"{name} is {type_}, of which Delta keeps no minimum and maximum to cluster by.",
                hint="Cluster by a column of a number, string, date or time.",
            )
    for name, _ in keys:
        if name.lower() not in indexed:
            yield Refused(
                condition="DELTA_CLUSTERING_COLUMN_MISSING_STATS",
                message=f"CLUSTER BY names {name}, and the table is to have no statistics on it.",
                hint=f"Declare it further ahead, or name it in the property {INDEXED_NAMES}.",
            )


def _with_statistics(around: Situation, provided: Provided) -> set[str]:
    """The leaves of the columns that get statistics (StatisticsCollection.getIndexedColumns)."""
    named = provided.configuration.get(INDEXED_NAMES)
    if named is not None:
        columns = [one.strip().replace("`", "").lower() for one in named.split(",")]
        return {leaf for leaf in provided.leaves for one in columns if leaf == one or leaf.startswith(f"{one}.")}
    number = provided.configuration.get(INDEXED_NUMBER, around.indexed_columns)
    # a value that is no number is refused by Delta in its own words
    most = int(number) if re.fullmatch(r"-?\d+", number) else -1
    return set(list(provided.leaves)[: None if most < 0 else most])
