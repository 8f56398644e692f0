"""A standalone cluster on this machine, from the pip install of Spark: a master and two workers of one core each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.session.java import find_java, spark_home

WAIT_SECONDS = 60


@dataclass(frozen=True)
class Cluster:
    """``url`` for connect(); ``workers`` are killed by :func:`kill_worker`. Logs and work are in ``folder``."""

    url: str
    workers: list[subprocess.Popen[bytes]]
    folder: Path


@contextmanager
def standalone(folder: Path) -> Iterator[Cluster]:
    """A running cluster; its logs and work are in ``folder``."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    master = _start(folder, "master", "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    cluster = Cluster(url, [], folder)
    try:
        _wait_for(folder / "master.log", "I have been elected leader")
        for _ in range(2):
            add_worker(cluster)
        yield cluster
    finally:
        for process in (*cluster.workers, master):
            _kill_tree(process)


def add_worker(cluster: Cluster) -> None:
    """Another worker of one core, once the master knows it."""
    folder = cluster.folder
    name = f"worker-{len(list(folder.glob('worker-*.log'))) + 1}"
    options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / name))
    cluster.workers.append(_start(folder, name, "worker.Worker", "--host", "127.0.0.1", *options, cluster.url))
    _wait_for(folder / f"{name}.log", "Successfully registered with master")


def kill_worker(cluster: Cluster) -> None:
    """``kill -9`` of a worker and of its executors, whose blocks are gone with them."""
    _kill_tree(cluster.workers.pop())


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _start(folder: Path, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
    java_home = find_java().path.parent.parent
    environment = {
        **os.environ,
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}", *arguments],
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )


def _wait_for(log: Path, words: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while words not in log.read_text(errors="replace"):
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.2)


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Every process of the group that it leads: the executors too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
