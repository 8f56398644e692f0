"""The state of planning is the state of applying: what a plan depends on in its session is compared, by name."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.commit.check_plan import check_plan
from engine.commit.state_changes import changes
from engine.create.plan_create_table import plan_create_table
from engine.merge.session_definitions import variables_in
from engine.merge.state_confs import has_meaning
from engine.model.errors import EngineError, SessionChangedError
from engine.model.plan import Plan, PlanningState
from engine.plan_merge import plan
from engine.spark.release import release
from engine.spark.session_state import KEPT_CONFS
from engine.sql.parse import parse_script
from engine.table.commits import commits
from tests.conftest import own_schema
from tests.engine.old_versions import directory
from tests.engine.plans import make_plan

CREATED_HERE = (
    "DROP TEMPORARY VARIABLE IF EXISTS wanted",
    "DROP TEMPORARY FUNCTION IF EXISTS twice",
    "DROP VIEW IF EXISTS seen",
    "RESET spark.sql.parser.escapedStringLiterals",
    "RESET spark.sql.legacy.timeParserPolicy",
)


@dataclasses.dataclass(frozen=True)
class Case:
    """``before`` the plan, ``change`` after it, and what apply says of that. ``{s}`` is the test's schema."""

    before: tuple[str, ...]
    source: str
    value: str
    change: tuple[str, ...]
    says: str


