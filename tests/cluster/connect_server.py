"""Spark Connect servers as an operator starts them: by spark-submit, in a process of their own, with a token."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.session.confs import CATALOG, EXTENSION
from engine.session.home import jars_directory
from engine.session.jars import delta_jars
from engine.session.java import find_java, spark_environment, spark_home
from engine.session.server import MAIN_CLASS, answers
from tests.cluster.standalone import free_port

WAIT_SECONDS = 180
DELTA = {"spark.sql.extensions": EXTENSION, "spark.sql.catalog.spark_catalog": CATALOG}


@contextmanager
def connect_server(folder: Path, token: str, confs: dict[str, str], *, jars: bool = True) -> Iterator[str]:
    """``sc://127.0.0.1:port`` of a running server, without Delta's ``jars`` if so wished; its log is in ``folder``."""
    java, port = find_java(), free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        **confs,
    }
    found = delta_jars(java, jars_directory(), {}, log=folder / "jars.log") if jars else []
    command = [
        *(str(spark_home() / "bin" / "spark-submit"), "--class", MAIN_CLASS, "--master", "local[2]"),
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        *(("--jars", ",".join(map(str, found))) if found else ()),
        "spark-internal",
    ]
    environment = {**spark_environment(java), "SPARK_CONNECT_AUTHENTICATE_TOKEN": token, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True)
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not answers(port):
            assert server.poll() is None, (folder / "server.log").read_text(errors="replace")
            assert time.monotonic() < deadline, (folder / "server.log").read_text(errors="replace")
            time.sleep(0.5)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
