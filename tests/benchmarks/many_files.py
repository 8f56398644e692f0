"""What a table of many files costs to look at: ``python -m tests.benchmarks.many_files [--files N] [--rounds N]``.

The log is written here, an AddFile with statistics for each file, and no data: only the log is read. On one warm server
the scan explorer is asked, and a MERGE is planned as far as what costs nothing, decision and data skipping: with the
table's files listed anew, and as they are known from the last time. Goals: the explorer's first answer 3 s, decision
and skipping 2 s.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import suppress

from tests.benchmarks.running import own_server, write_log

DAYS = 50
COLUMNS = {"id": "long", "v": "string", "day": "date"}
PREDICATE = "id BETWEEN 400000 AND 900000 AND day >= DATE'2026-01-04'"
# an id of every 25th file
MERGE = (
    "MERGE INTO {table} AS t USING (SELECT id * 25000 AS id, 'x' AS v FROM range(40)) AS s ON t.id = s.id "
    "AND t.day = DATE'2026-01-03' WHEN MATCHED THEN UPDATE SET v = s.v"
)


def files_of_days(files: int) -> Iterator[dict[str, object]]:
    """``files`` of a thousand ids each, by turns in one of the days."""
    for number in range(files):
        day = f"2026-{number % DAYS // 28 + 1:02}-{number % DAYS % 28 + 1:02}"
        low = number * 1000
        bounds = {"minValues": {"id": low, "v": "a"}, "maxValues": {"id": low + 999, "v": "z"}}
        yield {
            "path": f"day={day}/part-{number:06}.snappy.parquet",
            "partitionValues": {"day": day},
            "size": 20_000_000 + number,
            "stats": json.dumps({"numRecords": 1000, **bounds, "nullCount": {"id": 0, "v": 0}}),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    from engine.explore.scan_explorer import explore
    from engine.model.errors import EngineError
    from engine.model.progress import Progress
    from engine.plan_merge import plan
    from engine.table import log_cache

    measured: dict[str, list[float]] = {}

    def note(what: str, listed: str, began: float) -> None:
        measured.setdefault(f"{what}, {listed}", []).append(time.monotonic() - began)

    with own_server() as (session, home):
        path = home / "many"
        write_log(path, COLUMNS, "day", files_of_days(options.files))
        table = f"delta.`{path}`"
        for number in range(options.rounds + 1):
            for listed in ("files listed anew", "files known"):
                if listed != "files known":
                    log_cache.forget()
                began = time.monotonic()
                explore(session.spark, table, PREDICATE)
                note("explorer's answer", listed, began)
            for listed in ("files listed anew", "files known"):
                if listed != "files known":
                    log_cache.forget()
                began = time.monotonic()

                def told(step: Progress, began: float = began, listed: str = listed) -> None:
                    for kind, answer in (("decision", step.decision), ("skipping", step.scan)):
                        if answer is not None:
                            note(kind, listed, began)

                with suppress(EngineError):  # there is no data behind the log
                    plan(session.spark, MERGE.format(table=table), rows=0, on_progress=told)
            print(f"round {number}:", *(f"{what} {seconds[-1]:.2f} s;" for what, seconds in measured.items()))
    print(f"{options.files} files, median of {options.rounds} rounds after a first:")
    for what, seconds in measured.items():
        print(f"  {what:40} {statistics.median(seconds[1:]):.2f} s, at best {min(seconds[1:]):.2f} s")


if __name__ == "__main__":
    main()