VALUE_OF_VIEW = "(SELECT max(x) FROM seen)"
CASES = {
    "a subquery over a table that moved": Case(
        ("CREATE TABLE {s}.others USING delta AS SELECT 5 AS x",),
        "src",
        "(SELECT CAST(max(x) AS STRING) FROM {s}.others)",
        ("INSERT INTO {s}.others VALUES (9)",),
        "gives something else than when planned",
    ),
    "a variable that is set": Case(
        ("DECLARE VARIABLE wanted STRING DEFAULT 'five'",),
        "src",
        "wanted",
        ("SET VAR wanted = 'six'",),
        "the session variable wanted was 'five' when planned and is 'six' now",
    ),
    "a variable that only the source reads": Case(
        ("DECLARE VARIABLE wanted INT DEFAULT 3",),
        "(SELECT * FROM src WHERE id < wanted)",
        "s.v",
        ("SET VAR wanted = 4",),
        "the session variable wanted was 3 when planned and is 4 now",
    ),
    "a variable with brackets and quotes in it": Case(
        ("DECLARE VARIABLE `wanted` STRING DEFAULT 'a)=\\'b'",),
        "src",
        "wanted",
        ("SET VAR wanted = 'a)=\\'c'",),
        r"was 'a)=\'b' when planned and is 'a)=\'c' now",
    ),
    "a variable that is gone": Case(
        ("DECLARE VARIABLE wanted STRING DEFAULT 'five'",),
        "src",
        "wanted",
        ("DROP TEMPORARY VARIABLE wanted",),
        "the session variable wanted is not declared any more",
    ),
    "a variable that a temporary function reads": Case(
        (
            "DECLARE VARIABLE wanted INT DEFAULT 3",
            "CREATE TEMPORARY FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN a * wanted",
        ),
        "(SELECT id, CAST(twice(id) AS STRING) AS v FROM src)",
        "s.v",
        ("SET VAR wanted = 4",),
        "the session variable wanted was 3 when planned and is 4 now",
    ),
    "how literals are read": Case(
        (),
        "src",
        r"'a\\d'",
        ("SET spark.sql.parser.escapedStringLiterals=true",),
        "the conf spark.sql.parser.escapedStringLiterals was not set when planned and is true now",
    ),
    "a conf that is not set any more": Case(
        ("SET spark.sql.legacy.timeParserPolicy=LEGACY",),
        "src",
        "s.v",
        ("RESET spark.sql.legacy.timeParserPolicy",),
        "the conf spark.sql.legacy.timeParserPolicy was LEGACY when planned and is not set now",
    ),
    "a temporary view in a subquery": Case(
        ("CREATE TEMPORARY VIEW seen AS SELECT x FROM other WHERE x < 5",),
        "src",
        VALUE_OF_VIEW,
        ("CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT x FROM other WHERE x < 9",),
        "the view `seen` was redefined",
    ),
    "a temporary view as source": Case(
        ("CREATE TEMPORARY VIEW seen AS SELECT id, v FROM src WHERE id < 3",),
        "seen",
        "s.v",
        ("CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT id, v FROM src WHERE id < 4",),
        "the view `seen` was redefined",
    ),
    "a temporary view with another seed, beside one that Spark draws": Case(
        ("CREATE TEMPORARY VIEW seen AS SELECT id, concat(rand(7), rand()) AS v FROM src",),
        "seen",
        "s.v",
        ("CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT id, concat(rand(8), rand()) AS v FROM src",),
        "the view `seen` was redefined",
    ),
    "a temporary view that is gone": Case(
        ("CREATE TEMPORARY VIEW seen AS SELECT 1 AS x",),
        "src",
        VALUE_OF_VIEW,
        ("DROP VIEW seen",),
        "the view `seen` is gone",
    ),
    "a temporary view in the place of a table": Case(
        (),
        "src",
        "(SELECT max(x) FROM other)",
        ("CREATE TEMPORARY VIEW other AS SELECT 100 AS x",),
        "other is a temporary view now and was none when planned",
    ),
    "a permanent view": Case(
        ("CREATE VIEW {s}.kept AS SELECT x FROM {s}.other WHERE x < 5",),
        "src",
        "(SELECT max(x) FROM {s}.kept)",
        ("CREATE OR REPLACE VIEW {s}.kept AS SELECT x FROM {s}.other WHERE x < 9",),
        "kept` was redefined",
    ),
    "a permanent view below another": Case(
        (
            "CREATE VIEW {s}.kept AS SELECT x FROM {s}.other",
            "CREATE TEMPORARY VIEW seen AS SELECT x FROM {s}.kept",
        ),
        "src",
        VALUE_OF_VIEW,
        ("CREATE OR REPLACE VIEW {s}.kept AS SELECT x + 1 AS x FROM {s}.other",),
        "kept` was redefined",
    ),
    "a temporary function": Case(
        ("CREATE TEMPORARY FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN a * 2",),
        "(SELECT id, CAST(twice(id) AS STRING) AS v FROM src)",
        "s.v",
        ("CREATE OR REPLACE TEMPORARY FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN a * 3",),
        "the function twice was redefined",
    ),
    "a permanent function": Case(
        ("CREATE FUNCTION {s}.kept(a BIGINT) RETURNS BIGINT RETURN a * 2",),
        "(SELECT id, CAST({s}.kept(id) AS STRING) AS v FROM src)",
        "s.v",
        ("CREATE OR REPLACE FUNCTION {s}.kept(a BIGINT) RETURNS BIGINT RETURN a * 3",),
        "kept was redefined",
    ),
    "a function that another one calls": Case(
        (
            "CREATE FUNCTION {s}.kept(a BIGINT) RETURNS BIGINT RETURN a * 2",
            "CREATE TEMPORARY FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN {s}.kept(a)",
        ),
        "(SELECT id, CAST(twice(id) AS STRING) AS v FROM src)",
        "s.v",
        ("CREATE OR REPLACE FUNCTION {s}.kept(a BIGINT) RETURNS BIGINT RETURN a * 3",),
        "kept was redefined",
    ),
    "another schema, in which the names are other tables": Case(
        (),
        "src",
        "(SELECT max(x) FROM other)",
        (
            "CREATE SCHEMA {s}_2",
            "USE {s}_2",
            "CREATE TABLE tgt USING delta AS SELECT 1L AS id, 'x' AS v",
            "CREATE TABLE src USING delta AS SELECT 1L AS id, 'x' AS v",
            "CREATE TABLE other USING delta AS SELECT 1 AS x",
        ),
        "the current schema was {s} when planned and is {s}_2 now",
    ),
    "another schema, in which there is no such table": Case(
        (),
        "src",
        "s.v",
        ("USE default",),
        "the current schema was {s} when planned and is default now",
    ),
}


