"""What a CREATE, a REPLACE or a CLONE makes of the metadata that it gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql.types import ArrayType, LongType, MapType, StringType, StructField, StructType

from engine.create.column_ids import ColumnIds, column_ids
from engine.create.metadata_after import (
    columns_after,
    comment_after,
    properties_after,
    protocol_after,
    state_after,
    with_iceberg_compat,
)
from engine.create.provided_metadata import Provided, session_defaults
from engine.create.situation import Situation
from engine.merge.state_confs import has_meaning
from engine.model.create_values import StateColumn, TableState
from engine.sql.parse_create import ParsedCreate, parse_create
from engine.table.table_features import Protocol
from tests.unit.explained import Confs

ID = StateColumn(name="id", type="bigint")
GENERATED = StateColumn(name="g", type="int", generated_as="id + 1")
IDENTITY = StateColumn(name="i", type="bigint", identity=True)
CREATE = parse_create("CREATE TABLE t (id BIGINT) USING delta")
CTAS = parse_create("CREATE TABLE t USING delta AS SELECT 1 AS id")
LIKE = parse_create("CREATE TABLE t LIKE s USING delta")
CLONE = parse_create("CREATE OR REPLACE TABLE t SHALLOW CLONE s")
ONE = ColumnIds(1)
ICEBERG = "delta.enableIcebergCompat"
MAPPED: dict[str, str | None] = {"delta.columnMapping.mode": "name"}
BEFORE = TableState(
    location="/t",
    columns=(ID,),
    comment="older",
    min_reader_version=1,
    min_writer_version=2,
    features=("appendOnly", "invariants"),
)
AROUND = Situation(None, "/t", True, None, False, False)
OLDEST = Protocol(1, 2, frozenset(BEFORE.features))


class Session:
    """A session of which only settings are read."""

    def __init__(self, **confs: str) -> None:
        values = {key.replace("__", "."): value for key, value in confs.items()}
        self.conf = Confs(values)
        self.conf.getAll = values  # type: ignore[attr-defined]


def before(**changes: object) -> TableState:
    return BEFORE.model_copy(update=changes)


def test_a_new_table_is_what_the_statement_gives() -> None:
    provided = Provided((ID,), ("id",), configuration={"b": "2", "a": "1"}, comment="c")
    found = state_after(Session(), CREATE, provided, AROUND)  # type: ignore[arg-type]
    assert (found.columns, found.partition_columns, found.comment) == ((ID,), ("id",), "c")
    assert list(found.properties.items()) == [("a", "1"), ("b", "2")]
    assert (found.min_reader_version, found.min_writer_version, found.features) == (1, 2, BEFORE.features)
    assert (found.num_files, found.num_bytes, found.location) == (0, 0, "/t")


def test_how_many_files_a_query_makes_is_not_known() -> None:
    found = state_after(Session(), CTAS, Provided((ID,), ()), AROUND)  # type: ignore[arg-type]
    assert (found.num_files, found.num_bytes) == (None, None)


def test_a_clone_refers_to_the_files_of_its_source() -> None:
    provided = Provided((ID,), (), num_files=3, num_bytes=30)
    found = state_after(Session(), CLONE, provided, AROUND)  # type: ignore[arg-type]
    assert (found.num_files, found.num_bytes) == (3, 30)


DEFAULT = "spark__databricks__delta__properties__defaults__"


def test_the_sessions_defaults_come_to_each_new_table() -> None:
    session = Session(**{f"{DEFAULT}appendOnly": "true", f"{DEFAULT}minWriterVersion": "7"})
    around = replace(AROUND, defaults=session_defaults(session))  # type: ignore[arg-type]
    found = state_after(session, CREATE, Provided((ID,), ()), around)  # type: ignore[arg-type]
    assert found.properties == {"delta.appendOnly": "true"}
    assert found.min_writer_version == 7
    given = Provided((ID,), (), configuration={"delta.ignoreProtocolDefaults": "true"})
    found = state_after(session, CREATE, given, around)  # type: ignore[arg-type]
    assert (found.properties, found.features) == ({"delta.appendOnly": "true"}, ("appendOnly",))


def test_delta_knows_its_session_defaults_by_their_exact_names() -> None:
    unknown = ("enableDeletionVector", "EnableChangeDataFeed", "constraints.x", "k")
    session = Session(**{f"{DEFAULT}{name}": "true" for name in (*unknown, "feature__deletionVectors")})
    assert session_defaults(session) == {"delta.feature.deletionvectors": "true"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("create", "old", "features", "left"),
    [
        (CREATE, BEFORE, (), (GENERATED, IDENTITY)),
        (CLONE, None, (), (GENERATED, IDENTITY)),
        (
            CLONE,
            BEFORE,
            (),
            (GENERATED.model_copy(update={"generated_as": None}), IDENTITY.model_copy(update={"identity": False})),
        ),
        (CLONE, BEFORE, ("generatedColumns",), (GENERATED, IDENTITY.model_copy(update={"identity": False}))),
        (CLONE, BEFORE, ("generatedColumns", "identityColumns"), (GENERATED, IDENTITY)),
    ],
)
def test_a_clone_over_a_table_without_the_features_loses_generated_and_identity_columns(
    create: ParsedCreate, old: TableState | None, features: tuple[str, ...], left: tuple[StateColumn, ...]
) -> None:
    old = old.model_copy(update={"features": features}) if old else None
    assert columns_after(create, Provided((GENERATED, IDENTITY), ()), old) == left


def test_a_clone_keeps_the_comment_of_what_it_replaces_and_takes_none() -> None:
    provided = Provided((ID,), (), comment="new")
    assert comment_after(CREATE, provided, BEFORE) == "new"
    assert comment_after(CREATE, Provided((ID,), ()), BEFORE) == ""
    assert comment_after(CLONE, provided, BEFORE) == "older"
    assert comment_after(CLONE, provided, None) == ""


DOWNGRADE = "spark__databricks__delta__replace__protocolDowngradeAllowed"


@pytest.mark.parametrize(
    ("allowed", "features"),
    [("false", {"appendOnly", "invariants", "deletionVectors"}), ("true", {"appendOnly", "invariants"})],
)
def test_a_replaced_table_keeps_its_features_unless_a_downgrade_is_allowed(allowed: str, features: set[str]) -> None:
    old = before(features=("appendOnly", "invariants", "deletionVectors"), min_reader_version=3, min_writer_version=7)
    found = protocol_after(Session(**{DOWNGRADE: allowed}), CREATE, Provided((ID,), ()), {}, old)  # type: ignore[arg-type]
    assert found.features == features


def test_a_downgrade_leaves_the_features_of_properties_that_a_replace_keeps() -> None:
    old = before(
        properties={"delta.enableDeletionVectors": "true"},
        features=("appendOnly", "invariants", "deletionVectors", "typeWidening"),
        min_reader_version=3,
        min_writer_version=7,
    )
    for said, features in (
        ({}, {"appendOnly", "invariants", "deletionVectors"}),
        ({"delta.enableDeletionVectors": "false"}, {"appendOnly", "invariants"}),
    ):
        found = protocol_after(Session(**{DOWNGRADE: "true"}), CREATE, Provided((ID,), ()), said, old)  # type: ignore[arg-type]
        assert found.features == features


CLONE_DOWNGRADE = "spark__databricks__delta__restore__protocolDowngradeAllowed"


@pytest.mark.parametrize(
    ("allowed", "found"),
    [
        ("false", Protocol(3, 7, frozenset(("appendOnly", "invariants", "deletionVectors")))),
        ("true", Protocol(1, 2, frozenset(("appendOnly", "invariants")))),
    ],
)
def test_a_clone_keeps_the_features_of_the_table_unless_a_downgrade_is_allowed(allowed: str, found: Protocol) -> None:
    old = before(features=("appendOnly", "invariants", "deletionVectors"), min_reader_version=3, min_writer_version=7)
    provided = Provided((ID,), (), protocol=OLDEST)
    session = Session(**{CLONE_DOWNGRADE: allowed})
    assert protocol_after(session, CLONE, provided, {}, old) == found  # type: ignore[arg-type]
    # a plan is stale if the session says otherwise when it is applied
    assert has_meaning(CLONE_DOWNGRADE.replace("__", "."))


def test_a_clone_that_may_downgrade_takes_nothing_of_the_table() -> None:
    old = before(features=(), min_reader_version=1, min_writer_version=7)
    session = Session(**{CLONE_DOWNGRADE: "true"})
    oldest = Protocol(1, 1, frozenset())
    assert protocol_after(session, CLONE, Provided((ID,), (), protocol=oldest), {}, old) == oldest  # type: ignore[arg-type]


@pytest.mark.parametrize("old", [None, BEFORE])
@pytest.mark.parametrize("create", [CREATE, LIKE, CLONE])
def test_what_is_inside_of_the_columns_needs_features(create: ParsedCreate, old: TableState | None) -> None:
    """Those of a parquet table that is cloned come by its columns alone."""
    copied = Protocol(1, 1, frozenset()) if create.form == "like" else None
    provided = Provided((ID,), (), protocol=copied, types={"id": frozenset(("timestamp_ntz",))})
    assert "timestampNtz" in protocol_after(Session(), create, provided, {}, old).features  # type: ignore[arg-type]


@pytest.mark.parametrize("old", [None, before(features=())])
def test_not_null_inside_of_a_struct_needs_invariants(old: TableState | None) -> None:
    given: dict[str, str | None] = {"delta.ignoreProtocolDefaults": "true"}
    found = protocol_after(Session(), CREATE, Provided((ID,), (), nested_not_null=True), given, old)  # type: ignore[arg-type]
    assert "invariants" in found.features


def test_clustering_needs_its_feature() -> None:
    provided = Provided((ID,), (), ("id",))
    assert "clustering" in protocol_after(Session(), CREATE, provided, {}, None).features  # type: ignore[arg-type]
    # a clone has it only by its source
    assert "clustering" not in protocol_after(Session(), CLONE, provided, {}, None).features  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "given", "after"),
    [
        (Protocol(1, 1, frozenset()), {}, Protocol(1, 1, frozenset())),
        (OLDEST, {}, OLDEST),
        (Protocol(1, 7, OLDEST.features), {}, OLDEST),
        (Protocol(2, 2, OLDEST.features), {}, OLDEST),
        (
            Protocol(3, 7, OLDEST.features | {"domainMetadata"}),
            {},
            Protocol(1, 7, OLDEST.features | {"domainMetadata"}),
        ),
        (OLDEST, {"delta.feature.deletionvectors": "supported", "delta.minWriterVersion": "7"}, OLDEST),
        (
            OLDEST,
            {"delta.enableDeletionVectors": "true"},
            Protocol(3, 7, OLDEST.features | {"deletionVectors"}),
        ),
        (
            OLDEST,
            {"delta.enableRowTracking": "true"},
            Protocol(1, 7, OLDEST.features | {"rowTracking", "domainMetadata"}),
        ),
        (
            Protocol(3, 7, frozenset(("typeWidening-preview",))),
            {"delta.enableTypeWidening": "true", "delta.checkpointPolicy": "v2"},
            Protocol(3, 7, frozenset(("typeWidening-preview", "v2Checkpoint"))),
        ),
    ],
)
def test_create_table_like_takes_the_protocol_of_its_source_and_what_its_properties_enable(
    source: Protocol, given: dict[str, str | None], after: Protocol
) -> None:
    provided = Provided((ID,), (), protocol=source)
    assert protocol_after(Session(), LIKE, provided, given, None) == after  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "gets"),
    [
        ({"delta.enableRowTracking": "true"}, True),
        ({"delta.feature.rowtracking": "supported"}, True),
        ({"delta.enableRowTracking": "false"}, False),
        ({}, False),
    ],
)
def test_a_copy_of_a_table_gets_columns_of_row_tracking_by_its_own_properties(
    given: dict[str, str | None], gets: bool
) -> None:
    of_source = Protocol(1, 7, frozenset(("rowTracking", "domainMetadata")))
    for create in (LIKE, CLONE):
        assert (None in properties_after(create, ONE, given, of_source, None).values()) is gets
    # or because what it replaces has some
    tracking = before(features=("rowTracking",))
    assert None in properties_after(CLONE, ONE, given, of_source, tracking).values()


@pytest.mark.parametrize(
    ("of_source", "given", "enabled"),
    [
        ("typeWidening-preview", {"delta.enableTypeWidening": "true"}, "typeWidening"),
        ("variantShredding", {"delta.enableVariantShredding": "true"}, "variantShredding-preview"),
    ],
)
def test_a_clone_may_have_both_forms_of_a_feature(of_source: str, given: dict[str, str | None], enabled: str) -> None:
    """CloneTableBase enables what the metadata needs before it merges the source's protocol."""
    provided = Provided((ID,), (), protocol=Protocol(3, 7, frozenset((of_source,))))
    assert protocol_after(Session(), CLONE, provided, given, None).features >= {of_source, enabled}  # type: ignore[arg-type]


