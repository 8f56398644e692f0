"""A classic SparkSession, its driver a JVM of this process, without a system Java: for tests and notebooks.

PySpark starts its JVM through Spark's shell script, which fails on the JDK that comes from PyPI. So the JVM
is started here, the way the embedded server is, and PySpark is pointed at it before its first SparkContext.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.errors import EngineError, UnreachableError
from engine.session import confs as settings
from engine.session.home import classic_scratch, jars_directory, prepare_home
from engine.session.jars import Progress, delta_jars
from engine.session.java import find_java, spark_environment, spark_submit
from engine.session.logs import prepare_logs, rotate, start_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_START_SECONDS = 120.0


def classic_session(
    home: Path,
    confs: Mapping[str, str] | None = None,
    *,
    master: str = "local[*]",
    progress: Progress | None = None,
) -> SparkSession:
    """The classic SparkSession of this process, with Delta, on ``home``'s warehouse and metastore.

    The JVM writes to ``<home>/logs/classic.log`` and ends with this process, even if that is killed. ``confs`` are
    static and runtime settings alike. A process has one such JVM: the second call returns the same session
    (with runtime ``confs`` set on it). ``home`` must not be one whose embedded server is running: the
    metastore takes one of them at a time.

    Raises UnreachableError when Spark does not start.
    """
    from pyspark.core.context import SparkContext
    from pyspark.sql import SparkSession

    static, runtime = settings.split_confs(dict(confs or {}))
    running = SparkContext._active_spark_context
    if running is None:
        _start(prepare_home(home), master, static, progress)
    elif any(running.getConf().get(key) != value for key, value in static.items()):
        raise EngineError(
            "STATIC_CONF",
            "This process has a Spark already, started with other settings.",
            "Stop it first, or leave the static settings out.",
        )
    # SPARK_REMOTE and its like would make the builder open a Connect session instead.
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE"):
        os.environ.pop(name, None)
    spark = SparkSession.builder.getOrCreate()
    for key, value in runtime.items():
        spark.conf.set(key, value)
    return spark


def _start(home: Path, master: str, static: Mapping[str, str], progress: Progress | None) -> None:
    """Start the JVM and tell PySpark where it is."""
    java = find_java()
    all_confs = {**settings.site_defaults(), **static}
    jars = delta_jars(java, jars_directory(), all_confs, log=home / "logs" / "jars.log", progress=progress)
    scratch = classic_scratch(home)
    confs = settings.server_confs(home, master, static, jars, scratch)
    log = rotate(home / "logs" / "classic.log")
    log4j = prepare_logs(home)
    properties = scratch / "spark.conf"
    properties.write_text(settings.properties({"spark.master": master, **confs}), encoding="utf-8")
    connection_file = scratch / "connection"
    command = spark_submit(
        java,
        resource="pyspark-shell",
        memory=confs["spark.driver.memory"],
        jvm_options=settings.jvm_options(home, scratch, log4j),
        extra_classpath=settings.classpath(confs, master, jars),
        options=["--properties-file", str(properties)],
    )
    env = {**spark_environment(java), "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection_file)}
    with log.open("ab") as out:
        jvm = subprocess.Popen(
            command,
            env=env,
            cwd=home,
            # The JVM ends when this pipe is closed, that is when this process is gone.
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_SECONDS
    while not connection_file.exists():
        if jvm.poll() is not None or time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                jvm.kill()
            raise start_error(log)
        time.sleep(0.05)
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = _connection(connection_file)
    atexit.register(_end, jvm, scratch)


def _connection(file: Path) -> tuple[str, str]:
    """Port and secret, as PySpark's own ``launch_gateway`` reads them: two 4-byte numbers, the second
    the length of the secret that follows. The file is renamed into place when it is complete.
    """
    content = file.read_bytes()
    port, length = int.from_bytes(content[:4], "big"), int.from_bytes(content[4:8], "big")
    secret = content[8 : 8 + length]
    if len(content) < 8 or len(secret) != length:
        raise UnreachableError("NO_GATEWAY", "The JVM did not tell how to reach it.", "Try again.")
    return str(port), secret.decode("utf-8")


def _end(jvm: subprocess.Popen[bytes], scratch: Path) -> None:
    if jvm.stdin is not None:
        with contextlib.suppress(OSError):
            jvm.stdin.close()
    try:
        jvm.wait(timeout=10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(jvm.pid, signal.SIGKILL)
    shutil.rmtree(scratch, ignore_errors=True)
