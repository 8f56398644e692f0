"""The command line on a real Spark: the suite's server, found again through its home."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.model.plan_file import read_plan_file
from engine.session.connect import Session
from tests.cli.running import Shell
from tests.conftest import TEST_CONFS

OPTIONS = ("--master", "local[2]", *(word for conf in TEST_CONFS.items() for word in ("--conf", "=".join(conf))))

# about a minute of work that a task notices the end of between two rows
SLOW = "(SELECT id % 10 AS k, CAST(max(hash(id)) AS BIGINT) AS v FROM range(200000000000) GROUP BY 1)"
# slow to write if there are many rows, and nothing that a plan would have to try: none of it can fail
SLOW_VALUE = "length(concat(" + ", ".join(f"md5(concat(s.v, '{n}'))" for n in range(200)) + "))"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], session: Any, spark_home: Path) -> Shell:
    """The command line on the suite's server."""
    return Shell(capsys, spark_home, *OPTIONS)


@pytest.fixture
def target(spark: Any, schema: str) -> str:
    spark.sql("CREATE TABLE t (k BIGINT, v BIGINT) USING delta")
    spark.sql("INSERT INTO t SELECT /*+ COALESCE(1) */ id, 0 FROM range(100)")
    spark.sql("CREATE TABLE s USING delta AS SELECT * FROM VALUES (1L, 10L), (2L, 20L), (200L, 2000L) AS s(k, v)")
    return schema


@pytest.fixture
def merge(target: str, tmp_path: Path) -> Path:
    file = tmp_path / "m.sql"
    file.write_text(
        f"MERGE INTO {target}.t AS t USING {target}.s AS s ON t.k = s.k\n"
        "WHEN MATCHED THEN UPDATE SET v = s.v\nWHEN NOT MATCHED THEN INSERT *\n"
    )
    return file


def values(spark: Any, schema: str) -> dict[int, int]:
    return {row.k: row.v for row in spark.sql(f"SELECT k, v FROM {schema}.t WHERE v <> 0").collect()}


def latest(spark: Any, schema: str) -> int:
    return int(spark.sql(f"DESCRIBE HISTORY {schema}.t LIMIT 1").collect()[0]["version"])


