"""A plan of CREATE, REPLACE or CLONE equals what Delta then does, or names the error that Delta raises.

The statements are in ``creates.py``. The rows of the CreateDeltaTableCommand page have a test each below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from console.statements.table_form import like, to_sql
from engine import History, apply
from engine.commit.policy import Policy, broken_rules
from engine.create.data_frame_write import write_data_frame
from engine.model.create_values import CreatePlan, ProvidedMetadata
from engine.model.errors import EngineError, RefusedError, StalePlanError, UsageError
from engine.model.identity import Identity
from engine.model.operation import ColumnsChange
from engine.model.plan import Plan
from engine.plan_statement import plan
from engine.recovery.undo import plan_undo
from engine.spark.confs import confs_set
from engine.spark.spark_errors import translate
from engine.sql.parse_create import parse_create
from engine.table.table_state import delta_table_now
from tests.engine.creates import EVERY
from tests.engine.creates.case import COUNTED, COUNTING, LOG, LOG_ROWS, PARQUET, ROWS, SRC, SRC_ROWS, Case, T
from tests.engine.some import every_nth, some


def filled(spark: Any, text: str, directory: Path) -> str:
    """``text`` with the test's directory and the time of the newest version of ``src`` in it."""
    if "{time}" in text:
        text = text.replace("{time}", str(spark.sql("DESCRIBE HISTORY src LIMIT 1").collect()[0]["timestamp"]))
    return text.replace("{dir}", str(directory))


def planned(spark: Any, sql: str, *before: str) -> CreatePlan:
    """The plan of ``sql`` after ``before`` has run, read back from its file."""
    for one in before:
        spark.sql(one).collect()
    found = plan(spark, sql)
    read = Plan.from_json(found.to_json())
    assert isinstance(read, CreatePlan)
    assert read == found
    return read


def check(spark: Any, case: Case, directory: Path) -> None:
    """Plan, then run: the same error, or the state, operation, version and metrics that were promised."""
    for one in case.before:
        spark.sql(filled(spark, one, directory)).collect()
    sql = filled(spark, case.sql, directory)
    try:
        found = plan(spark, sql)
    except EngineError as error:
        told = error.condition
    else:
        assert isinstance(found, CreatePlan)
        told = found.refused.condition if found.refused else ""
    if told:
        with pytest.raises(PySparkException) as raised:
            spark.sql(sql).collect()
        assert (raised.value.getCondition() or translate(raised.value).condition) == told
        return
    outcome = apply(spark, Plan.from_json(found.to_json()))
    assert outcome.kept, outcome.deviations
    name = filled(spark, case.target, directory)
    if found.effect == "nothing":
        assert outcome.version is None
        return
    newest = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()[0]
    detail = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]
    assert found.after is not None
    assert newest["version"] == found.target.version + (found.operation is not None)
    assert found.operation in (None, newest["operation"])
    assert tuple(detail["partitionColumns"]) == found.after.partition_columns
    assert tuple(detail["tableFeatures"] or ()) == found.after.features
    assert spark.sql(f"SELECT * FROM {name}").columns == [column.name for column in found.after.columns]


def test_a_table_in_a_schema_called_delta_is_named_by_no_path(spark: Any, schema: str, tmp_path: Path) -> None:
    name = f"delta.{schema}"
    spark.sql("CREATE SCHEMA IF NOT EXISTS delta")
    try:
        check(spark, Case("a table", f"CREATE TABLE {name} (id INT) USING delta", target=name), tmp_path)
        # Delta looks for the target of a clone among files
        check(spark, Case("a clone", f"CREATE TABLE {name}_2 SHALLOW CLONE {name}"), tmp_path)
    finally:
        spark.sql("DROP SCHEMA delta CASCADE")


