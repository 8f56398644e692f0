"""An embedded server whose process is there and does not answer."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timezone

import pytest

from engine import processes
from engine.files import write_private
from engine.session import server
from engine.session.home import prepare_home
from engine.session.state import ServerInfo
from tests.cli.running import Shell


@pytest.fixture
def hung(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The pid of a server that accepts connections, as the kernel does for a stopped process, and says nothing."""
    monkeypatch.setattr(server, "_ANSWER_SECONDS", 0.2)
    home = prepare_home(shell.home)
    with socket.socket() as listening, subprocess.Popen(["sleep", "60"]) as stuck:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        log = home / "server.log"
        log.write_text(f"Spark Connect server started at: 127.0.0.1:{port}")
        info = ServerInfo(
            pid=stuck.pid,
            endpoint=f"sc://localhost:{port}",
            master="local[*]",
            versions=server._versions(""),
            started_at=datetime.now(timezone.utc).isoformat(),
            log=str(log),
            host=socket.gethostname(),
            port=port,
            process_started=processes.start_time(stuck.pid),
        )
        write_private(home / "server.json", json.dumps(asdict(info)))
        (home / "leases").mkdir(exist_ok=True)
        (home / "leases" / str(stuck.pid)).write_text(info.process_started)
        yield stuck.pid
        stuck.kill()


def test_a_server_that_hangs_is_not_told_as_none(shell: Shell, hung: int) -> None:
    ran = shell("server", "status")
    assert f"pid {hung}, but it does not answer" in ran.out
    assert "server stop" in ran.out
    found = shell("server", "status", "--json").json
    assert (found["running"], found["answers"], found["pid"]) == (True, False, hung)
    doctor = {one["name"]: one for one in shell("doctor", "--json").json}
    assert doctor["server"]["verdict"] == "warn"


def test_a_server_that_hangs_is_a_spark_that_cannot_be_reached(shell: Shell, hung: int) -> None:
    ran = shell("tables", "--json")
    assert ran.code == 3
    assert ran.json["error"]["condition"] == "SERVER_HANGS"
    assert str(hung) in ran.json["error"]["message"]


def test_a_server_that_starts_is_told_as_such(shell: Shell, hung: int) -> None:
    (shell.home / "server.log").write_text("Starting Spark Connect server")
    assert f"pid {hung}, starting" in shell("server", "status").out
    found = {one["name"]: one for one in shell("doctor", "--json").json}["server"]
    assert (found["verdict"], found["found"]) == (
        "ok",
        f"the Spark server (pid {hung}) is starting",
    )


def test_what_ends_a_server_that_hangs_is_typed_as_it_is_told(shell: Shell, hung: int) -> None:
    """On the home that was named, and of a profile or a store that alone."""
    (shell.home / "settings.toml").write_text('[profiles.big]\nstore = "s3"\n')
    state = (shell.home / "server.json").read_text()
    for name in ("s3", "big-s3", "gone"):
        (shell.home / "servers" / name).mkdir(parents=True)
        write_private(shell.home / "servers" / name / "server.json", state)
    where = f"--home {shell.home}"
    assert f"`deltamerge-console {where} server stop`" in shell("server", "status").out
    found = {
        one["found"].partition(" (of ")[2].partition(")")[0]: one["hint"]
        for one in shell("--master", "local[2]", "doctor", "--json").json
        if one["name"] == "server"
    }
    end = "; the next start brings a new one."
    assert found == {
        "": f"Run `deltamerge-console {where} server stop`, which ends those of profiles and stores too{end}",
        "store s3": f"Run `deltamerge-console --store s3 {where} server stop`{end}",
        "profile big, store s3": f"Run `deltamerge-console --profile big --store s3 {where} server stop`{end}",
        "gone, a profile that is not in the settings": (
            f"Run `deltamerge-console {where} server stop`, which ends all servers of this home."
        ),
    }
