"""A table of 100 million rows on S3, merged by a standalone cluster that loses a worker in each phase."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from engine.commit.apply_plan import REWRITING, apply
from engine.model.plan import Plan
from engine.model.progress import OnProgress, Progress
from engine.plan_merge import plan
from engine.session.connect import connect
from engine.session.server import find_server, stop_server
from tests.cluster.standalone import Cluster, add_worker, kill_worker, standalone
from tests.lakehouse.conftest import keys_of
from tests.lakehouse.servers import minio

pytestmark = [pytest.mark.thorough, pytest.mark.minio]
ROWS, FILES, TOUCHED = 100_000_000, 40, 10
MERGED, INSERTED = 200_000, 1_000
TABLE, FEED = "delta.`s3a://big/t`", "parquet.`s3a://big/feed`"
MERGE = (
    f"MERGE INTO {TABLE} t USING (SELECT if(id < 0, id - {{}}, id) AS id, {{}} AS v FROM {FEED}) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
)
INTO_A_PHASE = 2.0
"""Seconds after a phase began."""
BETWEEN = "between plan and apply"
PHASES = ("prepare source", "find touched files", BETWEEN, REWRITING)


@pytest.fixture(scope="module")
def on_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Any]]:
    folder = tmp_path_factory.mktemp("big")
    for name in ("store", "cluster"):
        (folder / name).mkdir()
    with pytest.MonkeyPatch.context() as patched, minio(folder / "store") as store:
        assert store.request("PUT", "/big")[0] == 200
        for name, value in keys_of(store).items():
            patched.setenv(name, value)
        with standalone(folder / "cluster") as cluster:
            home = folder / "home"
            try:
                with connect(cluster.url, home=home, store="s3", progress=print) as session:
                    session.spark.sql(
                        f"CREATE TABLE {TABLE} USING delta AS SELECT id, 0 AS v FROM range(0, {ROWS}, 1, {FILES})"
                    )
                    step = ROWS * TOUCHED // FILES // MERGED
                    feed = (
                        f"SELECT id * {step} AS id FROM range({MERGED}) UNION ALL SELECT -1 - id FROM range({INSERTED})"
                    )
                    session.spark.sql(feed).write.parquet("s3a://big/feed")
                    yield cluster, session.spark
                    print(f"\nthe driver took {peak_mib(home)} MiB at most")
            finally:
                stop_server(home)


@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_lost_in_a_phase_changes_no_row(on_cluster: tuple[Cluster, Any], phase: str) -> None:
    cluster, spark = on_cluster
    turn = PHASES.index(phase)
    losing = loses_a_worker(cluster, phase)
    looked: Plan = plan(spark, MERGE.format(turn * INSERTED, turn + 1), rows=0, on_progress=losing)
    if phase == BETWEEN:
        kill_worker(cluster)
    outcome = apply(spark, looked, on_progress=losing)
    assert len(cluster.workers) == 1, "it was lost"
    add_worker(cluster)
    print(f"\n{phase}: plan {looked.timings}, apply {outcome.duration_ms} ms")
    assert outcome.kept, outcome.deviations
    promise = looked.promise
    assert (promise["numTargetRowsUpdated"], promise["numTargetRowsInserted"]) == (MERGED, INSERTED)
    count, last, values = spark.sql(f"SELECT count(*), count_if(v = {turn + 1}), sum(v) FROM {TABLE}").collect()[0]
    inserted = INSERTED * sum(range(1, turn + 2))
    assert (count, last) == (ROWS + INSERTED * (turn + 1), MERGED + INSERTED)
    assert values == MERGED * (turn + 1) + inserted


def peak_mib(home: Path) -> int:
    """The most memory that the driver had resident."""
    info = find_server(home)
    assert info is not None
    status = Path(f"/proc/{info.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) // 1024


def loses_a_worker(cluster: Cluster, phase: str) -> OnProgress:
    """Kills a worker while ``phase`` runs."""
    killed: list[Timer] = []

    def at(step: Progress) -> None:
        if step.phase.startswith(phase) and not killed:
            killed.append(Timer(INTO_A_PHASE, kill_worker, [cluster]))
            killed[0].start()

    return at
