"""A Hive metastore as a process of its own, out of the jars of the pip install of Spark, on embedded Derby."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.session.java import find_java, spark_home
from tests.cluster.standalone import free_port

WAIT_SECONDS = 120
OPENED = ("java.lang", "java.net", "java.util")


@contextmanager
def metastore(folder: Path, hadoop: Mapping[str, str], jars: list[Path]) -> Iterator[str]:
    """``thrift://127.0.0.1:port`` of a running metastore; ``hadoop`` settings and ``jars`` let it reach them."""
    folder.mkdir()
    port = free_port()
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore'};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.async.log.enabled": "false",
        "hive.metastore.warehouse.dir": str(folder / "warehouse"),
        **hadoop,
    }
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
    )
    (folder / "hive-site.xml").write_text(f"<configuration>{properties}</configuration>", encoding="utf-8")
    classpath = os.pathsep.join([str(folder), str(spark_home() / "jars" / "*"), *map(str, jars)])
    command = [
        str(find_java().path),
        "-Xmx512m",
        *(word for package in OPENED for word in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")),
        *("-cp", classpath, "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)),
    ]
    log_path = folder / "metastore.log"
    with log_path.open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, start_new_session=True)
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not _listens(port):
            assert server.poll() is None, log_path.read_text(errors="replace")
            assert time.monotonic() < deadline, log_path.read_text(errors="replace")
            time.sleep(0.2)
        yield f"thrift://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