@pytest.fixture(params=["connect", "classic"])
def shop(request: pytest.FixtureRequest) -> Iterator[tuple[Any, str]]:
    """A session of either kind and a schema of its own: ``tgt`` and ``src`` with ids, ``other`` with a number."""
    spark = request.getfixturevalue("spark" if request.param == "connect" else "classic")
    with own_schema(spark) as schema:
        # what other tests of this session left
        for one in CREATED_HERE:
            spark.sql(one).collect()
        build(spark)
        try:
            yield spark, schema
        finally:
            for one in (*CREATED_HERE, "DROP VIEW IF EXISTS other" if has_view(spark, "other") else "SELECT 1"):
                spark.sql(one).collect()
            spark.sql(f"USE {schema}")
            spark.sql(f"DROP SCHEMA IF EXISTS {schema}_2 CASCADE")


def has_view(spark: Any, name: str) -> bool:
    return any(row["isTemporary"] and row["viewName"] == name for row in spark.sql("SHOW VIEWS").collect())


def build(spark: Any) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 1)")
    spark.sql("CREATE TABLE src USING delta AS SELECT id, 'new' AS v FROM range(5)")
    spark.sql("CREATE TABLE other USING delta AS SELECT explode(array(3, 7)) AS x")


def merge(source: str = "src", value: str = "s.v") -> str:
    return f"MERGE INTO tgt t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {value}"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_a_plan_depends_on_is_compared_by_name(shop: tuple[Any, str], case: Case) -> None:
    spark, schema = shop
    for one in case.before:
        spark.sql(one.replace("{s}", schema)).collect()
    found = plan(spark, merge(case.source, case.value).replace("{s}", schema), rows=0)
    assert not changes(spark, found.state, KEPT_CONFS)
    for one in case.change:
        spark.sql(one.replace("{s}", schema)).collect()
    with pytest.raises(SessionChangedError) as raised:
        apply(spark, found)
    assert case.says.replace("{s}", schema) in raised.value.message
    assert raised.value.condition == "SESSION_CHANGED"
    spark.sql(f"USE {schema}")
    assert commits(spark, "tgt")[0].version == found.target.version


def test_what_was_put_back_lets_the_same_plan_apply(shop: tuple[Any, str]) -> None:
    spark, _ = shop
    spark.sql("DECLARE VARIABLE wanted STRING DEFAULT 'five'")
    found = plan(spark, merge("(SELECT * FROM src WHERE id < 2)", "concat(s.v, wanted)"), rows=0)
    spark.sql("SET VAR wanted = 'six'")
    with pytest.raises(SessionChangedError, match="was made in another state"):
        apply(spark, found)
    spark.sql("SET VAR wanted = 'five'")
    assert apply(spark, Plan.from_json(found.to_json())).kept
    assert {row["v"] for row in spark.sql("SELECT v FROM tgt WHERE id < 2").collect()} == {"newfive"}
    # a plan that is committed says so, whatever the session is like now
    spark.sql("DROP TEMPORARY VARIABLE wanted")
    assert apply(spark, found).already_applied


def test_a_plan_runs_in_the_time_zone_that_it_was_made_in(shop: tuple[Any, str]) -> None:
    spark, _ = shop
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.sql("DECLARE VARIABLE wanted TIMESTAMP DEFAULT TIMESTAMP'2026-01-01 12:00:00Z'")
    found = plan(spark, merge(value="concat(hour(TIMESTAMP'2026-01-01 12:00:00Z'), ' ', wanted)"), rows=0)
    try:
        spark.sql("SET spark.sql.session.timeZone = Asia/Tokyo")
        assert apply(spark, found).kept
        assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert spark.sql("SELECT v FROM tgt WHERE id = 1").collect()[0][0] == "12 2026-01-01 12:00:00"


