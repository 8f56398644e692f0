"""One console and one server for long: ``pytest tests/crash/test_long_run.py -m thorough -n 0 -s --cycles 500``."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.plan_sessions import KEPT_PLANS
from console.spark_backend import SparkBackend
from engine.session.java import find_java
from engine.session.leases import _open as open_sessions
from engine.session.server import find_server, stop_server
from tests.conftest import SERVER_CONFS

ROWS = 200
WARM = 10
SESSION = "org.apache.spark.sql.connect.service.SessionHolder"
# the console's own of them: browsing and validation
OWN_SESSIONS = 2
MIB = 1 << 20


@dataclass(frozen=True)
class Kept:
    """What is held after some cycles. Megabytes of live objects in the server, and of this process."""

    server: float
    process: float
    sessions: int
    server_sessions: int
    files: int

    def __str__(self) -> str:
        return (
            f"server {self.server:.0f} MB live, this process {self.process:.0f} MB, {self.sessions} sessions here, "
            f"{self.server_sessions} there, {self.files} files in home and scratch"
        )


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SparkBackend]:
    home = tmp_path / "home"
    opened = SparkBackend("local[2]", home, SERVER_CONFS)
    opened.connect(lambda _: None)
    yield opened
    opened.close()
    stop_server(home)


@pytest.mark.thorough
def test_memory_sessions_and_files_stay_level(backend: SparkBackend, request: pytest.FixtureRequest) -> None:
    cycles = request.config.getoption("--cycles")
    backend._ask(lambda spark: spark.sql(
        f"CREATE TABLE t USING delta AS SELECT id, 0 AS n FROM range(0, {ROWS}, 1, 2)"
    ).collect())  # fmt: skip
    told: list[Kept] = []
    for cycle in range(WARM + cycles):
        if cycle == WARM or (cycle > WARM and (cycle - WARM) % 50 == 0):
            told.append(kept(backend.home))
            print(f"after {cycle}: {told[-1]}", flush=True)
        sql = (
            f"MERGE INTO t USING (SELECT id, {cycle} AS number FROM range({ROWS})) AS s ON t.id = s.id "
            "WHEN MATCHED AND s.number >= 0 THEN UPDATE SET n = t.n + 1"
        )
        backend.validate(sql, {})
        looked = backend.plan(sql, {}, rows=5, operation_id=f"plan-{cycle}", on_progress=lambda _: None)
        # every third one is looked at and left
        if cycle % 3 != 2:
            outcome = backend.apply(looked, accept=(), operation_id=f"apply-{cycle}", on_progress=lambda _: None)
            assert outcome.kept, outcome.deviations
            assert not views(backend, looked.plan_id), "the frozen source is dropped"
    told.append(kept(backend.home))
    print(f"after {WARM + cycles}: {told[-1]}")
    first, last = told[0], told[-1]
    assert last.sessions <= KEPT_PLANS + OWN_SESSIONS
    assert last.server_sessions <= KEPT_PLANS + OWN_SESSIONS
    # the table's log and Delta's cache of it grow with its versions, nothing else may
    assert last.server < first.server + 40 + cycles * 0.2
    assert last.process < first.process + 30 + cycles * 0.05
    assert last.files <= first.files + 20
    rows = backend._ask(lambda spark: spark.sql("SELECT DISTINCT n FROM t").collect())
    applied = sum(cycle % 3 != 2 for cycle in range(WARM + cycles))
    assert [row[0] for row in rows] == [applied], "each merge once"
    print(f"{applied} plans applied, {WARM + cycles - applied} left")


def views(backend: SparkBackend, plan_id: str) -> list[str]:
    session = backend._sessions.get(plan_id)
    assert session is not None
    spark = session.spark
    return [str(row["viewName"]) for row in spark.sql("SHOW VIEWS").collect() if row["isTemporary"]]


def kept(home: Path) -> Kept:
    info = find_server(home)
    assert info is not None
    live = settled(info.pid)
    holders = re.search(rf"^\s*\d+:\s+(\d+)\s+\d+\s+{re.escape(SESSION)}\s", live, re.MULTILINE)
    status = Path("/proc/self/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    files = [path for path in home.rglob("*") if path.is_file() and "warehouse" not in path.parts]
    return Kept(
        server=live_bytes(live) / MIB,
        process=int(resident.split()[1]) / 1024,
        sessions=len(open_sessions.get(home, ())),
        server_sessions=int(holders[1]) if holders else 0,
        files=len(files),
    )


def settled(pid: int) -> str:
    """The live objects once Spark's cleaner is done: a collection shows it what was dropped (broadcasts, 64 MB each),
    and it frees that after."""
    before, live = histogram(pid), histogram(pid)
    while live_bytes(live) < live_bytes(before) - MIB:
        before, live = live, histogram(pid)
    return live


def live_bytes(live: str) -> int:
    total = re.search(r"^Total\s+\d+\s+(\d+)", live, re.MULTILINE)
    assert total, live[-500:]
    return int(total[1])


def histogram(pid: int) -> str:
    """The live objects of a JVM by class, after a collection."""
    jcmd = find_java().path.with_name("jcmd")
    asked = subprocess.run([str(jcmd), str(pid), "GC.class_histogram"], capture_output=True, text=True, check=True)
    return asked.stdout
