"""What Delta would raise only while a CREATE or REPLACE TABLE runs, with its error class.

Mirrors AbstractDeltaCatalog.createDeltaTable, DeltaAnalysis.resolveCloneCommand and CreateDeltaTableCommand
(checkPathEmpty, verifyTableMetadata, handleCreateTable) of Delta 4.4.0, in the order in which they look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from engine.create.assert_metadata import assert_metadata
from engine.create.clustering_statistics import clustering_columns, clustering_statistics
from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, exists, refusal
from engine.create.validate_configurations import validate_configurations
from engine.create.validate_delta_stats_columns import validate_delta_stats_columns
from engine.create.verify_table_metadata import verify_table_metadata
from engine.model.counted import count
from engine.model.plan import Refused
from engine.spark.confs import is_on
from engine.sql.names import is_in_delta
from engine.sql.parse_create import ParsedCreate
from engine.table.mapping_mode import MODE, mode_of
from engine.table.table_state import plain

NO_SUCH_COLUMN = "_LEGACY_ERROR_TEMP_3060"  # Delta's SchemaUtils.findColumnPosition has no better name
PARTITIONED_TWICE = "_LEGACY_ERROR_TEMP_3058"
NO_PARTITION = re.compile(r"^(array|map|struct|variant|void)")
MAX_CLUSTERING_COLUMNS = 4


def foresee_create(create: ParsedCreate, around: Situation, provided: Provided) -> Refused | None:
    """The first error that Delta would raise, or None."""
    if effect_of(create, around) == "nothing":
        return None
    rules: tuple[Callable[[ParsedCreate, Situation, Provided], Iterator[Refused]], ...] = (
        _clone_by_name,
        clustering_columns,
        assert_not_already_exists,
        _existing,
        _identity,
        _layout,
        validate_configurations,
        _location,
        validate_delta_stats_columns,
        _not_null,
        assert_metadata,
        clustering_statistics,
        verify_table_metadata,
        _append_only,
        _catalog_name,
    )
    return next((refused for rule in rules for refused in rule(create, around, provided)), None)


def is_name_refused(create: ParsedCreate, around: Situation) -> bool:
    """Whether Delta refuses the statement for what has its name, or because nothing has."""
    rules = (assert_not_already_exists, _existing)
    return any(True for rule in rules for _ in rule(create, around, Provided((), ())))


def assert_not_already_exists(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """A CREATE of a table that exists."""
    clone, like = create.form == "clone", create.form == "like"
    if create.mode == "Create" and exists(create, around) and not (create.path is not None and (clone or like)):
        # LIKE of a Delta table is Spark's own command, which looks by itself
        delta = clone or (like and provided.protocol is None)
        yield refusal(
            "DELTA_TABLE_ALREADY_EXISTS" if delta else "TABLE_OR_VIEW_ALREADY_EXISTS",
            f"{create.name} exists already.",
            "Add IF NOT EXISTS, or write CREATE OR REPLACE TABLE.",
        )


def _existing(create: ParsedCreate, around: Situation, _: Provided) -> Iterator[Refused]:
    """The other checks of what has that name, or of a name that nothing has."""
    clone, entry = create.form == "clone", around.entry
    if create.mode == "Replace" and not exists(create, around):
        yield refusal(
            "DELTA_CANNOT_REPLACE_MISSING_TABLE" if clone else "TABLE_OR_VIEW_NOT_FOUND",
            f"{create.name} cannot be replaced: there is no such table.",
            "Write CREATE OR REPLACE TABLE.",
        )
    if entry is not None and entry.kind == "VIEW":
        yield refusal(
            "DELTA_ONLY_OPERATION" if clone else "DELTA_CANNOT_WRITE_INTO_VIEW",
            f"{create.name} is a view.",
            "Drop the view first, or choose another name.",
        )
    if entry is not None and entry.provider != "delta":
        yield refusal(
            "DELTA_NOT_A_DELTA_TABLE",
            f"{create.name} is a table of format {entry.provider}, not Delta.",
            "Drop it first, or choose another name.",
        )
    if entry is not None and around.before is None and create.mode != "Create":
        yield refusal(
            "DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE",
            f"{create.name} is in the catalog, but its log at {around.location} is gone.",
            "DROP TABLE it, and create it anew.",
        )
    other_place = create.location is not None and plain(create.location) != around.location
    if entry is not None and other_place:
        yield refusal(
            "DELTA_TABLE_LOCATION_MISMATCH",
            f"{create.name} lives at {around.location}, not at {create.location}.",
            "Leave LOCATION out, or name the place where it is.",
        )
    if create.path is not None and other_place:
        yield refusal(
            "DELTA_CLONE_AMBIGUOUS_TARGET" if clone else "DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE",
            f"The name says {create.path}, LOCATION says {create.location}.",
            "Leave LOCATION out.",
        )


def _identity(create: ParsedCreate, _: Situation, provided: Provided) -> Iterator[Refused]:
    """Identity columns are BIGINT, and no partition columns."""
    partitions = {name.lower() for name in provided.partition_columns}
    for column in provided.columns if create.form == "empty" else ():
        if column.identity and column.type != "bigint":
            yield refusal(
                "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE",
                f"The identity column {column.name} is {column.type}.",
                "Make it a BIGINT.",
            )
        if column.identity and column.name.lower() in partitions:
            yield refusal(
                "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED",
                f"The identity column {column.name} cannot be a partition column.",
                "Partition by another column.",
            )


def _layout(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """Partitioning and clustering."""
    by_name = {column.name.lower(): column for column in provided.columns}
    partitions = [by_name.get(name.lower()) for name in provided.partition_columns]
    for transform in create.transforms:
        bucket = transform.lower().startswith(("bucket", "clustered"))
        yield refusal(
            "DELTA_OPERATION_NOT_ALLOWED_DETAIL" if bucket else "DELTA_OPERATION_NOT_ALLOWED",
            f"Delta tables have no {'buckets' if bucket else 'partitioning by expressions'}: {transform}",
            "Partition by a column; a generated column can hold the expression.",
        )
    missing = next((name for name in provided.partition_columns if name.lower() not in by_name), None)
    if missing is not None and create.columns:
        yield refusal(NO_SUCH_COLUMN, f"PARTITIONED BY names no column: {missing}", "Name a column that the table has.")
    if len(provided.clustering_columns) > MAX_CLUSTERING_COLUMNS and create.form != "clone":
        yield refusal(
            "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS",
            f"CLUSTER BY takes {MAX_CLUSTERING_COLUMNS} columns at most, and names {len(provided.clustering_columns)}.",
            "Cluster by the columns that are filtered most.",
        )
    if len(set(provided.clustering_columns)) < len(provided.clustering_columns):
        yield refusal(
            "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY",
            "CLUSTER BY names a column twice.",
            "Name each column once.",
        )
    for column in partitions:
        if column is not None and NO_PARTITION.match(column.type):
            yield refusal(
                "INVALID_PARTITION_COLUMN_DATA_TYPE",
                f"{column.name} is {column.type}, which is no type to partition by.",
                "Partition by a column of a plain type.",
            )
    if len(set(provided.partition_columns)) < len(provided.partition_columns) and create.form != "clone":
        yield refusal(PARTITIONED_TWICE, "PARTITIONED BY names a column twice.", "Name each column once.")
    if partitions and len(partitions) == len(provided.columns) and None not in partitions:
        yield refusal(
            "ALL_PARTITION_COLUMNS_NOT_ALLOWED",
            "All columns are partition columns.",
            "Leave one column out of PARTITIONED BY.",
        )
    if (
        around.before is not None
        and "clustering" in around.before.features
        and provided.partition_columns
        and create.form != "clone"
    ):
        yield refusal(
            "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
            f"{create.name} is clustered: it cannot be replaced by a partitioned table.",
            "Use CLUSTER BY, or drop the table and create it anew.",
        )


def _location(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """What lies at the location already, as each handler of CreateDeltaTableCommand checks it."""
    if create.form in ("as_select", "clone"):
        yield from check_path_empty(create, around)
    else:
        yield from _location_without_query(create, around)
    if create.form == "clone":
        yield from check_column_mapping_mode(around, provided)
        yield from [provided.unclonable] if provided.unclonable else ()
    if create.form == "clone" and around.before is not None and around.before.num_files:
        yield refusal(
            "DELTA_UNSUPPORTED_NON_EMPTY_CLONE",
            f"{create.name} has {count(around.before.num_files, 'file')}: only an empty table can be cloned over.",
            "DELETE FROM or TRUNCATE it first, or drop it.",
        )


def check_column_mapping_mode(around: Situation, provided: Provided) -> Iterator[Refused]:
    """CloneTableBase.verifyMetadataInvariants: the source and the table that is cloned over have the clone's mode."""
    after = mode_of(provided.configuration)
    modes = [
        (provided.source_mapping or "none").lower(),
        *([mode_of(around.before.properties)] if around.before else []),
    ]
    before = next((mode for mode in modes if mode != after), None)
    if before is not None:
        yield refusal(
            "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
            f"A clone cannot change {MODE} from {before!r} to {after!r}.",
            f"Leave {MODE} out, and clone into a new table.",
        )


