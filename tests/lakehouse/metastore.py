"""A Hive metastore as a process of its own, out of the jars of the pip install of Spark, on embedded Derby."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from engine.session.java import find_java, spark_home
from tests.cluster.standalone import free_port
from tests.lakehouse.servers import running

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
    with running(command, {}, folder / "metastore.log", lambda: _listens(port), WAIT_SECONDS):
        yield f"thrift://127.0.0.1:{port}"


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
