"""The ledger's file: shared, damaged, newer, locked, full."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from engine.ledger import history_store
from engine.ledger.history import History
from engine.ledger.history_rows import Subject
from engine.model.errors import EngineError
from tests.engine.plans import make_outcome, make_plan

PROCESSES = 8
ROWS = 20
MANY_ROWS = 500

WRITER = """
import json, sys, time
from engine.ledger.history import History
from tests.engine.plans import make_outcome, make_plan
path, who, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
ledger, slowest = History(path), 0.0
for n in range(rows):
    plan = make_plan(f"{who}-{n}")
    op_id = ledger.begin(plan)
    if n % 2:
        ledger.applied(op_id, make_outcome(op_id, plan.plan_id))
    print(json.dumps([op_id, n % 2]), flush=True)
    if n % 4:
        continue
    started = time.perf_counter()
    ledger.list(limit=20)
    slowest = max(slowest, time.perf_counter() - started)
print(json.dumps(["slowest", slowest]))
"""


def test_a_damaged_ledger_asks_to_be_rebuilt_once(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    ledger = History(path)
    ledger.record_planned(make_plan())
    assert not ledger.needs_rebuild()
    path.write_bytes(b"hello, this was a ledger once")
    assert ledger.needs_rebuild()
    outcome = make_outcome("aabb00000001")
    subject = Subject("plan-1", "merge", "demo.orders", "file:/data/orders", "t-1", "-- not known")
    for _ in range(2):
        ledger.add_found(subject, outcome, "2026-11-21T10:00:00Z", undone=True)
    ledger.rebuilt()
    assert not ledger.needs_rebuild()
    (found,) = ledger.list(table="demo.orders")
    assert (found.status, found.version, found.kept, found.finished_at) == ("undone", 8, None, "2026-11-21T10:00:00Z")


def writer(path: Path, who: str, rows: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), who, str(rows)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("rows", [ROWS, pytest.param(MANY_ROWS, marks=pytest.mark.thorough)])
def test_eight_processes_lose_nothing(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "history.duckdb"
    writers = [writer(path, f"w{n}", rows) for n in range(PROCESSES)]
    acknowledged: dict[str, int] = {}
    slowest = 0.0
    for process in writers:
        out, err = process.communicate(timeout=1800)
        assert process.returncode == 0, err
        for name, value in map(json.loads, out.splitlines()):
            if name == "slowest":
                slowest = max(slowest, value)
            else:
                acknowledged[name] = value
    stored = {one.op_id: one.status for one in History(path).list(limit=10_000)}
    assert len(acknowledged) == PROCESSES * rows
    assert stored == {op: "applied" if done else "running" for op, done in acknowledged.items()}
    print(f"ledger: {PROCESSES} processes, {len(stored)} rows, slowest read {slowest * 1000:.0f} ms")


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    acknowledged: list[str] = []
    for kill in range(6):
        process = writer(path, f"k{kill}", 10_000)
        assert process.stdout is not None
        for _ in range(3 + kill):
            acknowledged.append(json.loads(process.stdout.readline())[0])
        time.sleep(0.003 * kill)  # the next row is killed at another point each time
        process.send_signal(signal.SIGKILL)
        acknowledged += [json.loads(line)[0] for line in process.stdout if line.endswith("\n")]
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
    notices: list[str] = []
    ledger = History(path, on_notice=notices.append)
    assert set(acknowledged) <= {one.op_id for one in ledger.list(limit=10_000)}
    assert notices == []
    assert {one.op_id for one in ledger.abandoned()} == {one.op_id for one in ledger.running()} != set()


def test_threads_share_a_ledger(tmp_path: Path) -> None:
    ledger = History(tmp_path / "history.duckdb")
    made: list[str] = []

    def work(who: int) -> None:
        for n in range(10):
            made.append(ledger.record_planned(make_plan(f"{who}-{n}")))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 60
    assert {one.op_id for one in ledger.list()} == set(made)


def hold(lock: Path) -> int:
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def test_a_ledger_that_is_locked_too_long(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    ledger = History(path, wait_seconds=0.2)
    ledger.record_planned(make_plan())
    handle = hold(tmp_path / "history.duckdb.lock")
    started = time.monotonic()
    with pytest.raises(EngineError, match=r"in use by another program for 0.2 s") as caught:
        ledger.list()
    assert caught.value.condition == "LEDGER_LOCKED"
    assert time.monotonic() - started < 2
    os.close(handle)
    assert len(ledger.list()) == 1, "the lock that was given up is not held by those who waited"


def test_waiting_for_a_lock_that_comes_free(tmp_path: Path) -> None:
    ledger = History(tmp_path / "history.duckdb")
    handle = hold(tmp_path / "history.duckdb.lock")
    threading.Timer(0.2, os.close, [handle]).start()
    ledger.record_planned(make_plan())
    assert len(ledger.list()) == 1


def test_a_duckdb_shell_holds_the_file(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    ledger = History(path, wait_seconds=0.3)
    ledger.record_planned(make_plan())
    shell = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import duckdb; c = duckdb.connect({str(path)!r}); print('up', flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert shell.stdout is not None
    shell.stdout.readline()
    for call in (ledger.list, lambda: ledger.record_planned(make_plan("other"))):
        with pytest.raises(EngineError, match="in use by another") as caught:
            call()
        assert caught.value.condition == "LEDGER_LOCKED"
    shell.communicate("\n")
    assert len(ledger.list()) == 1


def damage_nothing(data: bytes) -> bytes:
    return b""


def damage_all(data: bytes) -> bytes:
    return b"hello, this was a ledger once\n" * 100


def damage_cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def damage_header(data: bytes) -> bytes:
    return b"\x00" * 4096 + data[4096:]


def damage_body(data: bytes) -> bytes:
    return data[:12288] + bytes(byte ^ 0x5A for byte in data[12288:])


@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize("damage", [damage_nothing, damage_all, damage_cut, damage_header, damage_body])
def test_a_damaged_file_is_set_aside(tmp_path: Path, damage: object, reading: bool) -> None:
    path = tmp_path / "history.duckdb"
    History(path).record_planned(make_plan())
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    notices: list[str] = []
    ledger = History(path, on_notice=notices.append)
    if reading:
        assert ledger.list() == []
    ledger.record_planned(make_plan())
    assert len(ledger.list()) == 1
    (notice,) = notices
    (aside,) = tmp_path.glob("*.damaged-*")
    assert aside.name in notice
    assert "set aside" in notice


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ('IO Error: Cannot open file "history.duckdb": Stale file handle', "LEDGER_FAILED"),
        ('IO Error: Could not read from file "history.duckdb": Input/output error', "LEDGER_FAILED"),
        ('IO Error: Failed to get stats for file "history.duckdb": Input/output error', "LEDGER_FAILED"),
        ("Failed to read WAL of version 4 - can only read version 1, 2 and 3", "LEDGER_NEWER"),
    ],
)
def test_a_file_that_cannot_be_read_for_a_moment_is_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, condition: str
) -> None:
    class Failing:
        """DuckDB on a disk that fails when the ledger is opened."""

        def cursor(self) -> Failing:
            return self

        def execute(self, statement: str) -> None:
            if statement.startswith("ATTACH"):
                raise duckdb.IOException(said)

        def close(self) -> None: ...

    path = tmp_path / "history.duckdb"
    History(path).record_planned(make_plan())
    with monkeypatch.context() as disk:
        disk.setattr(history_store, "_engine", Failing)
        with pytest.raises(EngineError) as raised:
            History(path).list()
    assert raised.value.condition == condition
    assert len(History(path).list()) == 1


def test_a_file_of_another_program_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE theirs (a INTEGER)")
    ledger = History(path)
    assert ledger.list() == []
    (aside,) = tmp_path.glob("*.damaged-*")
    with duckdb.connect(str(aside), read_only=True) as other:
        assert other.execute("SELECT count(*) FROM theirs").fetchone() == (0,)


def test_a_log_without_its_file_is_not_replayed(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    (tmp_path / "history.duckdb.wal").write_bytes(b"left over")
    ledger = History(path)
    ledger.record_planned(make_plan())
    assert len(ledger.list()) == 1
    assert len(list(tmp_path.glob("*.wal.damaged-*"))) == 1


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    ledger = History(path)
    ledger.record_planned(make_plan())
    with duckdb.connect(str(path)) as newer:
        newer.execute("INSERT INTO format VALUES (99, 'later')")
    for call in (ledger.list, lambda: ledger.record_planned(make_plan("other"))):
        with pytest.raises(EngineError, match="format 99; this program knows format 2") as caught:
            call()
        assert caught.value.condition == "LEDGER_NEWER"
    with duckdb.connect(str(path)) as newer:
        newer.execute("DELETE FROM format WHERE version = 99")
    assert len(ledger.list()) == 1


def test_an_older_format_is_brought_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.duckdb"
    History(path).record_planned(make_plan())
    later = (*history_store.MIGRATIONS, ("ALTER TABLE operation ADD COLUMN reviewed_by VARCHAR",))
    monkeypatch.setattr(history_store, "MIGRATIONS", later)
    notices: list[str] = []
    ledger = History(path, on_notice=notices.append)
    assert len(ledger.list()) == 1, "a reader migrates too"
    assert notices == [f"The history {path} was brought forward to format 3."]
    with duckdb.connect(str(path)) as db:
        assert db.execute("SELECT reviewed_by FROM operation").fetchall() == [(None,)]


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.duckdb"
    History(path).record_planned(make_plan())
    broken = (
        *history_store.MIGRATIONS,
        ("ALTER TABLE operation ADD COLUMN a INTEGER", "SELECT * FROM nowhere"),
    )
    with monkeypatch.context() as patch:
        patch.setattr(history_store, "MIGRATIONS", broken)
        with pytest.raises(EngineError) as caught:
            History(path).list()
        assert caught.value.condition == "LEDGER_FAILED"
    assert len(History(path).list()) == 1


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file / "history.duckdb", Path("/proc/history.duckdb")):
        with pytest.raises(EngineError) as caught:
            History(path).record_planned(make_plan())
        assert caught.value.condition == "LEDGER_NOT_WRITABLE"
        assert "--home" in caught.value.hint


FULL = """
import resource, signal, sys
from engine.model.errors import EngineError
from engine.ledger.history import History
from tests.engine.plans import make_plan
ledger = History(sys.argv[1])
ledger.record_planned(make_plan())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    promise = {f"m{n:06}{n * 7919}": n for n in range(20_000)}
    ledger.record_planned(make_plan("other", samples=(), promise=promise))
except EngineError as error:
    print(error.condition)
"""


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.duckdb"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "LEDGER_DISK_FULL\n", done.stderr
    ledger = History(path)
    assert [one.plan_id for one in ledger.list()] == ["plan-1"]
    op_id = ledger.begin(make_plan())
    ledger.applied(op_id, make_outcome(op_id))


def test_a_path_with_a_quote(tmp_path: Path) -> None:
    ledger = History(tmp_path / "it's; DROP" / "history.duckdb")
    ledger.record_planned(make_plan())
    assert len(ledger.list()) == 1
