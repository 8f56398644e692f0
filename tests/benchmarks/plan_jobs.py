"""How many Spark jobs a plan runs: ``python -m tests.benchmarks.plan_jobs``. The goal is six.

Counted by a classic session's status store, on small tables whose state Delta has loaded already.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.engine.merges import CASES, build_source, build_target

NAMES = ("plain-upsert", "plain-upsert-materialized", "plain-insert-only", "vectors-not-matched-by-source")


def main() -> None:
    from engine import plan
    from engine.session.classic import classic_session

    spark: Any = classic_session(Path(tempfile.mkdtemp(prefix="deltamerge-benchmark-")), {})
    store = spark.sparkContext._jsc.sc().statusStore()

    def jobs() -> int:
        return int(store.jobsList(None).size())

    build_source(spark)
    spark.sql("SELECT count(*), max(v) FROM src").collect()
    for case in (case for case in CASES if case.name in NAMES):
        table = case.name.replace("-", "_")
        build_target(spark, table, case.table)
        spark.sql(f"SELECT count(*), max(v) FROM {table} WHERE k > 3").collect()
        before = jobs()
        plan(spark, case.into(table), rows=0)
        without = jobs() - before
        plan(spark, case.into(table), rows=5)
        print(f"{case.name:32} {without} jobs, {jobs() - before - without} with five rows shown")
    spark.stop()


if __name__ == "__main__":
    main()
