"""Real S3 servers for the tests: S3Proxy, a jar from Maven Central, and MinIO, which is built with Go.

S3Proxy is for every run: it is downloaded once, in 40 s, starts in 3, and honours ``If-None-Match: *`` (of 8 writers at
once one wins; its version 2.7.0 overwrote). MinIO takes four minutes of two cores to build, and is for ``thorough``.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from engine.session.home import jars_directory
from engine.session.jars import package_jars
from engine.session.java import find_java, spark_home
from tests.cluster.standalone import free_port
from tests.lakehouse.s3 import Store

S3PROXY = "org.gaul:s3proxy:4.1.0"
# It keeps its objects as files here: the clients of other clouds are left out.
OTHER_CLOUDS = "com.google.cloud:*,com.google.apis:*,com.google.api-client:*,com.azure:*,com.github.openstack4j.core:*"
MINIO = "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"
KEY, SECRET = "a-key-of-the-tests", "a-secret-of-the-tests"
WAIT_SECONDS = 60


@contextmanager
def s3proxy(folder: Path) -> Iterator[Store]:
    """A running S3Proxy that keeps its objects as files under ``folder``."""
    (folder / "objects").mkdir(parents=True)
    java = find_java()
    jars = package_jars(
        java, jars_directory(), [S3PROXY], {"spark.jars.excludes": OTHER_CLOUDS}, log=folder / "jars.log"
    )
    store = Store(f"http://127.0.0.1:{free_port()}", KEY, SECRET)
    lines = {
        "s3proxy.endpoint": store.endpoint,
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.identity": KEY,
        "s3proxy.credential": SECRET,
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(folder / "objects"),
        "jclouds.identity": "unused",
        "jclouds.credential": "unused",
    }
    settings = folder / "s3proxy.conf"
    settings.write_text("".join(f"{name}={value}\n" for name, value in lines.items()), encoding="utf-8")
    # What Spark ships too is not downloaded.
    classpath = os.pathsep.join([*map(str, jars), str(spark_home() / "jars" / "*")])
    logback = folder / "logback.xml"
    logback.write_text('<configuration><root level="WARN"/></configuration>', encoding="utf-8")
    command = [
        *(str(java.path), "-Xmx512m", f"-Dlogback.configurationFile={logback}", "-cp", classpath),
        *("org.gaul.s3proxy.Main", "--properties", str(settings)),
    ]
    with running(command, {}, folder / "store.log", lambda: _answers(store)):
        yield store


@contextmanager
def minio(folder: Path, variables: Mapping[str, str] | None = None) -> Iterator[Store]:
    """A running MinIO, its environment with ``variables``. Without Go and without a binary in DELTAMERGE_MINIO the test
    is skipped, in CI it fails."""
    store = Store(f"http://127.0.0.1:{free_port()}", KEY, SECRET)
    (folder / "objects").mkdir(parents=True)
    command = [
        str(minio_binary()),
        "server",
        str(folder / "objects"),
        "--address",
        store.endpoint.removeprefix("http://"),
    ]
    keys = {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET}
    with running(command, {**keys, **(variables or {})}, folder / "store.log", lambda: _answers(store)):
        yield store


def minio_binary() -> Path:
    """The binary that DELTAMERGE_MINIO names, else the one that Go builds once, beside the jars."""
    named = os.environ.get("DELTAMERGE_MINIO")
    if named:
        return Path(named)
    folder = jars_directory().parent / "bin"
    binary = folder / MINIO.rpartition("@")[2] / "minio"
    if not binary.exists():
        go = shutil.which("go")
        if go is None:
            missing = "MinIO is built with Go, which is not here; DELTAMERGE_MINIO can name a binary."
            (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
        binary.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "install", MINIO], env={**os.environ, "GOBIN": str(binary.parent)}, check=True)
    return binary


@contextmanager
def running(
    command: list[str],
    variables: Mapping[str, str],
    log_path: Path,
    answers: Callable[[], bool],
    wait_seconds: float = WAIT_SECONDS,
) -> Iterator[None]:
    """A server by that ``command``, once it ``answers``: in the folder of its log, with ``variables`` set."""
    with log_path.open("wb") as log:
        server = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            env={**os.environ, **variables},
            cwd=log_path.parent,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + wait_seconds
        while not answers():
            assert server.poll() is None, log_path.read_text(errors="replace")
            assert time.monotonic() < deadline, log_path.read_text(errors="replace")
            time.sleep(0.1)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _answers(store: Store) -> bool:
    try:
        return store.request("GET", "/")[0] == 200
    except OSError:
        return False
