"""What looking costs, as a ratio of the MERGE itself: ``python -m tests.benchmarks.plan_cost [--runs N] [--scale F]``.

On the demo's feed that rewrites almost every file. A plain MERGE and a plan with its apply run in turns on fresh
copies of the table, on one warm server; medians are compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.running import own_server

COPY = "CREATE OR REPLACE TABLE {table} USING delta PARTITIONED BY (order_date) AS SELECT * FROM demo.orders"


def seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    from engine import apply, plan
    from engine.demo import build_demo

    with own_server() as (session, home):
        spark: Any = session.spark
        made = build_demo(spark, home, scale=options.scale)
        text = next(path for path in made.statements if "rewrite" in path.name).read_text(encoding="utf-8")
        plain, planned, both = [], [], []
        for run in range(options.runs + 1):
            for table in ("plain", "looked_at"):
                spark.sql(COPY.format(table=f"demo.{table}")).collect()
            here = text.replace("demo.orders", "demo.plain")
            merge = seconds(lambda here=here: spark.sql(here).collect())  # type: ignore[misc]
            here = text.replace("demo.orders", "demo.looked_at")
            began = time.monotonic()
            looked = plan(spark, here)
            look = time.monotonic() - began
            outcome = apply(spark, looked)
            total = time.monotonic() - began
            assert outcome.kept, outcome.deviations
            print(f"run {run}: MERGE {merge:.1f} s, plan {look:.1f} s, plan + apply {total:.1f} s {looked.timings}")
            if run:  # the first one warms the server up
                plain.append(merge)
                planned.append(look)
                both.append(total)
    base = statistics.median(plain)
    print(f"plan / MERGE         {statistics.median(planned) / base:.2f}  (goal 0.3)")
    print(f"plan + apply / MERGE {statistics.median(both) / base:.2f}  (goal 1.2)")


if __name__ == "__main__":
    main()
