"""What a plan costs on an object store: ``python -m tests.benchmarks.store [--latency MS …] [--rounds N]``.

A real MinIO, which names each request to a webhook of ours, behind a proxy that delays each request. Of a warm plan,
of the plain MERGE of the same statement and of the apply of a plan: requests by what they ask and of which object,
and seconds. ``--files N`` is how many each table has. ``--commits N`` gives each so many more commits, none in a
checkpoint, and looks at its first plan too. Where DELTAMERGE_MINIO names no binary, MinIO is built with Go.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.running import own_server
from tests.lakehouse.conftest import keys_of
from tests.lakehouse.s3 import Store
from tests.lakehouse.servers import minio

HEAD = ("case", "latency, ms", "what", "seconds", "to the MERGE", "requests", "of them")
BUCKET = "lake"
FILES = 40
ROWS = 1_000
"""Of each file."""
OBJECTS = (
    (re.compile(r"_delta_log/(?:\d{20}\.json)?$"), "commit"),
    (re.compile(r"\.crc$"), "checksum"),
    (re.compile(r"_last_checkpoint$|\.checkpoint\."), "checkpoint"),
    (re.compile(r"\.parquet$"), "data"),
)
VERBS = {"GetObject": "get", "HeadObject": "head", "PutObject": "put", "ListObjectsV2": "list", "ListObjectsV1": "list"}


class Audit:
    """The requests that MinIO answered, each as ``verb kind``; a webhook hears of them some time later."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._asked: list[tuple[str, str]] = []
        self._markers: dict[str, threading.Event] = {}
        audit = self

        class Webhook(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                self.send_response(200)
                self.end_headers()
                if body:
                    audit._hear(json.loads(body))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def variables(self) -> dict[str, str]:
        return {
            "MINIO_AUDIT_WEBHOOK_ENABLE_COUNT": "on",
            "MINIO_AUDIT_WEBHOOK_ENDPOINT_COUNT": f"http://127.0.0.1:{self._server.server_port}/",
        }

    def _hear(self, entry: dict[str, Any]) -> None:
        api, key = entry.get("api", {}), str(entry.get("api", {}).get("object") or "")
        if key in self._markers:
            self._markers[key].set()
        elif api.get("name"):
            prefix = str((entry.get("requestQuery") or {}).get("prefix") or "")
            self._asked.append((str(api.get("name")), key or prefix))

    def taken(self) -> list[tuple[str, str]]:
        """(operation of S3, object or prefix) of the requests since the last call."""
        marker = f"marker-{uuid.uuid4().hex}"
        heard = self._markers[marker] = threading.Event()
        self._store().request("HEAD", f"/{BUCKET}/{marker}")
        if not heard.wait(30):
            raise RuntimeError("MinIO does not call the webhook.")
        asked, self._asked = self._asked, []
        return asked

    def close(self) -> None:
        self._server.shutdown()


def kind_of(operation: str, key: str) -> str:
    """What a request asks, in two words."""
    kind = next((name for pattern, name in OBJECTS if pattern.search(key)), "log" if "_delta_log" in key else "folder")
    return f"{VERBS.get(operation, operation)} {kind}"


class Delay:
    """A proxy before ``endpoint`` that forwards what a client sends ``seconds`` later."""

    def __init__(self, endpoint: str) -> None:
        self._place = urlsplit(endpoint)
        self.seconds = 0.0
        self.endpoint = ""
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True).start()
        ready.wait(10)

    async def _serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await server.serve_forever()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to, of = await asyncio.open_connection(self._place.hostname, self._place.port)
        await asyncio.gather(self._forward(reader, of, delayed=True), self._forward(to, writer, delayed=False))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, delayed: bool) -> None:
        try:
            while chunk := await reader.read(1 << 16):
                if delayed:
                    await asyncio.sleep(self.seconds)
                writer.write(chunk)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@contextmanager
def audited_store() -> Iterator[tuple[Store, Audit, Delay]]:
    """MinIO with an empty bucket; the variables of this process name it as the store of S3, behind the proxy."""
    with tempfile.TemporaryDirectory(prefix="deltamerge-benchmark-") as folder:
        stores: list[Store] = []
        audit = Audit(lambda: stores[0])
        with minio(Path(folder) / "store", audit.variables) as store:
            stores.append(store)
            store.request("PUT", f"/{BUCKET}")
            delay = Delay(store.endpoint)
            os.environ.update({**keys_of(store), "AWS_ENDPOINT_URL_S3": delay.endpoint})
            yield store, audit, delay
        audit.close()


@dataclass(frozen=True)
class Case:
    """A MERGE of ``source``, a query."""

    name: str
    source: str


def cases(files: int) -> tuple[Case, Case]:
    """Into a table of so many files."""
    rows = files * ROWS
    return (
        Case(f"2 of {files:,} files touched", f"SELECT id, 'new' AS v FROM range(10, {ROWS + 10})"),
        Case(f"{files:,} of {files:,} files touched", f"SELECT id * 100 AS id, 'new' AS v FROM range({rows // 100})"),
    )