def check_path_empty(create: ParsedCreate, around: Situation) -> Iterator[Refused]:
    """handleCommit checks only a CREATE, and lets the empty _delta_log of a failed one pass."""
    if create.mode == "Create" and (around.before or not around.has_log_directory):
        yield from assert_path_empty(create, around)


def assert_path_empty(create: ParsedCreate, around: Situation) -> Iterator[Refused]:
    if not around.is_empty:
        yield refusal(
            "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION",
            f"The location {around.location} of {create.name} is not empty"
            + (": it has a _delta_log directory that a failed CREATE left." if _left_over(around) else "."),
            "Choose another location, or empty this one.",
        )


def _location_without_query(create: ParsedCreate, around: Situation) -> Iterator[Refused]:
    """handleCreateTable: a location without a log must be empty, or have the columns written."""
    no_columns = not create.columns and create.form == "empty"
    if effect_of(create, around) == "replace":
        if no_columns:
            yield _no_schema()
        return
    if around.managed:
        yield from assert_path_empty(create, around)
    if around.before is not None:
        return
    if no_columns and around.holds_data and not around.managed:
        yield refusal(
            "DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG",
            f"{around.location} is not empty, but has no commit of a Delta log.",
            "Name the location of a Delta table, or CONVERT TO DELTA.",
        )
    elif no_columns and create.mode != "Create":
        yield _no_schema()
    yield from assert_path_empty(create, around)