def test_a_clone_has_the_features_of_both() -> None:
    provided = Provided((ID,), (), protocol=Protocol(3, 7, frozenset(("deletionVectors",))))
    found = protocol_after(Session(), CLONE, provided, {}, BEFORE)  # type: ignore[arg-type]
    assert found.features == {"deletionVectors", *BEFORE.features}
    # what brings nothing new leaves the versions as they are
    same = before(min_writer_version=7)
    assert protocol_after(Session(), CLONE, Provided((ID,), ()), {}, same).min_writer_version == 7  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("compat", "counted"),
    [({}, "3"), ({f"{ICEBERG}V1": "true"}, "3"), *[({f"{ICEBERG}V{n}": "true"}, "6") for n in (2, 3)]],
)
def test_column_mapping_counts_the_ids_of_all_fields_and_iceberg_those_of_what_is_held(
    compat: dict[str, str], counted: str
) -> None:
    inner = StructType([StructField("a:b", MapType(StringType(), LongType()))])
    ids = column_ids(StructType([StructField("id", LongType()), StructField("c: d", ArrayType(inner))]))
    assert ids == ColumnIds(3, 3)
    found = properties_after(CREATE, ids, {**MAPPED, **compat}, OLDEST, None)
    assert found["delta.columnMapping.maxColumnId"] == counted