def build(spark: Any, name: str, files: int) -> str:
    table = f"delta.`s3a://{BUCKET}/{name}`"
    spark.sql(
        f"CREATE OR REPLACE TABLE {table} USING delta TBLPROPERTIES (delta.checkpointInterval = 1000000) AS "
        f"SELECT /*+ REPARTITION_BY_RANGE({files}, id) */ id, 'old' AS v FROM range({files * ROWS})"
    ).collect()
    return table


def lengthen(store: Store, name: str, commits: int) -> None:
    """Commits that change no row, as a stream makes them: each names its transaction."""
    for version in range(1, commits + 1):
        at = 1_700_000_000_000 + version
        actions = [
            {"commitInfo": {"timestamp": at, "operation": "STREAMING UPDATE", "operationParameters": {}}},
            {"txn": {"appId": "a-stream", "version": version, "lastUpdated": at}},
        ]
        body = "".join(json.dumps(one) + "\n" for one in actions).encode()
        status, answer = store.request("PUT", f"/{BUCKET}/{name}/_delta_log/{version:020}.json", body)
        if status != 200:
            raise RuntimeError(answer.decode())


def merge(table: str, case: Case) -> str:
    return (
        f"MERGE INTO {table} AS t USING ({case.source}) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    )


def measured(audit: Audit, work: Callable[[], Any]) -> tuple[float, Counter[str], Any]:
    audit.taken()
    began = time.monotonic()
    answer = work()
    seconds = time.monotonic() - began
    return seconds, Counter(kind_of(*one) for one in audit.taken()), answer


def row(name: str, what: str, latency: int, seconds: float, requests: Counter[str], base: float = 0) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in requests.most_common())
    ratio = f"{seconds / base:.2f}" if base else ""
    return f"| {name} | {latency} | {what} | {seconds:.2f} | {ratio} | {requests.total()} | {kinds} |"


@dataclass(frozen=True)
class Bench:
    """Each table has ``files``, and ``commits`` beside its first."""

    spark: Any
    store: Store
    audit: Audit
    delay: Delay
    files: int = FILES
    commits: int = 0

    def build(self, name: str) -> str:
        table = build(self.spark, name, self.files)
        lengthen(self.store, name, self.commits)
        return table


def compare(bench: Bench, case: Case, latency: int, rounds: int) -> None:
    """Prints the rows of a case: the best of ``rounds`` by seconds."""
    from engine import apply, plan

    spark, audit, delay = bench.spark, bench.audit, bench.delay
    best: dict[str, tuple[float, Counter[str]]] = {}
    for number in range(rounds):
        names = [f"{what}-{latency}-{number}-{uuid.uuid4().hex[:6]}" for what in ("plain", "looked-at")]
        delay.seconds = 0
        plain, looked_at = (bench.build(name) for name in names)
        runs = {}
        if bench.commits:
            delay.seconds = latency / 1000
            runs["the first plan"] = measured(audit, lambda: plan(spark, merge(looked_at, case)))[:2]  # noqa: B023
            runs["the first query"] = measured(audit, lambda: spark.sql(f"SELECT count(*) FROM {plain}").collect())[:2]  # noqa: B023
        else:
            # its state is in memory then, as is that of a table that is browsed
            plan(spark, merge(looked_at, case))
            spark.sql(f"SELECT count(*) FROM {plain}").collect()
        delay.seconds = latency / 1000
        seconds, requests, promise = measured(audit, lambda: plan(spark, merge(looked_at, case)))  # noqa: B023
        runs["plan"] = (seconds, requests)
        runs["MERGE"] = measured(audit, lambda: spark.sql(merge(plain, case)).collect())[:2]  # noqa: B023
        runs["apply"] = measured(audit, lambda: apply(spark, promise))[:2]  # noqa: B023
        for what, run in runs.items():
            best[what] = min(best.get(what, run), run, key=lambda one: one[0])
    for what, (seconds, requests) in best.items():
        print(row(case.name, what, latency, seconds, requests, best["MERGE"][0]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=int, nargs="+", default=[0, 30], help="milliseconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--commits", type=int, default=0, help="more commits in the log of each table")
    parser.add_argument("--files", type=int, default=FILES, help="of each table")
    options = parser.parse_args()
    with audited_store() as (store, audit, delay), own_server(store="s3") as (session, _):
        small = Bench(session.spark, store, audit, delay)
        for _ in range(2):
            compare(small, cases(FILES)[0], 0, 1)  # warms up
        print(f"\n| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
        bench = replace(small, files=options.files, commits=options.commits)
        for latency in options.latency:
            for case in cases(options.files)[: 1 if options.commits else None]:
                compare(bench, case, latency, options.rounds)


if __name__ == "__main__":
    main()
