"""The embedded Spark Connect server: start it, find it, stop it.

One server for each home. It is started through :mod:`engine.session.watchdog`, outlives the process that
started it, and is found again through ``<home>/server.json``. Starting and reusing happen under a file
lock, so two launches at once give one server.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

from engine import processes
from engine.files import locked, write_private
from engine.model.errors import EngineError, UnreachableError
from engine.session import confs as settings
from engine.session.home import clear_scratch, jars_directory, prepare_home
from engine.session.jars import Progress, delta_jars, package_jars
from engine.session.java import Java, find_java, spark_environment, spark_submit
from engine.session.leases import used_by_others
from engine.session.logs import prepare_logs, read_log, rotate, start_error
from engine.session.sharing import remove_left
from engine.session.state import (
    LOCK_FILE,
    ServerInfo,
    ServerStatus,
    read_live_state,
    read_state,
    remove_stale_state,
    remove_state,
)
from engine.session.static_confs import STOP_HINT, check_static, sealed
from engine.session.stores import fingerprint, store_named

__all__ = ["find_server", "server_status", "start_server", "stop_server"]

MAIN_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
LOG = "server.log"
#: What a server's ``versions`` name, and the packages they come from.
_PACKAGES = {"spark": "pyspark", "delta": "delta-spark", "deltamerge": "deltamerge-console"}
_ATTEMPTS = 3  # with another port each, when one was taken between choosing and binding it
_START_SECONDS = 300.0  # a cluster may take its time to give a driver
_ANSWER_SECONDS = 10.0  # for a server that is up to answer on its socket
_STOP_SECONDS = 10.0  # for it to close its files before it is killed


def start_server(
    home: Path,
    *,
    master: str = "local[*]",
    confs: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    idle_minutes: float | None = None,
    store: str = "",
) -> ServerInfo:
    """The running embedded server of ``home``, started if there is none that fits.

    Of ``confs`` only the static ones matter here (a session sets the others). ``progress`` hears short
    lines of what is going on. The server ends by itself after ``idle_minutes`` (30, or
    DELTAMERGE_CONSOLE_IDLE_MINUTES) without a client. ``store``: an object store that it is to reach, see
    :mod:`engine.session.stores`.

    A server of other versions, of another master, with other credentials, or one that hangs is replaced when no other
    process uses it. Raises EngineError ``SERVER_IN_USE`` (``SERVER_HANGS``, an UnreachableError) when one does, or when
    another container or machine has a server of this home; ``STATIC_CONF`` when a static setting differs from the
    running server's, UnreachableError when Spark does not start.
    """
    say = progress or _silent
    home = prepare_home(home)
    static, _ = settings.split_confs({**store_named(store).confs, **(confs or {})})
    with locked(home / LOCK_FILE, on_wait=lambda: say("waiting for another process that starts Spark")):
        running = _running(home, say)
        if running is not None:
            reason = _unfit(running, master, store)
            # It may have been left half started by a client that died.
            hangs = reason is None and not _wait_ready(running, None, _silent)
            if reason is None and not hangs:
                check_static(running, static)
                return running
            # Sessions of our own on a server that hangs are lost already.
            users = [pid for pid in used_by_others(home) if pid != os.getpid() or not hangs]
            if users:
                who = "this process" if users[0] == os.getpid() else f"process {users[0]}"
                _refuse_restart(reason, who)
            reason = reason or "does not answer"
            say(f"restarting Spark: the running server {reason}")
            _stop(home, running)
        wanted = ServerInfo(master=master, static_confs=static, store=store, idle_seconds=_idle_seconds(idle_minutes))
        return _launch(home, wanted, say)


def _refuse_restart(reason: str | None, who: str) -> NoReturn:
    """Raise for a server that ``who`` uses: it does not fit for ``reason``, or (None) hangs."""
    if reason is None:
        message = f"The embedded Spark server does not answer, and {who} is using it."
        raise UnreachableError("SERVER_HANGS", message, STOP_HINT)
    message = f"The embedded Spark server {reason}, and {who} is using it."
    raise EngineError("SERVER_IN_USE", message, "Close that first, or name another --home.")


def find_server(home: Path) -> ServerInfo | None:
    """The embedded server of ``home`` if its process is running and its socket answers, else None."""
    info = read_live_state(home)
    return info if info is not None and answers(info.port) else None


def stop_server(home: Path, *, alone: bool = False, only: ServerInfo | None = None) -> bool:
    """Stop the embedded server of ``home``, and unless ``alone`` those of its profiles and stores, in use or not.
    ``only``: not if it is another than that one, which somebody has started meanwhile. False if none ran."""
    home = home.expanduser().absolute()
    others = [] if alone else sorted((home / "servers").glob("*"))
    stopped = [_stop_one(place, only) for place in (home, *others)]
    return any(stopped)


def _stop_one(home: Path, only: ServerInfo | None) -> bool:
    info = read_live_state(home)
    if info is None or only not in (None, info):
        return False
    _stop(home, info)
    return True


def server_status(home: Path) -> ServerStatus:
    """Whether the embedded server of ``home`` runs, and what it is; never its token."""
    info = read_live_state(home)
    if info is None:
        return ServerStatus(running=False)
    found = answers(info.port)
    return ServerStatus(
        True, found, info.pid, info.endpoint, info.master, dict(info.versions), info.started_at, info.log
    )


def is_starting(home: Path) -> bool:
    """Whether the embedded server of ``home`` runs and has not said yet that it listens."""
    info = read_live_state(home)
    return info is not None and _age(info) < _START_SECONDS and not _says_it_listens(info)


def answers(port: int) -> bool:
    """Whether something on 127.0.0.1:``port`` speaks HTTP/2 (as gRPC does) within a few seconds.

    A hung process still accepts connections (the kernel does); it does not send its settings.
    """
    hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"  # preface, empty SETTINGS
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), _ANSWER_SECONDS) as peer:
        peer.sendall(hello)
        header = b""
        while len(header) < 9:
            received = peer.recv(9 - len(header))
            if not received:
                return False
            header += received
        return header[3] == 4  # a SETTINGS frame
    return False


def _running(home: Path, say: Progress) -> ServerInfo | None:
    """The server of the state file, started or starting; a stale file is removed."""
    info = read_live_state(home)
    if info is None:
        try:
            remove_stale_state(home, on_wait=lambda: say("waiting for the last Spark server to end"))
        except EngineError:
            # it was starting
            if (info := read_live_state(home)) is None:
                raise
    return info


def _unfit(info: ServerInfo, master: str, store: str) -> str | None:
    """Why a running server cannot be used for this launch, as the end of a sentence; None when it can."""
    if info.master != master:
        return f"runs with --master {info.master}, not {master}"
    now = _versions(info.versions.get("java", ""))
    names = [name for name, value in now.items() if info.versions.get(name) != value]
    if names:
        name = names[0]
        return f"is of another version ({name} {info.versions.get(name)}, now {now[name]})"
    if info.store != store:
        return f"has {f'--store {info.store}' if info.store else 'no --store'}"
    if store and info.credentials != fingerprint(store, info.token):
        return f"was started with other credentials or another endpoint for {store}"
    return None


def _versions(java: str) -> dict[str, str]:
    versions = {"java": java}
    for name, package in _PACKAGES.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions


def _silent(_text: str) -> None:
    """Progress that nobody hears."""


def _idle_seconds(minutes: float | None) -> float:
    if minutes is None:
        try:
            minutes = float(os.environ.get("DELTAMERGE_CONSOLE_IDLE_MINUTES", "30"))
        except ValueError:
            minutes = 30.0
    return max(1.0, minutes * 60)


def _launch(home: Path, wanted: ServerInfo, say: Progress) -> ServerInfo:
    java = find_java()
    all_confs = {**settings.site_defaults(), **wanted.static_confs}
    log, store = home / "logs" / "jars.log", store_named(wanted.store)
    jars = delta_jars(java, jars_directory(), all_confs, log=log, progress=say)
    jars += package_jars(java, jars_directory(), store.packages, all_confs, log=log, progress=say)
    jars += store.jars
    say(f"starting Spark ({wanted.master})")
    for _ in range(_ATTEMPTS):
        info = _spawn(home, java, wanted, jars, say)
        if info is not None:
            return info
    raise UnreachableError("NO_PORT", "No free port was found for the embedded Spark server.", "Try again in a moment.")


def _spawn(home: Path, java: Java, wanted: ServerInfo, jars: list[Path], say: Progress) -> ServerInfo | None:
    """Start one server and wait until it is ready; None when its port was taken."""
    clear_scratch(home)  # of what a killed server left behind: none is running, we hold the lock
    remove_left(home)
    scratch = Path(tempfile.mkdtemp(dir=home / "scratch"))
    port, token = _free_port(), secrets.token_urlsafe(32)
    confs = settings.server_confs(home, wanted.master, wanted.static_confs, jars, scratch)
    confs |= {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.port.maxRetries": "0",
    }
    log = rotate(home / "logs" / LOG)
    server = replace(
        wanted,
        endpoint=f"sc://localhost:{port}",
        token=token,
        versions=_versions(str(java.version)),
        started_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        log=str(log),
        static_confs=sealed(wanted.static_confs, token),
        effective=sealed(confs, token),
        credentials=fingerprint(wanted.store, token),
        host=socket.gethostname(),
        port=port,
    )
    # It may hold secrets: with the scratch folder it is gone when the server is.
    file = scratch / "server.conf"
    write_private(file, settings.properties({"spark.master": server.master, **confs}))
    order = {
        "command": _command(home, java, confs, server.master, jars, file),
        "env": {**spark_environment(java), "SPARK_CONNECT_AUTHENTICATE_TOKEN": token},
        "home": str(home),
        "log": str(log),
        "scratch": str(scratch),
        "idle_seconds": server.idle_seconds,
        "state": asdict(server),
    }
    watchdog = _start_watchdog(home, order, log)
    info = _wait_state(home, watchdog, token)
    if info is not None and _wait_ready(info, watchdog, say):
        file.unlink(missing_ok=True)  # read
        return info
    _check_port_taken(home, info, watchdog, log)
    say("the port was taken, trying another")
    return None


def _check_port_taken(home: Path, info: ServerInfo | None, watchdog: subprocess.Popen[bytes], log: Path) -> None:
    """Raise UnreachableError unless the server ended because its port was taken."""
    if info is not None and info.is_running():
        _stop(home, info)
        raise UnreachableError(
            "SERVER_NOT_READY",
            f"The embedded Spark server was not ready after {_START_SECONDS:.0f} s.",
            f"Its log is {log}.",
        )
    with contextlib.suppress(subprocess.TimeoutExpired):
        watchdog.wait(timeout=5)
    text = read_log(log)
    if "BindException" not in text and "Address already in use" not in text:
        raise start_error(log)


def _command(home: Path, java: Java, confs: Mapping[str, str], master: str, jars: list[Path], file: Path) -> list[str]:
    """The server's command line; its settings are in ``file``, which it names."""
    return spark_submit(
        java,
        resource="spark-internal",
        memory=confs["spark.driver.memory"],
        jvm_options=[
            *confs.get("spark.driver.extraJavaOptions", "").split(),
            *settings.jvm_options(home, file.parent, prepare_logs(home)),
        ],
        extra_classpath=settings.classpath(confs, master, jars),
        options=["--properties-file", str(file), "--class", MAIN_CLASS],
    )