def test_ids_go_on_where_a_table_has_some() -> None:
    # a replaced table goes on counting, which only the commit knows
    assert properties_after(CREATE, ONE, MAPPED, OLDEST, BEFORE)["delta.columnMapping.maxColumnId"] is None
    copied = {**MAPPED, "delta.columnMapping.maxColumnId": "9"}
    assert properties_after(CLONE, ONE, copied, OLDEST, None)["delta.columnMapping.maxColumnId"] == "9"
    # what is cloned has none where the clone itself asks for mapping
    assert properties_after(CLONE, ONE, MAPPED, OLDEST, None)["delta.columnMapping.maxColumnId"] == "1"
    assert "delta.columnMapping.maxColumnId" not in properties_after(CREATE, ONE, {}, OLDEST, None)


def test_row_tracking_gets_columns_whose_names_only_the_commit_knows() -> None:
    names = ("materializedRowIdColumnName", "materializedRowCommitVersionColumnName")
    columns = {f"delta.rowTracking.{name}": None for name in names}
    tracking = Protocol(1, 7, frozenset(("rowTracking",)))
    assert properties_after(CREATE, ONE, {}, tracking, None) == columns
    # those of the source are its own
    of_source = dict.fromkeys(columns, "_row-x")
    assert properties_after(CLONE, ONE, of_source, OLDEST, None) == {}


