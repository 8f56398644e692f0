"""What the target's metadata asks of each row that is written: defaults, generated columns, lengths, constraints."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine.merge.analyze import AnalyzedMerge
from engine.model.errors import EngineError, UsageError
from engine.spark.confs import is_on, read_confs
from engine.spark.engine_versions import engine_versions
from engine.spark.may_raise import may_raise
from engine.spark.release import release
from engine.sql.char_types import is_char, raw_type
from engine.sql.extractors import Extracted, with_extractors
from engine.sql.resolve import TARGET, Side
from engine.sql.sql_text import is_null, names_in
from engine.sql.substitution import reference_in
from engine.table.column_rules import CHECK
from engine.table.logged_schema import LoggedColumn
from engine.table.nested_types import types_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructType

AS_STRING = "spark.sql.legacy.charVarcharAsString"
ANSI = "spark.sql.ansi.enabled"
RESERVED = "spark.sql.ansi.enforceReservedKeywords"
POLICY = "spark.sql.storeAssignmentPolicy"
FOLLOWS_ANSI = "spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag"
PADDING = "spark.sql.readSideCharPadding"
BY_NAME = "spark.databricks.delta.resolveMergeUpdateStructsByName.enabled"
NULL_STRUCTS = "spark.databricks.delta.merge.preserveNullSourceStructs"
NULL_STRUCTS_OF_STAR = f"{NULL_STRUCTS}.updateStar"
INVARIANTS = "delta.invariants"
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
DROP_VOID = "spark.databricks.delta.createDataFrame.dropNullColumns"
UNENFORCED = "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled"


@dataclass(frozen=True)
class TargetColumn:
    """A column of the target as the MERGE leaves it. ``before`` is its type until then, None for a new column.

    ``raw_type`` has the lengths of its CHAR(n) and VARCHAR(n), None where no length is checked; ``padded``: a read
    fills CHAR up. ``default`` and ``generated_as`` are SQL texts; so is ``exists_default``, which a new column has in
    rows of older files. ``partition``: the table is partitioned by it.
    """

    name: str
    type: DataType
    before: DataType | None
    nullable: bool
    raw_type: DataType | None
    padded: bool
    default: str | None
    generated_as: str | None
    identity: bool
    generation_may_raise: bool = False
    partition: bool = False
    exists_default: str | None = None

    @property
    def is_text_partition(self) -> bool:
        return self.partition and self.type.typeName() == "string"

    @property
    def has_char(self) -> bool:
        """Whether there is a CHAR(n) in it, which Delta checks as it is given in a row that is written for the first
        time, and filled up, or compared as if it were, in one that is read."""
        return self.raw_type is not None and any(map(is_char, types_in(self.raw_type)))

    @property
    def is_bytes_partition(self) -> bool:
        return self.partition and self.type.typeName() == "binary"


ZONED = re.compile(r"timestamp|unix|zone|hour|minute|second|now|current", re.IGNORECASE)


def differs_when_read(text: str, columns: Sequence[TargetColumn]) -> bool:
    """Whether an expression may have another value over a row that is read than it had when that was written, so that
    the row may break what it was checked for: it names a TIMESTAMP, or makes one, which another session time zone
    shows otherwise, or it names a CHAR."""
    words = names_in(text)
    named = [column for column in columns if column.name.lower() in words]
    # within a struct, too
    zoned = any("timestamp" in column.type.simpleString().replace("timestamp_ntz", "") for column in named)
    return zoned or ZONED.search(text) is not None or any(column.has_char for column in named)


def may_generate_otherwise(column: TargetColumn, columns: Sequence[TargetColumn]) -> bool:
    """Whether a generated column may have another value in this session than the one that was written:
    :func:`differs_when_read`, or because it raises under ANSI what is NULL, or wraps, without."""
    text = column.generated_as
    return text is not None and (column.generation_may_raise or differs_when_read(text, columns))


@dataclass(frozen=True)
class StoreCast:
    """How a value is cast to its column's type (UpdateExpressionsSupport.cast).

    ``function`` gives the values; ``can_fail``: one that does not fit is an error, not NULL or cut; ``exact`` is
    False where no function of this session casts so (the policy LEGACY while spark.sql.ansi.enabled).

    ``raises``: a value that does not fit raises, whatever the session's CAST does with it.
    Structs go ``by_name``, else by place. By name, ``keeps_null`` leaves a NULL struct NULL, where it would be made one
    of NULL fields. ``star_by_field``: UPDATE SET * assigns each field of a struct by itself.
    """

    function: str
    can_fail: bool
    exact: bool = True
    by_name: bool = True
    keeps_null: bool = True
    star_by_field: bool = False
    raises: bool = False


@dataclass(frozen=True)
class TargetRules:
    """The columns and what is checked of each written row (Constraints.getAll, GeneratedColumn).

    ``checks``: the CHECK constraints, and the invariants of columns (Invariants.getFromSchema), name → SQL text.
    ``takes_void``: a NULL without a type may be in the schema; ``takes_unenforced``: a NOT NULL that nobody enforces;
    ``reserves_words``: :func:`reserves_words`.
    """

    columns: tuple[TargetColumn, ...]
    checks: Mapping[str, str]
    checks_that_may_raise: frozenset[str]
    append_only: bool
    cast: StoreCast
    takes_void: bool = True
    takes_unenforced: bool = False
    reserves_words: bool = False

    @property
    def fills_old_rows(self) -> tuple[TargetColumn, ...]:
        """The new columns in which a row that is not written has another value than NULL."""
        return tuple(c for c in self.columns if c.exists_default is not None and not is_null(c.exists_default))

    @property
    def types(self) -> dict[str, DataType]:
        return {column.name: column.type for column in self.columns}

    def as_checked(self, text: str) -> Extracted:
        """A CHECK or a generation expression as Delta reads it of a row that it writes."""
        return with_extractors(text, self.types, reserved=self.reserves_words)


def target_rules(spark: SparkSession, merge: AnalyzedMerge, logged: Sequence[LoggedColumn], detail: Any) -> TargetRules:
    """Read them. ``detail`` is the row of DESCRIBE DETAIL; ``logged`` the columns as the log has them where some are
    generated or identities, which Delta keeps out of the schemas that it shows."""
    properties = dict(detail["properties"] or {})
    hidden = {column.name.lower(): column for column in logged}
    keys = (ANSI, POLICY, FOLLOWS_ANSI, PADDING, AS_STRING, BY_NAME, NULL_STRUCTS, NULL_STRUCTS_OF_STAR, AUTO_MERGE)
    confs = read_confs(spark, (*keys, DROP_VOID, UNENFORCED, RESERVED))
    before = {field.name.lower(): field.dataType for field in merge.target_type.fields}
    partitions = {name.lower() for name in detail["partitionColumns"] or ()}
    columns = []
    for field in merge.type_after.fields:
        metadata = field.metadata or {}
        in_log = hidden.get(field.name.lower())
        is_new = field.name.lower() not in before
        columns.append(
            TargetColumn(
                name=field.name,
                type=field.dataType,
                before=before.get(field.name.lower()),
                nullable=field.nullable,
                raw_type=None if is_on(confs, AS_STRING, "false") else raw_type(field),
                padded=is_on(confs, PADDING),
                default=metadata.get("CURRENT_DEFAULT"),
                generated_as=in_log.generated_as if in_log else None,
                identity=in_log is not None and in_log.identity is not None,
                partition=field.name.lower() in partitions,
                exists_default=metadata.get("EXISTS_DEFAULT") if is_new else None,
            )
        )
    checks = {f"EXPRESSION({text})": text for text in invariants(merge.type_after)}
    checks |= {k.removeprefix(CHECK): str(v) for k, v in properties.items() if k.lower().startswith(CHECK)}
    _refuse_substituted((*checks.values(), *(column.generated_as or "" for column in columns)))
    columns, checks_that_may_raise = _with_risks(spark, columns, checks)
    return TargetRules(
        columns=tuple(columns),
        checks=checks,
        checks_that_may_raise=checks_that_may_raise,
        append_only=is_on(properties, "delta.appendOnly", "false"),
        cast=store_cast(confs, evolves=merge.statement.schema_evolution or is_on(confs, AUTO_MERGE, "false")),
        # Spark 4.0 reads no such column
        takes_void=not is_on(confs, DROP_VOID, str(release(engine_versions(spark).spark) == "4.0").lower()),
        takes_unenforced=is_on(confs, UNENFORCED, "false"),
        reserves_words=reserves_words(confs),
    )


def _refuse_substituted(texts: Iterable[str]) -> None:
    """Raise EngineError for a CHECK or generation expression that Delta reads with the value of a conf; a default it
    reads as it is."""
    if reference := next(filter(None, map(reference_in, texts)), ""):
        raise EngineError(
            "VARIABLE_SUBSTITUTION",
            f"A CHECK or a generated column of the table has {reference}: Delta reads it with the value that a conf "
            "has when it commits.",
            "Write it into the table without that, such as concat('$', '{name}').",
        )


def reserves_words(confs: Mapping[str, str]) -> bool:
    """Whether CURRENT_DATE, USER and their like are functions at once, without brackets, and never the names of
    columns (AstBuilder.visitCurrentLike)."""
    return is_on(confs, ANSI) and is_on(confs, RESERVED, "false")


def invariants(schema: StructType) -> Iterator[str]:
    """The expressions that old writers, and DataFrames, put into the metadata of a column; of one that is NOT NULL
    Delta reads none."""
    from pyspark.sql.types import StructType

    for field in schema.fields:
        if field.nullable and (rule := (field.metadata or {}).get(INVARIANTS)):
            # what is no such rule, Delta does not understand either
            with contextlib.suppress(ValueError, KeyError, TypeError):
                yield str(json.loads(rule)["expression"]["expression"])
        if isinstance(field.dataType, StructType):
            yield from invariants(field.dataType)


def _with_risks(
    spark: SparkSession, columns: Sequence[TargetColumn], checks: Mapping[str, str]
) -> tuple[list[TargetColumn], frozenset[str]]:
    """The columns, those marked whose generation expression may raise, and the names of the CHECKs that may."""
    side = Side(TARGET, (), False, tuple(column.name for column in columns))
    types = {(TARGET, column.name): column.type for column in columns}
    generated = {column.name: column.generated_as for column in columns if column.generated_as is not None}
    texts = (*generated.values(), *checks.values())
    try:
        risks = may_raise(spark, [(text, [side]) for text in texts], types)
    except UsageError:  # a text that is not understood must not keep the table from being merged into
        risks = (True,) * len(texts)
    risky = {name for name, risk in zip(generated, risks, strict=False) if risk}
    risky_checks = {name for name, risk in zip(checks, risks[len(generated) :], strict=True) if risk}
    return [replace(column, generation_may_raise=column.name in risky) for column in columns], frozenset(risky_checks)


def store_cast(confs: Mapping[str, str], *, evolves: bool) -> StoreCast:
    """Under the policy ANSI a value that does not fit is an error, which the plan foresees; so where CAST would not
    follow ANSI, try_cast gives the values that remain."""
    ansi = is_on(confs, ANSI)
    policy = confs.get(POLICY, "ANSI").upper()
    if is_on(confs, FOLLOWS_ANSI, "false"):
        cast = StoreCast("CAST", can_fail=ansi)
    elif policy == "LEGACY":
        cast = StoreCast("CAST", can_fail=False, exact=not ansi)
    else:
        cast = StoreCast("CAST" if ansi or policy == "STRICT" else "try_cast", can_fail=policy == "ANSI")
    keeps_null = is_on(confs, NULL_STRUCTS)
    return replace(
        cast,
        by_name=is_on(confs, BY_NAME),
        keeps_null=keeps_null,
        star_by_field=evolves and not (keeps_null and is_on(confs, NULL_STRUCTS_OF_STAR)),
    )
