"""What a plan costs as things grow: ``python -m tests.benchmarks.curves [--axis NAME …] [--rounds N]``.

One thing grows and the others stay: the files of the target, those of them that are touched, the rows of the target
(the newest keys merged, and keys all over it), the rows of the source, and the share of the files that are touched.
Seconds are medians on one warm server, of the plan; where the target's rows grow, also of the MERGE alone and of apply.
A table of many files is one file of ten rows, copied under as many names, each a partition, with a log that tells so:
all that it says is true.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.running import Stopwatch, cloned, own_server, write_log

FILES = 40
WARM_UPS = 5
COLUMNS = {"id": "long", "v": "integer", "part": "integer"}
UPDATE = "WHEN MATCHED THEN UPDATE SET v = s.v"
HEAD = (
    "what grows",
    "size",
    "MERGE alone, s",
    "plan, s",
    "of it the join, s",
    "apply, s",
    "files touched",
    "resident, MB",
)


@dataclass(frozen=True)
class Point:
    """One size on an axis. ``build`` makes the target and gives the MERGE, which runs too where it ``is_merged``."""

    axis: str
    size: int
    build: Callable[[Any, Path], str]
    is_merged: bool = False


def many_files(files: int, *, touched: bool) -> Callable[[Any, Path], str]:
    """All files are touched by one key, or ten of them by their partitions."""

    def build(spark: Any, home: Path) -> str:
        table = home / f"copied_{files}"
        if not table.exists():
            _copy(spark, home, table, files)
        source, on = "SELECT 5L AS id, 1 AS v", "t.id = s.id"
        if not touched:
            source, on = f"{source}, CAST(id AS INT) AS part FROM range(10)", f"{on} AND t.part = s.part"
        return f"MERGE INTO delta.`{table}` AS t USING ({source}) AS s ON {on} {UPDATE}"

    return build


def _copy(spark: Any, home: Path, table: Path, files: int) -> None:
    seed = home / "seed"
    if not seed.exists():
        spark.sql(
            f"CREATE TABLE delta.`{seed}` USING delta AS SELECT id, CAST(0 AS INT) AS v FROM range(0, 10, 1, 1)"
        ).collect()
    (made,) = seed.glob("*.parquet")
    content = made.read_bytes()
    bounds = {"minValues": {"id": 0, "v": 0}, "maxValues": {"id": 9, "v": 0}}
    stats = json.dumps({"numRecords": 10, **bounds, "nullCount": {"id": 0, "v": 0}})
    adds: list[dict[str, object]] = []
    for number in range(files):
        path = f"part={number}/part-{number:06}.snappy.parquet"
        (table / path).parent.mkdir(parents=True)
        (table / path).write_bytes(content)
        adds.append({"path": path, "partitionValues": {"part": str(number)}, "size": len(content), "stats": stats})
    write_log(table, COLUMNS, "part", adds)


def target_rows(rows: int, source: str) -> Callable[[Any, Path], str]:
    def build(spark: Any, home: Path) -> str:
        table = home / f"rows_{rows}"
        if not table.exists():
            made = f"SELECT id, CAST(0 AS INT) AS v FROM range(0, {rows}, 1, {FILES})"
            spark.sql(f"CREATE TABLE delta.`{table}` USING delta AS {made}").collect()
        insert = "WHEN NOT MATCHED THEN INSERT *"
        return f"MERGE INTO delta.`{table}` AS t USING ({source}) AS s ON t.id = s.id {UPDATE} {insert}"

    return build


def points() -> Iterator[Point]:
    for files in (10, 100, 1_000, 10_000, 100_000):
        yield Point("files of the target, ten touched", files, many_files(files, touched=False))
    for files in (10, 100, 1_000, 10_000, 100_000):
        yield Point("files of the target, all touched", files, many_files(files, touched=True))
    for rows in (10**power for power in range(4, 9)):
        newest = f"SELECT id, 1 AS v FROM range({rows - 1000}, {rows + 1000})"
        yield Point("rows of the target, the newest keys", rows, target_rows(rows, newest), True)
    for rows in (10**power for power in range(4, 9)):
        every = f"SELECT id, 1 AS v FROM range(0, {rows}, {rows // 1000})"
        yield Point("rows of the target, keys all over it", rows, target_rows(rows, every), True)
    for rows in (10**power for power in range(2, 8)):
        every = f"SELECT id, 1 AS v FROM range(0, 10000000, {10**7 // rows})"
        yield Point("rows of the source, all over 10,000,000", rows, target_rows(10**7, every))
    for share in (1, 5, 10, 20, 40):
        first = f"SELECT id * {share} AS id, 1 AS v FROM range({10**7 // FILES})"
        yield Point(f"files touched of {FILES} with 10,000,000 rows", share, target_rows(10**7, first))


def warm_up(spark: Any, home: Path) -> None:
    """Plans of a small MERGE, for a new server is half as quick at its first few."""
    from engine import plan

    text = target_rows(10_000, "SELECT id, 1 AS v FROM range(9000, 11000)")(spark, home)
    for _ in range(WARM_UPS):
        plan(spark, text)


def measured(spark: Any, home: Path, point: Point, rounds: int) -> tuple[str, ...]:
    """The cells of a point's row."""
    from engine import apply, plan

    text = point.build(spark, home)
    times = Stopwatch()
    if point.is_merged:
        plan(spark, text)  # warms up
        named = f"delta.`{text.split('`')[1]}`"
        for _ in range(rounds):
            merge = text.replace(named, cloned(spark, named, "cloned"))
            times.time("alone", lambda merge=merge: spark.sql(merge).collect())
            cloned(spark, named, "cloned")
            made = times.time("plan", lambda merge=merge: plan(spark, merge))
            times["join"].append(made.timings["find_touched_files"] / 1000)
            times.time("apply", lambda made=made: apply(spark, made))
    else:
        plan(spark, text)  # reads a log that is new, and warms up
        for _ in range(rounds):
            made = times.time("plan", lambda: plan(spark, text))
            times["join"].append(made.timings["find_touched_files"] / 1000)
    alone, planned, joined, applied = (
        f"{statistics.median(times[what]):.2f}" if times[what] else "" for what in ("alone", "plan", "join", "apply")
    )
    touched, resident = len(made.find_touched_files.files), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return (point.axis, f"{point.size:,}", alone, planned, joined, applied, f"{touched:,}", f"{resident}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axis", action="append", default=[], help="how the name of an axis begins; all without it")
    parser.add_argument("--most", type=int, default=10**8, help="no larger size than that")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with own_server() as (session, home):
        warm_up(session.spark, home)
        print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
        for point in points():
            if point.size <= options.most and any(point.axis.startswith(one) for one in options.axis or [""]):
                print(f"| {' | '.join(measured(session.spark, home, point, options.rounds))} |", flush=True)


if __name__ == "__main__":
    main()
