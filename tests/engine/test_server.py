"""The embedded server: one for each home, found again, private, and never left behind.

The tests of this file share one home and run in order: a server that one has started is the next one's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from engine import processes
from engine.model.errors import EngineError, UnreachableError
from engine.session import jars, server
from engine.session.connect import connect
from engine.session.home import jars_directory
from engine.session.java import find_java
from engine.session.leases import drop_lease, live_leases, take_lease, used_by_others
from engine.session.server import find_server, server_status, start_server, stop_server
from engine.session.state import ServerInfo

ROOT = Path(__file__).resolve().parents[2]
MASTER = "local[2]"
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("a höme")  # as of a user of macOS: "~/Library/Application Support"
    yield place
    stop_server(place)


@pytest.fixture
def running(home: Path) -> ServerInfo:
    return start_server(home, master=MASTER)


def edit_state(home: Path, **changes: object) -> None:
    path = home / "server.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def members(group: int) -> list[int]:
    """The live processes of a process group."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and processes.start_time(int(entry.name)):
            try:
                if os.getpgid(int(entry.name)) == group:
                    found.append(int(entry.name))
            except ProcessLookupError:
                pass
    return found


def wait_stopped(pid: int) -> None:
    """Wait until SIGSTOP has reached every thread of a process."""
    deadline = time.monotonic() + 10
    while any(
        (thread / "stat").read_text().rpartition(")")[2].split()[0] != "T"
        for thread in Path(f"/proc/{pid}/task").iterdir()
    ):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def gone(info: ServerInfo, seconds: float = 20) -> bool:
    return processes.wait_gone(info.pid, info.process_started, seconds) and processes.wait_gone(
        info.watchdog_pid, info.watchdog_started, seconds
    )


def test_two_launches_at_once_give_one_server(home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from engine.session.server import start_server\n"
        "print(start_server(Path(sys.argv[1]), master=sys.argv[2]).pid)"
    )
    command = [sys.executable, "-c", script, str(home), MASTER]
    launches = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    pids = [launch.communicate(timeout=120)[0].strip() for launch in launches]
    assert pids[0] == pids[1]
    assert server_status(home).pid == int(pids[0])  # it outlives those who started it


def test_the_next_launch_reuses_it_at_once(home: Path, running: ServerInfo) -> None:
    begun = time.monotonic()
    assert start_server(home, master=MASTER) == running
    assert find_server(home) == running
    assert time.monotonic() - begun < 1


def test_its_state_file_and_settings_are_private_and_its_home_too(home: Path, running: ServerInfo) -> None:
    assert home.stat().st_mode & 0o777 == 0o700
    for name in ("server.json", "logs/server.log"):
        assert (home / name).stat().st_mode & 0o777 == 0o600
    assert not [*home.rglob("server.conf")]  # Spark has read it
    content = json.loads((home / "server.json").read_text())
    assert {"pid", "endpoint", "token"} <= set(content)


@linux
def test_its_token_is_in_no_command_line_and_in_no_status(home: Path, running: ServerInfo) -> None:
    for pid in (running.pid, running.watchdog_pid):
        assert running.token not in Path(f"/proc/{pid}/cmdline").read_text()
    status = server_status(home)
    assert set(asdict(status)) == {
        "running", "answers", "pid", "endpoint", "master", "versions", "started_at", "log"
    }  # fmt: skip
    assert running.token not in str(status) + repr(running)
    assert status.running
    assert status.versions
    assert status.versions["spark"].startswith("4.")
    assert running.token not in (home / "logs" / "server.log").read_text()


@linux
def test_it_listens_on_loopback_only(running: ServerInfo) -> None:
    inodes = set()
    for link in Path(f"/proc/{running.pid}/fd").iterdir():
        try:
            target = os.readlink(link)
        except FileNotFoundError:
            continue  # closed meanwhile
        if target.startswith("socket:"):
            inodes.add(target[8:-1])
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:  # listening
                addresses.add(fields[1].partition(":")[0])
    # 127.0.0.1, as the kernel prints it: in IPv4, and mapped into IPv6.
    assert addresses
    assert addresses <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_a_static_setting_that_differs_asks_for_a_restart(home: Path, running: ServerInfo) -> None:
    with pytest.raises(EngineError) as raised:
        start_server(home, master=MASTER, confs={"spark.executor.heartbeatInterval": "21s"})
    assert raised.value.condition == "STATIC_CONF"
    assert "server stop" in raised.value.hint
    assert start_server(home, master=MASTER, confs={"spark.sql.ansi.enabled": "false"}) == running


