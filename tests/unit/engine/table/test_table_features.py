"""The protocol that a new or replaced table gets, derived as Delta derives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.create_values import StateColumn
from engine.table.table_features import (
    FEATURES,
    Protocol,
    feeds_changes,
    implied_by,
    implied_by_versions,
    is_protocol_property,
    known_features,
    merged_protocol,
    named_features,
    protocol_for_new_table,
    protocol_of,
    with_required,
)

ID = StateColumn(name="id", type="bigint")
LEGACY_2 = frozenset(("appendOnly", "invariants"))


def new(*columns: StateColumn, **given: str) -> Protocol:
    return protocol_for_new_table(columns or (ID,), {key.replace("__", "."): value for key, value in given.items()}, {})


def test_a_plain_table_has_deltas_oldest_default() -> None:
    assert new() == Protocol(1, 2, LEGACY_2)


@pytest.mark.parametrize(
    ("properties", "fed"),
    [
        ({"delta.enableChangeDataFeed": "true"}, True),
        ({"delta.enableChangeDataCapture": "true"}, True),
        ({"delta.enableChangeDataCapture": "true", "delta.enableChangeDataFeed": "false"}, False),
        ({"delta.enableChangeDataCapture": "false", "delta.enableChangeDataFeed": "true"}, True),
        ({}, False),
    ],
)
def test_the_older_name_of_the_change_data_feed_counts_where_the_other_is_not(
    properties: dict[str, str], fed: bool
) -> None:
    assert feeds_changes(properties) is fed
    assert ("changeDataFeed" in protocol_for_new_table((ID,), properties, {}).features) is fed


def test_without_the_protocols_defaults_it_supports_nothing() -> None:
    assert new(delta__ignoreProtocolDefaults="TRUE") == Protocol(1, 1, frozenset())


@pytest.mark.parametrize(
    ("reader", "writer", "features"),
    [
        (1, 1, set()),
        (1, 2, LEGACY_2),
        (1, 3, LEGACY_2 | {"checkConstraints"}),
        (1, 4, LEGACY_2 | {"checkConstraints", "changeDataFeed", "generatedColumns"}),
        (1, 5, LEGACY_2 | {"checkConstraints", "changeDataFeed", "generatedColumns"}),
        (2, 5, LEGACY_2 | {"checkConstraints", "changeDataFeed", "generatedColumns", "columnMapping"}),
        (2, 6, implied_by(2, 5) | {"identityColumns"}),
        # from these versions on they are named
        (3, 6, set()),
        (2, 7, set()),
        (3, 7, set()),
    ],
)
def test_version_numbers_imply_legacy_features(reader: int, writer: int, features: set[str]) -> None:
    assert implied_by(reader, writer) == features


@pytest.mark.parametrize(
    ("given", "features"),
    [
        ({}, frozenset()),
        ({"delta.minReaderVersion": "1"}, frozenset()),
        ({"delta.minWriterVersion": "2"}, frozenset()),
        ({"delta.minReaderVersion": "1", "delta.minWriterVersion": "5"}, implied_by(1, 5)),
        ({"delta.minReaderVersion": "1", "delta.minWriterVersion": "2"}, LEGACY_2),
        # a reader's version 3 counts as 2 where the writer's names no features
        ({"delta.minReaderVersion": "3", "delta.minWriterVersion": "5"}, implied_by(2, 5)),
        ({"delta.minReaderVersion": "3", "delta.minWriterVersion": "7"}, frozenset()),
        ({"delta.minReaderVersion": "1", "delta.minWriterVersion": None}, frozenset()),
    ],
)
def test_versions_are_read_from_properties(given: dict[str, str | None], features: frozenset[str]) -> None:
    assert implied_by_versions(given) == features


@pytest.mark.parametrize(
    ("features", "versions"),
    [
        ((), (1, 1)),
        (("appendOnly",), (1, 7)),
        (("appendOnly", "invariants"), (1, 2)),
        (("columnMapping",), (2, 7)),
        (tuple(implied_by(2, 5)), (2, 5)),
        (("deletionVectors",), (3, 7)),
        (("domainMetadata",), (1, 7)),
        (("of a later Delta",), (1, 7)),
    ],
)
def test_the_weakest_protocol_that_supports_just_these(features: tuple[str, ...], versions: tuple[int, int]) -> None:
    found = protocol_of(features)
    assert (found.min_reader_version, found.min_writer_version) == versions
    assert found.features == frozenset(features)


def test_what_a_feature_requires_comes_with_it() -> None:
    assert with_required(["icebergCompatV3"]) == {"icebergCompatV3", "columnMapping", "rowTracking", "domainMetadata"}
    assert with_required(["icebergCompatV2"]) == {"icebergCompatV2", "columnMapping"}
    for name in ("catalogManaged", "coordinatedCommits-preview"):
        assert with_required([name]) == {name, "inCommitTimestamp", "vacuumProtocolCheck"}
    assert with_required(["unknown"]) == {"unknown"}


@given(st.sets(st.sampled_from(sorted(FEATURES))))
def test_the_versions_of_a_protocol_support_all_of_its_features(features: set[str]) -> None:
    found = protocol_of(features)
    assert found.features >= features
    assert all(FEATURES[name].reader <= found.min_reader_version for name in found.features)
    assert all(FEATURES[name].writer <= found.min_writer_version for name in found.features)


@pytest.mark.parametrize(
    ("column", "feature"),
    [
        (StateColumn(name="a", type="int", nullable=False), "invariants"),
        (StateColumn(name="a", type="int", generated_as="b + 1"), "generatedColumns"),
        (StateColumn(name="a", type="bigint", identity=True), "identityColumns"),
    ],
)
def test_columns_enable_features(column: StateColumn, feature: str) -> None:
    assert feature in new(ID, column, delta__ignoreProtocolDefaults="true").features


@pytest.mark.parametrize(("type_", "feature"), [("timestamp_ntz", "timestampNtz"), ("variant", "variantType")])
def test_types_enable_features_and_names_of_fields_do_not(type_: str, feature: str) -> None:
    column = StateColumn(name="a", type=f"array<struct<{type_}:string>>")
    configuration = {"delta.ignoreProtocolDefaults": "true"}
    for types, features in ((("array", "struct", "string"), frozenset()), (("array", type_), {feature})):
        for made in (
            protocol_for_new_table([column], configuration, {}, types=types),
            merged_protocol(Protocol(1, 1, frozenset()), [column], configuration, types=types),
        ):
            assert made.features == features


@pytest.mark.parametrize(
    ("key", "feature"),
    [
        ("delta.appendOnly", "appendOnly"),
        ("delta.enableDeletionVectors", "deletionVectors"),
        ("delta.enableRowTracking", "rowTracking"),
        ("delta.enableIcebergCompatV1", "icebergCompatV1"),
        ("delta.enableIcebergCompatV2", "icebergCompatV2"),
        ("delta.enableIcebergCompatV3", "icebergCompatV3"),
        ("delta.enableInCommitTimestamps", "inCommitTimestamp"),
        ("delta.enableTypeWidening", "typeWidening"),
        ("delta.enableVariantShredding", "variantShredding-preview"),
        ("delta.enableMaterializePartitionColumnsFeature", "materializePartitionColumns"),
    ],
)
def test_properties_that_are_true_enable_features(key: str, feature: str) -> None:
    assert feature in FEATURES
    assert feature in protocol_for_new_table([ID], {key: "True"}, {}).features
    off = protocol_for_new_table([ID], {key: "false", "delta.ignoreProtocolDefaults": "true"}, {})
    assert feature not in off.features


@pytest.mark.parametrize(
    ("supported", "key"),
    [
        ("variantShredding", "delta.enableVariantShredding"),
        ("variantShredding-preview", "delta.enableVariantShredding"),
        ("typeWidening-preview", "delta.enableTypeWidening"),
    ],
)
def test_a_table_with_one_form_of_a_feature_is_not_given_the_other(supported: str, key: str) -> None:
    forms = {supported, f"{supported}-preview", supported.removesuffix("-preview")}
    named = protocol_for_new_table([ID], {key: "true", f"delta.feature.{supported.lower()}": "supported"}, {})
    replaced = merged_protocol(protocol_of((supported,)), [ID], {key: "true"})
    for found in (named, replaced):
        assert found.features & forms == {supported}


@pytest.mark.parametrize(
    ("key", "value", "feature"),
    [
        ("delta.constraints.positive", "v > 0", "checkConstraints"),
        ("DELTA.Constraints.positive", "v > 0", "checkConstraints"),
        ("delta.columnMapping.mode", "name", "columnMapping"),
        ("delta.checkpointPolicy", "V2", "v2Checkpoint"),
    ],
)
def test_other_properties_enable_features(key: str, value: str, feature: str) -> None:
    assert feature in protocol_for_new_table([ID], {key: value}, {}).features
    assert feature not in new().features


@pytest.mark.parametrize(
    ("key", "value"), [("delta.columnMapping.mode", "NONE"), ("delta.checkpointPolicy", "classic")]
)
def test_values_that_ask_for_nothing_enable_nothing(key: str, value: str) -> None:
    assert protocol_for_new_table([ID], {key: value}, {}) == new()


def test_not_null_within_a_struct_needs_invariants() -> None:
    configuration = {"delta.ignoreProtocolDefaults": "true"}
    assert protocol_for_new_table([ID], configuration, {}, nested_not_null=True).features == {"invariants"}


def test_features_are_named_by_properties_in_any_case() -> None:
    given = {
        "delta.feature.DELETIONVECTORS": "supported",
        "delta.feature.nosuch": "x",
        "other.feature.rowtracking": "x",
    }
    assert named_features(given) == {"deletionVectors"}
    assert protocol_for_new_table([ID], given, {}).min_reader_version == 3


def test_the_sessions_defaults_are_taken_unless_the_statement_says_otherwise() -> None:
    defaults = {"delta.minReaderVersion": "2", "delta.minWriterVersion": "5"}
    assert protocol_for_new_table([ID], {}, defaults).features == implied_by(2, 5)
    given = {"delta.minReaderVersion": "1", "delta.minWriterVersion": "2"}
    assert protocol_for_new_table([ID], given, defaults).features == LEGACY_2


def test_a_replaced_table_is_only_ever_upgraded() -> None:
    old = Protocol(3, 7, frozenset(("deletionVectors", "appendOnly")))
    assert merged_protocol(old, [ID], {}) is old
    assert merged_protocol(old, [ID], {"delta.appendOnly": "true"}) is old
    versions = {"delta.minReaderVersion": "1", "delta.minWriterVersion": "2"}
    assert merged_protocol(old, [ID], versions).features == {*old.features, "invariants"}
    upgraded = merged_protocol(old, [ID], {"delta.enableRowTracking": "true"})
    assert upgraded.features == {"deletionVectors", "appendOnly", "rowTracking", "domainMetadata"}


def test_a_copy_leaves_out_what_this_delta_does_not_know() -> None:
    assert known_features(["deletionVectors", "of a later Delta"]) == {"deletionVectors"}


@pytest.mark.parametrize(
    ("key", "of_protocol"),
    [("delta.minReaderVersion", True), ("delta.feature.x", True), ("delta.appendOnly", False), ("x", False)],
)
def test_the_protocols_own_properties(key: str, of_protocol: bool) -> None:
    assert is_protocol_property(key) is of_protocol