def test_a_conf_that_is_set_to_its_default_is_no_difference(shop: tuple[Any, str]) -> None:
    spark, _ = shop
    found = plan(spark, merge(), rows=0)
    spark.sql("SET spark.sql.legacy.timeParserPolicy=CORRECTED")
    assert not changes(spark, found.state, KEPT_CONFS)
    assert spark.conf.get("spark.sql.legacy.timeParserPolicy") == "CORRECTED"
    found = plan(spark, merge(), rows=0)
    spark.sql("RESET spark.sql.legacy.timeParserPolicy")
    assert apply(spark, found).kept


def test_what_a_plan_does_not_read_may_change(shop: tuple[Any, str]) -> None:
    spark, _ = shop
    spark.sql("DECLARE VARIABLE wanted INT DEFAULT 3")
    spark.sql("CREATE TEMPORARY VIEW seen AS SELECT 1 AS x")
    found = plan(spark, merge(), rows=0)
    assert found.state == PlanningState(
        catalog="spark_catalog",
        schema_name=shop[1],
        confs=found.state.confs if found.state else {},
        names=("tgt", "src"),
    )
    spark.sql("SET VAR wanted = 4")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT 2 AS x")
    assert apply(spark, found).kept


@pytest.mark.parametrize(
    "value", ["current_user()", "SESSION_USER()", "concat(s.v, user())", "(SELECT max(user()) FROM other)"]
)
def test_another_user_than_the_one_who_planned_is_told(shop: tuple[Any, str], value: str) -> None:
    spark, _ = shop
    found = plan(spark, merge(value=value), rows=0)
    assert found.state is not None
    assert found.state.user == spark.sql("SELECT current_user()").collect()[0][0]
    assert not changes(spark, found.state, KEPT_CONFS)
    theirs = found.state.model_copy(update={"user": "somebody"})
    (told,) = changes(spark, theirs, KEPT_CONFS)
    assert told == f"the current user was somebody when planned and is {found.state.user} now"


def test_who_planned_is_not_asked_of_a_source_that_is_kept(shop: tuple[Any, str]) -> None:
    spark, _ = shop
    found = plan(spark, merge("(SELECT id, current_user() AS v FROM src)"), rows=0, freeze=True)
    assert found.state is not None
    assert found.state.user is None
    assert apply(spark, found).kept


def test_the_view_of_a_data_frame_is_known_by_its_plan(spark: Any, schema: str) -> None:
    build(spark)
    spark.sql("SELECT x FROM other WHERE x < 5").createOrReplaceTempView("seen")
    try:
        found = plan(spark, merge(value=VALUE_OF_VIEW), rows=0)
        spark.sql("SELECT x FROM other WHERE x < 5").createOrReplaceTempView("seen")
        assert not changes(spark, found.state, KEPT_CONFS)
        spark.sql("SELECT x FROM other WHERE x < 9").createOrReplaceTempView("seen")
        assert changes(spark, found.state, KEPT_CONFS) == ("the view `seen` was redefined",)
        spark.sql("SELECT rand(7) AS x FROM other").createOrReplaceTempView("seen")
        seeded = plan(spark, merge(value=VALUE_OF_VIEW), rows=0).state
        spark.sql("SELECT rand(8) AS x FROM other").createOrReplaceTempView("seen")
        assert changes(spark, seeded, KEPT_CONFS) == ("the view `seen` was redefined",)
    finally:
        spark.sql("DROP VIEW seen")


RANDOM = "concat(rand(), randn(), uuid(), shuffle(array(1, 2, 3))[0], randstr(3), uniform(1, 5))"
NUMBERED = {"seeds": f"SELECT id, {RANDOM} AS v FROM src"}
if release(version("pyspark")) >= "4.1":
    NUMBERED["a recursive WITH"] = (
        "WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r WHERE id < 4) SELECT id, 'new' AS v FROM r"
    )


