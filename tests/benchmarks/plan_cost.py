"""What looking costs, as a ratio of the MERGE itself: ``python -m tests.benchmarks.plan_cost [--runs N] [--scale F]``.

On the demo's feed that rewrites almost every file. A plain MERGE and a plan with its apply run in turns on fresh
copies of the table, on one warm server; medians are compared.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from tests.benchmarks.running import Stopwatch, own_server

COPY = "CREATE OR REPLACE TABLE {table} USING delta PARTITIONED BY (order_date) AS SELECT * FROM demo.orders"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    from engine import apply, plan
    from engine.demo.demo import build_demo

    with own_server() as (session, home):
        spark: Any = session.spark
        made = build_demo(spark, home, scale=options.scale)
        text = next(path for path in made.statements if "rewrite" in path.name).read_text(encoding="utf-8")
        times = Stopwatch()
        for run in range(options.runs + 1):
            for table in ("plain", "looked_at"):
                spark.sql(COPY.format(table=f"demo.{table}")).collect()
            here = text.replace("demo.orders", "demo.plain")
            times.time("MERGE", lambda here=here: spark.sql(here).collect())
            here = text.replace("demo.orders", "demo.looked_at")
            looked = times.time("plan", lambda here=here: plan(spark, here))
            outcome = times.time("apply", lambda looked=looked: apply(spark, looked))
            assert outcome.kept, outcome.deviations
            times["plan + apply"].append(times["plan"][-1] + times["apply"][-1])
            told = ", ".join(f"{what} {every[-1]:.1f} s" for what, every in times.items())
            print(f"run {run}: {told} {looked.timings}")
    # the first one warms the server up
    base, planned, both = (statistics.median(times[what][1:]) for what in ("MERGE", "plan", "plan + apply"))
    print(f"plan / MERGE         {planned / base:.2f}  (goal 0.3)")
    print(f"plan + apply / MERGE {both / base:.2f}  (goal 1.2)")


if __name__ == "__main__":
    main()
