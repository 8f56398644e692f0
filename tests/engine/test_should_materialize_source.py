"""The decision is Delta's own: each shape of source is given to MergeIntoCommand as well, in the JVM (py4j)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from engine.analyze import analyze
from engine.parse import parse_merge
from engine.should_materialize_source import should_materialize_source

UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
INSERT_ONLY = "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
MODE = "spark.databricks.delta.merge.materializeSource"


@dataclass(frozen=True)
class Shape:
    name: str
    source: str
    clauses: str = UPSERT
    confs: tuple[tuple[str, str], ...] = ()
    prefix: str = ""

    @property
    def sql(self) -> str:
        return f"{self.prefix}MERGE INTO tgt AS t USING {self.source} AS s ON t.id = s.id {self.clauses}"


SHAPES = (
    # rule 1 and 2: the mode decides alone
    Shape("mode_all", "src", confs=((MODE, "all"),)),
    Shape("mode_none_over_parquet", "pq", confs=((MODE, "none"),)),
    # rule 3: an insert-only merge reads its source once
    Shape("insert_only", "pq", INSERT_ONLY),
    Shape(
        "insert_only_without_its_optimization",
        "pq",
        INSERT_ONLY,
        (("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled", "false"),),
    ),
    # rule 4: any scan that is not Delta's
    Shape("a_delta_table", "src"),
    Shape("a_delta_table_at_a_version", "(SELECT * FROM src VERSION AS OF 0)"),
    Shape("a_delta_path", "{path}"),
    Shape("a_parquet_table", "pq"),
    Shape("a_parquet_path", "(SELECT * FROM parquet.`{parquet_path}`)"),
    Shape("literal_rows", "(SELECT * FROM VALUES (1L, 'a'), (2L, 'b') AS x(id, v))"),
    Shape("one_literal_row", "(SELECT 1L AS id, 'a' AS v)"),
    Shape("range", "(SELECT id, 'a' AS v FROM range(5))"),
    Shape("delta_and_parquet", "(SELECT * FROM src UNION ALL SELECT * FROM pq)"),
    Shape("delta_joined_with_parquet", "(SELECT src.id, pq.v FROM src JOIN pq ON src.id = pq.id)"),
    Shape("parquet_that_is_filtered_away", "(SELECT * FROM src UNION ALL SELECT * FROM pq WHERE false)"),
    Shape("an_empty_filter_over_delta", "(SELECT * FROM src WHERE false)"),
    Shape("an_in_subquery_over_parquet", "(SELECT * FROM src WHERE id IN (SELECT id FROM pq))"),
    Shape("a_scalar_subquery_over_parquet", "(SELECT id, v FROM src WHERE id > (SELECT min(id) FROM pq))"),
    Shape("a_temporary_view_over_delta", "delta_view"),
    Shape("a_temporary_view_over_parquet", "parquet_view"),
    # rule 5: operators that may give other rows the second time
    Shape("a_filter", "(SELECT * FROM src WHERE id > 3)"),
    Shape("a_projection", "(SELECT id + 1 AS id, upper(v) AS v FROM src)"),
    Shape("distinct", "(SELECT DISTINCT id, v FROM src)"),
    Shape("union_all", "(SELECT * FROM src UNION ALL SELECT * FROM src)"),
    Shape("union_distinct", "(SELECT * FROM src UNION SELECT * FROM src)"),
    Shape("group_by", "(SELECT id, max(v) AS v FROM src GROUP BY id)"),
    Shape(
        "a_window",
        "(SELECT id, v FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY v) n FROM src) WHERE n = 1)",
    ),
    Shape("order_by", "(SELECT * FROM src ORDER BY id)"),
    Shape("limit", "(SELECT * FROM src LIMIT 3)"),
    Shape("a_join", "(SELECT a.id, b.v FROM src a JOIN src b ON a.id = b.id)"),
    Shape("except", "(SELECT * FROM src EXCEPT SELECT * FROM src WHERE id = 1)"),
    Shape("intersect", "(SELECT * FROM src INTERSECT SELECT * FROM src)"),
    Shape("explode", "(SELECT id, explode(array(v, 'x')) AS v FROM src)"),
    Shape("lateral_view", "(SELECT id, e AS v FROM src LATERAL VIEW explode(array(v)) x AS e)"),
    Shape("tablesample", "(SELECT * FROM src TABLESAMPLE (50 PERCENT))"),
    Shape("rand", "(SELECT id, CAST(rand() AS STRING) AS v FROM src)"),
    Shape("uuid", "(SELECT id, uuid() AS v FROM src)"),
    Shape("current_timestamp", "(SELECT id, CAST(current_timestamp() AS STRING) AS v FROM src)"),
    Shape("a_literal_that_looks_like_rand", "(SELECT id, 'rand()' AS v FROM src)"),
    Shape("input_file_name", "(SELECT id, input_file_name() AS v FROM src)"),
    Shape("a_hint", "(SELECT /*+ BROADCAST(src) */ * FROM src)"),
    Shape("an_in_subquery_over_delta", "(SELECT * FROM src WHERE id IN (SELECT id FROM src))"),
    Shape("exists", "(SELECT * FROM src a WHERE EXISTS (SELECT 1 FROM src b WHERE b.id = a.id))"),
    Shape("a_cte", "c", prefix="WITH c AS (SELECT * FROM src) "),
    Shape("a_cte_inside", "(WITH c AS (SELECT * FROM src WHERE id > 1) SELECT * FROM c)"),
    # rule 6: unreadable files may be left out of one read
    Shape("ignoring_missing_files", "src", confs=(("spark.sql.files.ignoreMissingFiles", "true"),)),
    Shape("ignoring_corrupt_files", "src", confs=(("spark.sql.files.ignoreCorruptFiles", "true"),)),
    # rule 7: functions of the user
    Shape("an_sql_function", "(SELECT id, plus_x(v) AS v FROM src)"),
    # rule 8: cached data does not pin its version
    Shape("cached", "(SELECT * FROM cached_src)"),
)


@pytest.fixture(scope="module")
def shop(classic: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, dict[str, str]]]:
    """A classic session with a target, a Delta and a Parquet source; the paths that shapes may name."""
    places = {"path": tmp_path_factory.mktemp("delta"), "parquet_path": tmp_path_factory.mktemp("parquet") / "p"}
    for sql in (
        "CREATE SCHEMA decisions",
        "USE decisions",
        "CREATE TABLE tgt (id BIGINT, v STRING) USING delta",
        "CREATE TABLE src USING delta AS SELECT id, concat('v', id) AS v FROM range(10)",
        "CREATE TABLE cached_src USING delta AS SELECT * FROM src",
        f"CREATE TABLE delta.`{places['path']}` USING delta AS SELECT * FROM src",
        "CREATE TABLE pq USING parquet AS SELECT * FROM src",
        f"CREATE TABLE at_a_path USING parquet LOCATION '{places['parquet_path']}' AS SELECT * FROM src",
        "CREATE TEMPORARY VIEW delta_view AS SELECT * FROM src WHERE id > 1",
        "CREATE TEMPORARY VIEW parquet_view AS SELECT * FROM pq",
        "CREATE TEMPORARY FUNCTION plus_x(a STRING) RETURNS STRING RETURN concat(a, 'x')",
        "CACHE TABLE cached_src",
    ):
        classic.sql(sql)
    yield classic, {"path": f"delta.`{places['path']}`", "parquet_path": str(places["parquet_path"])}
    classic.sql("USE default")
    classic.sql("DROP SCHEMA decisions CASCADE")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_decision_is_deltas_own(shop: tuple[Any, dict[str, str]], shape: Shape) -> None:
    classic, places = shop
    sql = shape.sql.replace("{path}", places["path"]).replace("{parquet_path}", places["parquet_path"])
    for key, value in shape.confs:
        classic.conf.set(key, value)
    try:
        materialize, reason = delta_decides(classic, sql)
        decision = should_materialize_source(classic, analyze(classic, parse_merge(sql)))
    finally:
        for key, _ in shape.confs:
            classic.conf.unset(key)
    assert (decision.materialize, delta_name(classic, decision.reason)) == (materialize, reason), decision.because


def test_the_sentence_names_what_caused_it(shop: tuple[Any, dict[str, str]]) -> None:
    classic, _ = shop

    def because(source: str) -> str:
        sql = f"MERGE INTO tgt AS t USING {source} AS s ON t.id = s.id {UPSERT}"
        return should_materialize_source(classic, analyze(classic, parse_merge(sql))).because

    assert "decisions.pq (parquet)" in because("pq")
    assert "GROUP BY" in because("(SELECT id, max(v) AS v FROM src GROUP BY id)")
    assert "rand()" in because("(SELECT id, CAST(rand() AS STRING) AS v FROM src)")


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
