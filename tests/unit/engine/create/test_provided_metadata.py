"""The properties that a statement gives, as Delta writes them."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from engine.create import clone_parquet, provided_metadata, table_properties
from engine.create.column_ids import ColumnIds
from engine.create.provided_metadata import Provided, session_defaults
from engine.create.table_properties import normal_key, unknown_property
from engine.model.create_values import StateColumn, TableState
from engine.model.errors import EngineError, UsageError
from engine.sql.parse_create import parse_create
from engine.table.logged_schema import LoggedMetadata
from engine.table.table_features import Protocol
from engine.table.table_state import DeltaTableNow
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
    assert not any(unknown_property(f"delta.{name}") for name in table_properties.PROPERTIES)


def test_the_sessions_defaults_are_properties_of_new_tables() -> None:
    session = Session(spark__databricks__delta__properties__defaults__appendOnly="true", spark__app__name="x")
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
    now = DeltaTableNow("id", 5, source, fields) if source else None
    monkeypatch.setattr(provided_metadata, "schema_of", lambda *_: fields)
    monkeypatch.setattr(provided_metadata, "delta_table_now", lambda *_: now)
    return provided_metadata.provided_metadata(Session(), parse_create(sql))  # type: ignore[arg-type]


def test_a_definition_gives_types_as_spark_names_them_and_char_as_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = provided_by(
        monkeypatch,
        "CREATE TABLE t (Id LONG NOT NULL, c CHARACTER(3) COMMENT 'x', d DATE GENERATED ALWAYS AS (current_date()), "
        "v VARCHAR(5)) USING delta "
        "PARTITIONED BY (ID) COMMENT 'all' TBLPROPERTIES ('DELTA.APPENDONLY' = 'true', 'My' = '1')",
        LongType(),
        StringType(),
        DateType(),
        StringType(),
    )
    assert [(one.name, one.type, one.nullable, one.comment) for one in found.columns] == [
        ("Id", "bigint", False, ""),
        ("c", "char(3)", True, "x"),
        ("d", "date", True, ""),
        ("v", "varchar(5)", True, ""),
    ]
    assert found.columns[2].generated_as == "current_date()"
    assert (found.partition_columns, found.comment, found.nested_not_null) == (("Id",), "all", False)
    assert found.configuration == {"delta.appendOnly": "true", "My": "1"}


@pytest.mark.parametrize(("type_", "other"), [("int", None), ("date", ("g", "int"))])
def test_the_expression_of_a_generated_column_has_a_type(
    monkeypatch: pytest.MonkeyPatch, type_: str, other: tuple[str, str] | None
) -> None:
    sql = f"CREATE TABLE t (a INT, g {type_} GENERATED ALWAYS AS (a)) USING delta"
    asked: list[object] = []
    monkeypatch.setattr(provided_metadata, "type_of", lambda *given: asked.append(given[1:]) or "int")
    found = provided_by(monkeypatch, sql, IntegerType(), IntegerType() if type_ == "int" else DateType())
    assert found.other_type == other
    assert asked == [("a", {"a": IntegerType()})]


def test_a_not_null_field_inside_a_struct_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "CREATE TABLE t (s STRUCT<a: INT NOT NULL>) USING delta"
    assert provided_by(monkeypatch, sql, StructType([StructField("a", LongType(), False)])).nested_not_null


@pytest.mark.parametrize("sql", ["CREATE TABLE t (s STRUCT<a: VARIANT>) USING delta", "CREATE TABLE t SHALLOW CLONE s"])
def test_the_types_inside_of_the_columns_are_known(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    type_ = StructType([StructField("timestamp_ntz", VariantType())])
    assert provided_by(monkeypatch, sql, type_, source=BEFORE).types_inside == {"struct", "variant"}


@pytest.mark.parametrize(
    ("sql", "comment", "left"),
    [
        ("CREATE TABLE t (a INT) USING delta", "as a property", {}),
        ("CREATE TABLE t USING delta AS SELECT 1 AS a", "as a property", {}),
        ("CREATE TABLE t (a INT) USING delta COMMENT 'said'", "said", {}),
        ("CREATE TABLE t SHALLOW CLONE s", None, {"comment": "as a property"}),
    ],
)
def test_a_property_called_comment_is_the_comment_of_a_table_that_is_no_copy(
    monkeypatch: pytest.MonkeyPatch, sql: str, comment: str | None, left: dict[str, str]
) -> None:
    head, query, rest = sql.partition(" AS SELECT")
    said = f"{head} TBLPROPERTIES ('comment' = 'as a property'){query}{rest}"
    found = provided_by(monkeypatch, said, IntegerType(), source=BEFORE)
    assert (found.comment, found.configuration) == (comment, left)


INSIDE = StructType([StructField("x", LongType(), False), StructField("l", ArrayType(LongType()))])


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t (a STRUCT<x: BIGINT NOT NULL, l: ARRAY<BIGINT>>) USING delta",
        "CREATE TABLE t USING delta AS SELECT q",
        "CREATE TABLE t LIKE s USING delta",
        "CREATE TABLE t SHALLOW CLONE s",
    ],
)
def test_the_fields_inside_of_the_columns_are_known(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    found = provided_by(monkeypatch, sql, INSIDE, source=BEFORE)
    assert (found.ids, found.types) == (ColumnIds(3, 1), {"a": {"struct", "bigint", "array"}})
    assert (found.unenforceable, found.holds_void) == (None, None)
    if not parse_create(sql).source:
        assert found.leaves == {"a.x": "bigint", "a.l": "array<bigint>"}
        assert found.field_names[-2:] == ("x", "l")
    if parse_create(sql).form in ("empty", "like"):
        assert ("a.x", False) in {(name, nullable) for name, nullable, _ in found.inside}


def test_a_not_null_inside_of_an_array_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "CREATE TABLE t (l ARRAY<STRUCT<x: BIGINT NOT NULL>>) USING delta"
    assert provided_by(monkeypatch, sql, ArrayType(INSIDE)).unenforceable == "l"


def test_without_columns_only_the_comment_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    found = provided_by(monkeypatch, "CREATE TABLE t USING delta COMMENT 'c' LOCATION '/d'")
    assert (found.columns, found.partition_columns, found.comment) == ((), (), "c")


def test_a_definition_is_clustered_by_columns_as_it_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "CREATE TABLE t (Day DATE) USING delta CLUSTER BY (DAY)"
    assert provided_by(monkeypatch, sql, DateType()).clustering_columns == ("Day",)


def test_the_first_column_with_a_type_inside_is_found() -> None:
    column = StateColumn(name="id", type="array<variant>")
    types = {"id": frozenset(("array", "variant"))}
    assert Provided((column,), (), types=types).first_of(re.compile("vari")) == column
    assert Provided((column,), (), types=types).first_of(re.compile("iant")) is None


def test_what_a_query_gives_may_be_null(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "CREATE TABLE t USING delta CLUSTER BY (A) AS SELECT 1 AS a"
    found = provided_by(monkeypatch, sql, LongType())
    assert [(one.name, one.type, one.nullable) for one in found.columns] == [("a", "bigint", True)]
    assert (found.partition_columns, found.clustering_columns) == ((), ("a",))


def test_like_copies_a_delta_table_and_a_clone_its_size_too(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {
        "delta.columnMapping.maxColumnId": "7",
        "delta.rowTracking.materializedRowIdColumnName": "_row-id",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-version",
    }
    source = BEFORE.model_copy(
        update={
            "comment": "of s",
            "properties": {"x": "1", "unknown": None, **own},
            "partition_columns": ("id",),
            "features": ("appendOnly", "of a later Delta"),
            "num_files": 3,
            "num_bytes": 30,
        }
    )
    like = provided_by(monkeypatch, "CREATE TABLE t LIKE s USING delta", source=source)
    assert (like.columns, like.partition_columns, like.comment) == (source.columns, ("id",), "of s")
    assert (like.num_files, like.num_bytes) == (0, 0)
    # what is internal to a table goes with its files
    assert like.configuration == {"x": "1"}
    assert like.protocol == Protocol(1, 2, frozenset(("appendOnly",)))
    assert like.source is not None
    assert (like.source.sql, like.source.pinned_versions, like.source.fingerprint) == ("s", {"s": 5}, "id")
    clone = provided_by(monkeypatch, "CREATE TABLE t SHALLOW CLONE s TBLPROPERTIES ('y' = '2')", source=source)
    assert (clone.columns, clone.num_files, clone.num_bytes) == (source.columns, 3, 30)
    assert clone.configuration == {"x": "1", "y": "2", **own}
    assert (clone.partition_columns, clone.protocol, clone.source_mapping) == (("id",), like.protocol, None)
    assert clone.source is not None
    assert clone.source.pinned_versions == {"s": 5}
    mapped = source.model_copy(
        update={"properties": {"delta.columnMapping.mode": "id"}, "num_files": None, "num_bytes": None}
    )
    clone = provided_by(monkeypatch, "CREATE TABLE t SHALLOW CLONE s", source=mapped)
    assert (clone.source_mapping, clone.num_files, clone.num_bytes) == ("id", 0, 0)
    # the planned version is the table's own
    again = provided_by(monkeypatch, "CREATE TABLE t SHALLOW CLONE s VERSION AS OF 5", source=source)
    assert again.source
    assert again.source.sql == "s VERSION AS OF 5"


@pytest.mark.parametrize("at", ["VERSION AS OF 3", "version\nAS  of 3", "FOR SYSTEM_VERSION /*it*/ AS OF 3"])
def test_a_version_is_read_from_the_text(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    monkeypatch.setattr(provided_metadata, "schema_of", lambda *_: None)
    assert provided_metadata.traveled_version(Session(), "s", at) == 3  # type: ignore[arg-type]


class Answers(Session):
    """A session that answers each statement by how it begins."""

    def __init__(self, **answers: list[tuple[object, ...]]) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[str] = []

    def sql(self, text: str) -> Answers:
        self.asked.append(text)
        return self

    def where(self, condition: str) -> Answers:
        self.asked.append(condition)
        return self

    def selectExpr(self, _: str) -> Answers:
        return self

    def collect(self) -> list[tuple[object, ...]]:
        return next(rows for key, rows in self.answers.items() if key in " ".join(self.asked[-2:]))


def of_other_format(
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    session: Answers,
    kind: str = "MANAGED",
    location: str = "/w/p",
    provider: str = "parquet",
    field: str = "path",
) -> Provided:
    """What ``sql`` provides where its source is no Delta table; the catalog has it unless ``kind`` is ""."""
    entry = SimpleNamespace(kind=kind, location=location, provider=provider) if kind else None
    monkeypatch.setattr(provided_metadata, "delta_table_now", lambda *_: None)
    monkeypatch.setattr(provided_metadata, "catalog_entry", lambda *_: entry)
    fields = StructType([StructField("a", LongType(), False)])
    of_files = StructType([StructField(field, LongType(), False)])
    monkeypatch.setattr(provided_metadata, "schema_of", lambda *_: fields)
    monkeypatch.setattr(clone_parquet, "schema_of", lambda *_: of_files)
    return provided_metadata.provided_metadata(session, parse_create(sql))  # type: ignore[arg-type]


DESCRIBED = [
    ("a", "bigint", ""),
    ("p", "int", ""),
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("p", "int", ""),
    ("", "", ""),
    ("Comment", "of p", ""),
]
PROPERTIES = [("transient_lastDdlTime", "1"), ("x", "2")]


def test_like_copies_what_the_catalog_says_of_another_format(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Answers(TBLPROPERTIES=PROPERTIES, DESCRIBE=DESCRIBED)
    like = of_other_format(monkeypatch, "CREATE TABLE t LIKE p USING delta", session)
    assert [(one.name, one.type, one.nullable) for one in like.columns] == [("a", "bigint", False)]
    assert (like.partition_columns, like.comment, like.configuration) == (("p",), "of p", {"x": "2"})
    assert like.ids == ColumnIds(1)


def test_like_a_view_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is a view"):
        of_other_format(monkeypatch, "CREATE TABLE t LIKE v USING delta", Answers(), kind="VIEW")


WHOLE = DESCRIBED[:2]


def test_a_clone_of_another_format_counts_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Answers(binaryFile=[(4, 40, "77")], TBLPROPERTIES=PROPERTIES, DESCRIBE=WHOLE)
    clone = of_other_format(monkeypatch, "CREATE TABLE t SHALLOW CLONE p", session, location="/w/p*")
    assert session.asked[-1].endswith(r"binaryFile.`/w/p\*`")
    assert (clone.num_files, clone.num_bytes, clone.comment) == (4, 40, None)
    assert clone.source is not None
    assert (clone.source.fingerprint, clone.source.pinned_versions) == ("77", {})
    assert clone.columns[0].nullable
    # a path is in no catalog, and an empty folder has no size
    session = Answers(binaryFile=[(0, None, None)])
    clone = of_other_format(monkeypatch, "CREATE TABLE t SHALLOW CLONE parquet.`/d*`", session, kind="")
    assert session.asked[-1].endswith("binaryFile.`/d*`")
    assert (clone.num_files, clone.num_bytes, clone.partition_columns) == (0, 0, ())


@pytest.mark.parametrize(
    ("partitions", "file", "condition"),
    [
        (["p=1"], "file:///w/my_p/p=1/a%20b.parquet", None),
        (["p=1"], "file:///w/my_p2/a.parquet", "SPARK_ERROR"),
        ([], "", "DELTA_CONVERSION_NO_PARTITION_FOUND"),
    ],
)
def test_a_clone_of_another_format_with_partitions_has_those_of_the_catalog(
    monkeypatch: pytest.MonkeyPatch, partitions: list[str], file: str, condition: str | None
) -> None:
    monkeypatch.setattr(provided_metadata, "files_of_query", lambda *_: [file])
    rows: list[tuple[object, ...]] = [(one,) for one in partitions]
    session = Answers(PARTITIONS=rows, TBLPROPERTIES=PROPERTIES, DESCRIBE=DESCRIBED)
    clone = of_other_format(monkeypatch, "CREATE TABLE t SHALLOW CLONE p", session, location="file:/w/my_p")
    assert (clone.num_files, clone.num_bytes) == (None, None)
    assert (clone.unclonable.condition if clone.unclonable else None) == condition


@pytest.mark.parametrize("location", ["file:/w/my p", "/w/p[1]", "/w/50%"])
def test_a_parquet_table_is_cloned_from_where_its_address_is_its_path(
    monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    with pytest.raises(EngineError, match="SPARK_ERROR"):
        of_other_format(monkeypatch, "CREATE TABLE t SHALLOW CLONE p", Answers(), location=location)


def test_a_clone_of_a_path_has_no_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Answers(binaryFile=[(1, 1, "5")])
    clone = of_other_format(monkeypatch, "CREATE TABLE t SHALLOW CLONE parquet.`/d`", session, kind="", field="p")
    assert clone.unclonable is not None
    assert clone.unclonable.condition == "DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME"


@pytest.mark.parametrize(
    ("source", "kind", "provider", "condition"),
    [
        ("c", "MANAGED", "csv", "DELTA_CLONE_UNSUPPORTED_SOURCE"),
        ("v", "VIEW", "", "DELTA_CLONE_UNSUPPORTED_SOURCE"),
        ("csv.`/d`", "", "", "DELTA_CLONE_UNSUPPORTED_SOURCE"),
        ("p VERSION AS OF 1", "MANAGED", "parquet", "TABLE_OR_VIEW_NOT_FOUND"),
        ("parquet.`/d` VERSION AS OF 1", "", "", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_a_clone_of_what_is_neither_delta_nor_parquet_is_refused(
    monkeypatch: pytest.MonkeyPatch, source: str, kind: str, provider: str, condition: str
) -> None:
    sql = f"CREATE TABLE t SHALLOW CLONE {source}"
    with pytest.raises(EngineError) as caught:
        of_other_format(monkeypatch, sql, Answers(), kind, provider=provider)
    assert caught.value.condition == condition


def test_a_time_is_the_last_version_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provided_metadata, "schema_of", lambda *_: None)
    session = Answers(timestamp=[(2,)])
    at = "TIMESTAMP  AS\nOF '2026-01-01'"
    assert provided_metadata.traveled_version(session, "s", at) == 2  # type: ignore[arg-type]
    assert session.asked == ["DESCRIBE HISTORY s", "timestamp <= CAST('2026-01-01' AS TIMESTAMP)"]


@pytest.mark.parametrize(
    ("named", "features"), [(("clustering",), ("clustering",)), ((), ("appendOnly", "invariants"))]
)
def test_a_clone_of_an_older_version_has_its_state(
    monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...], features: tuple[str, ...]
) -> None:
    logged = LoggedMetadata(
        table_id="t",
        description="then",
        fields={"a": "long"},
        partition_columns=(),
        configuration={"old": "1"},
        min_reader_version=1,
        min_writer_version=2,
        features=named,
    )
    monkeypatch.setattr(provided_metadata, "logged_metadata", lambda *_: logged)
    monkeypatch.setattr(provided_metadata, "list_files", lambda *_: [SimpleNamespace(bytes=7)] * 2)
    monkeypatch.setattr(provided_metadata, "with_log", lambda _, columns, *__: tuple(columns))
    monkeypatch.setattr(provided_metadata, "logged_clustering", lambda *_: ("then",))
    now = BEFORE.model_copy(update={"properties": {"new": "1"}, "num_files": 9, "clustering_columns": ("now",)})
    clone = provided_by(monkeypatch, "CREATE TABLE t SHALLOW CLONE s VERSION AS OF 3", LongType(), source=now)
    assert (clone.configuration, clone.num_files, clone.num_bytes) == ({"old": "1"}, 2, 14)
    assert clone.clustering_columns == (("then",) if "clustering" in named else ())
    table = DeltaTableNow("t", 5, now, StructType([]))
    then = provided_metadata.delta_table_at(Session(), "s", table, 3)  # type: ignore[arg-type]
    assert (then.version, then.state.comment, then.state.features) == (3, "then", features)
    assert then.state.location == now.location


@pytest.mark.parametrize(("partitions", "items"), [("", ()), ("PARTITIONED BY (A)", ("`a`",))])
def test_a_query_is_counted_with_its_partitions(
    monkeypatch: pytest.MonkeyPatch, partitions: str, items: tuple[str, ...]
) -> None:
    asked: list[tuple[str, ...]] = []

    def fingerprint(_: object, query: str, columns: object, name: str, items: tuple[str, ...]) -> object:
        asked.append(items)
        return 12, "12:34", ("5",) * len(items)

    sql = f"CREATE TABLE t USING delta {partitions} AS SELECT a FROM s"
    found = provided_by(monkeypatch, sql, LongType())
    monkeypatch.setattr(provided_metadata, "query_plan", lambda *_: SimpleNamespace(analyzed="Project"))
    monkeypatch.setattr(provided_metadata, "delta_tables", lambda *_: ["s"])
    monkeypatch.setattr(provided_metadata, "current_version", lambda *_: 8)
    monkeypatch.setattr(provided_metadata, "source_fingerprint", fingerprint)
    monkeypatch.setattr(provided_metadata, "volatile_behind", lambda *_: ())
    monkeypatch.setattr(provided_metadata, "user_functions", lambda *_: ())
    source = provided_metadata.with_counted_source(Session(), parse_create(sql), found).source  # type: ignore[arg-type]
    assert source is not None
    assert (source.num_rows, source.fingerprint, source.pinned_versions) == (12, "12:34", {"s": 8})
    assert source.num_partitions == (5 if items else None)
    assert all(name in item for name, item in zip(items, asked[0], strict=True))
