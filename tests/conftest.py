"""One warm Spark Connect server and one classic session for the whole suite, a schema of its own for each test."""

from __future__ import annotations

import gc
import os
import signal
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.nightly import mark_nightly

# Most JVMs here are young and all tables are tiny: to compile code, Java's or Spark's, costs more than to run it.
QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
# A commit starts 25 processes where Hadoop has no native library, and Java starts each by way of another one.
LAUNCH = "-Djdk.lang.Process.launchMechanism=VFORK" if sys.platform == "linux" else ""
os.environ.setdefault(
    "JDK_JAVA_OPTIONS",
    f"{QUICK_COMPILER} -XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC -XX:MetaspaceSize=512m {LAUNCH}",
)
# A terminal's program is forked. By gRPC's fork handlers, which the engine turns off where it imports gRPC first, a
# child of a worker with a channel may end before it has begun.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
# A shell that starts the run in the background has it ignore ctrl-c, which some tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# nohup has it ignore a terminal that is closed, which one test closes.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# In this order: those of stores and several drivers wait much, so they run beside others that do not, and not first,
# when all wait for one Spark.
LONGEST = (
    "test_as_people_write_it.py",
    "test_metadata_errors.py",
    "test_should_materialize_source.py",
    "test_fidelity.py",
    "test_store_s3.py",
    "test_metastore.py",
    "test_undo_possible.py",
    "test_outages.py",
    "test_log_store.py",
)
# The demo, the command line and the terminal are tested with the confs that users get.
TEST_CONFS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # each sort and each table of groups takes a whole page, which is 64 MB on a heap like ours: half of all memory
    "spark.buffer.pageSize": "1m",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # VACUUM spreads its listing over so many tasks, which are 10,000 by default
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # Delta writes its log through it; Hadoop's own starts a process (readlink, chmod) for each file and its checksum
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}

# Hive's metastore reads all of Hadoop's settings anew for each statement of a Connect session. Users get Hive's: the
# nightly run has it, too.
CATALOG = os.environ.get("DELTAMERGE_TEST_CATALOG", "in-memory")
SERVER_CONFS = {**TEST_CONFS, "spark.sql.catalogImplementation": CATALOG}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--merges", type=int, help="How many random merges to plan and apply on each kind of session.")
    parser.addoption("--merges-log", type=Path, help="A file that gets a line for every table and its random merges.")
    parser.addoption("--rehearsals", type=int, default=10, help="How many random merges to rehearse.")
    parser.addoption("--faults", type=int, help="In how many random merges to count faults beside plain Python.")
    parser.addoption("--metamorphic", type=int, help="Of how many random merges to ask what holds between plans.")
    parser.addoption("--statements", type=int, help="How many more statements to read beside Spark.")
    parser.addoption("--tables-of-others", help="A folder of Delta tables of other writers to merge into.")
    parser.addoption("--delays", type=int, default=5, help="How many times to answer the console late and unordered.")
    parser.addoption("--keys", type=int, default=100, help="How many random keys to press in the console.")
    parser.addoption("--keys-from", type=int, default=1, help="The first console that they are pressed in.")
    parser.addoption("--kills", type=int, default=1, help="At how many random moments to kill an apply.")
    parser.addoption("--cycles", type=int, default=20, help="How many times one console plans and applies.")
    parser.addoption("--races", type=int, default=1, help="How many rounds of concurrent writers to run.")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Five tests at a time keep two cores busy where they wait for Spark; those of the unit tier do not wait."""
    return 2 if all("tests/unit" in Path(one).as_posix() for one in config.args) else 5


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each file goes to one worker, all that needs the classic session to the same: it is a JVM of its own for each.
    Some ask for it by a parameter.

    The longest come first, in their order, so that no worker is left alone with one at the end.
    """
    for item in items:
        asked = item.callspec.params.values() if hasattr(item, "callspec") else ()
        is_classic = "classic" in (*getattr(item, "fixturenames", ()), *(one for one in asked if isinstance(one, str)))
        item.add_marker(pytest.mark.xdist_group("classic" if is_classic else item.path.stem))
    order = {name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
    mark_nightly(items)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not look at it after every few tests."""
    gc.freeze()


def home_in(base: Path) -> Path:
    """The home of the suite's server, its log, metastore and warehouse; ``base`` is the run's temporary directory.

    DELTAMERGE_TEST_HOME names one whose server is left running, and is warm for the next run.
    """
    kept = os.environ.get("DELTAMERGE_TEST_HOME")
    return Path(kept) if kept else base / "spark-home"


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    # the workers of a run have directories of their own in the run's, and share the server
    return home_in(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """The last process of a run stops the server, whichever started it."""
    from engine.session.server import stop_server

    if "PYTEST_XDIST_WORKER" in os.environ or "DELTAMERGE_TEST_HOME" in os.environ:
        return
    if session.config._tmp_path_factory._basetemp is not None:
        stop_server(home_in(session.config._tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="session")
def session(spark_home: Path) -> Iterator[Any]:
    """A Session of the engine on an embedded Connect server, started once for all workers."""
    from engine.session.connect import connect

    spark_home.mkdir(mode=0o700, exist_ok=True)
    with to_the_end():
        opened = connect("local[2]", home=spark_home, confs=SERVER_CONFS, progress=print)
    # a client that can attach again after a lost connection releases each part of an answer by a call of its own, half
    # of the time that a plan takes in it; consoles and commands that are processes of their own do so in other tests
    opened.spark.client.disable_reattachable_execute()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def spark(session: Any) -> Any:
    """A Connect SparkSession."""
    return session.spark


@pytest.fixture(scope="session")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A classic SparkSession in a JVM of its own: the oracle, and the notebook's kind of session."""
    from engine.session.classic import classic_session

    with to_the_end():
        opened = classic_session(tmp_path_factory.mktemp("classic"), TEST_CONFS)
    yield opened
    opened.stop()


@contextmanager
def to_the_end() -> Iterator[None]:
    """A JVM that starts meanwhile and runs to the end is worth memory, and Java's better compiler: it takes a third of
    the time of the first ten minutes, and in twenty less than it gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", f"{os.environ['JDK_JAVA_OPTIONS'].replace(QUICK_COMPILER, '')} -Xmn1g")
        yield


@pytest.fixture
def schema(spark: Any) -> Iterator[str]:
    """A schema on the Connect server for one test."""
    with own_schema(spark) as name:
        yield name


@pytest.fixture
def classic_schema(classic: Any) -> Iterator[str]:
    with own_schema(classic) as name:
        yield name


@contextmanager
def own_schema(spark: Any) -> Iterator[str]:
    """A new schema, current meanwhile, dropped with all its tables at the end."""
    name = f"t_{uuid.uuid4().hex[:10]}"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"USE {name}")
    yield name
    spark.sql("USE default")
    spark.sql(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(autouse=True)
def _no_system_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests speak UTC."""
    monkeypatch.setenv("TZ", os.environ.get("TZ", "UTC"))
