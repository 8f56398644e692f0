"""``delta.dataSkippingStatsColumns``: what it names, and what Delta refuses of it
(StatisticsCollection.validateDeltaStatsColumns)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, refusal
from engine.model.plan import Refused
from engine.sql.parse_create import ParsedCreate

INDEXED_NAMES = "delta.dataSkippingStatsColumns"
# types whose minimum and maximum Delta keeps (SkippingEligibleDataType)
SKIPPING_TYPES = re.compile(
    r"^(tinyint|smallint|int(?!erval)|bigint|float|double|decimal|date|timestamp|string|char|varchar)"
)
NAME = r"\s*((?:`(?:[^`]|``)+`|[A-Za-z0-9_]+)(?:\.(?:`(?:[^`]|``)+`|[A-Za-z0-9_]+))*)\s*"


def named_columns(text: str) -> list[str] | None:
    """The columns of such a list as typed, ``s.x`` for a field; None where it is none."""
    if not re.fullmatch(f"{NAME}(?:,{NAME})*", text):
        return None
    names = (match[1] for match in re.finditer(NAME, text))
    return [name.replace("``", "\0").replace("`", "").replace("\0", "`") for name in names]


def validate_delta_stats_columns(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """The first rule that the list breaks, in Delta's order."""
    text = provided.configuration.get(INDEXED_NAMES)
    # a table that is copied brings columns for which the list is good
    if text is None or create.form not in ("empty", "as_select") or effect_of(create, around) == "adopt":
        return
    names = named_columns(text)
    if names is None:
        return  # Delta takes 'a b', and its parser says what is wrong with others
    partitions = {name.lower() for name in provided.partition_columns}
    columns = {column.name.lower(): column.type for column in provided.columns}
    leaves = {name.lower() for name in provided.leaves}
    seen: list[str] = []
    for typed in names:
        name = typed.lower()
        # Delta tells two of them apart by their capital letters
        fields = [f"{typed}{leaf[len(name) :]}" for leaf in provided.leaves if leaf.lower().startswith(f"{name}.")]
        if name in partitions:
            yield refusal(
                "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
                f"{INDEXED_NAMES} names {name}, which is a partition column.",
                "Leave it out: files of other partitions are skipped without statistics.",
            )
        elif name not in leaves and not fields:
            yield refusal(
                "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
                f"{INDEXED_NAMES} names no column: {name}",
                "Name a column of the table.",
            )
        elif not fields and name in columns and not SKIPPING_TYPES.match(columns[name]):
            yield refusal(
                "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
                f"{INDEXED_NAMES} names {name}, and Delta keeps no minimum and maximum of {columns[name]}.",
                "Leave it out.",
            )
        seen += fields or [typed]
    twice = next((name for name in seen if seen.count(name) > 1), None)
    if twice is not None:
        yield refusal(
            "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS", f"{INDEXED_NAMES} names {twice} twice.", "Name each column once."
        )