def _left_over(around: Situation) -> bool:
    return around.has_log_directory and around.before is None


def _no_schema() -> Refused:
    return refusal("DELTA_SCHEMA_NOT_PROVIDED", "A replaced table needs its columns.", "Write them, or AS SELECT.")


def _not_null(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """SchemaUtils.removeUnenforceableNotNullConstraints."""
    if provided.unenforceable and not around.unenforced_not_null and effect_of(create, around) != "adopt":
        yield refusal(
            "DELTA_NESTED_NOT_NULL_CONSTRAINT",
            f"{provided.unenforceable} has a NOT NULL inside of an array or a map, which Delta cannot enforce.",
            "Leave that NOT NULL out.",
        )


def _clone_by_name(create: ParsedCreate, around: Situation, _: Provided) -> Iterator[Refused]:
    """DeltaSqlParser.visitClone: a target that is not there yet is looked for as a relation, and one in a schema called
    delta as files (ResolveSQLOnFile)."""
    is_a_name = is_in_delta(create.parts) and create.path is None
    if create.form == "clone" and is_a_name and not around.exists:
        yield refusal(
            "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY",
            f"Delta takes {create.name} for files and not for a table in the schema delta: it makes no clone there.",
            "Clone into another schema, or to a path.",
        )


def _catalog_name(create: ParsedCreate, around: Situation, _: Provided) -> Iterator[Refused]:
    """SessionCatalog.validateName, of a table that is not in the catalog yet: Delta asks it after its commit."""
    is_ours = create.path is None and create.parts[:-2] in ((), ("spark_catalog",))
    name = create.parts[-1] if is_ours and create.parts else ""
    if around.entry is None and name and not re.fullmatch(r"[A-Za-z0-9_]+", name):
        yield refusal(
            "INVALID_SCHEMA_OR_RELATION_NAME",
            f"The catalog takes letters of ASCII, digits and _ in the name of a table, and not {name!r}.",
            "Choose another name.",
        )


def _append_only(create: ParsedCreate, around: Situation, _: Provided) -> Iterator[Refused]:
    """DeltaLog.assertRemovable: a REPLACE removes the files that are there."""
    before = around.before
    if before is None or effect_of(create, around) != "replace" or not before.num_files:
        return
    if is_on({key: value or "" for key, value in before.properties.items()}, "delta.appendOnly", "false"):
        yield refusal(
            "DELTA_CANNOT_MODIFY_APPEND_ONLY",
            f"{create.name} is append-only: its {count(before.num_files, 'file')} cannot be removed.",
            "ALTER TABLE … SET TBLPROPERTIES ('delta.appendOnly' = 'false') first, or use another name.",
        )
