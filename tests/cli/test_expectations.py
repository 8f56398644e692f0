"""Expectations on the command line, as far as no Spark is needed: wrong usage, and what a plan with results shows."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import click
import pytest

from console.cli.verification import Verification
from engine.model.expectation import ExpectationResult
from engine.model.plan_file import write_plan
from tests.cli.running import Shell
from tests.engine.plans import make_create_plan, make_plan

NO_SPARK = mock.patch("engine.session.connect.connect", side_effect=AssertionError("Spark was asked for"))
MERGE = "MERGE INTO demo.orders t USING c s ON t.k = s.k WHEN MATCHED THEN DELETE"
EVIL = "x\x1b[2J[red]|<b>@you\n# y"
FAILS = ExpectationResult(
    name="unique_id",
    kind="unique",
    status="fail",
    value="1",
    sentence="1 key: several rows have it in id.",
    checked="changes",
    rows=({"id": EVIL, "number of rows": None},),
)
HOLDS = ExpectationResult(name="rows", kind="rows", status="pass", value="3", sentence="rows: 3.")


@pytest.fixture(autouse=True)
def _without_spark() -> object:
    with NO_SPARK:
        yield


def test_a_broken_file_is_told_with_its_place(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "m.sql").write_text(MERGE)
    (tmp_path / "expect").mkdir()
    (tmp_path / "expect" / "a.yml").write_text("demo.orders:\n  - uniqe: [id]\n")
    for command in (("plan",), ("apply", "--yes")):
        # beside the file of SQL: nothing has to name it
        ran = shell(*command, tmp_path / "m.sql", "--json")
        assert ran.code == 64
        assert ran.json["error"]["condition"] == "BAD_EXPECTATIONS"
        assert ran.json["error"]["position"] == {"line": 2, "column": 5}
    assert shell("plan", tmp_path / "m.sql", "--expect", tmp_path / "none.yml").err.startswith("[FILE_NOT_READ]")
    # a file of SQL elsewhere: that of the home
    shell.home.mkdir(exist_ok=True)
    (tmp_path / "expect").rename(shell.home / "expect")
    assert shell("plan", tmp_path / "m.sql").err.startswith("[BAD_EXPECTATIONS]")


def test_what_is_verified_must_be_expected(shell: Shell, tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", make_plan())
    write_plan(tmp_path / "e.json", make_plan(expectations=(HOLDS,)))
    write_plan(tmp_path / "c.json", make_create_plan())
    (tmp_path / "other.yml").write_text("demo.customers:\n  - unique: [id]\n")
    for file, options, message in (
        ("p.json", ("--expect", tmp_path / "other.yml"), "--expect belongs to a FILE.sql"),
        ("p.json", ("--verify",), "Nothing is expected of demo.orders:"),
        ("p.json", ("--undo-on-failure", "--expect", tmp_path / "other.yml"), "Nothing is expected of"),
        ("e.json", ("--verify",), "The plan holds only what its expectations came to."),
        ("c.json", ("--verify",), "--verify is for a MERGE"),
    ):
        ran = shell("apply", tmp_path / file, "--yes", *options)
        assert ran.code == 64
        assert message in ran.err


def test_a_policy_that_verifies_asks_for_no_expectations() -> None:
    found = Verification((), verifies=True)
    found.check(make_plan())
    found.check(make_create_plan())
    with pytest.raises(click.UsageError):
        Verification((), verifies=True, is_typed=True).check(make_plan())


def test_a_failing_one_is_shown_and_keeps_the_plan_from_being_applied(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    write_plan(file, make_plan(warnings=(), expectations=(FAILS, HOLDS)))
    out = shell("show", file).out
    assert "1 of 2 expectations fails: unique_id" in out
    assert "unique_id fails (error): 1 key" in out
    assert "rows holds: rows: 3." in out
    assert "\x1b" not in out
    markdown = shell("show", file, "--markdown").out
    assert "- ❌ unique\\_id fails \\(error\\): 1 key" in markdown
    assert "  - `id=x" in markdown
    assert "\n# y" not in markdown
    ran = shell("apply", file, "--yes", "--json")
    assert ran.code == 6
    assert ran.json["error"]["condition"] == "EXPECTATION_FAILS"
    assert ran.json["error"]["hint"] == "If that is what you want, apply with --accept expect:unique_id."
    # whoever means all that fails is told all at once
    also = FAILS.model_copy(update={"name": "other"})
    write_plan(file, make_plan(warnings=(), expectations=(FAILS, HOLDS, also)))
    assert shell("apply", file, "--yes").err.endswith("--accept expect:unique_id --accept expect:other.\n")
    # one that is a warning refuses nothing: it comes as far as Spark
    warns = FAILS.model_copy(update={"severity": "warn"})
    write_plan(file, make_plan(warnings=(), expectations=(warns, HOLDS)))
    assert "Spark was asked for" in shell("apply", file, "--yes").err


def test_a_first_file_overwrites_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.yml").write_text("mine")
    assert shell("expect", "demo.orders", "-o", tmp_path / "t.yml").code == 64
    assert shell("expect", "a..b").err.startswith("[BAD_TABLE_NAME]")
    assert (tmp_path / "t.yml").read_text() == "mine"


def test_the_schema_for_editors(shell: Shell) -> None:
    assert "unique" in shell("schema", "expectations").json["$defs"]["Expectation"]["properties"]