@pytest.mark.parametrize("query", NUMBERED.values(), ids=NUMBERED.keys())
def test_what_spark_draws_and_numbers_in_a_view_is_no_change_of_it(shop: tuple[Any, str], query: str) -> None:
    spark, _ = shop
    spark.sql(f"CREATE TEMPORARY VIEW seen AS {query}")
    found = Plan.from_json(plan(spark, merge("seen"), rows=0).to_json())
    assert not changes(spark, found.state, KEPT_CONFS)
    planned = sorted(map(tuple, spark.sql(f"SELECT id, v FROM {found.session.source_view}").collect()))
    assert apply(spark, found).kept
    written = spark.sql("SELECT id, v FROM tgt WHERE v <> 'old'").collect()
    assert sorted(map(tuple, written)) == planned, "the rows that were planned, not others that are as random"


DECLARED = "DECLARE OR REPLACE VARIABLE wanted STRING DEFAULT 'five';\n"


def test_what_the_script_declares_is_declared_again_in_another_session(session: Any, spark: Any, schema: str) -> None:
    build(spark)
    text = f"USE {schema};\n{DECLARED}" + merge(value="concat(s.v, wanted)")
    found = Plan.from_json(plan(spark, text, rows=0).to_json())
    with session.new_session() as other:
        assert apply(other.spark, found).kept
    assert spark.sql("SELECT v FROM tgt WHERE id = 1").collect()[0][0] == "newfive"
    spark.sql("SET VAR wanted = 'mine'")
    undeclared = plan(spark, f"USE {schema};\n" + merge(value="concat(s.v, wanted, '2')"), rows=0)
    with session.new_session() as other, pytest.raises(SessionChangedError, match="wanted is not declared any more"):
        apply(other.spark, undeclared)
    spark.sql("DROP TEMPORARY VARIABLE wanted")


def test_a_variable_that_is_there_already_is_compared_and_not_declared_again(
    session: Any, spark: Any, schema: str
) -> None:
    build(spark)
    text = f"USE {schema};\n{DECLARED.replace('OR REPLACE ', '')}" + merge(value="concat(s.v, wanted)")
    found = plan(spark, text, rows=0)
    spark.sql("DROP TEMPORARY VARIABLE wanted")
    with session.new_session() as other:
        other.spark.sql("DECLARE VARIABLE wanted STRING DEFAULT 'another'")
        with pytest.raises(SessionChangedError, match="was 'five' when planned and is 'another' now"):
            apply(other.spark, found)


def test_a_table_that_keeps_its_source_outlives_what_that_was_made_of(session: Any, spark: Any, schema: str) -> None:
    build(spark)
    spark.sql("DECLARE VARIABLE wanted INT DEFAULT 3")
    spark.sql(f"CREATE TEMPORARY VIEW seen AS SELECT id, v FROM {schema}.src WHERE id < wanted")
    text = merge("seen").replace("tgt", f"{schema}.tgt")
    found = plan(spark, f"USE {schema};\n{text}", rows=0, freeze=True)
    spark.sql("DROP VIEW seen")
    spark.sql("DROP TEMPORARY VARIABLE wanted")
    with session.new_session() as other:
        assert apply(other.spark, found).metrics["numTargetRowsUpdated"] == 3


SELECTED = "CREATE TABLE made USING delta AS SELECT id, {value} AS v FROM src"


@pytest.mark.parametrize(
    ("before", "value", "change", "says"),
    [
        (
            "DECLARE VARIABLE wanted STRING DEFAULT 'five'",
            "wanted",
            "SET VAR wanted = 'six'",
            "the session variable wanted was 'five' when planned and is 'six' now",
        ),
        (
            "CREATE TEMPORARY VIEW seen AS SELECT x FROM other WHERE x < 5",
            VALUE_OF_VIEW,
            "CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT max(x) AS x FROM other WHERE x < 5",
            "the view `seen` was redefined",
        ),
        (
            "CREATE TEMPORARY FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN a * 2",
            "twice(id)",
            "CREATE OR REPLACE TEMPORARY FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN a + a",
            "the function twice was redefined",
        ),
        (
            "SELECT 1",
            r"'a\\d'",
            "SET spark.sql.parser.escapedStringLiterals=true",
            "the conf spark.sql.parser.escapedStringLiterals was not set when planned and is true now",
        ),
        ("SELECT 1", "1", "USE default", "the current schema was"),
    ],
)
def test_a_table_is_created_in_the_state_that_it_was_planned_in(
    shop: tuple[Any, str], before: str, value: str, change: str, says: str
) -> None:
    """Where the query gives the same rows now, too: nobody has looked at what it gives the next time."""
    spark, schema = shop
    spark.sql(before).collect()
    found = plan_create_table(spark, parse_script(SELECTED.format(value=value)))
    assert not changes(spark, found.state, KEPT_CONFS)
    spark.sql(change).collect()
    with pytest.raises(SessionChangedError) as raised:
        apply(spark, found)
    assert says in raised.value.message
    spark.sql(f"USE {schema}")
    assert not spark.sql("SHOW TABLES LIKE 'made'").collect()


