"""A plan file from a stranger does no more than its MERGE says."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.commit.check_plan import check_plan
from engine.merge.stage_source import staged_of, version_of
from engine.model.errors import EngineError, UsageError
from engine.model.plan import Plan, PlanningState, SessionRef, Splice
from engine.model.scan import DerivedConjunct
from engine.sql.names import quote
from engine.sql.parse import parse_script
from tests.engine.plans import make_plan

SQL = "MERGE INTO demo.orders t USING feed s ON t.key = s.key WHEN MATCHED THEN UPDATE SET *"
VIEW = "deltamerge_source_0123456789ab"
START, END = SQL.index("feed"), SQL.index(" ON")


def honest(text: str = f"{VIEW} AS s", **changes: Any) -> Plan:
    plan = make_plan("0" * 32, table="demo.orders")
    update = {
        "statement": plan.statement.model_copy(update={"sql": SQL, "setup": ("SET spark.sql.ansi.enabled=true",)}),
        "session": SessionRef(source_view=VIEW),
        "splices": (Splice(start=START, end=END, text=text, why="frozen"),),
        "confs": {"spark.sql.ansi.enabled": "true"},
    }
    return plan.model_copy(update={**update, **changes})


def statement(plan: Plan, **changes: Any) -> Plan:
    return plan.model_copy(update={"statement": plan.statement.model_copy(update=changes)})


@pytest.mark.parametrize("comment", ["-- only today", "-- in C:\\", "--", "/* -- */"])
def test_a_plan_whose_setup_ends_with_a_comment_passes(comment: str) -> None:
    check_plan(statement(honest(), setup=(f"CREATE TEMPORARY VIEW v AS SELECT 1 {comment}", "USE demo")))


@pytest.mark.parametrize(
    "text",
    [
        f"{VIEW} AS s",
        f"(SELECT /*+ BROADCAST({VIEW}) */ * FROM {VIEW}) AS s",
    ],
)
def test_a_plan_of_this_program_passes(text: str) -> None:
    check_plan(honest(text))
    check_plan(honest(splices=()))


def pinned(version: int) -> Plan:
    """A plan whose source is read VERSION AS OF 7, and that says ``version`` of it."""
    plan = honest("(SELECT * FROM feed VERSION AS OF 7) AS s")
    source = plan.source.model_copy(update={"pinned_versions": {"feed": version}})
    return plan.model_copy(
        update={"source": source, "decision": plan.decision.model_copy(update={"materialize": False})}
    )


def test_a_plan_of_a_delta_source_passes() -> None:
    check_plan(pinned(7))


BOUND = "t.key >= -5 AND t.key <= 7L"


def bounded(text: str = BOUND, column: str = "t.key", said: str | None = None) -> Plan:
    """A plan whose ON is narrowed by what the source's keys imply."""
    plan = honest()
    end = SQL.index(" WHEN")
    splice = Splice(part="condition", start=end, end=end, text=f" AND {said or text}", why="implied")
    scan = plan.scan.model_copy(update={"derived": (DerivedConjunct(column=column, text=text),)})
    return plan.model_copy(update={"splices": (*plan.splices, splice), "scan": scan})


@pytest.mark.parametrize(
    "text",
    [BOUND, "t.key = DATE'2026-01-01'", "t.key IN ('a', 'it is')", "t.key = CAST('1.50' AS DECIMAL(5,2))"],
)
def test_bounds_of_the_sources_keys_pass(text: str) -> None:
    check_plan(bounded(text))


@pytest.mark.parametrize("name", ["day", "a`b", "`"])
def test_a_bound_of_a_partition_column_passes(name: str) -> None:
    plan = bounded(f"t.{quote(name)} = DATE'2026-01-01'", f"t.{quote(name)}")
    check_plan(plan.model_copy(update={"target": plan.target.model_copy(update={"partition_columns": (name,)})}))


STAGED = f"`spark_catalog`.`default`.`{staged_of(VIEW)}`"


def staged(**changes: Any) -> Plan:
    """A plan whose source is kept in a table of ours, with 1,000 rows."""
    plan = honest(f"(SELECT * FROM {STAGED} VERSION AS OF {version_of(1000)}) AS s")
    update = {
        "session": SessionRef(source_view=VIEW, staged=STAGED),
        "source": plan.source.model_copy(update={"pinned_id": "id"}),
    }
    return plan.model_copy(update={**update, **changes})


