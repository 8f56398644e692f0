"""What the catalog, the location and the statement give together, for plan and apply."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.create.data_frame_write import replace_metadata_if_necessary
from engine.create.foresee_create import foresee_create, is_name_refused
from engine.create.metadata_after import state_after
from engine.create.provided_metadata import Provided, provided_metadata, session_defaults, with_counted_source
from engine.create.row_tracking import assign_fresh_row_ids
from engine.create.situation import Situation, effect_of
from engine.create.table_properties import properties_given
from engine.create.validate_configurations import CATALOG_MANAGED_DEFAULT
from engine.model.counted import count
from engine.model.create_values import Effect, TableState
from engine.model.errors import ENDS_ALL, EngineError, UsageError
from engine.model.plan import Refused
from engine.preflight.metadata_errors import beyond_structs, unwritable
from engine.preflight.target_rules import ANSI, RESERVED, reserves_words
from engine.preflight.written_times import unknown_output
from engine.spark.confs import OUTPUT, OUTPUT_OF_V2, is_on, read_confs
from engine.spark.engine_versions import engine_versions
from engine.spark.explain import parsed_plan
from engine.spark.schema import schema_of
from engine.spark.spark_errors import translate
from engine.sql.extractors import INTERNAL_ERROR, NOT_COMPUTED, with_extractors
from engine.sql.names import quote
from engine.sql.parse_create import ParsedCreate
from engine.table.column_rules import CHECK
from engine.table.nested_types import facts_of_schema
from engine.table.table_state import (
    CatalogEntry,
    DeltaTableNow,
    catalog_entry,
    default_location,
    delta_table_now,
    has_log_directory,
    holds_data,
    plain,
    qualified_name,
)
from engine.table.tables import table_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_SOURCE = "spark.sql.sources.default"
ARBITRARY = "spark.databricks.delta.allowArbitraryProperties.enabled"
UNENFORCED = "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled"
RETENTION_ENFORCED = "spark.databricks.delta.vacuum.enforceDeletedFileAndLogRetentionDurationCompatibility"
TYPE_CHECK = "spark.databricks.delta.schema.typeCheck.enabled"
GEO_PREVIEW = "spark.databricks.delta.geo.preview.enabled"


@dataclass(frozen=True)
class Survey:
    """What the catalog, the location and the statement give together."""

    create: ParsedCreate
    name: str
    around: Situation
    now: DeltaTableNow | None
    provided: Provided
    effect: Effect
    after: TableState | None
    refused: Refused | None


def survey_table(
    spark: SparkSession, create: ParsedCreate, overwrite_schema: bool | None = None, *, count: bool = True
) -> Survey:
    """What is there, what the statement gives, and what both come to. ``count``: run its query and count the rows."""
    create = with_location(create)
    name, table, around = what_is_there(spark, create)
    effect = effect_of(create, around)
    if effect != "nothing":
        check_location(create)
    check_provider(spark, create, effect)
    provided = provided_metadata(spark, create)
    refused = foresee_create(create, around, provided) or replace_metadata_if_necessary(create, overwrite_schema)
    if refused is None and effect == "replace" and around.before:
        refused = unwritable(around.before.min_writer_version, around.before.features)
    if count and refused is None and create.form == "as_select" and effect != "nothing":
        provided = with_counted_source(spark, create, provided)
        refused = broken_constraint(spark, create, provided)
    if refused is None and effect in ("create", "replace"):
        refused = unread_constraint(spark, create)
    after = around.before if effect in ("nothing", "adopt") else None
    if refused is None and effect in ("create", "replace"):
        after = state_after(spark, create, provided, around)
        refused = assign_fresh_row_ids(spark, create, provided, after) or unwritten_query(
            spark, create, provided, after
        )
    return Survey(create, name, around, table, provided, effect, after if refused is None else None, refused)


def what_is_there(spark: SparkSession, create: ParsedCreate) -> tuple[str, DeltaTableNow | None, Situation]:
    """(the qualified name as SQL, the Delta table that is there, what else matters)."""
    entry, name, location = place_of(spark, create)
    named = name if entry and entry.provider == "delta" else f"delta.{quote(location)}"
    table = delta_table_now(spark, named) if location and (entry is None or entry.provider == "delta") else None
    managed = entry.kind == "MANAGED" if entry else create.path is None and create.location is None
    settings = (ARBITRARY, CATALOG_MANAGED_DEFAULT, UNENFORCED, RETENTION_ENFORCED)
    confs = read_confs(spark, (*settings, TYPE_CHECK, GEO_PREVIEW))
    return (
        name,
        table,
        Situation(
            entry=entry,
            location=location,
            managed=managed,
            before=table.state if table else None,
            inside=facts_of_schema(table.schema) if table else frozenset(),
            holds_data=table is None and entry is None and holds_data(spark, location),
            has_log_directory=table is not None or (entry is None and has_log_directory(spark, location)),
            catalog_managed=confs.get(CATALOG_MANAGED_DEFAULT, "").lower() == "supported",
            arbitrary_properties=is_on(confs, ARBITRARY, "false"),
            unenforced_not_null=is_on(confs, UNENFORCED, "false"),
            enforces_retention=is_on(confs, RETENTION_ENFORCED),
            checks_types=is_on(confs, TYPE_CHECK),
            geospatial=is_on(confs, GEO_PREVIEW, "false"),
            defaults={} if create.form == "clone" else session_defaults(spark),
        ),
    )


def foreseen_effect(spark: SparkSession, create: ParsedCreate) -> tuple[Effect, int | None]:
    """(what the statement does, as far as what has its name or place tells; the version of the table that is there)."""
    create = with_location(create)
    _, table, around = what_is_there(spark, create)
    effect = effect_of(create, around)
    if effect != "nothing" and is_name_refused(create, around):
        effect = "refused"
    return effect, table.version if table else None


def with_location(create: ParsedCreate) -> ParsedCreate:
    """``create`` with the location that its option ``path`` gives, as Spark takes it."""
    options = {key: value for key, value in create.options.items() if key.lower() != "path"}
    by_option = next((value for key, value in create.options.items() if key.lower() == "path"), None)
    return replace(create, location=create.location or by_option, options=options)


def unread_constraint(spark: SparkSession, create: ParsedCreate) -> Refused | None:
    """The first CHECK constraint among the properties that is no expression: Delta parses it, and looks up no name."""
    for key, check in properties_given(create).items():
        if not key.lower().startswith(CHECK):
            continue
        try:
            parsed_plan(spark, f"SELECT CASE WHEN {check}\n THEN 1 END")
        except EngineError as error:
            if error.condition in ENDS_ALL:
                raise
            return Refused(
                condition=error.condition if check.strip() else "PARSE_EMPTY_STATEMENT",
                message=f"The CHECK {key[len(CHECK) :]} is no expression ({check}): {error.message}",
                hint="Correct it, or leave the constraint out.",
            )
    return None


def broken_constraint(spark: SparkSession, create: ParsedCreate, provided: Provided) -> Refused | None:
    """The CHECK constraint that a row of the query breaks: Delta looks while it writes, and NULL breaks one too."""
    checks = {key[len(CHECK) :]: text for key, text in provided.configuration.items() if key.lower().startswith(CHECK)}
    if not checks:
        return None
    query = create.query or ""
    types = {field.name: field.dataType for field in schema_of(spark, query).fields}
    reserved = reserves_words(read_confs(spark, (ANSI, RESERVED)))
    for name, check in checks.items():
        read = with_extractors(check, types, reserved=reserved)
        if refused := beyond_structs(name, read):
            return refused
        try:
            broken = spark.sql(
                f"SELECT count(*) FROM ({query}\n) WHERE NOT coalesce(({read.text}\n), false)"
            ).collect()[0][0]
        except Exception as error:
            failure = translate(error)
            if NOT_COMPUTED not in failure.message:
                raise failure from error
            return Refused(
                condition=INTERNAL_ERROR,
                message=f"Delta cannot compute the CHECK {name} ({check}): {failure.message}",
                hint="Leave the constraint out.",
            )
        if broken:
            return Refused(
                condition="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
                message=f"The CHECK {name} ({check}) is broken by {count(broken, 'row')} of the query.",
                hint="Filter them out, or leave the constraint out.",
            )
    return None


def unwritten_query(spark: SparkSession, create: ParsedCreate, provided: Provided, after: TableState) -> Refused | None:
    """:func:`unknown_output`, where the rows of a query are written: without any a file, too, unless the table is
    partitioned."""
    writes = not after.partition_columns or (provided.source and provided.source.num_rows)
    if create.form != "as_select" or not writes:
        return None
    confs = read_confs(spark, (OUTPUT, OUTPUT_OF_V2))
    return unknown_output(after.properties, confs, engine_versions(spark).spark)


def place_of(spark: SparkSession, create: ParsedCreate) -> tuple[CatalogEntry | None, str, str]:
    """(the catalog entry of the name, the qualified name as SQL, the location as it is or will be)."""
    if create.path is not None:
        return None, create.name, plain(create.path)
    parts = qualified_name(spark, create.parts)
    name = table_sql(".".join(quote(part) for part in parts))
    entry = catalog_entry(spark, name)
    if entry is not None:
        return entry, name, plain(entry.location)
    if create.location and create.mode == "Replace":
        # it is refused: there is no such table, whatever its schema
        return None, name, plain(create.location)
    # that of an external table must be there, too
    managed = default_location(spark, parts)
    return None, name, plain(create.location) if create.location else managed


def check_location(create: ParsedCreate) -> None:
    """Raise UsageError for a relative one: the catalog finds it below the schema's folder, and Delta below the folder
    that Spark was started in."""
    location = with_location(create).location
    if location is not None and not re.match(r"/|[a-zA-Z][\w+.-]*:", location):
        raise UsageError("RELATIVE_LOCATION", f"The location {location!r} is relative.", "Write the whole path.")


def check_provider(spark: SparkSession, create: ParsedCreate, effect: Effect) -> None:
    """Refuse a statement that makes a table of another format."""
    if create.form == "clone" or effect == "nothing":
        return
    provider = create.provider
    if provider is None and create.form == "like":
        source = catalog_entry(spark, create.source or "")
        provider = source.provider if source else "delta"
    if provider is None:
        provider = read_confs(spark, (DEFAULT_SOURCE,)).get(DEFAULT_SOURCE, "parquet")
    if provider.lower() != "delta":
        raise UsageError(
            "NOT_A_DELTA_TABLE",
            f"The statement makes a table of format {provider}: only Delta tables are planned here.",
            "Write USING delta.",
        )