def test_names_in_full_mean_the_same_in_every_schema(session: Any, spark: Any, schema: str) -> None:
    build(spark)
    setup = f"CREATE TEMPORARY VIEW seen AS SELECT id, v FROM {schema}.src WHERE id < 3 -- few\n;\n"
    text = f"WITH few AS (SELECT * FROM seen) {merge('few')}".replace("tgt", f"{schema}.tgt")
    found = plan(spark, setup + text, rows=0)
    spark.sql("DROP VIEW seen")
    assert found.state is not None
    assert (found.state.catalog, found.state.schema_name) == ("spark_catalog", None)
    with session.new_session() as other:
        assert apply(other.spark, found).kept


def test_values_of_variables_stay_out_of_a_private_plan(spark: Any, schema: str) -> None:
    build(spark)
    spark.sql("DECLARE VARIABLE wanted STRING DEFAULT 'hidden five'")
    try:
        found = plan(spark, merge(value="wanted"), private=True)
        assert "hidden five" not in found.to_json()
        assert not changes(spark, found.state, KEPT_CONFS)
        spark.sql("SET VAR wanted = 'hidden six'")
        with pytest.raises(SessionChangedError, match="the session variable wanted is another than when planned") as e:
            apply(spark, found)
        assert "hidden" not in e.value.message
    finally:
        spark.sql("DROP TEMPORARY VARIABLE wanted")


def test_two_plans_that_differ_by_a_variable_are_two_plans(spark: Any, schema: str) -> None:
    """One id would make Delta, and this program, take the second for the first."""
    build(spark)
    spark.sql("DECLARE VARIABLE wanted STRING DEFAULT 'five'")
    try:
        first = plan(spark, merge(value="wanted"), rows=0)
        spark.sql("SET VAR wanted = 'six'")
        second = plan(spark, merge(value="wanted"), rows=0)
        assert first.plan_id != second.plan_id
    finally:
        spark.sql("DROP TEMPORARY VARIABLE wanted")


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("variablereference(system.session.v=5)", {"v": "5"}),
        ("(a = variablereference(system.session.`odd )=x`='a)=\\'b'))", {"`odd )=x`": "'a)=\\'b'"}),
        ("variablereference(system.session.n=CAST(NULL AS INT)) x", {"n": "CAST(NULL AS INT)"}),
        ("variablereference(system.session.a=ARRAY('a', 'b)'))", {"a": "ARRAY('a', 'b)')"}),
        ("variablereference(system.session.s='ends in \\\\')", {"s": "'ends in \\\\'"}),
        ("variablereference(system.session.l='two\nlines)')", {"l": "'two\nlines)'"}),
        ("variablereference(system.session.v=5) variablereference(system.session.v=6)", {"v": "5 or 6"}),
        ("variablereference(system.session.v=", {"v": ""}),
        ("nothing", {}),
    ],
)
def test_variables_are_read_from_a_printed_plan(printed: str, found: dict[str, str]) -> None:
    assert variables_in(printed) == found