def test_a_plan_whose_source_is_staged_passes() -> None:
    check_plan(staged())


def named(**state: Any) -> Plan:
    return honest(state=PlanningState(**state))


def test_the_names_of_the_state_of_the_session_pass() -> None:
    check_plan(named(names=("demo.orders", "`a b`"), views={"v": "SELECT 1"}))


def renamed(name: str, **state: Any) -> Plan:
    """A plan of the same MERGE, INTO demo.orders, whose target is called ``name``."""
    plan = named(**state)
    return plan.model_copy(update={"target": plan.target.model_copy(update={"name": name})})


def test_a_name_passes_behind_the_catalog_that_it_was_planned_in() -> None:
    assert honest().target.name == "demo.orders"
    check_plan(renamed("Demo.ORDERS"))
    check_plan(renamed("c.demo.orders", catalog="c", schema_name="x"))


DISHONEST = {
    "another table": renamed("demo.others"),
    "a table of another schema": renamed("orders", schema_name="demo"),
    "a table of another catalog": renamed("c.demo.orders", catalog="d", schema_name="x"),
    "a table of a catalog that is not known": renamed("c.demo.orders"),
    "a table to be dropped": staged(session=SessionRef(source_view=VIEW, staged="prod.customers")),
    "a table to be dropped, without a view": staged(session=SessionRef(staged=STAGED)),
    "a table that is not merged": staged(splices=()),
    "a table that is not pinned": staged(source=honest().source),
    "another version of the table": staged(splices=honest(f"(SELECT * FROM {STAGED}) AS s").splices),
    "a state that names SQL": named(views={"v; DROP TABLE x": "SELECT 1"}),
    "another version than it says": pinned(8),
    "a bound that is no bound": bounded("t.key >= (SELECT max(key) FROM other) AND t.key <= 7"),
    "a bound that ends the condition": bounded("t.key = 1 WHEN MATCHED THEN DELETE"),
    "a bound of another column": bounded("t.other = 1", "t.other"),
    "a bound that is not shown": bounded(said="t.key = 1"),
    "a splice that reads another table": honest("secrets.salaries AS s"),
    "a splice that adds a clause": honest(f"{VIEW} AS s ON true WHEN MATCHED THEN DELETE --"),
    "a splice elsewhere": honest(splices=(Splice(start=0, end=len(SQL), text=f"{VIEW} AS s", why=""),)),
    "two splices": honest(splices=(honest().splices[0], honest().splices[0])),
    "a view to be dropped": honest(session=SessionRef(source_view="prod.customers")),
    "a conf": honest(confs={"spark.databricks.delta.retentionDurationCheck.enabled": "false"}),
    "another target": honest(target=make_plan(table="demo.others").target),
    "a target that is SQL": honest(target=make_plan(table="demo.orders; DROP TABLE x").target),
    "a plan id that is none": honest(plan_id="a,b"),
    "no MERGE": statement(honest(splices=()), sql="DROP TABLE demo.orders"),
    "a DROP before the MERGE": statement(honest(), setup=("DROP TABLE demo.orders",)),
    "a function before the MERGE": statement(honest(), setup=("CREATE TEMPORARY FUNCTION f AS 'Evil' USING JAR 'x'",)),
    "two statements as one": statement(honest(), setup=("SET a=b; SET c=d",)),
    "a statement hidden behind a comment": statement(honest(), setup=("/* SET */ DROP TABLE demo.orders",)),
}


@pytest.mark.parametrize("plan", DISHONEST.values(), ids=DISHONEST.keys())
def test_what_reaches_spark_follows_from_the_statement(plan: Plan) -> None:
    with pytest.raises(EngineError) as raised:
        apply(None, plan)  # type: ignore[arg-type]  # nothing is asked of Spark
    assert raised.value.condition in ("PLAN_FILE_INVALID", "UNSUPPORTED_STATEMENT", "NOT_A_MERGE")


@pytest.mark.parametrize("words", ["CREATE TEMP VIEW", "create or replace global temporary view"])
def test_temporary_views_may_stand_before_a_merge_and_functions_may_not(words: str) -> None:
    assert len(parse_script(f"{words} v AS SELECT 1;\n{SQL}").setup) == 1
    with pytest.raises(UsageError):
        parse_script(f"{words.lower().replace('view', 'function')} v AS 'x';\n{SQL}")
