"""Plain MERGE, plan and apply side by side: ``python -m tests.benchmarks.merge_cases [--rows N] [--large N]``.

Every case runs in turns on fresh shallow clones on warm servers: the MERGE alone on one with Spark's stock settings, on
one with ours, and there plan then apply; delta-rs merges a copy of the table when ``deltalake`` is installed. Medians
with their spread are printed as Markdown and written as JSON; the first case of each kind is run once before, to warm
up.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
from pathlib import Path
from typing import Any

from tests.benchmarks.cases import Case, into_large, of_delta
from tests.benchmarks.running import Stopwatch, cloned, own_server

STOCK = {
    "spark.sql.shuffle.partitions": "200",
    "spark.databricks.delta.snapshotPartitions": "50",
    "spark.sql.codegen.cache.maxEntries": "100",
}
# group: (what is divided by the plain MERGE, must, aim)
GOALS = {
    "rewrite-heavy, contiguous keys": ("plan", 0.12, 0.07),
    "rewrite-heavy, random keys": ("plan", 0.25, 0.15),
    "Delta's 16 cases": ("plan + apply", 1.15, 1.0),
    "clustered or partitioned keys": ("plan + apply", 0.9, 0.7),
    "costly source": ("plan + apply", 1.05, 0.9),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=5_000_000, help="of web_returns, for Delta's cases; 0 leaves them out"
    )
    parser.add_argument("--large", type=int, default=20_000_000, help="of the large tables; 0 leaves them out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("merge_cases.json"))
    options = parser.parse_args()
    with own_server() as (ours, home), own_server(STOCK) as (stock, _):
        found: dict[Case, Stopwatch] = {}
        for rows, build in ((options.rows, of_delta), (options.large, into_large)):
            cases = build(ours.spark, rows) if rows else []
            show_tables(ours.spark, stock.spark)
            for case in cases[:1]:
                timed(case, ours.spark, stock.spark, home, 1)
            for case in cases:
                found[case] = timed(case, ours.spark, stock.spark, home, options.rounds)
                print(case.name, *(f"{arm} {_cell(every)};" for arm, every in found[case].items()), flush=True)
        versions = {"spark": ours.spark.version, "python": platform.python_version(), "cores": os.cpu_count()}
    options.json.write_text(
        json.dumps({**versions, **vars(options), "json": None, "cases": [
            {"name": case.name, "group": case.group, "seconds": times} for case, times in found.items()
        ]}, indent=1)
    )  # fmt: skip
    print(report(found))


def show_tables(ours: Any, stock: Any) -> None:
    """Give the tables of one server to the other, under the same names."""
    known = {row["tableName"] for row in stock.sql("SHOW TABLES").collect()}
    for row in ours.sql("SHOW TABLES").collect():
        if row["tableName"] not in known:
            location = _path(ours, row["tableName"])
            stock.sql(f"CREATE TABLE {row['tableName']} USING delta LOCATION '{location}'").collect()


def timed(case: Case, ours: Any, stock: Any, home: Path, rounds: int) -> Stopwatch:
    """Seconds of each arm in each round."""
    from engine import apply, plan

    times = Stopwatch()
    for _ in range(rounds):
        for arm, spark in (("stock", stock), ("plain", ours)):
            text = case.sql.format(target=cloned(spark, case.table, f"{case.table}_{arm}"))
            times.time(arm, lambda text=text, spark=spark: spark.sql(text).collect())
        text = case.sql.format(target=cloned(ours, case.table, f"{case.table}_planned"))
        looked = times.time("plan", lambda text=text: plan(ours, text))
        outcome = times.time("apply", lambda looked=looked: apply(ours, looked))
        assert outcome.kept, outcome.deviations
        rust = delta_rs(case, ours, home)
        if rust:
            times.time("delta-rs", rust)
    times["plan + apply"] = [one + other for one, other in zip(times["plan"], times["apply"], strict=True)]
    return times


def delta_rs(case: Case, spark: Any, home: Path) -> Any:
    """The same merge by delta-rs into a copy of the table; None where it is not installed or the source is a query."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        return None
    source = case.sql.split("USING ", 1)[1].split(" s ON ", 1)[0]
    if source.startswith("("):
        return None
    at = {name: _path(spark, name) for name in (case.table, source)}
    copy = home / "delta-rs"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(at[case.table], copy)
    on = case.sql.split(" ON ", 1)[1].split(" WHEN ", 1)[0]

    def merge() -> None:
        merger = DeltaTable(str(copy)).merge(
            DeltaTable(at[source]).to_pyarrow_table(), predicate=on, source_alias="s", target_alias="t"
        )
        clauses = case.sql.split(" WHEN ", 1)[1]
        if "MATCHED THEN DELETE" in clauses:
            merger = merger.when_matched_delete()
        if "UPDATE SET *" in clauses:
            merger = merger.when_matched_update_all()
        elif "UPDATE SET" in clauses:
            merger = merger.when_matched_update({"quantity": "s.quantity", "note": "s.note"})
        if "NOT MATCHED" in clauses:
            merger = merger.when_not_matched_insert_all()
        merger.execute()

    return merge


def _path(spark: Any, table: str) -> str:
    location = str(spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"])
    return location.removeprefix("file:")


def report(found: dict[Case, Stopwatch]) -> str:
    """Two tables: the goals, and each case in seconds (median, and the slowest less the quickest)."""
    lines = ["| goal | ratio | must | aim |", "|---|---|---|---|"]
    for group, (arm, must, aim) in GOALS.items():
        mine = [times for case, times in found.items() if case.group == group]
        for base in ("plain", "stock"):
            if mine:
                ratio = sum(statistics.median(one[arm]) for one in mine) / sum(
                    statistics.median(one[base]) for one in mine
                )
                lines.append(f"| {arm} / {base} MERGE, {group} | {ratio:.2f} | {must} | {aim} |")
    arms = ("stock", "plain", "plan", "apply", "plan + apply", "delta-rs")
    lines += ["", f"| seconds | {' | '.join(arms)} |", "|---" * (len(arms) + 1) + "|"]
    for case, times in found.items():
        cells = (_cell(times[arm]) if times.get(arm) else "" for arm in arms)
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} ±{max(seconds) - min(seconds):.2f}"


if __name__ == "__main__":
    main()
