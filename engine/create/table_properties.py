"""Delta's own table properties, and what each takes (DeltaConfigs of Delta 4.4.0)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.spark.spark_errors import EXPRESSION_FAILED, SPARK_ERROR
from engine.sql.parse_create import ParsedCreate
from engine.table.calendar_interval import microseconds
from engine.table.column_rules import CHECK
from engine.table.table_features import FEATURE_PREFIX, READER_FEATURES, WRITER_FEATURES

INT, LONG = 2**31 - 1, 2**63 - 1
ISOLATION_LEVELS = ("serializable", "writeserializable", "snapshotisolation")


@dataclass(frozen=True)
class Takes:
    """``what`` a property takes, in words; ``refused`` gives the error's class for a value, None for a good one."""

    what: str
    refused: Callable[[str], str | None]


def _failed_unless(good: Callable[[str], bool]) -> Callable[[str], str | None]:
    # what fails in `require`, or in reading a number, has no class
    return lambda value: None if good(value) else EXPRESSION_FAILED


def _whole(least: int, most: int) -> Takes:
    """``most`` is told where a person could exceed it."""

    def is_good(value: str) -> bool:
        return re.fullmatch(r"[+-]?\d{1,20}", value) is not None and least <= int(value) <= most

    until = f" to {most:,}" if most < INT else ""
    return Takes(f"a whole number from {least:,}{until}", _failed_unless(is_good))


def _interval(value: str) -> str | None:
    if not value.strip():
        return "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"
    length = microseconds(value)
    if length is None:
        # Delta reads months and years, and refuses them afterwards
        in_days = re.sub(r"\b(?:month|year)(s?)\b", r"day\1", value, flags=re.IGNORECASE)
        return "DELTA_INVALID_INTERVAL" if microseconds(in_days) is None else EXPRESSION_FAILED
    return EXPRESSION_FAILED if length < 0 else None


def _isolation(value: str) -> str | None:
    if value.lower() not in ISOLATION_LEVELS:
        return "DELTA_INVALID_ISOLATION_LEVEL"
    return None if value.lower() == ISOLATION_LEVELS[0] else EXPRESSION_FAILED


def _format_version(value: str) -> str | None:
    """ParquetFormatVersion.resolve: from 1.0.0, without a part like -rc1, which makes it an earlier one."""
    parts = re.fullmatch(r"(\d{1,9})\.\d{1,9}\.\d{1,9}(.*)", value)
    if parts is None:
        return SPARK_ERROR  # Parquet's own exception
    return None if int(parts[1]) >= 1 and not parts[2] else EXPRESSION_FAILED


def _are_formats(value: str) -> bool:
    """UniversalFormat.SUPPORTED_FORMATS, each once; Java's split drops what is empty at the end."""
    formats = value.rstrip(",").split(",") if value.rstrip(",") else []
    return len(set(formats)) == len(formats) and set(formats) <= {"iceberg", "hudi"}


def _is_json_of_texts(value: str) -> bool:
    try:
        found = json.loads(value)
    except ValueError:
        return False
    return isinstance(found, dict) and all(isinstance(one, str) for one in found.values())


BOOLEAN = Takes("true or false", _failed_unless(lambda value: value.lower() in ("true", "false")))
DURATION = Takes("an interval without months and years, such as '2 weeks'", _interval)
ANYTHING = Takes("any text", lambda _: None)

