"""``doctor`` and ``server`` where no Spark runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from console.cli import checks
from console.cli.checks import Check
from engine.ledger.history import History
from engine.ledger.history_store import MIGRATIONS
from engine.model.errors import UnreachableError
from tests.cli.running import Shell
from tests.engine.plans import make_create_plan


def by_name(document: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in document}


def test_all_well(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = shell("doctor", "--json")
    assert ran.code == 0
    found = by_name(ran.json)
    assert list(found) == ["java", "packages", "jars", "home", "disk", "settings", "history", "server", "terminal"]
    assert found["java"]["verdict"] == "ok"
    assert not shell.home.exists(), "the doctor only looks"
    text = shell("doctor").out
    assert "✔ ok" in text
    assert "pyspark 4.2.0" in text


def test_no_java(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> object:
        raise UnreachableError("NO_JAVA", "No Java.", "Install one.")

    monkeypatch.setattr("engine.session.java.find_java", none)
    ran = shell("doctor", "--json")
    assert ran.code == 1
    java = by_name(ran.json)["java"]
    assert (java["verdict"], java["found"], java["hint"]) == ("fail", "[NO_JAVA] No Java.", "Install one.")


def test_home_open_to_others(shell: Shell) -> None:
    shell.home.mkdir(mode=0o755)
    os.chmod(shell.home, 0o755)
    ran = shell("doctor", "--json")
    assert ran.code == 0
    assert by_name(ran.json)["home"]["verdict"] == "warn"


def test_what_a_program_that_is_gone_left_is_an_operation(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.home.mkdir(mode=0o700)
    History(shell.home / "history.duckdb").begin(make_create_plan())
    monkeypatch.setattr("engine.processes.is_running", lambda *_: False)
    found = [one["found"] for one in shell("doctor", "--json").json if one["name"] == "history"]
    assert found[-1].startswith("1 operation of a program that is gone: ")


def test_home_is_a_file(shell: Shell, tmp_path: Path) -> None:
    shell.home.write_text("")
    ran = shell("doctor", "--json")
    assert ran.code == 64  # click says so itself: --home wants a directory


def test_no_jars(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAMERGE_CONSOLE_JARS", str(tmp_path / "jars"))
    assert by_name(shell("doctor", "--json").json)["jars"]["verdict"] == "warn"


def test_bad_settings(shell: Shell) -> None:
    shell.home.mkdir(mode=0o700)
    (shell.home / "settings.toml").write_text("theme = ")
    assert by_name(shell("doctor", "--json").json)["settings"]["verdict"] == "fail"


@pytest.mark.parametrize("text", ["theme = ", "[profiles.dev]\nmaster = 'local[4]'\npolicy.nothing = 1\n"])
def test_rules_that_cannot_be_read_keep_from_spark_and_from_nothing_else(
    shell: Shell, tmp_path: Path, text: str
) -> None:
    shell.home.mkdir(mode=0o700)
    (shell.home / "settings.toml").write_text(text)
    for typed in ((), ("--master", "local[2]"), ("--remote", "sc://h")):
        # the rules of another Spark keep nobody from this one
        is_kept = "--remote" not in typed or "profiles" not in text
        found = by_name(shell(*typed, "doctor", "--json").json)["settings"]
        assert found["verdict"] == ("fail" if is_kept else "warn")
        assert shell(*typed, "history").code == 0
    (tmp_path / "m.sql").write_text("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE")
    for words in (("plan", tmp_path / "m.sql"), ("server", "start")):
        ran = shell(*words)
        assert (ran.code, "[BAD_PROFILE]" in ran.err) == (64, True)


def test_what_the_console_tells_of_the_settings_when_it_opens_is_told_here_too(shell: Shell) -> None:
    (shell.home / "themes").mkdir(mode=0o700, parents=True)
    (shell.home / "themes" / "mine.yaml").write_text("name: mine\nprimry: red\n")
    (shell.home / "settings.toml").write_text('theme = "nosuch"\n[keys]\nmerge.nothere = "f4"\nmerge.plan = "c"\n')
    told = [one["found"] for one in shell("doctor", "--json").json if one["name"] == "settings"]
    expected = ("primry", "No theme is named 'nosuch'", "merge.nothere", "c is the key of merge.commit already")
    assert [word in one for word, one in zip(expected, told, strict=True)] == [True] * 4


def test_every_profile_that_cannot_be_used_is_told(shell: Shell) -> None:
    shell.home.mkdir(mode=0o700)
    text = "[profiles.a.policy]\nfoo = 1\n[profiles.b]\nprivate = 1\n[profiles.c]\nmaster = 'local[1]'\n"
    (shell.home / "settings.toml").write_text(text)
    told = [one["found"] for one in shell("doctor", "--json").json if one["name"] == "settings"]
    assert ["unknown rule 'foo'" in told[0], "the profile 'b'" in told[1], len(told)] == [True, True, 2]
    assert "Correct settings.toml" in shell("--profile", "a", "doctor").err


def test_server_that_does_not_run(shell: Shell) -> None:
    ran = shell("server", "status", "--json")
    assert ran.code == 0
    assert ran.json == dict.fromkeys(
        ("running", "answers", "pid", "endpoint", "master", "versions", "started_at", "log")
    ) | {"running": False}
    assert shell("server", "status").out == "No Spark server is running.\n"
    assert shell("server", "stop", "--json").json == {"stopped": False}


def test_a_spark_that_cannot_be_reached_is_a_finding(shell: Shell) -> None:
    ran = shell("--remote", "sc://127.0.0.1:1", "doctor", "--spark", "--json")
    assert ran.code == 1
    spark = by_name(ran.json)["spark"]
    assert spark["verdict"] == "fail"
    assert spark["hint"]


def test_writing_needs_a_folder_and_a_profile_that_may_write(shell: Shell) -> None:
    ran = shell("doctor", "--write")
    assert ran.code == 64
    assert "--path PATH" in ran.err
    shell.home.mkdir(mode=0o700)
    (shell.home / "settings.toml").write_text("[profiles.careful.policy]\nread_only = true\n")
    ran = shell("--profile", "careful", "doctor", "--path", "/lake", "--write")
    assert ran.code == 6
    assert "POLICY_READ_ONLY" in ran.err


def test_a_folder_with_credentials_is_refused(shell: Shell) -> None:
    ran = shell("doctor", "--path", "s3a://KEY:secret@lake/orders")
    assert ran.code == 64
    assert "CREDENTIALS_IN_URL" in ran.err
    assert "secret" not in ran.err


def files(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["damaged", "older", "left by a crash"])
def test_a_history_is_looked_at_and_left_as_it_is(shell: Shell, kind: str) -> None:
    """What the next command mends is told, and is for that command to mend."""
    shell.home.mkdir(mode=0o700)
    path = shell.home / "history.duckdb"
    if kind == "damaged":
        path.write_bytes(b"hello, this was a ledger once")
    elif kind == "older":
        with duckdb.connect(path) as db:
            for statement in MIGRATIONS[0]:
                db.execute(statement)
            db.execute("INSERT INTO format VALUES (1, '2026-01-01')")
    else:
        History(path).record_planned(make_create_plan())
        dies = (
            f"import duckdb, os; db = duckdb.connect({str(path)!r}); db.execute('DELETE FROM review'); "
            "db.execute(\"INSERT INTO review VALUES ('p', 'now', 'me')\"); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", dies], check=False)
        assert path.with_name("history.duckdb.wal").stat().st_size
    before = files(shell.home)
    (found,) = (one for one in shell("doctor", "--json").json if one["name"] == "history")
    assert files(shell.home) == before
    told = {
        "damaged": ("warn", "is damaged", "The next command sets it aside and begins a fresh one."),
        "older": ("warn", "is of an older program", "The next command brings it forward to format 2"),
        "left by a crash": ("ok", "the history can be read; newest entry: 2", ""),
    }
    verdict, words, hint = told[kind]
    assert (found["verdict"], words in found["found"], hint in found["hint"]) == (verdict, True, True)


def test_each_complaint_names_the_file_to_correct(shell: Shell) -> None:
    (shell.home / "themes").mkdir(mode=0o700, parents=True)
    (shell.home / "themes" / "mine.yaml").write_text("name: mine\n")
    (shell.home / "settings.toml").write_text('theme = "nosuch"\n')
    hints = [one["hint"] for one in shell("doctor", "--json").json if one["name"] == "settings"]
    assert hints == [f"Correct {shell.home / name}." for name in ("themes/mine.yaml", "settings.toml")]


@pytest.mark.parametrize("columns", ["30", "80"])
def test_the_name_of_a_check_takes_nothing_from_the_others(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    place = "s3a://a-very-long-bucket-name-for-the-lake/warehouse/orders/tables/of/shop"
    check = Check(f"list {place}", "fail", "The store has no bucket.", "Create it.")
    monkeypatch.setattr(checks, "check_session", lambda *_: [check])
    out = shell("doctor", "--path", place).out
    assert out.count("ok") >= 5
    words = " ".join(out.split())
    for told in ("✖ fail", "java", "settings", "The store", "Create it."):
        assert told in words
