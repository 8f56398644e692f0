"""One warm Spark Connect server and one classic session for the whole suite, a schema of its own for each test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Every JVM here is young and its tables are tiny: to compile code, Java's or Spark's, costs more than to run it.
os.environ.setdefault(
    "JDK_JAVA_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC -XX:MetaspaceSize=512m",
)
# The demo, the command line and the terminal are tested with the confs that users get.
TEST_CONFS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--merges", type=int, help="How many random merges to plan and apply on each kind of session.")


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the suite's server: its log, metastore and warehouse.

    DELTAMERGE_TEST_HOME names one whose server is left running, and is warm for the next run.
    """
    kept = os.environ.get("DELTAMERGE_TEST_HOME")
    return Path(kept) if kept else tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def session(spark_home: Path) -> Iterator[Any]:
    """A Session of the engine on an embedded Connect server, started once."""
    from engine.session.connect import connect
    from engine.session.server import stop_server

    opened = connect("local[2]", home=spark_home, confs=TEST_CONFS, progress=print)
    yield opened
    opened.close()
    if "DELTAMERGE_TEST_HOME" not in os.environ:
        stop_server(spark_home)


@pytest.fixture(scope="session")
def spark(session: Any) -> Any:
    """A Connect SparkSession."""
    return session.spark


@pytest.fixture(scope="session")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A classic SparkSession in a JVM of its own: the oracle, and the notebook's kind of session."""
    from engine.session.classic import classic_session

    opened = classic_session(tmp_path_factory.mktemp("classic"), TEST_CONFS)
    yield opened
    opened.stop()


@pytest.fixture
def schema(spark: Any) -> Iterator[str]:
    """A new schema on the Connect server, current for the test, dropped with all its tables after it."""
    yield from new_schema(spark)


@pytest.fixture
def classic_schema(classic: Any) -> Iterator[str]:
    yield from new_schema(classic)


def new_schema(session: Any) -> Iterator[str]:
    name = f"t_{uuid.uuid4().hex[:10]}"
    session.sql(f"CREATE SCHEMA {name}")
    session.sql(f"USE {name}")
    yield name
    session.sql("USE default")
    session.sql(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(autouse=True)
def _no_system_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests speak UTC."""
    monkeypatch.setenv("TZ", os.environ.get("TZ", "UTC"))