def test_plan_show_apply_history(shell: Shell, spark: Any, target: str, merge: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    ran = shell("plan", merge, "-o", file, "--detailed-exitcode", "--changes")
    assert ran.code == 2, ran.err
    assert "100 rows + 1 inserted - 0 deleted = 101 rows" in ran.out
    assert "0 → 30" in ran.out
    assert "updates 2 · inserts 1" in ran.out
    assert f"apply {file}" in ran.out
    assert "… analyze" in ran.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert values(spark, target) == {}

    shown = shell("show", file, "--json").json
    assert shown["promise"]["numTargetRowsUpdated"] == 2
    assert [(one["name"], one["sum_after"]) for one in shown["changes"]["columns"]] == [("v", "30")]
    assert "Changes: 1 column" in shell("show", file, "--markdown").out
    plan_id = shown["plan_id"]
    assert shell("history", "--json", "--table", f"{target}.t").json[0]["status"] == "planned"

    assert shell("apply", file).code == 6
    ran = shell("apply", file, "--yes", "--json")
    assert ran.code == 0, ran.err
    assert "prepared again" not in ran.err
    outcome = ran.json
    assert (outcome["plan_id"], outcome["verdict"], outcome["kept"]) == (plan_id, "fresh", True)
    assert (outcome["version"], outcome["read_version"], outcome["already_applied"]) == (2, 1, False)
    assert outcome["metrics"]["numTargetRowsInserted"] == 1
    assert outcome["deviations"] == []
    assert values(spark, target) == {1: 10, 2: 20, 200: 2000}

    ran = shell("apply", file, "--yes", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["already_applied"]
    assert ran.json["version"] == 2
    assert latest(spark, target) == 2

    entries = shell("history", "--json", "--table", f"{target}.t").json
    assert [(one["status"], one["version"], one["kept"]) for one in entries] == [("applied", 2, True)]
    text = shell("show-op", entries[0]["op_id"]).out
    assert "kept its promise" in text
    assert f"RESTORE TABLE {target}.t TO VERSION AS OF 1" in text


def test_apply_waits_for_who_works_in_the_plans_session_and_leaves_it_to_who_else_has_it(
    shell: Shell, spark: Any, session: Session, target: str, merge: Path, tmp_path: Path
) -> None:
    file = tmp_path / "p.json"
    assert shell("plan", merge, "-o", file).code == 0
    planned = read_plan_file(file).session
    with_another = session.attach(planned.session_id or "", planned.user_id)
    assert with_another is not None
    with with_another.turn(lambda: None):  # as a question or another apply has
        process = started(shell.home, "apply", file, "--yes", "--events")
        assert process.stderr is not None
        assert any("what else works in this session" in line for line in process.stderr)
        assert latest(spark, target) == 1
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert "prepared again" not in err
    assert latest(spark, target) == 2
    assert with_another.is_alive()
    with_another.close()
    assert session.attach(planned.session_id or "", planned.user_id) is None  # the last one has closed it


def test_a_conf_that_an_apply_brings_into_the_plans_session_goes_with_it(
    shell: Shell, merge: Path, tmp_path: Path
) -> None:
    file = tmp_path / "p.json"
    assert shell("plan", merge, "-o", file).code == 0
    refused = shell("--conf", "spark.sql.mapKeyDedupPolicy=LAST_WIN", "apply", file, "--yes")
    assert (refused.code, "SESSION_CHANGED" in refused.err) == (5, True)
    assert shell("apply", file, "--yes").code == 0


def test_a_plan_goes_through_a_pipe(shell: Shell, spark: Any, target: str, merge: Path) -> None:
    planned = shell("plan", "-", "--json", stdin=merge.read_bytes())
    assert planned.code == 0, planned.err
    assert "updates 2" in shell("show", "-", stdin=planned.out.encode()).out
    assert shell("apply", "-", stdin=planned.out.encode()).code == 6
    ran = shell("apply", "-", "--yes", "--json", stdin=planned.out.encode())
    assert ran.code == 0, ran.err
    assert (ran.json["plan_id"], ran.json["kept"]) == (planned.json["plan_id"], True)
    assert values(spark, target) == {1: 10, 2: 20, 200: 2000}


def test_a_broken_promise_exits_7_and_is_said_first(shell: Shell, merge: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "p.json", tmp_path / "other.json"
    assert shell("plan", merge, "-o", file).code == 0
    plan = read_plan_file(file)
    wrong = plan.model_copy(update={"promise": {**plan.promise, "numTargetRowsUpdated": 3}})
    other.write_text(wrong.to_json())
    ran = shell("apply", other, "--yes")
    assert ran.code == 7, ran.err
    assert ran.out.splitlines()[0].startswith("✖ DEVIATED in 1 number · ")
    assert ["numTargetRowsUpdated", "3", "2", "✖", "deviates"] in [line.split() for line in ran.out.splitlines()]
    again = shell("apply", other, "--yes")
    assert again.code == 7
    assert again.err.startswith("This plan was committed already, as v2.\n")
    assert again.out.startswith("✖ DEVIATED in 1 number · was committed already")
    assert "applied, DEVIATED" in shell("history", "--table", plan.target.name).out


def test_a_committed_plan_needs_no_accept_to_say_so(shell: Shell, target: str, merge: Path, tmp_path: Path) -> None:
    file, expected = tmp_path / "p.json", tmp_path / "e.yml"
    expected.write_text(f"{target}.t:\n  - rows: {{max: 1}}\n")
    assert shell("plan", merge, "--expect", expected, "-o", file).code == 6
    assert shell("apply", file, "--yes").code == 6
    ran = shell("apply", file, "--yes", "--accept", "expect:rows")
    assert ran.code == 0, ran.err
    again = shell("apply", file, "--yes", "--json")
    assert (again.code, again.json["already_applied"], again.json["version"]) == (0, True, 2)
    op_id = again.json["op_id"]
    assert shell("undo", op_id, "--yes").code == 0
    assert "PLAN_UNDONE" in (taken := shell("apply", file, "--yes")).err
    assert taken.code == 5


def test_a_frozen_plan_outlives_its_session(
    shell: Shell, session: Any, spark: Any, target: str, tmp_path: Path
) -> None:
    merge, file = tmp_path / "m.sql", tmp_path / "p.json"
    merge.write_text(
        f"MERGE INTO {target}.t AS t USING (SELECT k, uuid() AS u FROM {target}.s) AS s ON t.k = s.k"
        " WHEN MATCHED AND s.u IS NOT NULL THEN DELETE"
    )
    assert shell("plan", merge, "--freeze").code == 64, "nobody could apply it"
    ran = shell("plan", merge, "--freeze", "-o", file)
    assert ran.code == 0, ran.err
    assert "its source is kept in" in ran.out
    planned = shell("show", file, "--json").json["session"]
    with session.attach(planned["session_id"], planned["user_id"]):
        pass  # and close it
    ran = shell("apply", file, "--yes", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["kept"]
    assert not spark.sql(f"SHOW TABLES IN {target} LIKE 'deltamerge_staged_*'").collect()


def test_apply_sql(shell: Shell, spark: Any, target: str, merge: Path) -> None:
    assert shell("apply", merge).code == 6
    ran = shell("apply", merge, tty=True, stdin=b"n\n")
    assert ran.code == 6
    assert "Commit? [y/N]" in ran.err
    assert "updates 2 · inserts 1" in ran.err
    assert ran.out == ""
    assert latest(spark, target) == 1

    ran = shell("apply", merge, tty=True, stdin=b"y\n")
    assert ran.code == 0, ran.err
    assert [line.split() for line in ran.out.splitlines()][1:2] == [["numTargetRowsInserted", "1", "1", "✔"]] or (
        "numTargetRowsInserted" in ran.out
    )
    assert "kept its promise" in ran.out
    assert latest(spark, target) == 2


def test_params_json_and_events(shell: Shell, target: str, tmp_path: Path) -> None:
    file = tmp_path / "m.sql"
    file.write_text(
        f"MERGE INTO {target}.t AS t USING {target}.s AS s ON t.k = s.k AND s.k < :most WHEN MATCHED THEN DELETE"
    )
    ran = shell("plan", file, "--param", "most=2", "--json", "--events")
    assert ran.code == 0, ran.err
    assert ran.json["promise"]["numTargetRowsDeleted"] == 1
    events = [json.loads(line) for line in ran.err.splitlines()]
    assert {"progress", "plan", "done"} <= {event["event"] for event in events}
    assert events[-1]["event"] == "done"
    (planned,) = (event for event in events if event["event"] == "plan")
    assert (planned["plan_id"], planned["promise"]) == (ran.json["plan_id"], ran.json["promise"])
    assert "deletes 1" in planned["summary"]
    assert planned["warnings"] == ran.json["warnings"]

    ran = shell("plan", "-", "--events", stdin=b"MERGE INTO no.such t USING s ON 1=1 WHEN MATCHED THEN DELETE")
    assert ran.code == 1
    last = json.loads(ran.err.splitlines()[-1])
    assert (last["event"], last["condition"]) == ("error", "TABLE_OR_VIEW_NOT_FOUND")


def test_stale(shell: Shell, spark: Any, target: str, merge: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert shell("plan", merge, "-o", file).code == 0
    spark.sql(f"UPDATE {target}.t SET v = 7 WHERE k = 1")
    ran = shell("apply", file, "--yes", "--json")
    assert ran.code == 5
    assert ran.json["error"]["condition"] == "STALE_PLAN"
    assert ran.err.splitlines()[-2].startswith("[STALE_PLAN] ")
    assert latest(spark, target) == 2


def test_refused_plan(shell: Shell, spark: Any, target: str, merge: Path, tmp_path: Path) -> None:
    spark.sql(f"INSERT INTO {target}.s VALUES (1, 11)")
    ran = shell("plan", merge, "-o", tmp_path / "p.json")
    assert ran.code == 1
    assert "1 target row" in ran.out
    assert "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE" in ran.out
    assert "Next:" not in ran.out
    assert shell("apply", tmp_path / "p.json", "--yes").code == 6
    assert shell("apply", merge, "--yes").code == 6


def test_what_spark_refuses(shell: Shell, spark: Any, target: str, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE p (k BIGINT) USING parquet")
    file = tmp_path / "m.sql"
    for text, condition, place in (
        (
            f"MERGE INTO {target}.nope t USING {target}.s s ON t.k = s.k WHEN MATCHED THEN DELETE",
            "TABLE_OR_VIEW_NOT_FOUND",
            "",
        ),
        (
            f"MERGE INTO {target}.p t USING {target}.s s ON t.k = s.k WHEN MATCHED THEN DELETE",
            "UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported",
            "",
        ),
        (
            (
                f"-- why\nSET x = 1;\n\nMERGE INTO {target}.t t USING {target}.s s\n  ON t.k = = s.k "
                "WHEN MATCHED THEN DELETE"
            ),
            "PARSE_SYNTAX_ERROR",
            "(line 5, column 12)",
        ),
        (
            f"MERGE INTO {target}.t t USING {target}.s s ON t.k = s.nope WHEN MATCHED THEN DELETE",
            "DELTA_MERGE_UNRESOLVED_EXPRESSION",
            "(line 1, column",
        ),
    ):
        file.write_text(text)
        ran = shell("plan", file)
        assert ran.code == 1, text
        assert ran.out == ""
        assert "Traceback" not in ran.err
        message = next(line for line in ran.err.splitlines() if line.startswith("["))
        assert message.startswith(f"[{condition}")
        assert place in message


def test_server_that_is_down(shell: Shell, merge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Shell(capsys, shell.home, "--remote", "sc://localhost:1")("plan", merge)
    assert ran.code == 3
    assert ran.out == ""
    assert ran.err.startswith("[SERVER_DOWN] ")


def test_browse(shell: Shell, target: str) -> None:
    found = shell("tables", f"{target}.*", "--json").json
    assert [one["table"] for one in found] == ["s", "t"]
    assert f"{target}.t" in shell("tables", f"{target}.t").out
    assert f"{target}.t" in shell("tables", f"spark_catalog.{target}.t").out
    detail = shell("describe", f"{target}.t", "--json").json
    assert (detail["version"], detail["format"], detail["num_files"]) == (1, "delta", 1)
    text = shell("describe", f"{target}.t").out
    assert "@ v1" in text
    assert "bigint" in text
    ran = shell("describe", f"{target}.nope")
    assert ran.code == 1
    assert ran.err.splitlines()[0].startswith("[")


def test_server_status(shell: Shell) -> None:
    document = shell("server", "status", "--json").json
    assert list(document) == ["running", "answers", "pid", "endpoint", "master", "versions", "started_at", "log"]
    assert document["running"]
    assert document["answers"]
    assert document["master"] == "local[2]"
    assert "token" not in document["endpoint"]
    assert "Spark runs at" in shell("doctor").out


def started(home: Path, *arguments: object) -> subprocess.Popen[str]:
    # a shell that starts the suite in the background has it ignore ctrl-c, and its children with it
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; from console.cli import main; main()"
    words = ["--home", str(home), *OPTIONS, *map(str, arguments)]
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def interrupted(process: subprocess.Popen[str], under_way: Callable[[str], bool]) -> tuple[int, str, str]:
    """Its exit code, stdout and stderr, interrupted at the first line of stderr that shows a query under way."""
    assert process.stderr is not None
    watchdog = threading.Timer(60, process.kill)  # a line that never comes must not hang the suite
    watchdog.start()
    lines = []
    for line in process.stderr:
        lines.append(line)
        if under_way(line):
            break
    assert process.poll() is None, lines
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    watchdog.cancel()
    return process.returncode, out, "".join(lines) + err


def test_ctrl_c_while_planning(shell: Shell, spark: Any, target: str, tmp_path: Path) -> None:
    file = tmp_path / "m.sql"
    file.write_text(f"MERGE INTO {target}.t AS t USING {SLOW} AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v")

    def has_tasks(line: str) -> bool:
        event = json.loads(line)
        return event.get("phase") == "prepare source" and event["total"] > 0

    code, out, err = interrupted(started(shell.home, "plan", file, "--events"), has_tasks)
    assert (code, out) == (130, ""), err
    assert json.loads(err.splitlines()[-1])["event"] == "cancelled"
    assert "Traceback" not in err
    # nothing of it goes on: what comes next is not queued behind it
    began = time.monotonic()
    spark.sql("SELECT count(*) FROM range(1000)").collect()
    assert time.monotonic() - began < 10


def test_ctrl_c_while_applying(shell: Shell, spark: Any, target: str, tmp_path: Path) -> None:
    spark.sql(f"INSERT INTO {target}.s SELECT id, id FROM range(1000, 31000)")
    file = tmp_path / "m.sql"
    file.write_text(
        f"MERGE INTO {target}.t AS t USING {target}.s AS s ON t.k = s.k\n"
        f"WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, {SLOW_VALUE})"
    )
    ran = shell("plan", file, "-o", tmp_path / "p.json", "--rows", "0")
    assert ran.code == 0, ran.err
    folder = Path(spark.sql(f"DESCRIBE DETAIL {target}.t").collect()[0]["location"].removeprefix("file:"))
    before = set(folder.glob("*.parquet"))

    def writes(line: str) -> bool:
        if "MERGE operation - Rewriting" not in line:
            return False
        while process.poll() is None and set(folder.glob("*.parquet")) == before:
            time.sleep(0.05)
        return True

    process = started(shell.home, "apply", tmp_path / "p.json", "--yes")
    code, out, err = interrupted(process, writes)
    assert (code, out) == (130, ""), err
    assert "cancelled" in err.splitlines()
    assert latest(spark, target) == 1
    entry = shell("history", "--json", "--table", f"{target}.t").json[0]
    assert (entry["status"], entry["version"]) == ("cancelled", None)


@pytest.mark.thorough
def test_undo_takes_a_merge_back_once(shell: Shell, spark: Any, target: str, merge: Path, tmp_path: Path) -> None:
    assert shell("plan", merge, "-o", tmp_path / "p.json").code == 0
    op_id = shell("apply", tmp_path / "p.json", "--yes", "--json").json["op_id"]
    assert shell("undo", op_id[:8]).code == 6, "nobody is there to confirm"
    ran = shell("undo", op_id[:8], stdin=b"n\n", tty=True)
    assert (ran.code, values(spark, target)) == (6, {1: 10, 2: 20, 200: 2000})
    assert f"RESTORE TABLE {target}.t TO VERSION AS OF 1" in ran.err
    assert "101 rows now, 100 afterwards" in ran.err

    spark.sql(f"INSERT INTO {target}.t VALUES (300, 3000)")
    ran = shell("undo", op_id[:8], "--yes")
    assert ran.code == 6
    assert "1 later commit would be lost too: v3 WRITE" in ran.err
    ran = shell("undo", op_id[:8], "--yes", "--accept", "LATER_COMMITS", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["version"], ran.json["read_version"], ran.json["kept"]) == (4, 3, True)
    assert values(spark, target) == {}
    entries = shell("history", "--json", "--table", f"{target}.t").json
    assert [(one["kind"], one["status"], one["version"]) for one in entries] == [
        ("restore", "applied", 4),
        ("merge", "undone", 2),
    ]
    ran = shell("apply", tmp_path / "p.json", "--yes")
    assert ran.code == 5
    assert "taken back by v4" in ran.err
    assert shell("undo", op_id[:8], "--yes").code == 5


def test_a_policy_refuses_with_6_and_names_the_rule(shell: Shell, target: str, merge: Path, tmp_path: Path) -> None:
    settings = shell.home / "settings.toml"
    saved = tmp_path / "p.json"
    assert shell("plan", merge, "-o", saved).code == 0

    def refused(rule: str, *words: object, stdin: bytes = b"", tty: bool = False) -> str:
        settings.write_text(f"[profiles.prod.policy]\n{rule}\n")
        try:
            ran = shell("--profile", "prod", *words, stdin=stdin, tty=tty)
        finally:
            settings.unlink()
        assert (ran.code, ran.out) == (6, ""), ran.err
        return ran.err

    settings.write_text("[profiles.prod.policy]\nmax_files_rewritten = 0.5\n")
    checked = tmp_path / "checked.json"
    ran = shell("--profile", "prod", "plan", merge, "-o", checked, "--check-policy", "--detailed-exitcode")
    assert ran.code == 6
    assert "the policy refuses it (max_files_rewritten): 1 of 1 file" in ran.out
    assert "the policy refuses it" in shell("--profile", "prod", "show", checked, "--markdown").out
    assert "the policy refuses it" in shell("show", checked, "--markdown").out
    settings.write_text("[profiles.prod.policy]\nread_only = true\n")
    shown = shell("--profile", "prod", "show", checked).out
    assert ("read_only" in shown, "max_files_rewritten" in shown) == (True, False), "the rules of now"
    assert "the policy refuses it" not in shell("apply", checked, stdin=b"n\n", tty=True).err
    settings.write_text("[profiles.prod.policy]\nmax_files_rewritten = 0.5\n")
    assert shell("--profile", "prod", "plan", merge, "--detailed-exitcode").code == 2
    assert "(read_only)" in refused("read_only = true", "apply", saved, "--yes")
    assert "1 of 1 file would be rewritten" in refused("max_files_rewritten = 0.5", "apply", saved, "--yes")
    assert "(typed_confirmation)" in refused("typed_confirmation = true", "apply", saved, "--yes")
    typed = refused("typed_confirmation = true", "apply", saved, stdin=b"yes\n", tty=True)
    assert f"Type {target}.t to commit" in typed
    assert "(reviewed_plans)" in refused("reviewed_plans = true", "apply", saved, "--yes")
    settings.write_text("[profiles.prod.policy]\nreviewed_plans = true\n")
    assert shell("--profile", "prod", "show", saved).code == 0
    assert shell("--profile", "prod", "apply", saved, "--yes").code == 0
    settings.unlink()
    op_id = next(one["op_id"] for one in shell("history", "--json").json if one["status"] == "applied")
    assert "(typed_confirmation)" in refused("typed_confirmation = true", "undo", op_id, "--yes")
    assert f"Type {target}.t to undo" in refused("typed_confirmation = true", "undo", op_id, stdin=b"yes\n", tty=True)


def test_a_create_is_planned_applied_once_and_remembered(shell: Shell, spark: Any, schema: str, tmp_path: Path) -> None:
    script, file = tmp_path / "c.sql", tmp_path / "c.json"
    script.write_text(f"CREATE TABLE {schema}.made USING delta AS SELECT id FROM range(3)")
    ran = shell("plan", script, "-o", file, "--detailed-exitcode")
    assert ran.code == 2, ran.err
    assert ran.out.startswith(f"CREATE TABLE {schema}.made AS SELECT\n")
    assert "creates the table\n" in ran.out
    assert "history will say CREATE TABLE AS SELECT" in ran.out
    assert not spark.catalog.tableExists("made")

    ran = shell("apply", file, "--yes")
    assert ran.code == 0, ran.err
    assert "kept its promise" in ran.out
    assert f"DROP TABLE spark_catalog.{schema}.made" in ran.out
    assert shell("apply", file, "--yes", "--json").json["already_applied"]
    assert spark.table("made").count() == 3
    [entry] = shell("history", "--json", "--table", f"{schema}.made").json
    assert (entry["kind"], entry["status"], entry["version"], entry["kept"]) == ("create_table", "applied", 0, True)
    assert "numOutputRows" in shell("show-op", entry["op_id"]).out
