"""What is said of a plan, a commit and a command is said where it belongs, in whole words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from console.cli import apply_command
from console.words import markdown
from console.words.format import to_the_second
from console.words.outcome_sentences import read
from console.words.plan_summary import rewrites_all
from engine.model.errors import RefusedError, UnreachableError
from engine.model.plan import Plan, Refused, Remark
from engine.model.plan_file import write_plan
from engine.recovery.undo import undo
from engine.spark.spark_errors import one_line
from tests.cli.running import Shell
from tests.console.samples import a_plan, a_refused_plan, an_undo
from tests.engine.plans import make_create_plan, make_plan


def with_files(touched: int, of: int) -> Plan:
    plan = make_plan()
    found = plan.find_touched_files.model_copy(update={"files": plan.find_touched_files.files * touched})
    target = plan.target.model_copy(update={"num_files": of})
    return plan.model_copy(update={"find_touched_files": found, "target": target})


@pytest.mark.parametrize(("touched", "of", "is_loud"), [(3, 3, True), (2, 3, False), (1, 1, False), (0, 0, False)])
def test_a_merge_that_rewrites_every_file_warns(touched: int, of: int, is_loud: bool) -> None:
    plan = with_files(touched, of)
    assert rewrites_all(plan) is is_loud
    assert ("- ⚠️ rewrites" in markdown.page(plan)) is is_loud


def test_markdown_of_a_refused_plan_offers_no_undo_and_keeps_the_rivals_below_the_refusal() -> None:
    plan: Any = a_refused_plan()
    lines = markdown.page(plan).splitlines()
    assert not any("undo" in line for line in lines)
    assert "undo" in markdown.page(a_plan())
    first = next(at for at, line in enumerate(lines) if line.startswith("- "))
    rivals = [at for at, line in enumerate(lines) if "is matched by" in line]
    assert rivals
    assert rivals == list(range(rivals[0], rivals[-1] + 1))
    assert all(line.startswith("  ") for line in lines[first + 1 : rivals[-1] + 1])


def test_markdown_of_a_refused_plan_promises_and_rewrites_nothing() -> None:
    refused = Refused(condition="X", message="No.", hint="Write them.")
    merge: Any = make_plan(refused=refused)
    create = make_create_plan(refused=refused, effect="refused")
    for told in (markdown.page(merge), markdown.page(create)):
        assert "promised" not in told
        assert "rewrites" not in told
        assert "undo" not in told
        assert "\n  Write them" in told
    for told in (markdown.page(make_plan()), markdown.page(make_create_plan(promise={"numOutputRows": 1}))):
        assert "| metric | promised | how sure |" in told
        assert "\n- undo: " in told


def test_a_giant_token_is_cut_in_a_message() -> None:
    giant = "x" * 5000
    for text in (
        f"Syntax error at or near '{giant}'.",
        f"near '{giant.replace('xx', 'x ')}': no",
        f"`{giant}` is none",
    ):
        told = one_line(text)
        assert len(told) < 200
        assert "…" in told
    path = f"s3://{'deep/' * 40}part.parquet"
    assert one_line(f"{path} is gone") == f"{path} is gone"


def test_a_summary_of_a_refused_plan_offers_no_undo(shell: Shell, tmp_path: Any) -> None:
    file = tmp_path / "p.json"
    file.write_text(a_refused_plan().to_json())
    assert "undo" not in shell("show", file).out


def test_server_without_a_command_prints_its_help(shell: Shell) -> None:
    ran = shell("server")
    assert ran.code == 64
    assert "\\n" not in ran.err
    assert [line.split()[0] for line in ran.err.splitlines() if line.startswith("  st")] == ["start", "status", "stop"]


@pytest.mark.parametrize(
    ("lost", "told"), [(("v43 WRITE",), "1 later commit would"), (("v43 WRITE", "v44 WRITE"), "2 later commits would")]
)
def test_later_commits_are_counted_in_words(lost: tuple[str, ...], told: str) -> None:
    with pytest.raises(RefusedError, match=told):
        undo(None, an_undo("1", lost))  # type: ignore[arg-type]  it is refused before Spark is asked


def test_the_commit_that_makes_a_table_read_no_version() -> None:
    assert [read(None), read(7), read(-1)] == ["read v?", "read v7", "the table is new"]


def test_a_time_for_people_has_no_fractions() -> None:
    assert to_the_second("2026-11-20T12:04:11.123Z") == "2026-11-20T12:04:11Z"
    assert to_the_second("2026-11-20T12:04:11Z") == "2026-11-20T12:04:11Z"


@pytest.mark.parametrize("how_many", [1, 2])
def test_apply_names_each_warning_whether_it_asks_or_not(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how_many: int
) -> None:
    def no_spark(*_: object, **__: object) -> None:
        raise UnreachableError("SPARK_UNREACHABLE", "No Spark is there.")

    monkeypatch.setattr(apply_command, "attach", no_spark)
    warnings = tuple(Remark(code=f"CODE_{n}", sentence=f"Look at {n}.") for n in range(how_many))
    write_plan(tmp_path / "p.json", make_plan(warnings=warnings))
    for options, ends in (((), "NOT_CONFIRMED"), (("--yes",), "SPARK_UNREACHABLE")):
        ran = shell("apply", tmp_path / "p.json", *options)
        assert f"[{ends}]" in ran.err
        assert all(f"⚠ [{one.code}] {one.sentence}\n" in ran.err for one in warnings)
