"""On a real standalone cluster: merges are planned and applied, and a worker dies with the frozen source's blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import REWRITING, apply
from engine.model.errors import StalePlanError
from engine.model.operation import Outcome
from engine.model.plan import Plan
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.session.connect import connect
from engine.session.server import stop_server
from tests.cluster.standalone import Cluster, kill_worker, standalone
from tests.conftest import TEST_CONFS

pytestmark = pytest.mark.thorough
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
FROM_PARQUET = f"MERGE INTO t USING pq s ON t.id = s.id {UPSERT}"
RANDOM = f"MERGE INTO t USING (SELECT id, CAST(rand() * 9 AS INT) AS v FROM pq) s ON t.id = s.id {UPSERT}"
EXPECTED = {id: (7 if id >= 30 else 0) for id in range(50)}


@pytest.fixture
def on_cluster(tmp_path: Path) -> Iterator[tuple[Cluster, Any]]:
    home = tmp_path / "home"
    (tmp_path / "cluster").mkdir()
    with standalone(tmp_path / "cluster") as cluster:
        try:
            with connect(cluster.url, home=home, confs=TEST_CONFS, progress=print) as session:
                spark = session.spark
                spark.sql("CREATE TABLE t USING delta AS SELECT id, 0 AS v FROM range(0, 40, 1, 4)")
                spark.sql("CREATE TABLE pq USING parquet AS SELECT id, 7 AS v FROM range(30, 50, 1, 4)")
                yield cluster, spark
        finally:
            stop_server(home)


def rows(spark: Any) -> dict[int, int]:
    found = spark.sql("SELECT id, v FROM t").collect()
    assert len({row.id for row in found}) == len(found)
    return {row.id: row.v for row in found}


def planned(spark: Any, sql: str) -> Plan:
    looked = plan(spark, sql, rows=0)
    assert looked.decision.materialize
    assert (looked.promise["numTargetRowsUpdated"], looked.promise["numTargetRowsInserted"]) == (10, 10)
    return looked


def test_a_merge_is_planned_and_applied_on_a_cluster(on_cluster: tuple[Cluster, Any]) -> None:
    _, spark = on_cluster
    outcome = apply(spark, planned(spark, FROM_PARQUET))
    assert outcome.kept, outcome.deviations
    assert rows(spark) == EXPECTED


def test_a_worker_lost_between_plan_and_apply_gives_the_same_rows(on_cluster: tuple[Cluster, Any]) -> None:
    cluster, spark = on_cluster
    looked = planned(spark, FROM_PARQUET)
    kill_worker(cluster)
    outcome = apply(spark, looked)
    assert outcome.kept, outcome.deviations
    assert rows(spark) == EXPECTED


def test_a_worker_lost_while_the_merge_runs_gives_the_same_rows(on_cluster: tuple[Cluster, Any]) -> None:
    cluster, spark = on_cluster
    outcome = killed_while_it_runs(cluster, spark, planned(spark, FROM_PARQUET))
    assert outcome.kept, outcome.deviations
    assert rows(spark) == EXPECTED


def test_a_source_that_cannot_be_made_again_is_refused_where_it_is_lost(
    on_cluster: tuple[Cluster, Any],
) -> None:
    cluster, spark = on_cluster
    looked = planned(spark, RANDOM)
    kill_worker(cluster)
    with pytest.raises(StalePlanError):
        apply(spark, looked)
    assert rows(spark) == dict.fromkeys(range(40), 0)


def killed_while_it_runs(cluster: Cluster, spark: Any, looked: Plan) -> Outcome:
    def at(step: Progress) -> None:
        if step.phase.startswith(REWRITING) and len(cluster.workers) == 2:
            kill_worker(cluster)

    return apply(spark, looked, on_progress=at)