@pytest.mark.parametrize(
    "state",
    [
        {"variables": {"a FROM secrets.salaries": "1"}},
        {"variables": {"`a``": "1"}},
        {"views": {"a; DROP TABLE b": "sha256:0"}},
        {"views": {"`${spark.x}`": "sha256:0"}},
        {"functions": {"f AS JSON": "sha256:0"}},
    ],
)
def test_names_of_a_stranger_reach_no_statement(state: dict[str, Any]) -> None:
    recorded = PlanningState(catalog="spark_catalog", schema_name="default", **state)
    with pytest.raises(EngineError, match="names something by what is no name"):
        check_plan(make_plan("0" * 32, table="demo.orders", state=recorded))


def test_only_confs_with_a_meaning_are_compared() -> None:
    assert has_meaning("spark.sql.parser.escapedStringLiterals")
    assert has_meaning("spark.databricks.delta.merge.materializeSource")
    assert has_meaning("spark.sql.optimizer.decorrelateSubqueryLegacyIncorrectCountHandling.enabled")
    assert not has_meaning("spark.sql.optimizer.maxIterations")
    assert not has_meaning("spark.sql.shuffle.partitions")
    assert not has_meaning("spark.sql.codegen.factoryMode")
    assert not has_meaning("spark.sql.sources.parallelPartitionDiscovery.parallelism")
    assert not has_meaning("spark.driver.memory")
    assert all(has_meaning(key) for key in KEPT_CONFS)


def test_a_plan_of_an_older_format_is_compared_in_nothing() -> None:
    assert inspect.signature(changes).parameters["planned"]
    assert changes(None, None, KEPT_CONFS) == ()  # type: ignore[arg-type]  # nothing is asked of Spark


@pytest.mark.parametrize(
    ("value", "condition"),
    [("current_schema()", "TRUE"), ("'x'", "current_database() <> 'default'")],
)
def test_the_schema_that_a_function_tells_is_compared_where_every_name_is_qualified(
    spark: Any, schema: str, value: str, condition: str
) -> None:
    t, s = (f"spark_catalog.{schema}.{name}" for name in ("t", "s"))
    spark.sql(f"CREATE TABLE {t} USING delta AS SELECT 1 AS id, 'a' AS v")
    spark.sql(f"CREATE TABLE {s} USING delta AS SELECT explode(array(1, 2)) AS id, 'b' AS v")
    merge = (
        f"MERGE INTO {t} AS t USING {s} AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {value} "
        f"WHEN NOT MATCHED AND {condition} THEN INSERT *"
    )
    looked = plan(spark, merge)
    try:
        spark.sql("USE default")
        with pytest.raises(SessionChangedError) as raised:
            apply(spark, looked)
        assert "the current schema was" in str(raised.value)
    finally:
        spark.sql(f"USE {schema}")


def test_a_plan_reads_what_another_driver_committed_however_stale_reads_may_be(session: Any, schema: str) -> None:
    with session.new_session({"spark.databricks.delta.stalenessLimit": "1h"}) as own:
        spark = own.spark
        spark.sql(f"USE {schema}")
        spark.sql("CREATE TABLE fresh USING delta AS SELECT id, 'old' AS v FROM range(0, 3, 1, 1)")
        assert spark.table("fresh").count() == 3
        log = directory(spark, "fresh") / "_delta_log"
        (added,) = [
            one["add"]
            for line in (log / f"{0:020}.json").read_text().splitlines()
            if "add" in (one := json.loads(line))
        ]
        gone = {"path": added["path"], "dataChange": True, "deletionTimestamp": 1}
        (log / f"{1:020}.json").write_text(json.dumps({"remove": gone}))
        assert spark.table("fresh").count() == 3, "else this test tests nothing"
        merge = "MERGE INTO fresh AS t USING (SELECT 1L AS id, 'new' AS v) AS s ON t.id = s.id {}"
        looked = plan(spark, merge.format("WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"), rows=0)
        assert (looked.target.version, looked.promise["numTargetRowsInserted"]) == (1, 1)
        assert apply(spark, looked).kept
        found = plan_create_table(spark, parse_script("CREATE OR REPLACE TABLE fresh (a INT) USING delta"))
        assert found.target.version == 2