def test_in_commit_timestamps_that_begin_with_a_commit_note_it() -> None:
    on: dict[str, str | None] = {"delta.enableInCommitTimestamps": "true"}
    assert set(properties_after(CREATE, ONE, on, OLDEST, None)) == set(on)
    assert len(properties_after(CREATE, ONE, on, OLDEST, BEFORE)) == 3
    was_on = before(properties=on)
    assert set(properties_after(CREATE, ONE, on, OLDEST, was_on)) == set(on)


@pytest.mark.parametrize("key", ["delta.enableDeletionVectors", "delta.checkpointPolicy", "delta.enableRowTracking"])
def test_a_replace_keeps_some_properties_unless_it_says_otherwise(key: str) -> None:
    old = before(properties={key: "true", "delta.appendOnly": "true"})
    assert properties_after(CREATE, ONE, {}, OLDEST, old) == {key: "true"}
    given: dict[str, str | None] = {key: "false"}
    assert properties_after(CREATE, ONE, given, OLDEST, old) == given
    assert properties_after(CLONE, ONE, {}, OLDEST, old) == {}


def test_the_protocols_own_properties_reach_no_log() -> None:
    given: dict[str, str | None] = {"delta.minReaderVersion": "2", "delta.feature.x": "supported", "a": "b"}
    assert properties_after(CREATE, ONE, given, OLDEST, None) == {"a": "b"}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_iceberg_compatibility_brings_column_mapping_by_name(version: int) -> None:
    on = {f"delta.enableIcebergCompatV{version}": "True"}
    atomic = {"delta.universalFormat.iceberg.atomicConversion.supported": "true"}
    assert with_iceberg_compat(on) == {**on, **atomic, "delta.columnMapping.mode": "name"}
    assert with_iceberg_compat({**on, "delta.columnMapping.mode": "id"})["delta.columnMapping.mode"] == "id"
    assert with_iceberg_compat({"a": "b"}) == {"a": "b"}
