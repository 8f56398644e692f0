"""What Delta refuses of the columns that a table would have (OptimisticTransaction.assertMetadata, and the commit)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, refusal
from engine.model.plan import Refused
from engine.spark.confs import is_on
from engine.sql.parse_create import ParsedCreate
from engine.table.column_rules import CDC_COLUMNS, GEOSPATIAL, INVALID_CHARACTERS, UNSUPPORTED_TYPES
from engine.table.mapping_mode import mode_of
from engine.table.table_features import feeds_changes, named_features


def assert_metadata(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    """The first rule that a column breaks, in Delta's order."""
    if effect_of(create, around) == "adopt":
        return
    yield from _geospatial(around, provided)
    names = [column.name.lower() for column in provided.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        yield refusal("COLUMN_ALREADY_EXISTS", f"There are two columns {twice}.", "Rename one.")
    properties = around.with_defaults(provided.configuration)
    yield from _check_schema_field_names(provided, properties)
    yield from _validate_generated_columns(provided)
    yield from _find_unsupported_data_types(around, provided)
    reserved = next((column.name for column in provided.columns if column.name.lower() in CDC_COLUMNS), None)
    if reserved is not None and feeds_changes(properties):
        yield refusal(
            "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
            f"The change data feed needs the name {reserved} for itself.",
            "Rename the column, or leave the feed off.",
        )
    yield from _column_defaults(create, around, provided)


def _check_schema_field_names(provided: Provided, properties: dict[str, str]) -> Iterator[Refused]:
    mapped = mode_of(properties) != "none" or any(
        is_on(properties, f"delta.enableIcebergCompatV{version}", "false") for version in (1, 2, 3)
    )
    names = (*(column.name for column in provided.columns), *provided.field_names)
    odd = next((name for name in names if INVALID_CHARACTERS.search(name)), None)
    if odd is not None and not mapped:
        yield refusal(
            "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
            f"The name of a column or field may hold none of ' ,;{{}}()\\n\\t=' here: {odd!r}",
            "Rename it, or set the property delta.columnMapping.mode to name.",
        )


def _validate_generated_columns(provided: Provided) -> Iterator[Refused]:
    variant = next((one.name for one in provided.columns if one.generated_as and one.type == "variant"), None)
    if variant is not None:
        yield refusal(
            "DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN",
            f"Delta generates no VARIANT: column {variant}",
            "Compute it in the query that writes.",
        )
    if provided.not_generated is not None:
        name, part = provided.not_generated
        yield refusal(
            "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
            f"Delta generates no column from {part}: column {name}",
            "Write it with functions that Delta takes there, or compute it in the query that writes.",
        )
    if provided.other_type is not None:
        name, type_ = provided.other_type
        yield refusal(
            "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH",
            f"The expression of the generated column {name} gives {type_}, and the column is of another type.",
            f"Declare the column {type_}, or CAST the expression to its type.",
        )


def _geospatial(around: Situation, provided: Provided) -> Iterator[Refused]:
    """GeoSpatialTableFeature: Delta looks for these types first, for the protocol."""
    column = provided.first_of(GEOSPATIAL)
    if column is not None and not around.geospatial:
        yield refusal(
            "DELTA_GEOSPATIAL_NOT_SUPPORTED",
            f"Delta stores no {column.type}: column {column.name}",
            "Store it as BINARY in well-known binary format.",
        )


def _find_unsupported_data_types(around: Situation, provided: Provided) -> Iterator[Refused]:
    unsupported = provided.first_of(UNSUPPORTED_TYPES)
    if unsupported is not None and around.checks_types:
        yield refusal(
            "DELTA_UNSUPPORTED_DATA_TYPES",
            f"Delta stores no {unsupported.type}: column {unsupported.name}",
            "Use another type: numbers or timestamps for an interval, a plain STRING for a collation.",
        )
    if provided.holds_void is not None:
        yield refusal(
            "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
            f"The query gives nothing but NULL inside of an array or a map: column {provided.holds_void}",
            "Cast it to a type that Delta stores.",
        )


def _column_defaults(create: ParsedCreate, around: Situation, provided: Provided) -> Iterator[Refused]:
    named = named_features(around.with_defaults(provided.configuration))
    kept = around.before.features if around.before and effect_of(create, around) == "replace" else ()
    has_default = any(column.default is not None for column in provided.columns)
    if has_default and "allowColumnDefaults" not in named.union(kept, provided.features):
        yield refusal(
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
            "A column has a DEFAULT, and the table has not the feature for it.",
            "Add TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported').",
        )
