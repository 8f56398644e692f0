"""What the target's metadata asks of each row that is written: defaults, generated columns, lengths, constraints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.analyze import AnalyzedMerge
from engine.confs import read_confs
from engine.logged_schema import LoggedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

CHECK = "delta.constraints."
LENGTH = re.compile(r"^(char|varchar)\((\d+)\)$", re.IGNORECASE)
AS_STRING = "spark.sql.legacy.charVarcharAsString"
ANSI = "spark.sql.ansi.enabled"
POLICY = "spark.sql.storeAssignmentPolicy"
FOLLOWS_ANSI = "spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag"
PADDING = "spark.sql.readSideCharPadding"


@dataclass(frozen=True)
class TargetColumn:
    """A column of the target as the MERGE leaves it. ``before`` is its type until then, None for a new column.

    ``max_length`` is n of CHAR(n) and VARCHAR(n); ``padded`` n where a read pads it (CHAR). ``default`` and
    ``generated_as`` are SQL texts.
    """

    name: str
    type: DataType
    before: DataType | None
    nullable: bool
    max_length: int | None
    padded: int | None
    default: str | None
    generated_as: str | None
    identity: bool


@dataclass(frozen=True)
class StoreCast:
    """How a value is cast to its column's type (UpdateExpressionsSupport.cast).

    ``function`` gives the values; ``can_fail``: one that does not fit is an error, not NULL or cut; ``exact`` is
    False where no function of this session casts so (the policy LEGACY while spark.sql.ansi.enabled).
    """

    function: str
    can_fail: bool
    exact: bool = True


@dataclass(frozen=True)
class TargetRules:
    """The columns and what is checked of each written row (Constraints.getAll, GeneratedColumn).

    ``checks``: the CHECK constraints, name → SQL text.
    """

    columns: tuple[TargetColumn, ...]
    checks: Mapping[str, str]
    append_only: bool
    cast: StoreCast


def target_rules(spark: SparkSession, merge: AnalyzedMerge, logged: Sequence[LoggedColumn], detail: Any) -> TargetRules:
    """Read them. ``detail`` is the row of DESCRIBE DETAIL; ``logged`` the columns as the log has them where some are
    generated or identities, which Delta keeps out of the schemas that it shows."""
    properties = dict(detail["properties"] or {})
    hidden = {column.name.lower(): column for column in logged}
    confs = read_confs(spark, (ANSI, POLICY, FOLLOWS_ANSI, PADDING, AS_STRING))
    before = {field.name.lower(): field.dataType for field in merge.target_type.fields}
    columns = []
    for field in merge.type_after.fields:
        metadata = field.metadata or {}
        in_log = hidden.get(field.name.lower())
        length = LENGTH.match(str(metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")))
        is_char = length is not None and length.group(1).lower() == "char"
        columns.append(
            TargetColumn(
                name=field.name,
                type=field.dataType,
                before=before.get(field.name.lower()),
                nullable=field.nullable,
                max_length=int(length.group(2)) if length and confs.get(AS_STRING, "false") != "true" else None,
                padded=int(length.group(2)) if length and is_char and confs.get(PADDING, "true") == "true" else None,
                default=metadata.get("CURRENT_DEFAULT"),
                generated_as=in_log.generated_as if in_log else None,
                identity=in_log is not None and in_log.identity,
            )
        )
    return TargetRules(
        columns=tuple(columns),
        checks={k.removeprefix(CHECK): str(v) for k, v in properties.items() if k.lower().startswith(CHECK)},
        append_only=properties.get("delta.appendOnly", "false").lower() == "true",
        cast=store_cast(confs),
    )


def store_cast(confs: Mapping[str, str]) -> StoreCast:
    """Under the policy ANSI a value that does not fit is an error, which the plan foresees; so where CAST would not
    follow ANSI, try_cast gives the values that remain."""
    ansi = confs.get(ANSI, "true").lower() == "true"
    policy = confs.get(POLICY, "ANSI").upper()
    if confs.get(FOLLOWS_ANSI, "false").lower() == "true":
        return StoreCast("CAST", can_fail=ansi)
    if policy == "LEGACY":
        return StoreCast("CAST", can_fail=False, exact=not ansi)
    return StoreCast("CAST" if ansi or policy == "STRICT" else "try_cast", can_fail=policy == "ANSI")
