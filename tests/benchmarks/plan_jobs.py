"""How many Spark jobs a plan runs: ``python -m tests.benchmarks.plan_jobs``. The goal is six.

Counted by a classic session's status store, on small tables. Those that Delta starts by itself, to load a table's
state, its deletion vectors and the files of a query, are told apart.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.engine.merges import CASES, build_source, build_target

DELTAS = "recordDeltaOperationInternal"
NAMES = ("plain-upsert", "plain-upsert-materialized", "plain-insert-only", "vectors-not-matched-by-source")


def main() -> None:
    from engine import plan
    from engine.model.checks import Checks
    from engine.session.classic import classic_session

    spark: Any = classic_session(Path(tempfile.mkdtemp(prefix="deltamerge-benchmark-")), {})
    store = spark.sparkContext._jsc.sc().statusStore()

    def jobs() -> tuple[int, int]:
        """Ours and Delta's so far."""
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        found = store.jobsList(None)
        every = [found.apply(index) for index in range(found.size())]
        by_delta = sum(DELTAS in job.name() or _description(job).startswith("Delta:") for job in every)
        return len(every) - by_delta, by_delta

    build_source(spark)
    spark.sql("SELECT count(*), max(v) FROM src").collect()
    for case in (case for case in CASES if case.name in NAMES):
        table = case.name.replace("-", "_")
        build_target(spark, table, case.table)
        spark.sql(f"SELECT count(*), max(v) FROM {table} WHERE k > 3").collect()
        for rows, checks in ((0, None), (0, Checks()), (5, Checks())):
            before = jobs()
            plan(spark, case.into(table), rows=rows, checks=checks)
            ours, deltas = (after - one for after, one in zip(jobs(), before, strict=True))
            looks = "" if checks else ", no checks"
            print(f"{case.name:32} {rows} rows shown{looks}: {ours} jobs, and {deltas} by Delta")
    spark.stop()


def _description(job: Any) -> str:
    found = job.description()
    return str(found.get()) if found.isDefined() else ""


if __name__ == "__main__":
    main()