def _start_watchdog(home: Path, order: Mapping[str, object], log: Path) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    env = dict(os.environ)
    # The package may not be installed, only be on this process's path (a notebook, a test).
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, env.get("PYTHONPATH", "")]))
    with log.open("ab") as out:
        watchdog = subprocess.Popen(
            [sys.executable, "-m", "engine.session.watchdog"],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            cwd=home,
            env=env,
            start_new_session=True,
        )
    assert watchdog.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it died at once: its output tells why
        watchdog.stdin.write(json.dumps(order).encode())
        watchdog.stdin.close()
    return watchdog


def _wait_state(home: Path, watchdog: subprocess.Popen[bytes], token: str) -> ServerInfo | None:
    """The state that the watchdog writes once it has started Java; None when it dies before."""
    while True:
        info = read_state(home)
        if info is not None and info.token == token:
            return info
        if watchdog.poll() is not None:
            return None
        time.sleep(0.02)


def _wait_ready(info: ServerInfo, watchdog: subprocess.Popen[bytes] | None, say: Progress) -> bool:
    """Wait until the server says in its log that it listens, and answers; False when it dies or hangs.

    The log is proof that it is our server that listens: another program may have taken the port. It is
    waited for only while the server may still be starting; a log that was emptied later is no harm.
    """
    next_notice = 15.0
    while (age := _age(info)) < _START_SECONDS and not _says_it_listens(info):
        if not info.is_running() or (watchdog is not None and watchdog.poll() is not None):
            return False
        if age > next_notice:
            say(f"still starting Spark ({next_notice:.0f} s)")
            next_notice += 15
        time.sleep(0.05)
    return info.is_running() and answers(info.port)


def _says_it_listens(info: ServerInfo) -> bool:
    return f"Spark Connect server started at: 127.0.0.1:{info.port}" in read_log(Path(info.log))


def _age(info: ServerInfo) -> float:
    """Seconds since the server was started, by the wall clock: another process may have started it."""
    started = datetime.fromisoformat(info.started_at)
    return abs((datetime.now(timezone.utc) - started).total_seconds())


def _stop(home: Path, info: ServerInfo) -> None:
    """End the server: ask it, wait, then kill all of its process group."""
    if processes.is_running(info.pid, info.process_started):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(info.pid, signal.SIGTERM)
    if not processes.wait_gone(info.pid, info.process_started, _STOP_SECONDS):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(info.pid, signal.SIGKILL)
        processes.wait_gone(info.pid, info.process_started, 5)
    # The watchdog removes the state file and ends; without one we do it.
    if not processes.wait_gone(info.watchdog_pid, info.watchdog_started, 5):
        processes.signal_group(info.watchdog_pid, signal.SIGKILL)
    info_now = read_state(home)
    if info_now is not None and info_now.pid == info.pid:
        remove_state(home)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
