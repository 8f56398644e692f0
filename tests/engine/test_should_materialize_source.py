"""The decision is Delta's own: each source is given to MergeIntoCommand as well, in the JVM (py4j)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
from pyspark.sql.types import StructType

from engine.merge.analyze import AnalyzedMerge
from engine.merge.should_materialize_source import should_materialize_source
from engine.model.plan import Decision
from engine.session.connect import connect
from engine.session.server import stop_server
from engine.spark.confs import confs_set
from engine.spark.explain import Explained
from engine.spark.release import release
from engine.sql.parse import parse_merge
from engine.sql.resolve import sides_of
from tests.conftest import TEST_CONFS
from tests.engine.source_shapes import INFERRED, SHAPES, UPSERT, Shape, Shop, open_shop


@pytest.fixture(scope="module")
def shop(classic: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    from pyspark.sql.udf import UserDefinedFunction

    opened = open_shop(classic, tmp_path_factory.mktemp("classic"), UserDefinedFunction)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def connect_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """On a server with a metastore, as users have it: some of the sources are Hive's."""
    from pyspark.sql.connect.udf import UserDefinedFunction

    home = tmp_path_factory.mktemp("metastore")
    try:
        with connect("local[2]", home=home, confs=TEST_CONFS) as session:
            opened = open_shop(session.spark, tmp_path_factory.mktemp("connect"), UserDefinedFunction)
            yield opened
            opened.close()
    finally:
        stop_server(home)


# every tenth shape in CI, all of them with -m "thorough or not thorough"
OF_THIS_SPARK = tuple(shape for shape in SHAPES if shape.since <= release(version("pyspark")))
PARAMETERS = [
    pytest.param(shape, id=shape.name, marks=[pytest.mark.thorough] if index % 10 else [])
    for index, shape in enumerate(OF_THIS_SPARK)
]


@pytest.mark.parametrize("shape", PARAMETERS)
def test_the_decision_is_deltas_own(shop: Shop, shape: Shape) -> None:
    with confs_set(shop.spark, dict(shape.confs)):
        materialize, reason = delta_decides(shop.spark, shop.fill(shape.sql))
        decision = decide(shop, shape.sql)
    assert (decision.materialize, delta_name(shop.spark, decision.reason)) == (materialize, reason), decision.because
    assert (decision.reason, decision.certainty) == (shape.reason, "exact")


@pytest.mark.thorough
@pytest.mark.parametrize("shape", OF_THIS_SPARK[::12], ids=lambda shape: shape.name)
def test_the_decision_is_the_same_over_connect(connect_shop: Shop, shape: Shape) -> None:
    with confs_set(connect_shop.spark, dict(shape.confs)):
        decision = decide(connect_shop, shape.sql)
    assert (decision.reason, decision.certainty) == (shape.reason, "exact"), decision.because


@pytest.mark.parametrize("source", INFERRED)
def test_what_the_print_does_not_tell_is_inferred_and_frozen(shop: Shop, source: str) -> None:
    """To freeze a source that Delta would not is harmless; to trust one that it would is not."""
    decision = decide(shop, f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.id {UPSERT}")
    assert (decision.materialize, decision.certainty) == (True, "inferred")


def test_the_sentence_names_what_caused_it(shop: Shop) -> None:
    def because(source: str) -> str:
        return decide(shop, f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.id {UPSERT}").because

    assert f"{shop.names['schema']}.pq (parquet)" in because("pq")
    assert "GROUP BY" in because("(SELECT id, max(v) AS v FROM src GROUP BY id)")
    assert "rand()" in because("(SELECT id, CAST(rand() AS STRING) AS v FROM src)")
    assert "random_x(), and so uuid()" in because("(SELECT id, random_x(v) AS v FROM src)")
    assert "sql_up(), and so py_up()" in because("(SELECT id, sql_up(v) AS v FROM src)")
    assert "a view (delta_view)" in because("delta_view")
    assert "py_random()" in because("(SELECT id, py_random(v) AS v FROM src)")


def decide(shop: Shop, sql: str) -> Decision:
    """The decision needs nothing of the analysis but where the source stands."""
    statement = parse_merge(shop.fill(sql))
    merge = AnalyzedMerge(
        typed=statement,
        resolved=statement,
        statement=statement,
        target_name="tgt",
        version=0,
        path="",
        target_type=StructType(),
        source_type=StructType(),
        type_after=StructType(),
        on=(),
        keys=(),
        matched=(),
        updates=(),
        columns_used=(),
        plan=Explained("", "", "", ""),
        sides=sides_of(statement, (), (), case_sensitive=False),
        not_boolean={},
        harmless=frozenset(),
    )
    return should_materialize_source(shop.spark, merge)


def delta_decides(classic: Any, sql: str) -> tuple[bool, str]:
    """MergeIntoCommand.shouldMaterializeSource on the analyzed command, which does not run."""
    state = classic._jsparkSession.sessionState()
    skip = classic._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    command = state.executePlan(state.sqlParser().parsePlan(sql), skip).analyzed()
    while command.getClass().getSimpleName() != "MergeIntoCommand":
        command = command.children().last()
    insert_only = command.matchedClauses().isEmpty() and command.notMatchedBySourceClauses().isEmpty()
    decided = command.shouldMaterializeSource(classic._jsparkSession, command.source(), insert_only)
    return bool(decided._1()), str(decided._2().toString())


def delta_name(classic: Any, reason: str) -> str:
    """Delta prints its constants in camel case."""
    reasons = classic._jvm.org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSourceReason
    return str(getattr(reasons, reason)().toString())