def test_another_master_or_version_is_refused_while_another_process_uses_the_server(
    home: Path, running: ServerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        (home / "leases" / str(other.pid)).write_text(processes.start_time(other.pid))
        assert used_by_others(home) == [other.pid]
        with pytest.raises(EngineError) as raised:
            start_server(home, master="local[1]")
        assert raised.value.condition == "SERVER_IN_USE"
        assert str(other.pid) in raised.value.message
        monkeypatch.setattr(server, "version", lambda _package: "99.0")
        with pytest.raises(EngineError, match=r"of another version \(spark 4\.\d\.\d, now 99\.0\)"):
            start_server(home, master=MASTER)
        other.kill()
    assert live_leases(home) == []  # a dead process uses nothing
    assert running.is_running()


def test_a_process_holds_one_lease_however_many_sessions_it_has(home: Path, running: ServerInfo) -> None:
    take_lease(home)
    assert used_by_others(home) == []
    take_lease(home)
    drop_lease(home)
    assert live_leases(home) == [os.getpid()]
    drop_lease(home)
    assert live_leases(home) == []


@pytest.mark.thorough
def test_a_state_file_that_names_another_program_is_not_believed(home: Path, running: ServerInfo) -> None:
    """The pid was reused, or the file is damaged; and the server that it named before ends itself."""
    with connect(MASTER, home=home) as session:
        session.spark.sql("CREATE TABLE kept USING delta AS SELECT 7 AS x")
    edit_state(home, pid=os.getpid())
    assert server_status(home).running is False
    assert stop_server(home) is False  # above all, it does not kill us
    (home / "server.json").write_text("{ half a fi")
    assert server_status(home).running is False
    assert gone(running)


def test_leftovers_of_a_dead_server_are_cleared_and_a_taken_port_is_avoided(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_server(home)
    (home / "scratch" / "left").mkdir(parents=True)
    heard: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = iter([taken.getsockname()[1], server._free_port()])
        monkeypatch.setattr(server, "_free_port", lambda: next(ports))
        start_server(home, master=MASTER, progress=heard.append)
    assert "the port was taken, trying another" in heard
    assert not (home / "scratch" / "left").exists()
    assert (home / "logs" / "server.log.1").exists()


@linux
@pytest.mark.thorough
def test_a_server_that_hangs_is_replaced_and_tables_survive(
    home: Path, running: ServerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(server, "_STOP_SECONDS", 1.0)
    os.kill(running.pid, signal.SIGSTOP)
    wait_stopped(running.pid)
    assert find_server(home) is None
    heard: list[str] = []
    start_server(home, master=MASTER, progress=heard.append)
    assert gone(running)
    assert heard[0] == "restarting Spark: the running server does not answer"
    with connect(MASTER, home=home) as session:
        assert session.spark.sql("SELECT x FROM kept").collect()[0][0] == 7


@linux
def test_it_stops_by_itself_when_nobody_uses_it_and_leaves_nothing_behind(home: Path) -> None:
    stop_server(home)
    info = start_server(home, master=MASTER, idle_minutes=0.05)
    assert gone(info, 30)
    assert not (home / "server.json").exists()
    assert members(info.watchdog_pid) == []
    assert list((home / "scratch").iterdir()) == []


def test_a_master_that_spark_does_not_know_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError) as raised:
        start_server(tmp_path, master="spark:/typo")
    assert raised.value.condition == "SERVER_FAILED"
    assert "\n" not in raised.value.message
    assert server_status(tmp_path).running is False


def test_a_download_that_was_cut_off_is_taken_up_and_a_damaged_jar_is_noticed(tmp_path: Path) -> None:
    kept = sorted(jars.delta_jars(find_java(), jars_directory(), {}, log=tmp_path / "log"))
    assert any(jar.name.startswith("io.delta_delta-spark_4.2") for jar in kept)
    directory = kept[0].parent.parent
    copy = tmp_path / directory.name
    (copy / "jars").mkdir(parents=True)
    for jar in kept:
        (copy / "jars" / jar.name).symlink_to(jar)
    (copy / "manifest.json").write_text((directory / "manifest.json").read_text())
    assert jars.delta_jars(find_java(), tmp_path, {}, log=tmp_path / "log")  # a copied directory is enough
    (copy / "jars" / kept[0].name).unlink()
    assert jars._complete(copy) is None
    (copy / "jars" / kept[0].name).write_bytes(b"half a jar")
    assert jars._complete(copy) is None