PROPERTIES: Mapping[str, Takes] = {
    **dict.fromkeys(
        (
            *("appendOnly", "autoOptimize", "autoOptimize.optimizeWrite", "castIcebergTimeType"),
            *("checkpoint.writeStatsAsJson", "checkpoint.writeStatsAsStruct"),
            *("compatibility.symlinkFormatManifest.enabled", "enableChangeDataCapture", "enableChangeDataFeed"),
            *("enableDeletionVectors", "enableExpiredLogCleanup", "enableFullRetentionRollback"),
            *("enableIcebergCompatV1", "enableIcebergCompatV2", "enableIcebergCompatV3", "enableInCommitTimestamps"),
            *("enableMaterializePartitionColumnsFeature", "enableRowTracking", "enableTypeWidening"),
            *("enableVariantShredding", "ignoreIcebergBucketPartition", "ignoreProtocolDefaults"),
            *("randomizeFilePrefixes", "rowTrackingSuspended"),
            *("universalFormat.iceberg.atomicConversion.supported", "writePartitionColumnsToParquet"),
        ),
        BOOLEAN,
    ),
    **dict.fromkeys(
        (
            *("checkpointRetentionDuration", "deletedFileRetentionDuration", "logRetentionDuration"),
            *("dropFeatureTruncateHistory.retentionDuration", "sampleRetentionDuration"),
            "setTransactionRetentionDuration",
        ),
        DURATION,
    ),
    **dict.fromkeys(("checkpointInterval", "randomPrefixLength"), _whole(1, INT)),
    "minReaderVersion": _whole(1, READER_FEATURES),
    "minWriterVersion": _whole(1, WRITER_FEATURES),
    "dataSkippingStringPrefixLength": _whole(0, INT),
    "requireCheckpointProtectionBeforeVersion": _whole(0, LONG),
    "dataSkippingNumIndexedCols": _whole(-1, INT),
    **dict.fromkeys(
        ("inCommitTimestampEnablementTimestamp", "inCommitTimestampEnablementVersion"), _whole(-LONG - 1, LONG)
    ),
    "autoOptimize.autoCompact": BOOLEAN,
    "checkpointPolicy": Takes("classic or v2", _failed_unless(lambda value: value in ("classic", "v2"))),
    "columnMapping.mode": Takes(
        "none, name or id", lambda value: None if value.lower() in ("none", "name", "id") else SPARK_ERROR
    ),
    "isolationLevel": Takes("Serializable", _isolation),
    **dict.fromkeys(
        (
            *("columnMapping.maxColumnId", "coordinatedCommits.commitCoordinator-preview"),
            *("dataSkippingStatsColumns", "redirectReaderWriter-preview", "redirectWriterOnly-preview"),
        ),
        ANYTHING,
    ),
    "parquet.format.version": Takes("three numbers from 1.0.0", _format_version),
    "universalFormat.enabledFormats": Takes(
        "iceberg, hudi or both with a comma and no blanks", _failed_unless(_are_formats)
    ),
    **dict.fromkeys(
        ("coordinatedCommits.commitCoordinatorConf-preview", "coordinatedCommits.tableConf-preview"),
        Takes("a JSON object of texts", lambda value: None if _is_json_of_texts(value) else SPARK_ERROR),
    ),
}
DEFAULTS = "spark.databricks.delta.properties.defaults."
"""How the session confs begin that give new tables their properties; the property's name follows."""
OPTION = "option."
_WRITTEN = {name.lower(): name for name in PROPERTIES}


def normal_key(key: str) -> str:
    """DeltaConfigs.normalizeConfigKey: Delta's own properties as it writes them, others as typed."""
    lower = key.lower()
    if lower.startswith(FEATURE_PREFIX):
        return lower
    known = _WRITTEN.get(lower.removeprefix("delta.")) if lower.startswith("delta.") else None
    return f"delta.{known}" if known else key


def unknown_property(key: str) -> bool:
    """Whether Delta refuses a property as unknown (DeltaConfigs.validateConfiguration)."""
    lower = key.lower()
    free = (CHECK, FEATURE_PREFIX, "delta.universalformat.config.")
    return lower.startswith("delta.") and not lower.startswith(free) and lower[6:] not in _WRITTEN


def known_default(conf: str) -> bool:
    """Whether Delta reads the session default ``conf``, by its exact spelling (DeltaConfigs.mergeGlobalConfigs)."""
    name = conf.removeprefix(DEFAULTS)
    return name != conf and (name in PROPERTIES or f"delta.{name}".startswith(FEATURE_PREFIX))


def properties_given(create: ParsedCreate, *, options_stay: bool = False) -> dict[str, str]:
    """The properties that ``create`` gives, keys as Delta writes them.

    Spark makes two properties of an option, with and without ``option.``, and the option wins over a property.
    StagedDeltaTableV2 takes both away (getTablePropsAndWriteOptions) and gives back those of Delta, or all if
    ``options_stay`` (expandTableProps).
    """
    given = {**create.properties, **create.options}
    if create.form == "as_select" or create.mode != "Create":
        stay = {key for key in create.options if options_stay or key.lower().startswith("delta.")}
        given = {key: value for key, value in given.items() if key not in create.options or key in stay}
    else:
        given |= {f"{OPTION}{key}": value for key, value in create.options.items()}
    return {normal_key(key): value for key, value in given.items()}


def takes(key: str) -> Takes:
    """What the property ``key``, as Delta writes it, takes."""
    return PROPERTIES.get(key.removeprefix("delta."), ANYTHING) if key.startswith("delta.") else ANYTHING
