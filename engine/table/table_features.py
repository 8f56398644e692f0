"""The protocol that a new or replaced table gets: table features, as Delta derives them from the metadata.

Mirrors ``TableFeature`` and ``Protocol`` (forNewTable, merge, normalized) of Delta 4.4.0. A protocol is
the features that it supports, named or implied: its two version numbers follow from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.model.create_values import StateColumn
from engine.spark.confs import is_on
from engine.table.mapping_mode import mode_of

FEATURE_PREFIX = "delta.feature."
PREVIEW = "-preview"
IGNORE_DEFAULTS = "delta.ignoreProtocolDefaults"
PROTOCOL_KEYS = ("delta.minReaderVersion", "delta.minWriterVersion", IGNORE_DEFAULTS)
# the versions from which a protocol names its features
READER_FEATURES, WRITER_FEATURES = 3, 7
FEED = "delta.enableChangeDataFeed"
OLD_FEED = "delta.enableChangeDataCapture"
"""The only property of Delta with an older name (alternateConfs)."""


@dataclass(frozen=True)
class Feature:
    """``reader`` and ``writer`` are the versions it needs; a legacy one is implied by versions below those."""

    reader: int
    writer: int
    legacy: bool = False
    requires: tuple[str, ...] = ()


_WRITER, _READER_WRITER = Feature(0, WRITER_FEATURES), Feature(READER_FEATURES, WRITER_FEATURES)
FEATURES: Mapping[str, Feature] = {
    "appendOnly": Feature(0, 2, legacy=True),
    "invariants": Feature(0, 2, legacy=True),
    "checkConstraints": Feature(0, 3, legacy=True),
    "changeDataFeed": Feature(0, 4, legacy=True),
    "generatedColumns": Feature(0, 4, legacy=True),
    "columnMapping": Feature(2, 5, legacy=True),
    "identityColumns": Feature(0, 6, legacy=True),
    "allowColumnDefaults": _WRITER,
    "checkpointProtection": _WRITER,
    "clustering": Feature(0, 7, requires=("domainMetadata",)),
    "coordinatedCommits-preview": Feature(0, 7, requires=("inCommitTimestamp", "vacuumProtocolCheck")),
    "domainMetadata": _WRITER,
    "icebergCompatV1": Feature(0, 7, requires=("columnMapping",)),
    "icebergCompatV2": Feature(0, 7, requires=("columnMapping",)),
    "icebergCompatV3": Feature(0, 7, requires=("columnMapping", "rowTracking")),
    "inCommitTimestamp": _WRITER,
    "materializePartitionColumns": _WRITER,
    "rowTracking": Feature(0, 7, requires=("domainMetadata",)),
    "catalogManaged": Feature(3, 7, requires=("inCommitTimestamp", "vacuumProtocolCheck")),
    "deletionVectors": _READER_WRITER,
    "geospatial": _READER_WRITER,
    "geospatial-dev": _READER_WRITER,
    "timestampNtz": _READER_WRITER,
    "typeWidening": _READER_WRITER,
    "typeWidening-preview": _READER_WRITER,
    "v2Checkpoint": _READER_WRITER,
    "vacuumProtocolCheck": _READER_WRITER,
    "variantShredding": Feature(3, 7, requires=("variantType",)),
    "variantShredding-preview": _READER_WRITER,
    "variantType": _READER_WRITER,
    "variantType-preview": _READER_WRITER,
}
BY_LOWER_NAME = {name.lower(): name for name in FEATURES}
# properties that enable a feature by being true
BY_PROPERTY = {
    "delta.appendOnly": "appendOnly",
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableIcebergCompatV1": "icebergCompatV1",
    "delta.enableIcebergCompatV2": "icebergCompatV2",
    "delta.enableIcebergCompatV3": "icebergCompatV3",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableTypeWidening": "typeWidening",
    # by default: spark.databricks.delta.variantShredding.forceUsePreviewTableFeature
    "delta.enableVariantShredding": "variantShredding-preview",
    "delta.enableMaterializePartitionColumnsFeature": "materializePartitionColumns",
}


@dataclass(frozen=True)
class Protocol:
    min_reader_version: int
    min_writer_version: int
    features: frozenset[str]


def protocol_of(features: Iterable[str]) -> Protocol:
    """The weakest protocol that supports just these (Protocol.normalized)."""
    every = with_required(features)
    # a feature that this Delta does not know is for writers only, or the table could not be read
    entries = [FEATURES.get(name, _WRITER) for name in every]
    reader = max([1, *(one.reader for one in entries)])
    writer = max([1, *(one.writer for one in entries)])
    if reader < READER_FEATURES and writer < WRITER_FEATURES and implied_by(reader, writer) == every:
        return Protocol(reader, writer, every)
    return Protocol(reader, WRITER_FEATURES, every)


def protocol_for_new_table(
    columns: Sequence[StateColumn],
    configuration: Mapping[str, str | None],
    defaults: Mapping[str, str],
    *,
    types: Collection[str] = (),
    nested_not_null: bool = False,
) -> Protocol:
    """Protocol.forNewTable. ``types`` are those in the columns (nested_types.types_in). ``configuration`` holds the
    protocol's own properties too; ``defaults`` are the session's for them (``delta.minReaderVersion`` …), or Delta's.
    """
    versions = {"delta.minReaderVersion": "1", "delta.minWriterVersion": "2"}
    if is_on(configuration, IGNORE_DEFAULTS, "false"):
        versions, defaults = dict.fromkeys(versions, "1"), {}
    properties: dict[str, str | None] = {**versions, **defaults, **configuration}
    return protocol_of(
        named_features(properties)
        | enabled_by_metadata(columns, properties, types, nested_not_null)
        | implied_by_versions(properties)
    )


def merged_protocol(
    old: Protocol,
    columns: Sequence[StateColumn],
    configuration: Mapping[str, str | None],
    *,
    types: Collection[str] = (),
    nested_not_null: bool = False,
    supported: frozenset[str] | None = None,
) -> Protocol:
    """The protocol of a table that is replaced, cloned or LIKE another, which is only ever upgraded (Protocol.merge).

    ``supported`` are the features that Delta looks at before it enables another form of one: those of ``old``, unless
    given.
    """
    supported = old.features if supported is None else supported
    features = with_required(
        named_features(configuration)
        | enabled_by_metadata(columns, configuration, types, nested_not_null, supported)
        | implied_by_versions(configuration)
    )
    return old if features <= old.features else protocol_of(old.features | features)


def with_required(features: Iterable[str]) -> frozenset[str]:
    """``features`` and those that they require."""
    every = frozenset(features)
    more = every | {needed for name in every if name in FEATURES for needed in FEATURES[name].requires}
    return every if more == every else with_required(more)


def known_features(features: Iterable[str]) -> frozenset[str]:
    """Those that this Delta knows: a copy of a table leaves the others out."""
    return frozenset(features).intersection(FEATURES)


def implied_by(reader: int, writer: int) -> frozenset[str]:
    """Protocol.implicitlySupportedFeatures of two version numbers."""
    return frozenset(
        name
        for name, one in FEATURES.items()
        if one.legacy and one.reader <= reader < READER_FEATURES and one.writer <= writer < WRITER_FEATURES
    )


def implied_by_versions(configuration: Mapping[str, str | None]) -> frozenset[str]:
    reader, writer = configuration.get(PROTOCOL_KEYS[0]), configuration.get(PROTOCOL_KEYS[1])
    if reader is None or writer is None:
        return frozenset()
    return implied_by(int(reader) if int(writer) >= WRITER_FEATURES else min(2, int(reader)), int(writer))


def named_features(configuration: Mapping[str, str | None]) -> frozenset[str]:
    """The features named by properties ``delta.feature.…``, without unknown ones."""
    names = (key[len(FEATURE_PREFIX) :].lower() for key in configuration if key.startswith(FEATURE_PREFIX))
    return frozenset(BY_LOWER_NAME[name] for name in names if name in BY_LOWER_NAME)


def enabled_by_metadata(
    columns: Sequence[StateColumn],
    configuration: Mapping[str, str | None],
    types: Collection[str] = (),
    nested_not_null: bool = False,
    supported: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """FeatureAutomaticallyEnabledByMetadata: the features that columns and properties need; ``supported`` are those
    that the table has."""
    features = {name for key, name in BY_PROPERTY.items() if is_on(configuration, key, "false")}
    needed = {
        "changeDataFeed": feeds_changes(configuration),
        "invariants": nested_not_null or any(not column.nullable for column in columns),
        "checkConstraints": any(key.lower().startswith("delta.constraints.") for key in configuration),
        "generatedColumns": any(column.generated_as for column in columns),
        "identityColumns": any(column.identity for column in columns),
        "columnMapping": mode_of(configuration) != "none",
        "timestampNtz": "timestamp_ntz" in types,
        "variantType": "variant" in types,
        "v2Checkpoint": (configuration.get("delta.checkpointPolicy") or "").lower() == "v2",
    }
    features |= {name for name, is_needed in needed.items() if is_needed}
    # a table with the preview of a feature is not given the feature itself, nor the other way round
    supported = supported | named_features(configuration)
    return frozenset(
        name for name in features if supported.isdisjoint({f"{name}{PREVIEW}", name.removesuffix(PREVIEW)} - {name})
    )


def feeds_changes(properties: Mapping[str, str | None]) -> bool:
    """Whether a table with these properties has a change data feed: the older name counts where the other is not."""
    return is_on(properties, FEED if properties.get(FEED) is not None else OLD_FEED, "false")


def is_protocol_property(key: str) -> bool:
    """TableFeatureProtocolUtils.isTableProtocolProperty: these never reach the log's configuration."""
    return key in PROTOCOL_KEYS or key.startswith(FEATURE_PREFIX)