@pytest.mark.parametrize("case", every_nth({one.name: one for one in EVERY if one.quick}, 6))
def test_a_plan_equals_what_delta_does(spark: Any, schema: str, tmp_path: Path, case: Case) -> None:
    check(spark, case, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("case", [one for one in EVERY if not one.quick], ids=lambda one: one.name)
def test_more_plans_equal_what_delta_does(spark: Any, schema: str, tmp_path: Path, case: Case) -> None:
    try:
        check(spark, case, tmp_path)
    finally:
        spark.sql("RESET spark.databricks.delta.properties.defaults.appendOnly")


@pytest.mark.parametrize(
    "name",
    some(
        ["every kind of column", "as select, replaced", "clone a version", "a log, other columns"],
        ["a log, other columns"],
    ),
)
def test_a_plan_equals_what_delta_does_on_a_classic_session(
    classic: Any, classic_schema: str, tmp_path: Path, name: str
) -> None:
    check(classic, next(one for one in EVERY if one.name == name), tmp_path)


# The rows of the CreateDeltaTableCommand page


def test_no_query_is_handled_by_handle_create_table(spark: Any, schema: str) -> None:
    found = planned(spark, "CREATE TABLE t (id INT) USING delta")
    assert (found.handler, found.statement.mode, found.operation) == ("handleCreateTable", "Create", "CREATE TABLE")


def test_a_query_is_handled_by_handle_create_table_as_select(spark: Any, schema: str) -> None:
    found = planned(
        spark, "CREATE OR REPLACE TABLE t USING delta PARTITIONED BY (p) AS SELECT id, id % 3 AS p FROM range(9)"
    )
    assert (found.handler, found.statement.mode) == ("handleCreateTableAsSelect", "CreateOrReplace")
    assert found.operation == "CREATE OR REPLACE TABLE AS SELECT"
    assert found.source is not None
    assert (found.source.num_rows, found.source.num_partitions) == (9, 3)
    assert found.promise["numOutputRows"] == 9


def test_a_plan_keeps_its_text_before_the_parameters_were_filled_in(spark: Any, schema: str) -> None:
    typed = "SET a = b; CREATE TABLE t USING delta AS SELECT :n AS id"
    statement = plan(spark, typed, params={"n": "7"}).statement
    assert statement.sql == "CREATE TABLE t USING delta AS SELECT 7 AS id"
    assert (statement.before_parameters, statement.params) == (typed, {"n": "7"})


def test_a_replace_that_drops_constraints_says_which(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE checked (n INT) USING delta")
    for name, text in (("pos", "n > 0"), ("low", "n < 9")):
        spark.sql(f"ALTER TABLE checked ADD CONSTRAINT {name} CHECK ({text})")
    found = plan(spark, "CREATE OR REPLACE TABLE checked USING delta AS SELECT 1 AS n")
    (lost,) = (one for one in found.warnings if one.code == "CONSTRAINTS_ARE_LOST")
    assert ("2 CHECK constraints" in lost.sentence, lost.evidence) == (True, "low (n < 9), pos (n > 0)")
    apply(spark, found)
    spark.sql("INSERT INTO checked VALUES (-5)")


def test_a_clone_is_handled_by_handle_clone(spark: Any, schema: str) -> None:
    found = planned(spark, "CREATE TABLE t SHALLOW CLONE src", SRC, SRC_ROWS)
    assert (found.handler, found.operation) == ("handleClone", "CLONE")
    assert found.promise["sourceNumOfFiles"] == 2
    assert [one.code for one in found.warnings] == ["FILES_BELONG_TO_THE_SOURCE"]


@pytest.mark.parametrize(("of", "before"), [("src", SRC), ("pq USING delta", PARQUET)])
def test_like_a_delta_table_or_with_delta_as_its_provider(spark: Any, schema: str, of: str, before: str) -> None:
    found = planned(spark, f"CREATE TABLE t LIKE {of}", before)
    assert (found.handler, found.statement.mode, found.operation) == ("handleCreateTable", "Create", "CREATE TABLE")


@pytest.mark.parametrize(
    ("begin", "mode"),
    [("CREATE", "Create"), ("CREATE OR REPLACE", "CreateOrReplace"), ("REPLACE", "Replace")],
)
def test_create_operation_is_the_creation_mode_of_the_statement(begin: str, mode: str) -> None:
    for rest in ("(id INT) USING delta", "USING delta AS SELECT 1 AS id", "SHALLOW CLONE src"):
        assert parse_create(f"{begin} TABLE t {rest}").mode == mode


def test_get_operation_names_what_history_shows(spark: Any, schema: str) -> None:
    # check() above holds it against the history
    for table, begins in (("", ("CREATE", "CREATE OR REPLACE")), (T, ("CREATE OR REPLACE", "REPLACE"))):
        before = (table,) if table else ()
        for begin in begins:
            assert planned(spark, f"{begin} TABLE t (id INT) USING delta", *before).operation == f"{begin} TABLE"
            selected = planned(spark, f"{begin} TABLE t USING delta AS SELECT 2 AS id")
            assert selected.operation == f"{begin} TABLE AS SELECT"
            before = ()


@pytest.mark.parametrize(
    "what", ["USING delta LOCATION '{dir}/full' AS SELECT 1 AS id", "SHALLOW CLONE src LOCATION '{dir}/full'"]
)
def test_handle_commit_checks_that_the_path_is_empty(spark: Any, schema: str, tmp_path: Path, what: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "somebody's.txt").write_text("data")
    spark.sql(SRC).collect()
    check(spark, Case("not empty", f"CREATE TABLE t {what}"), tmp_path)
    found = plan(spark, filled(spark, f"CREATE TABLE t {what}", tmp_path))
    assert isinstance(found, CreatePlan)
    assert found.refused is not None


@pytest.mark.parametrize("left", ["_SUCCESS", ".hidden", "empty=1/", "part.txt"])
def test_a_hidden_file_and_an_empty_folder_are_not_empty_and_a_place_is_no_pattern(
    spark: Any, schema: str, tmp_path: Path, left: str
) -> None:
    for name in ("a1", "a[1]"):
        (tmp_path / name).mkdir()
    one = tmp_path / "a[1]" / left
    one.mkdir() if left.endswith("/") else one.write_text("left")
    sql = "CREATE TABLE t (id INT) USING delta LOCATION '{dir}/a[1]'"
    check(spark, Case("not empty", sql), tmp_path)
    found = plan(spark, filled(spark, sql, tmp_path))
    assert isinstance(found, CreatePlan)
    assert found.refused is not None
    check(spark, Case("empty", sql.replace("a[1]", "a1")), tmp_path)


def test_a_path_with_partitions_that_contradict_each_other_is_not_empty(
    spark: Any, schema: str, tmp_path: Path
) -> None:
    for name in ("one/day=1", "two", "full/day=1"):
        (tmp_path / "full" / name).mkdir(parents=True)
        (tmp_path / "full" / name / "x.parquet").write_text("data")
    for sql in (
        "CREATE TABLE t (id INT) USING delta LOCATION '{dir}/full'",
        "CREATE TABLE t USING delta LOCATION '{dir}/full' AS SELECT 1 AS id",
    ):
        check(spark, Case("not empty", sql), tmp_path)
        found = plan(spark, filled(spark, sql, tmp_path))
        assert isinstance(found, CreatePlan)
        assert found.refused is not None


def test_a_query_that_is_itself_a_command_is_refused(spark: Any, schema: str) -> None:
    with pytest.raises(EngineError) as caught:
        plan(spark, "CREATE TABLE t USING delta AS SHOW TABLES")
    assert caught.value.condition == "PARSE_SYNTAX_ERROR"


def test_catalog_managed_is_for_unity_catalog_alone(spark: Any, schema: str) -> None:
    key = "spark.databricks.delta.properties.defaults.feature.catalogManaged"
    spark.conf.set(key, "supported")
    try:
        found = planned(spark, "CREATE TABLE t (id INT) USING delta")
    finally:
        spark.conf.unset(key)
    assert found.refused is not None
    assert found.refused.condition == "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION"


def test_update_catalog_creates_or_alters_an_entry_and_leaves_a_path_alone(
    spark: Any, schema: str, tmp_path: Path
) -> None:
    assert planned(spark, "CREATE TABLE t (id INT) USING delta").post_commit == ("the catalog entry is created",)
    assert planned(spark, "REPLACE TABLE t (id INT) USING delta", T).post_commit == ("the catalog entry is altered",)
    by_path = planned(spark, f"CREATE TABLE delta.`{tmp_path}/new` (id INT) USING delta")
    assert by_path.post_commit == ("nothing in the catalog: the table is by path",)


def test_replace_metadata_if_necessary_is_for_a_replace_of_a_log_alone(spark: Any, schema: str) -> None:
    assert not planned(spark, "CREATE OR REPLACE TABLE t (id INT) USING delta").metadata_replaced
    found = planned(spark, "CREATE OR REPLACE TABLE t (x BIGINT) USING delta", T, ROWS)
    assert found.metadata_replaced
    assert found.before is not None
    assert [column.name for column in found.before.columns] == ["id", "v"]
    assert (found.files_removed, found.bytes_removed) == (found.target.num_files, found.target.num_bytes)
    assert found.files_removed > 0


def test_how_an_identity_counts_is_known_before_and_after(spark: Any, schema: str, tmp_path: Path) -> None:
    sql = "REPLACE TABLE src (a BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH -1), b BIGINT, c BIGINT)"
    found = planned(spark, f"{sql} USING delta", COUNTING, COUNTED)
    assert found.before is not None
    assert found.after is not None
    assert {one.name: one.counted for one in found.before.columns} == {
        "a": Identity(start=5, step=2, always=True),
        "b": Identity(start=1, step=1, always=False),
        "c": None,
    }
    assert [one.counted for one in found.after.columns] == [Identity(start=-1, step=1, always=False), None, None]
    history = History(tmp_path / "history.duckdb")
    outcome = apply(spark, found, history=history)
    assert outcome.kept, outcome.deviations
    taken_back = plan_undo(spark, history.get(outcome.op_id))
    assert taken_back.columns == ColumnsChange(changed=("a", "b"))


def test_the_rows_of_a_table_that_is_replaced_are_counted_for_the_policy(spark: Any, schema: str) -> None:
    policy = Policy(max_rows_deleted=0.5)

    def refusals(*before: str) -> list[str]:
        plan = planned(spark, "CREATE OR REPLACE TABLE t (x BIGINT) USING delta", *before)
        return [one.how for one in broken_rules(policy, plan, reviewed=False)]

    assert refusals() == []
    assert refusals(T, ROWS, "DELETE FROM t WHERE id = 1") == ["1 of 1 row would be deleted, and at most 50% may be"]
    with confs_set(spark, {"spark.databricks.delta.stats.collect": "false"}):
        unknown = "the share of rows deleted is not known (the log does not count the rows of each file)"
        assert refusals(ROWS) == [f"{unknown}, and at most 50% may be"]


REPLACE = (
    "CREATE OR REPLACE TABLE t USING delta PARTITIONED BY (`day-of`) "
    "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') "
    "AS SELECT id AS n, id % 2 AS `day-of` FROM range(6)"
)


@pytest.mark.parametrize("kind", ["connect", "classic"])
def test_overwrite_schema_of_a_data_frame_replaces_the_metadata(kind: str, request: pytest.FixtureRequest) -> None:
    spark = request.getfixturevalue("spark" if kind == "connect" else "classic")
    request.getfixturevalue("schema" if kind == "connect" else "classic_schema")
    for before in ("CREATE TABLE t (id INT, day DATE) USING delta", "INSERT INTO t VALUES (1, DATE'2026-01-01')"):
        spark.sql(before).collect()
    found = plan(spark, REPLACE, overwrite_schema=True)
    assert isinstance(found, CreatePlan)
    assert found.metadata_replaced
    assert found.plan_id != plan(spark, REPLACE).plan_id
    outcome = apply(spark, Plan.from_json(found.to_json()))
    assert (outcome.kept, outcome.version, outcome.deviations) == (True, 2, ())
    assert spark.sql("SELECT * FROM t").columns == ["n", "day-of"]
    assert apply(spark, found).already_applied


def test_overwrite_schema_off_is_not_allowed_in_a_replace(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id INT) USING delta").collect()
    found = plan(spark, "REPLACE TABLE t USING delta AS SELECT 1 AS other", overwrite_schema=False)
    assert isinstance(found, CreatePlan)
    assert found.refused is not None
    with pytest.raises(PySparkException) as raised:
        write_data_frame(spark, parse_create(found.statement.sql), False)
    assert raised.value.getCondition() == found.refused.condition
    made = plan(spark, "CREATE TABLE u USING delta AS SELECT 1 AS other", overwrite_schema=False)
    assert apply(spark, made).kept


@pytest.mark.parametrize(
    "sql",
    ["CREATE OR REPLACE TABLE t (id INT) USING delta", "CREATE TABLE t USING delta COMMENT 'c' AS SELECT 1 AS id"],
)
def test_overwrite_schema_goes_with_what_a_data_frame_can_write(spark: Any, schema: str, sql: str) -> None:
    with pytest.raises(UsageError, match="Schema"):
        plan(spark, sql, overwrite_schema=True)


def test_provided_metadata_is_without_the_clustering_property(spark: Any, schema: str) -> None:
    found = planned(spark, "CREATE TABLE t (id INT) USING delta CLUSTER BY (id) COMMENT 'c' TBLPROPERTIES ('x' = 'y')")
    assert found.provided is not None
    assert (found.provided.description, found.provided.configuration) == ("c", {"x": "y"})
    assert found.after is not None
    assert found.after.clustering_columns == ("id",)


def test_provided_metadata_has_the_comment_the_schema_and_the_partition_columns(spark: Any, schema: str) -> None:
    provided = planned(
        spark, "CREATE TABLE t (id INT COMMENT 'key', p DATE) USING delta COMMENT 'c' PARTITIONED BY (p)"
    ).provided
    assert provided is not None
    assert provided.description == "c"
    assert [(one.name, one.type, one.comment) for one in provided.columns] == [("id", "int", "key"), ("p", "date", "")]
    assert (provided.partition_columns, provided.configuration) == (("p",), {})
    assert planned(spark, "CREATE TABLE t (id INT) USING delta").provided == ProvidedMetadata(
        description=None, columns=(provided.columns[0].model_copy(update={"comment": ""}),), partition_columns=(),
        configuration={},
    )  # fmt: skip


@pytest.mark.parametrize("place", ["LOCATION 'rel/x'", "OPTIONS ('path' = 'rel/x')"])
def test_a_relative_location_is_two_places(spark: Any, schema: str, place: str) -> None:
    with pytest.raises(EngineError) as raised:
        plan(spark, f"CREATE TABLE t (id INT) USING delta {place}")
    assert raised.value.condition == "RELATIVE_LOCATION"


def test_uniform_is_converted_after_the_commit(spark: Any, schema: str) -> None:
    found = planned(
        spark,
        "CREATE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.universalFormat.enabledFormats' = 'iceberg', "
        "'delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true')",
    )
    assert found.post_commit[-1] == "the table is converted to Iceberg (UniForm)"


# What a person is told


def test_create_or_replace_over_a_log_in_no_catalog_replaces_nothing(spark: Any, schema: str, tmp_path: Path) -> None:
    before = [filled(spark, one, tmp_path) for one in (LOG, LOG_ROWS)]
    sql = "CREATE OR REPLACE TABLE t (id INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{dir}/log'"
    found = planned(spark, filled(spark, sql, tmp_path), *before)
    assert (found.effect, [one.code for one in found.warnings]) == ("adopt", ["NOTHING_IS_REPLACED"])
    outcome = apply(spark, found)
    assert (outcome.version, outcome.kept) == (None, True)
    assert spark.sql("SELECT * FROM t").count() == 1
    assert apply(spark, found).already_applied


def test_another_format_is_not_planned(spark: Any, schema: str) -> None:
    with pytest.raises(EngineError) as caught:
        plan(spark, "CREATE TABLE t (id INT) USING parquet")
    assert caught.value.condition == "NOT_A_DELTA_TABLE"


# Apply


def test_a_plan_is_applied_once_and_recorded(spark: Any, schema: str, tmp_path: Path) -> None:
    history = History(tmp_path / "history.duckdb")
    found = planned(spark, "CREATE OR REPLACE TABLE t USING delta AS SELECT id + 1 AS id FROM t", T, ROWS)
    history.record_planned(found)
    outcome = apply(spark, found, history=history)
    assert (outcome.version, outcome.read_version, outcome.kept) == (2, 1, True)
    again = apply(spark, found, history=history)
    assert (again.already_applied, again.version, again.op_id) == (True, 2, outcome.op_id)
    assert [one.status for one in history.list()] == ["applied"]
    detail = history.get(outcome.op_id)
    assert (detail.operation.kind, detail.plan, detail.outcome) == ("create_table", found, outcome)
    assert sorted(row[0] for row in spark.sql("SELECT id FROM t").collect()) == [2, 3]


def test_a_table_like_one_with_odd_names_inside_is_made_as_planned(spark: Any, schema: str) -> None:
    spark.sql(
        "CREATE TABLE odd (`a b` INT, s STRUCT<`b c`: STRING, d: ARRAY<STRUCT<`e,f`: INT>>>, m MAP<STRING, DATE>) "
        "USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    there = delta_table_now(spark, "odd")
    assert there is not None
    found = plan(spark, to_sql(like("odd_like", there.state)))
    assert found.refused is None
    assert apply(spark, found).kept
    assert spark.table("odd_like").schema.simpleString() == spark.table("odd").schema.simpleString()


@pytest.mark.parametrize(
    ("table", "gone"),
    [
        ("g USING delta", "DROP TABLE g"),
        ("g USING delta", "ALTER TABLE g RENAME TO renamed"),
        ("g USING delta LOCATION '{path}'", "DROP TABLE g"),
    ],
)
def test_a_create_whose_table_is_gone_is_not_applied_again(
    spark: Any, schema: str, tmp_path: Path, table: str, gone: str
) -> None:
    history = History(tmp_path / "history.duckdb")
    sql = f"CREATE TABLE {table.format(path=tmp_path / 'files')} AS SELECT 1 AS id"
    found = plan(spark, sql)
    assert apply(spark, found, history=history).kept
    assert apply(spark, found, history=history).already_applied
    spark.sql(gone)
    with pytest.raises(StalePlanError) as raised:
        apply(spark, found, history=history)
    assert raised.value.condition == "PLAN_UNDONE"
    if "LOCATION" not in table:
        again = plan(spark, sql)
        assert apply(spark, again, history=history).kept, "planned anew it is another one"


def test_a_replace_without_a_query_is_applied_once(spark: Any, schema: str) -> None:
    found = planned(spark, "REPLACE TABLE t (x INT) USING delta", T, ROWS)
    assert apply(spark, found).version == 2
    assert apply(spark, found).already_applied
    assert spark.sql("DESCRIBE HISTORY t LIMIT 1").collect()[0]["version"] == 2


def test_a_replace_that_another_applies_is_refused_and_runs_once(spark: Any, schema: str, tmp_path: Path) -> None:
    # Delta itself would replace it twice: only a CTAS has a transaction id
    history = History(tmp_path / "history.duckdb")
    found = planned(spark, "CREATE OR REPLACE TABLE t (id INT) USING delta", T, ROWS)
    theirs = history.begin(found)
    with pytest.raises(RefusedError) as raised:
        apply(spark, found, history=history)
    assert raised.value.condition == "PLAN_IS_BEING_APPLIED"
    history.failed(theirs, "it did not run")
    assert apply(spark, found, history=history).version == 2
    # committed between our look at the table and our begin
    with pytest.raises(RefusedError):
        history.begin(found, alone_since="2026-01-01T00:00:00.000Z")
    assert apply(spark, found, history=history).already_applied


def test_a_replace_that_was_interrupted_is_applied_again_by_the_program_that_lives_on(
    spark: Any, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    history = History(tmp_path / "history.duckdb")
    found = planned(spark, "REPLACE TABLE t (x INT) USING delta", T, ROWS)
    monkeypatch.setattr("engine.commit.apply_create.run_confs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply(spark, found, history=history)
    monkeypatch.undo()
    assert len(history.abandoned()) == 1, "any command settles it"
    assert apply(spark, found, history=history).version == 2


def test_a_table_that_appeared_since_the_plan_is_refused(spark: Any, schema: str) -> None:
    found = planned(spark, "CREATE OR REPLACE TABLE t (id INT) USING delta")
    spark.sql(T).collect()
    with pytest.raises(StalePlanError, match="it appeared"):
        apply(spark, found)


def test_a_table_that_changed_or_vanished_since_the_plan_is_refused(spark: Any, schema: str) -> None:
    found = planned(spark, "REPLACE TABLE t (id INT) USING delta", T)
    spark.sql(ROWS).collect()
    with pytest.raises(StalePlanError, match="it is at v1 now"):
        apply(spark, found)
    spark.sql("DROP TABLE t")
    with pytest.raises(StalePlanError, match="it is gone"):
        apply(spark, found)


def test_a_query_that_gives_other_rows_than_planned_is_refused(spark: Any, schema: str) -> None:
    found = planned(spark, "CREATE TABLE t USING delta AS SELECT id FROM pq", PARQUET)
    spark.sql("INSERT INTO pq VALUES (2, 'b')").collect()
    with pytest.raises(StalePlanError) as caught:
        apply(spark, found)
    assert caught.value.condition == "SOURCE_CHANGED"


MADE_ANEW = ("DROP TABLE o", "CREATE TABLE o (id INT, v INT) USING delta", "INSERT INTO o VALUES (2, 22)")
OTHER_TYPE = ("DROP TABLE o", "CREATE TABLE o (id INT, v STRING) USING delta", "INSERT INTO o VALUES (1, '11')")
CTAS, LIKE, CLONE = "USING delta AS SELECT * FROM o", "LIKE o USING delta", "SHALLOW CLONE o"
REPLACED_SOURCES = {
    "a clone of a table that was made anew": (CLONE, "delta", MADE_ANEW),
    "a clone of a version of it": (f"{CLONE} VERSION AS OF 1", "delta", MADE_ANEW),
    "a clone of other files": (CLONE, "parquet", ("INSERT OVERWRITE o VALUES (2, 22)",)),
    "a clone of other files of a partition": (
        CLONE,
        "parquet PARTITIONED BY (v)",
        ("INSERT OVERWRITE o VALUES (2, 11)",),
    ),
    "other columns that are copied": (LIKE, "delta", OTHER_TYPE),
    "one more column that is copied": (LIKE, "parquet", ("ALTER TABLE o ADD COLUMN z INT",)),
    "a query with another column": (CTAS, "parquet", ("ALTER TABLE o ADD COLUMN z INT",)),
    "a query with another comment": (CTAS, "delta", ("ALTER TABLE o ALTER COLUMN v COMMENT 'hello'",)),
}


@pytest.mark.parametrize(("form", "format_", "since"), every_nth(REPLACED_SOURCES, 5))
def test_what_would_be_made_of_another_source_is_refused(
    spark: Any, schema: str, form: str, format_: str, since: tuple[str, ...]
) -> None:
    found = planned(
        spark,
        f"CREATE TABLE t {form}",
        f"CREATE TABLE o (id INT, v INT) USING {format_}",
        "INSERT INTO o VALUES (1, 11)",
    )
    for statement in since:
        spark.sql(statement).collect()
    with pytest.raises(StalePlanError) as caught:
        apply(spark, found)
    assert caught.value.condition == "SOURCE_CHANGED"
    assert not spark.catalog.tableExists("t")


@pytest.mark.thorough
def test_a_clone_of_a_version_whose_files_were_vacuumed_is_refused(spark: Any, schema: str) -> None:
    made = ("CREATE TABLE o (id INT) USING delta", "INSERT INTO o VALUES (1)")
    found = planned(spark, "CREATE TABLE t SHALLOW CLONE o VERSION AS OF 1", *made)
    spark.sql("DELETE FROM o").collect()
    with confs_set(spark, {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}):
        spark.sql("VACUUM o RETAIN 0 HOURS").collect()
    with pytest.raises(StalePlanError, match="is gone") as caught:
        apply(spark, found)
    assert caught.value.condition == "SOURCE_GONE"


def test_a_refused_plan_is_not_run(spark: Any, schema: str) -> None:
    found = planned(spark, "CREATE TABLE t (id INT DEFAULT 1) USING delta")
    with pytest.raises(RefusedError) as caught:
        apply(spark, found)
    assert caught.value.condition == "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"
    assert not spark.catalog.tableExists("t")
