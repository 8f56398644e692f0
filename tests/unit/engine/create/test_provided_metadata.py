"""The properties that a statement gives, as Delta writes them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyspark.sql.types import DataType, DateType, LongType, StringType, StructField, StructType

from engine.create import provided_metadata
from engine.create.provided_metadata import KNOWN_PROPERTIES, Provided, normal_key, session_defaults, unknown_property
from engine.model.create_values import StateColumn, TableState
from engine.sql.parse_create import parse_create
from tests.unit.engine.create.test_metadata_after import BEFORE, Session


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("DELTA.APPENDONLY", "delta.appendOnly"),
        ("delta.enableDeletionVectors", "delta.enableDeletionVectors"),
        ("delta.Feature.RowTracking", "delta.feature.rowtracking"),
        ("delta.NoSuch", "delta.NoSuch"),
        ("My.Own", "My.Own"),
        ("appendOnly", "appendOnly"),
    ],
)
def test_deltas_own_properties_are_written_its_way(typed: str, written: str) -> None:
    assert normal_key(typed) == written


@pytest.mark.parametrize(
    ("key", "unknown"),
    [
        ("delta.nosuch", True),
        ("delta.NOSUCH", True),
        ("delta.appendonly", False),
        ("my.own", False),
        ("delta.constraints.c", False),
        ("delta.feature.nosuch", False),
        ("delta.universalFormat.config.x", False),
    ],
)
def test_what_delta_refuses_as_unknown(key: str, unknown: bool) -> None:
    assert unknown_property(key) is unknown
    assert not any(unknown_property(f"delta.{name}") for name in KNOWN_PROPERTIES)


def test_the_sessions_defaults_are_properties_of_new_tables() -> None:
    session = Session(spark__databricks__delta__properties__defaults__APPENDONLY="true", spark__app__name="x")
    assert session_defaults(session) == {"delta.appendOnly": "true"}  # type: ignore[arg-type]


def test_what_is_given_is_kept_in_the_plan() -> None:
    column = StateColumn(name="id", type="int")
    kept = Provided((column,), ("id",), configuration={"a": "b"}, comment="c").value()
    assert (kept.description, kept.columns, kept.partition_columns, kept.configuration) == (
        "c",
        (column,),
        ("id",),
        {"a": "b"},
    )


def provided_by(
    monkeypatch: pytest.MonkeyPatch, sql: str, *types: DataType, source: TableState | None = None
) -> Provided:
    """What ``sql`` provides if a query of it has a column "a" of each of these types, NOT NULL; ``source`` is the table
    that it copies, at v5."""
    fields = StructType([StructField("a", one, False) for one in types])
    monkeypatch.setattr(provided_metadata, "schema_of", lambda *_: fields)
    monkeypatch.setattr(provided_metadata, "delta_table_now", lambda *_: SimpleNamespace(state=source, version=5))
    return provided_metadata.provided_metadata(Session(), parse_create(sql))  # type: ignore[arg-type]


def test_a_definition_gives_types_as_spark_names_them_and_char_as_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = provided_by(
        monkeypatch,
        "CREATE TABLE t (Id LONG NOT NULL, c CHARACTER(3) COMMENT 'x', d DATE GENERATED ALWAYS AS (current_date())) "
        "USING delta PARTITIONED BY (ID) COMMENT 'all' TBLPROPERTIES ('DELTA.APPENDONLY' = 'true', 'My' = '1')",
        LongType(),
        StringType(),
        DateType(),
    )
    assert [(one.name, one.type, one.nullable, one.comment) for one in found.columns] == [
        ("Id", "bigint", False, ""),
        ("c", "char(3)", True, "x"),
        ("d", "date", True, ""),
    ]
    assert found.columns[2].generated_as == "current_date()"
    assert (found.partition_columns, found.comment, found.nested_not_null) == (("Id",), "all", False)
    assert found.configuration == {"delta.appendOnly": "true", "My": "1"}


def test_a_not_null_field_inside_a_struct_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "CREATE TABLE t (s STRUCT<a: INT NOT NULL>) USING delta"
    assert provided_by(monkeypatch, sql, StructType([StructField("a", LongType(), False)])).nested_not_null


def test_without_columns_only_the_comment_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    found = provided_by(monkeypatch, "CREATE TABLE t USING delta COMMENT 'c' LOCATION '/d'")
    assert (found.columns, found.partition_columns, found.comment) == ((), (), "c")


def test_what_a_query_gives_may_be_null(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "CREATE TABLE t USING delta CLUSTER BY (A) AS SELECT 1 AS a"
    found = provided_by(monkeypatch, sql, LongType())
    assert [(one.name, one.type, one.nullable) for one in found.columns] == [("a", "bigint", True)]
    assert (found.partition_columns, found.clustering_columns) == ((), ("a",))


def test_like_copies_a_delta_table_and_a_clone_its_size_too(monkeypatch: pytest.MonkeyPatch) -> None:
    source = BEFORE.model_copy(update={"comment": "of s", "properties": {"x": "1"}, "num_files": 3, "num_bytes": 30})
    like = provided_by(monkeypatch, "CREATE TABLE t LIKE s USING delta", source=source)
    assert (like.columns, like.comment, like.source_version, like.num_files) == (source.columns, "of s", 5, 0)
    assert like.configuration == {"x": "1"}
    clone = provided_by(monkeypatch, "CREATE TABLE t SHALLOW CLONE s TBLPROPERTIES ('y' = '2')", source=source)
    assert (clone.columns, clone.num_files, clone.num_bytes) == (source.columns, 3, 30)
    assert clone.configuration == {"x": "1", "y": "2"}
    assert clone.source is not None
    assert clone.source.pinned_versions == {"s": 5}
    # the planned version is the table's own
    again = provided_by(monkeypatch, "CREATE TABLE t SHALLOW CLONE s VERSION AS OF 5", source=source)
    assert (again.source_version, again.source and again.source.sql) == (5, "s VERSION AS OF 5")


@pytest.mark.parametrize("at", ["VERSION AS OF 3", "version as of '3'", "FOR SYSTEM_VERSION AS OF 3"])
def test_a_version_is_read_from_the_text(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    monkeypatch.setattr(provided_metadata, "schema_of", lambda *_: None)
    assert provided_metadata.traveled_version(Session(), "s", at) == 3  # type: ignore[arg-type]
