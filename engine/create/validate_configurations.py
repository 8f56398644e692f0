"""The properties of a CREATE that Delta refuses (DeltaConfigs.validateConfigurations of Delta 4.4.0)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of, refusal
from engine.create.table_properties import DEFAULTS as SESSION
from engine.create.table_properties import properties_given, takes, unknown_property
from engine.model.plan import Refused
from engine.spark.confs import is_on
from engine.spark.spark_errors import EXPRESSION_FAILED
from engine.sql.parse_create import ParsedCreate
from engine.table.calendar_interval import milliseconds
from engine.table.table_features import BY_LOWER_NAME, FEATURE_PREFIX, IGNORE_DEFAULTS, is_protocol_property
from engine.table.undo_possible import DEFAULTS, LOG_RETENTION, RETENTION

CATALOG_MANAGED = "delta.feature.catalogManaged"
CATALOG_MANAGED_DEFAULT = f"{SESSION}feature.catalogManaged"


def validate_configurations(create: ParsedCreate, around: Situation, _: Provided) -> Iterator[Refused]:
    """DeltaConfigs.validateConfigurations, the features that properties may not name, and the session's defaults."""
    properties = properties_given(create)
    for key, value in properties.items():
        if unknown_property(key) and not around.arbitrary_properties:
            yield refusal(
                "DELTA_UNKNOWN_CONFIGURATION",
                f"Delta knows no property {key}.",
                "Correct its name; a property of your own does not begin with delta.",
            )
        if key == f"{FEATURE_PREFIX}clustering":
            yield refusal(
                "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
                "The clustering feature is not set by a property.",
                "Use CLUSTER BY.",
            )
        yield from _property(key, value)
    yield from _retention(properties, around)
    yield from _session_defaults(create, around)
    if CATALOG_MANAGED.lower() in properties or around.catalog_managed:
        yield refusal(
            "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION",
            "Only Unity Catalog may create a catalog-managed table.",
            f"Leave the property {CATALOG_MANAGED} out, and unset {CATALOG_MANAGED_DEFAULT}.",
        )


def _property(key: str, value: str, of_session: str = "") -> Iterator[Refused]:
    """DeltaConfig.validate, or the feature that a property names; ``of_session`` is the conf that gives it."""
    name = of_session or key
    if key == "delta.columnMapping.maxColumnId":
        yield refusal(
            "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
            f"{name} is Delta's own.",
            f"RESET {name}." if of_session else "Leave it out: Delta counts by itself.",
        )
    elif condition := takes(key).refused(value):
        yield refusal(condition, f"{name} takes {takes(key).what}, and not {value!r}.", "Correct the value.")
    if key.startswith(FEATURE_PREFIX) and value.lower() not in ("supported", "enabled"):
        yield refusal(
            "DELTA_UNSUPPORTED_FEATURE_STATUS", f"A feature is 'supported', not {value!r}: {name}", "Write 'supported'."
        )
    if key.startswith(FEATURE_PREFIX) and key[len(FEATURE_PREFIX) :] not in BY_LOWER_NAME:
        yield refusal(
            "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", f"Delta 4.4 knows no feature {name}.", "Correct its name."
        )


def _session_defaults(create: ParsedCreate, around: Situation) -> Iterator[Refused]:
    """DeltaConfigs.mergeGlobalConfigs judges them all, those too that the statement gives otherwise. Where no log is,
    Delta does so at the first question about it."""
    if effect_of(create, around) == "adopt":
        return
    ignored = is_on(around.defaults, IGNORE_DEFAULTS, "false")
    for key, value in around.defaults.items():
        if not (ignored and is_protocol_property(key)):
            yield from _property(key, value, f"{SESSION}{key.removeprefix('delta.')}")


def _retention(properties: Mapping[str, str], around: Situation) -> Iterator[Refused]:
    """DeltaConfigs.validateTombstoneAndLogRetentionDurationCompatibility."""
    if not around.enforces_retention or properties.keys().isdisjoint((LOG_RETENTION, RETENTION)):
        return
    kept, deleted = ({**DEFAULTS, **properties}[key] for key in (LOG_RETENTION, RETENTION))
    if (milliseconds(kept) or 0) < (milliseconds(deleted) or 0):
        yield refusal(
            EXPRESSION_FAILED,
            f"{LOG_RETENTION} is {kept}, and {RETENTION} is {deleted}: the log must be kept at least as long.",
            "Set both.",
        )
