"""What looking for silent faults costs, as a share of the plan: ``python -m tests.benchmarks.checks [--rows N]``.

Each feed is planned by turns with the checks and without, on one warm server. Compared are the medians of the seconds,
and of the CPU time of server and client together, which other work on the machine disturbs less. The checks have a
phase of their own, whose share is seen within one plan, and add columns to the join. KEY_EXISTS_OUTSIDE_ON
reads the target again and has a limit of its own (max_bytes), so it is off.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from tests.benchmarks.running import Stopwatch, own_server

TABLE, FILES, GOAL = "checked", 20, 0.15
COLUMNS = (
    "id, CAST(id % 1000 AS INT) AS quantity, concat('note ', id % 5000) AS note, CAST(id % 977 AS DECIMAL(9,2)) "
    "AS price, TIMESTAMP'2026-01-01' + make_dt_interval(0, 0, 0, id % 9999) AS updated_at"
)
UPSERT = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
CLEAN = "id + 1 AS quantity, note, price, updated_at + INTERVAL 1 DAY AS updated_at"
FAULTY = (
    "quantity, note, price, CASE WHEN id % 3 = 0 THEN updated_at - INTERVAL 1 DAY ELSE updated_at END AS updated_at"
)


@dataclass(frozen=True)
class Feed:
    """``rows`` of the source, as SQL, and the clauses that merge it."""

    name: str
    rows: str
    clauses: str = UPSERT


def feeds(rows: int, source: int) -> list[Feed]:
    """A tenth of each source is new, the rest is at the end of the table, or (scattered) all over it."""
    old, new = source - source // 10, source // 10
    last = f"(SELECT {COLUMNS} FROM range({rows - old}, {rows + new}))"
    scattered = f"(SELECT {COLUMNS} FROM (SELECT id * {rows // source} AS id FROM range({source})))"
    clean, faulty = f"SELECT id, {CLEAN} FROM", f"SELECT if(id % 10 = 7, NULL, id DIV 2 * 2) AS id, {FAULTY} FROM"
    return [
        Feed("upsert of the newest rows", f"{clean} {last}"),
        Feed("upsert all over the table", f"{clean} {scattered}"),
        Feed("upsert that changes nothing or goes back", f"SELECT id, {FAULTY} FROM {last}"),
        Feed("insert only", f"{clean} {last}", "WHEN NOT MATCHED THEN INSERT *"),
        Feed("insert only, NULL keys and duplicates", f"{faulty} {last}", "WHEN NOT MATCHED THEN INSERT *"),
        Feed("delete what is absent", f"{clean} {scattered}", "WHEN NOT MATCHED BY SOURCE THEN DELETE"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000, help="of the table")
    parser.add_argument("--source", type=int, default=300_000, help="rows of each source")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--feeds", type=int, nargs=2, default=(0, None), help="From which feed to which, from 0.")
    options = parser.parse_args()
    with own_server() as (session, home):
        session.spark.sql(
            f"CREATE TABLE {TABLE} USING delta AS SELECT {COLUMNS} FROM range(0, {options.rows}, 1, {FILES})"
        ).collect()
        print("| feed | plan | with checks | more time | more CPU | of it their own phase | statements | found |")
        print("|---|---|---|---|---|---|---|---|")
        for feed in feeds(options.rows, options.source)[slice(*options.feeds)]:
            print(_line(feed, session.spark, home, options.rounds), flush=True)
    print(f"The goal is {GOAL}.")


def _line(feed: Feed, spark: Any, home: Path, rounds: int) -> str:
    from engine import plan
    from engine.merge.prepare_source import free_source
    from engine.model.checks import Checks

    sql = f"MERGE INTO {TABLE} AS t USING ({feed.rows}) AS s ON t.id = s.id {feed.clauses}"
    arms = {"plan": None, "with checks": Checks(off=("KEY_EXISTS_OUTSIDE_ON",))}
    times, cpu, phase = Stopwatch(), Stopwatch(), list[float]()
    sent, found = dict.fromkeys(arms, 0), ""
    for number in range(rounds + 1):
        # each arm comes first by turns: what the one leaves in the caches helps the other
        for arm, checks in list(arms.items())[:: 1 if number % 2 else -1]:
            began = _cpu(home)
            with mock.patch.object(type(spark), "sql", autospec=True, side_effect=type(spark).sql) as counted:
                looked = times.time(arm, lambda checks=checks: plan(spark, sql, rows=0, checks=checks))
            sent[arm] = counted.call_count
            cpu[arm].append(_cpu(home) - began)
            assert looked.refused is None, looked.refused
            free_source(spark, looked.session.source_view)
            if checks:
                own = looked.timings["silent_faults"] / 1000
                phase.append(own / (times[arm][-1] - own))
                found = ", ".join(f"{one.code} {one.count:,}" for one in looked.warnings if one.count is not None)
    # the first round warms the server up
    plain, checked = (statistics.median(times[arm][1:]) for arm in arms)
    plain_cpu, checked_cpu = (statistics.median(cpu[arm][1:]) for arm in arms)
    shares = f"{checked / plain - 1:+.0%} | {checked_cpu / plain_cpu - 1:+.0%} | {statistics.median(phase[1:]):+.0%}"
    statements = " → ".join(map(str, sent.values()))
    return f"| {feed.name} | {plain:.2f} s | {checked:.2f} s | {shares} | {statements} | {found or 'nothing'} |"


def _cpu(home: Path) -> float:
    """Seconds of CPU time of the server and of this process so far."""
    server = json.loads((home / "server.json").read_text())["pid"]
    # after the name of the program, which may have blanks: user and system time are the 12th and the 13th
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
