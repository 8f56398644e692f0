"""Each error that Delta would raise while a CREATE runs, from the statement and what is there before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.create.foresee_create import foresee_create
from engine.create.provided_metadata import Provided
from engine.create.situation import Situation, effect_of
from engine.model.create_values import StateColumn, TableState
from engine.model.plan import Refused
from engine.sql.parse_create import parse_create
from engine.table.table_features import Protocol
from engine.table.table_state import CatalogEntry

ID, DAY, NOTE = (StateColumn(name=n, type=t) for n, t in (("id", "bigint"), ("day", "date"), ("note", "string")))
DELTA = CatalogEntry("MANAGED", "delta", "/w/t")
BEFORE = TableState(location="/w/t", columns=(ID, DAY), min_reader_version=1, min_writer_version=2)
NOTHING = Situation(None, "/w/t", True, None, False, False)
TABLE = Situation(DELTA, "/w/t", True, BEFORE, True, True)
LOG_ALONE = Situation(None, "/w/t", False, BEFORE, True, True)
PROVIDED = Provided((ID, DAY), ())


def foreseen(sql: str, around: Situation = NOTHING, provided: Provided = PROVIDED) -> str | None:
    found = foresee_create(parse_create(sql), around, provided)
    return found.condition if found else None


CREATE = "CREATE TABLE t (id BIGINT, day DATE) USING delta"
OR_REPLACE = f"CREATE OR {CREATE.replace('CREATE', 'REPLACE')}"
REPLACE = "REPLACE TABLE t (id BIGINT, day DATE) USING delta"
CTAS = "CREATE TABLE t USING delta AS SELECT 1 AS id"
CLONE = "CREATE TABLE t SHALLOW CLONE s"
LIKE = "CREATE TABLE t LIKE s USING delta"


@pytest.mark.parametrize(
    ("sql", "around", "effect"),
    [
        (CREATE, NOTHING, "create"),
        (CREATE, LOG_ALONE, "adopt"),
        (OR_REPLACE, TABLE, "replace"),
        (OR_REPLACE, LOG_ALONE, "adopt"),
        (REPLACE, TABLE, "replace"),
        (CTAS, LOG_ALONE, "replace"),
        ("CREATE TABLE IF NOT EXISTS t (id INT) USING delta", TABLE, "nothing"),
        ("CREATE TABLE IF NOT EXISTS t (id INT) USING delta", NOTHING, "create"),
        ("CREATE TABLE IF NOT EXISTS delta.`/w/t` (id INT) USING delta", LOG_ALONE, "nothing"),
        # a clone by path runs whether or not the table is there
        ("CREATE TABLE IF NOT EXISTS delta.`/w/t` SHALLOW CLONE s", LOG_ALONE, "replace"),
    ],
)
def test_what_the_statement_does(sql: str, around: Situation, effect: str) -> None:
    assert effect_of(parse_create(sql), around) == effect


@pytest.mark.parametrize(
    ("sql", "around"),
    [
        (CREATE, NOTHING),
        (CREATE, LOG_ALONE),
        (OR_REPLACE, NOTHING),
        (OR_REPLACE, TABLE),
        (REPLACE, TABLE),
        (CTAS, NOTHING),
        (CLONE, NOTHING),
        (LIKE, NOTHING),
        (LIKE.replace(" t ", " delta.`/w/t` "), LOG_ALONE),
        ("CREATE TABLE IF NOT EXISTS t (id BIGINT) USING delta", replace(TABLE, entry=replace(DELTA, provider="csv"))),
    ],
)
def test_what_delta_does_is_not_refused(sql: str, around: Situation) -> None:
    assert foreseen(sql, around) is None


@pytest.mark.parametrize(
    ("sql", "around", "condition"),
    [
        (CREATE, TABLE, "TABLE_OR_VIEW_ALREADY_EXISTS"),
        (CLONE, TABLE, "DELTA_TABLE_ALREADY_EXISTS"),
        (LIKE, TABLE, "DELTA_TABLE_ALREADY_EXISTS"),
        ("CREATE TABLE delta.`/w/t` (id INT) USING delta", LOG_ALONE, "TABLE_OR_VIEW_ALREADY_EXISTS"),
        (REPLACE, NOTHING, "TABLE_OR_VIEW_NOT_FOUND"),
        (CLONE.replace("CREATE", "REPLACE"), NOTHING, "DELTA_CANNOT_REPLACE_MISSING_TABLE"),
        (OR_REPLACE, replace(TABLE, entry=replace(DELTA, kind="VIEW")), "DELTA_CANNOT_WRITE_INTO_VIEW"),
        (f"CREATE OR REPLACE{CLONE[6:]}", replace(TABLE, entry=replace(DELTA, kind="VIEW")), "DELTA_ONLY_OPERATION"),
        (OR_REPLACE, replace(TABLE, entry=replace(DELTA, provider="csv")), "DELTA_NOT_A_DELTA_TABLE"),
        (OR_REPLACE, replace(TABLE, before=None), "DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE"),
        (f"{OR_REPLACE} LOCATION '/elsewhere'", TABLE, "DELTA_TABLE_LOCATION_MISMATCH"),
        (
            "CREATE TABLE delta.`/w/t` (id INT) USING delta LOCATION '/elsewhere'",
            NOTHING,
            "DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE",
        ),
        ("CREATE TABLE delta.`/w/t` SHALLOW CLONE s LOCATION '/x'", NOTHING, "DELTA_CLONE_AMBIGUOUS_TARGET"),
    ],
)
def test_what_is_under_the_name_already(sql: str, around: Situation, condition: str) -> None:
    assert foreseen(sql, around) == condition


def test_like_a_delta_table_is_sparks_own_command_which_looks_by_itself() -> None:
    assert (
        foreseen(LIKE, TABLE, replace(PROVIDED, protocol=Protocol(1, 1, frozenset()))) == "TABLE_OR_VIEW_ALREADY_EXISTS"
    )


@pytest.mark.parametrize(
    ("columns", "partitions", "condition"),
    [
        ((StateColumn(name="i", type="int", identity=True), DAY), (), "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"),
        (
            (StateColumn(name="I", type="bigint", identity=True), DAY),
            ("i",),
            "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED",
        ),
        (
            (StateColumn(name="I", type="bigint", identity=True), DAY),
            ("I",),
            "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED",
        ),
        ((StateColumn(name="i", type="bigint", identity=True), DAY), ("day",), None),
    ],
)
def test_identity_columns(columns: tuple[StateColumn, ...], partitions: tuple[str, ...], condition: str | None) -> None:
    assert foreseen(CREATE, NOTHING, Provided(columns, partitions)) == condition
    # a copy brings those of its source
    assert foreseen(CLONE, NOTHING, Provided(columns, partitions)) is None


@pytest.mark.parametrize(
    ("type_", "faults", "condition"),
    [
        ("int", {}, None),
        ("variant", {}, "DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN"),
        ("bigint", {"other_type": ("g", "int")}, "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH"),
        ("bigint", {"not_generated": ("g", "f(id)")}, "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"),
    ],
)
def test_a_generated_column_has_the_type_of_its_expression(type_: str, faults: Any, condition: str | None) -> None:
    column = StateColumn(name="g", type=type_, generated_as="id")
    assert foreseen(CREATE, NOTHING, Provided((ID, column), (), **faults)) == condition


LIST, STRUCT = StateColumn(name="l", type="array<int>"), StateColumn(name="s", type="struct<a:int>")


@pytest.mark.parametrize(
    ("provided", "condition"),
    [
        (Provided((ID, DAY), ("day",)), None),
        (Provided((ID, DAY), ("nosuch",)), "_LEGACY_ERROR_TEMP_3060"),
        (Provided((ID, LIST), ("l",)), "INVALID_PARTITION_COLUMN_DATA_TYPE"),
        (Provided((ID, StateColumn(name="L", type="map<int,int>")), ("L",)), "INVALID_PARTITION_COLUMN_DATA_TYPE"),
        (Provided((ID, DAY), ("id", "day")), "ALL_PARTITION_COLUMNS_NOT_ALLOWED"),
        (Provided((ID, DAY), ("day", "day")), "_LEGACY_ERROR_TEMP_3058"),
        (Provided((ID, DAY), ("DAY",)), None),
        (Provided((ID, DAY), (), ("id", "day", "a", "b"), leaves=dict.fromkeys(("id", "day", "a", "b"), "int")), None),
        (Provided((ID, DAY), (), ("id", "day", "a", "b", "c")), "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"),
        (Provided((ID, DAY), (), ("id", "id")), "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY"),
        (Provided((ID, LIST), (), ("L",)), "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"),
        (Provided((ID, DAY), (), ("id", "day"), leaves={"id": "bigint", "day": "date"}), None),
        (Provided((ID, LIST), (), unenforceable="l"), "DELTA_NESTED_NOT_NULL_CONSTRAINT"),
        (Provided((ID, DAY), (), ("nosuch",)), None),
    ],
)
def test_partitioning_and_clustering(provided: Provided, condition: str | None) -> None:
    assert foreseen(CREATE, NOTHING, provided) == condition


@pytest.mark.parametrize(
    ("clause", "condition"),
    [
        ("PARTITIONED BY (year(day))", "DELTA_OPERATION_NOT_ALLOWED"),
        ("PARTITIONED BY (bucket(4, id))", "DELTA_OPERATION_NOT_ALLOWED_DETAIL"),
        ("CLUSTERED BY (id) INTO 4 BUCKETS", "DELTA_OPERATION_NOT_ALLOWED_DETAIL"),
    ],
)
def test_partitions_are_columns(clause: str, condition: str) -> None:
    assert foreseen(f"{CREATE} {clause}") == condition


def test_a_clustered_table_is_not_replaced_by_a_partitioned_one() -> None:
    clustered = replace(TABLE, before=BEFORE.model_copy(update={"features": ("clustering",)}))
    condition = "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"
    assert foreseen(REPLACE, clustered, Provided((ID, DAY), ("day",))) == condition
    assert foreseen(REPLACE, clustered) is None
    assert foreseen(REPLACE, TABLE, Provided((ID, DAY), ("day",))) is None
    # a clone has the layout of its source, whatever that is
    clone = f"CREATE OR REPLACE{CLONE[6:]}"
    for provided in (Provided((ID, DAY), ("day",)), Provided((ID, DAY), (), ("id", "day", "a", "b", "c"))):
        assert foreseen(clone, clustered, provided) is None


@pytest.mark.parametrize(
    ("sql", "only", "files", "condition"),
    [
        (REPLACE, "true", 2, "DELTA_CANNOT_MODIFY_APPEND_ONLY"),
        (CTAS.replace("CREATE", "CREATE OR REPLACE"), "True", 2, "DELTA_CANNOT_MODIFY_APPEND_ONLY"),
        (REPLACE, "true", 0, None),
        (REPLACE, "false", 2, None),
        (REPLACE, None, 2, None),
        ("CREATE TABLE IF NOT EXISTS t (id BIGINT) USING delta", "true", 2, None),
    ],
)
def test_the_files_of_an_append_only_table_are_not_replaced(
    sql: str, only: str | None, files: int, condition: str | None
) -> None:
    properties = {} if only is None else {"delta.appendOnly": only}
    before = BEFORE.model_copy(update={"properties": properties, "num_files": files})
    assert foreseen(sql, replace(TABLE, before=before)) == condition


@pytest.mark.parametrize(
    ("key", "value", "condition"),
    [
        ("delta.appendOnly", "true", None),
        ("mine", "x", None),
        ("delta.appendonyl", "true", "DELTA_UNKNOWN_CONFIGURATION"),
        ("delta.constraints.c", "id > 0", None),
        ("delta.columnMapping.maxColumnId", "7", "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
        (
            "delta.feature.clustering",
            "supported",
            "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        ),
        ("delta.feature.rowTracking", "on", "DELTA_UNSUPPORTED_FEATURE_STATUS"),
        ("delta.feature.rowTracking", "Enabled", None),
        ("delta.feature.nosuch", "supported", "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"),
        ("delta.feature.catalogManaged", "supported", "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION"),
    ],
)
def test_properties(key: str, value: str, condition: str | None) -> None:
    assert foreseen(f"{CREATE} TBLPROPERTIES ('{key}' = '{value}')") == condition


def test_settings_of_the_session_about_properties() -> None:
    unknown = f"{CREATE} TBLPROPERTIES ('delta.mine' = 'x')"
    assert foreseen(unknown, replace(NOTHING, arbitrary_properties=True)) is None
    managed = replace(NOTHING, catalog_managed=True)
    assert foreseen(CREATE, managed) == "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION"


@pytest.mark.parametrize(
    ("defaults", "condition"),
    [
        ({"delta.appendOnly": "true"}, None),
        ({"delta.checkpointInterval": "0"}, "EXPRESSION_FAILED"),
        ({"delta.columnMapping.maxColumnId": "3"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
        ({"delta.feature.nosuch": "supported"}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"),
        ({"delta.feature.rowtracking": "on"}, "DELTA_UNSUPPORTED_FEATURE_STATUS"),
        ({"delta.minReaderVersion": "0"}, "EXPRESSION_FAILED"),
        ({"delta.minReaderVersion": "0", "delta.ignoreProtocolDefaults": "true"}, None),
    ],
)
def test_the_sessions_defaults_are_judged_like_properties(defaults: dict[str, str], condition: str | None) -> None:
    for sql, around in ((CREATE, NOTHING), (REPLACE, TABLE), (CTAS, NOTHING), (LIKE, NOTHING)):
        assert foreseen(sql, replace(around, defaults=defaults)) == condition
    assert foreseen(CREATE, replace(LOG_ALONE, defaults=defaults)) is None


NON_EMPTY = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
FILES = replace(NOTHING, holds_data=True)
LEFT_OVER = replace(FILES, has_log_directory=True)
EMPTY_PROVIDED = Provided((), ())
NO_COLUMNS = "CREATE TABLE t USING delta LOCATION '/w/t'"


@pytest.mark.parametrize(
    ("sql", "around", "condition"),
    [
        (CTAS, FILES, NON_EMPTY),
        (CTAS, LEFT_OVER, None),
        (CTAS.replace("CREATE", "CREATE OR REPLACE"), FILES, None),
        (CLONE, FILES, NON_EMPTY),
        (CREATE, FILES, NON_EMPTY),
        (CREATE, LEFT_OVER, NON_EMPTY),
        (CREATE, replace(FILES, managed=False), NON_EMPTY),
        (CREATE, replace(LOG_ALONE, managed=True), NON_EMPTY),
        (NO_COLUMNS, replace(FILES, managed=False), "DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG"),
        (NO_COLUMNS, replace(LEFT_OVER, managed=False), "DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG"),
        (NO_COLUMNS, replace(NOTHING, managed=False), None),
        (NO_COLUMNS.replace("CREATE", "CREATE OR REPLACE"), replace(NOTHING, managed=False),
         "DELTA_SCHEMA_NOT_PROVIDED"),
        ("REPLACE TABLE t USING delta", TABLE, "DELTA_SCHEMA_NOT_PROVIDED"),
        (f"CREATE OR REPLACE{CLONE[6:]}", replace(TABLE, before=BEFORE.model_copy(update={"num_files": 1})),
         "DELTA_UNSUPPORTED_NON_EMPTY_CLONE"),
        (f"CREATE OR REPLACE{CLONE[6:]}", replace(TABLE, before=BEFORE.model_copy(update={"num_files": 0})), None),
    ],
)  # fmt: skip
def test_what_lies_at_the_location_already(sql: str, around: Situation, condition: str | None) -> None:
    provided = PROVIDED if "(" in sql or "SELECT" in sql or "CLONE" in sql else EMPTY_PROVIDED
    assert foreseen(sql, around, provided) == condition


@pytest.mark.parametrize(
    ("source", "mode", "condition"),
    [
        (None, "name", "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"),
        ("name", None, "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"),
        ("name", "name", None),
        (None, "none", None),
    ],
)
def test_a_clone_has_the_column_mapping_of_its_source(
    source: str | None, mode: str | None, condition: str | None
) -> None:
    configuration = {"delta.columnMapping.mode": mode} if mode else {}
    assert foreseen(CLONE, NOTHING, replace(PROVIDED, configuration=configuration, source_mapping=source)) == condition


def test_a_clone_has_the_column_mapping_of_the_table_that_it_replaces() -> None:
    mapped = BEFORE.model_copy(update={"properties": {"delta.columnMapping.mode": "name"}, "num_files": 0})
    clone, around = f"CREATE OR REPLACE{CLONE[6:]}", replace(TABLE, before=mapped)
    assert foreseen(clone, around) == "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"
    same = replace(PROVIDED, configuration={"delta.columnMapping.mode": "name"}, source_mapping="name")
    assert foreseen(clone, around, same) is None


def test_what_cannot_be_cloned_is_refused_for_its_own_reason() -> None:
    why = Refused(condition="A_REASON", message="It has a fault.", hint="Mend it.")
    assert foreseen(CLONE, NOTHING, replace(PROVIDED, unclonable=why)) == "A_REASON"


def test_a_partition_that_a_query_does_not_have_is_left_to_spark() -> None:
    sql = CTAS.replace("AS SELECT", "PARTITIONED BY (nosuch) AS SELECT")
    assert foreseen(sql, NOTHING, Provided((ID,), ("nosuch",))) is None


def test_a_log_that_a_failed_create_left_is_told() -> None:
    found = foresee_create(parse_create(CREATE), LEFT_OVER, PROVIDED)
    assert found is not None
    assert "a failed CREATE left" in found.message


ODD_NAME = StateColumn(name="a b", type="int")


@pytest.mark.parametrize(
    ("columns", "properties", "condition"),
    [
        ((ID, StateColumn(name="ID", type="int")), {}, "COLUMN_ALREADY_EXISTS"),
        ((ODD_NAME,), {}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        ((ODD_NAME,), {"delta.columnMapping.mode": "none"}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        ((ODD_NAME,), {"delta.columnMapping.mode": "name"}, None),
        ((ODD_NAME,), {"delta.enableIcebergCompatV2": "true"}, None),
        (
            (StateColumn(name="_change_type", type="string"),),
            {"delta.enableChangeDataFeed": "true"},
            "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        ),
        (
            (StateColumn(name="_change_type", type="string"),),
            {"delta.enableChangeDataCapture": "true"},
            "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        ),
        ((StateColumn(name="_change_type", type="string"),), {}, None),
        (
            (StateColumn(name="a", type="int", default="1"),),
            {},
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        ),
        ((StateColumn(name="a", type="int", default="1"),), {"delta.feature.allowColumnDefaults": "supported"}, None),
    ],
)
def test_columns(columns: tuple[StateColumn, ...], properties: dict[str, str], condition: str | None) -> None:
    assert foreseen(CREATE, NOTHING, Provided(columns, (), configuration=properties)) == condition


@pytest.mark.parametrize(
    ("inside", "condition"),
    [
        ("interval day to second", "DELTA_UNSUPPORTED_DATA_TYPES"),
        ("time(6)", "DELTA_UNSUPPORTED_DATA_TYPES"),
        ("string collate UTF8_LCASE", "DELTA_UNSUPPORTED_DATA_TYPES"),
        ("geometry(4326)", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
        ("int", None),
    ],
)
def test_types_that_delta_does_not_store_and_fields_that_are_called_so(inside: str, condition: str | None) -> None:
    column = StateColumn(name="a", type=f"struct<interval-kind:{inside}>")
    provided = Provided((ID, column), (), types={"id": frozenset(("bigint",)), "a": frozenset(("struct", inside))})
    assert foreseen(CREATE, NOTHING, provided) == condition


WITH_DEFAULT = Provided((StateColumn(name="a", type="int", default="1"),), ())


@pytest.mark.parametrize(
    ("ignored_by", "condition"),
    [
        (None, None),
        ("the session", "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"),
        ("the statement", "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"),
    ],
)
def test_the_session_may_give_the_feature_for_defaults_unless_its_protocol_is_ignored(
    ignored_by: str | None, condition: str | None
) -> None:
    feature, ignore = {"delta.feature.allowcolumndefaults": "supported"}, {"delta.ignoreProtocolDefaults": "true"}
    around = replace(NOTHING, defaults={**feature, **(ignore if ignored_by == "the session" else {})})
    provided = replace(WITH_DEFAULT, configuration=ignore if ignored_by == "the statement" else {})
    assert foreseen(CREATE, around, provided) == condition


def test_a_replaced_table_keeps_its_feature_for_defaults() -> None:
    kept = replace(TABLE, before=BEFORE.model_copy(update={"features": ("allowColumnDefaults",)}))
    assert foreseen(REPLACE, kept, WITH_DEFAULT) is None
    assert foreseen(REPLACE, TABLE, WITH_DEFAULT) == "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"


ADOPTED = replace(
    LOG_ALONE,
    before=BEFORE.model_copy(update={"properties": {"a": "b", "delta.columnMapping.mode": "name"}}),
)


@pytest.mark.parametrize(
    ("provided", "condition"),
    [
        (PROVIDED, None),
        (EMPTY_PROVIDED, None),
        (Provided((ID,), ()), "DELTA_CREATE_TABLE_SCHEME_MISMATCH"),
        (Provided((ID, DAY), ("day",)), "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING"),
        (Provided((ID, DAY), (), ("day",)), "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING"),
        (Provided((ID, DAY), (), configuration={"a": "c"}), "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"),
        (Provided((ID, DAY), (), configuration={"a": "b"}), "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"),
        (Provided((ID, DAY), (), configuration={"a": "b", "delta.columnMapping.mode": "name"}), None),
        (
            Provided(
                (ID, DAY),
                (),
                configuration={"a": "b", "delta.columnMapping.mode": "name", "delta.feature.x": "supported"},
            ),
            None,
        ),
    ],
)
def test_what_is_given_of_a_log_that_is_there_must_be_what_it_has(provided: Provided, condition: str | None) -> None:
    assert foreseen(CREATE, ADOPTED, provided) == condition


def test_a_mode_of_column_mapping_is_no_other_than_that_of_the_log() -> None:
    named = replace(PROVIDED, configuration={"delta.columnMapping.mode": "name"})
    assert foreseen(CREATE, LOG_ALONE, named) == "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"


OF_CLUSTERING = BEFORE.model_copy(update={"features": ("clustering", "domainMetadata"), "properties": {"a": "b"}})
BY_DAY = OF_CLUSTERING.model_copy(update={"clustering_columns": ("day",)})
AS_THE_LOG = replace(PROVIDED, configuration={"a": "b"})


@pytest.mark.parametrize(
    ("provided", "before", "condition"),
    [
        # a log that is clustered by no column any more is not one without clustering
        (PROVIDED, OF_CLUSTERING, "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING"),
        (replace(AS_THE_LOG, clustering_columns=("day",)), BY_DAY, None),
        (EMPTY_PROVIDED, BY_DAY, None),
        # Delta counts its clustering among the properties of the log
        (Provided((), (), configuration={"a": "b"}), BY_DAY, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"),
        (Provided((), (), configuration={"a": "b"}), OF_CLUSTERING, "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"),
    ],
)
def test_a_log_that_can_be_clustered_is_compared_with_its_clustering(
    provided: Provided, before: TableState, condition: str | None
) -> None:
    assert foreseen(CREATE, replace(LOG_ALONE, before=before), provided) == condition


@pytest.mark.parametrize(
    "column",
    [
        StateColumn(name="id", type="bigint", identity=True),
        StateColumn(name="id", type="bigint", default="1"),
    ],
)
def test_what_a_log_keeps_beside_a_default_or_an_identity_no_statement_gives(column: StateColumn) -> None:
    before = BEFORE.model_copy(update={"columns": (column,), "features": ("allowColumnDefaults",)})
    condition = "DELTA_CREATE_TABLE_SCHEME_MISMATCH"
    assert foreseen(CREATE, replace(LOG_ALONE, before=before), Provided((column,), ())) == condition


@pytest.mark.parametrize(
    ("given", "condition"),
    [
        ((True, "x"), None),
        ((False, "x"), "DELTA_CREATE_TABLE_SCHEME_MISMATCH"),
        ((True, ""), "DELTA_CREATE_TABLE_SCHEME_MISMATCH"),
    ],
)
def test_the_fields_of_a_log_keep_their_nullability_and_comment(given: tuple[bool, str], condition: str | None) -> None:
    before = BEFORE.model_copy(update={"columns": (STRUCT,)})
    around = replace(LOG_ALONE, before=before, inside=frozenset({("s.a", True, "x")}))
    provided = Provided((STRUCT,), (), inside=frozenset({("s.a", *given)}))
    assert foreseen(CREATE, around, provided) == condition


@pytest.mark.parametrize(
    ("given", "there", "same"),
    [
        ("varchar(3)", "string", False),
        ("char(3)", "char(3)", True),
        ("struct<a:string>", "struct<a:varchar(3)>", True),
        (
            "struct<b:decimal(3,2),a:map<int,struct<d:int,c:int>>>",
            "struct<a:map<int,struct<c:int,d:int>>,b:decimal(3,2)>",
            True,
        ),
        ("map<int,string>", "map<string,int>", False),
    ],
)
def test_a_type_is_the_same_with_its_fields_in_another_order(given: str, there: str, same: bool) -> None:
    before = BEFORE.model_copy(update={"columns": (ID, StateColumn(name="a", type=there))})
    provided: Any = Provided((StateColumn(name="a", type=given), ID), ())
    condition = None if same else "DELTA_CREATE_TABLE_SCHEME_MISMATCH"
    assert foreseen(CREATE, replace(LOG_ALONE, before=before), provided) == condition


def test_a_not_null_that_is_not_enforced_is_let_pass_where_the_session_says_so() -> None:
    around = replace(NOTHING, unenforced_not_null=True)
    assert foreseen(CREATE, around, Provided((ID, LIST), (), unenforceable="l")) is None


@pytest.mark.parametrize(
    ("properties", "condition"),
    [
        ("'delta.deletedFileRetentionDuration' = '60 days'", "EXPRESSION_FAILED"),
        ("'delta.logRetentionDuration' = '1 day'", "EXPRESSION_FAILED"),
        ("'delta.logRetentionDuration' = '1 day', 'delta.deletedFileRetentionDuration' = '1 day'", None),
        ("'DELTA.checkpointInterval' = 'often'", "EXPRESSION_FAILED"),
        ("'delta.enableDeletionVectors' = true", None),
    ],
)
def test_the_values_of_properties(properties: str, condition: str | None) -> None:
    assert foreseen(f"{CREATE} TBLPROPERTIES ({properties})") == condition


def test_how_long_deleted_files_are_kept_is_free_where_the_session_says_so() -> None:
    around = replace(NOTHING, enforces_retention=False)
    assert foreseen(f"{CREATE} TBLPROPERTIES ('delta.logRetentionDuration' = '1 day')", around) is None


def test_a_new_name_in_the_catalog_is_of_ascii() -> None:
    assert foreseen("CREATE TABLE `a-b` (id BIGINT, day DATE) USING delta") == "INVALID_SCHEMA_OR_RELATION_NAME"
    assert foreseen(CREATE.replace(" t ", " spark_catalog.s.`a-b` ")) == "INVALID_SCHEMA_OR_RELATION_NAME"
    assert foreseen(CREATE.replace(" t ", " other.s.`a-b` ")) is None
    assert foreseen("CREATE TABLE delta.`/w/a-b` (id BIGINT, day DATE) USING delta") is None
    assert foreseen(OR_REPLACE.replace("TABLE t", "TABLE `a-b`"), TABLE) is None


def test_a_query_of_nothing_but_null_in_an_array() -> None:
    assert (
        foreseen(CTAS, NOTHING, Provided((LIST,), (), holds_void="l")) == "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"
    )
