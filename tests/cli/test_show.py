"""``show``: a saved plan as JSON, as text and as Markdown, without Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.ledger.history import History
from engine.model.conflicts import ConflictKey, Conflicts, Dedupe
from engine.model.create_values import CreatePlan
from engine.model.expectation import ExpectationResult
from engine.model.plan import Plan, PolicyVerdict, Refused, Remark, Sample
from engine.model.plan_file import write_plan
from engine.model.scan import TouchedFile, TouchedFiles
from engine.session.home import ledger_path
from tests.cli.running import Shell
from tests.engine.plans import evolving, make_create_plan, make_outcome, make_plan

EVIL = "x\x1b[2J[red]\u202e`|<b>@you\n# y"


def saved(tmp_path: Path, plan: Plan | CreatePlan) -> Path:
    write_plan(tmp_path / "p.json", plan)
    return tmp_path / "p.json"


def test_json_is_the_plan(shell: Shell, tmp_path: Path) -> None:
    plan = make_plan()
    ran = shell("show", saved(tmp_path, plan), "--json")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.json == json.loads(plan.to_json())


def test_text_answers_first(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = shell("show", saved(tmp_path, make_plan()))
    lines = ran.out.splitlines()
    assert lines[0] == "MERGE into demo.orders @ v7 ← feed"
    assert lines[2] == "  ✔ updates 900"
    assert "\x1b" not in ran.out
    assert max(map(len, lines[:-1])) <= 80
    assert not [line for line in lines if line != line.rstrip()]
    assert "[SOURCE_MOVES] The source may change." in ran.out
    assert "numTargetFilesAdded       1 to 2  ≈ estimated" in ran.out
    assert "key=1: v NULL → 2" in ran.out
    assert lines[-1].endswith(f"apply {tmp_path / 'p.json'}")


def test_a_plan_that_was_committed_is_not_offered_again(shell: Shell, tmp_path: Path) -> None:
    plan = make_plan()
    shell.home.mkdir(mode=0o700)
    ledger = History(ledger_path(shell.home))
    op_id = ledger.begin(plan)
    assert "Next: " in shell("show", saved(tmp_path, plan)).out
    ledger.applied(op_id, make_outcome(op_id, plan.plan_id))
    out = shell("show", saved(tmp_path, plan)).out
    told = f"This plan was committed already, as v{make_outcome(op_id).version}."
    assert out.splitlines()[-1] == told
    assert "Next: " not in out
    # who applies it all the same reads that first, and is asked as before
    ran = shell("apply", saved(tmp_path, plan))
    assert (ran.code, ran.out, ran.err.splitlines()[0]) == (6, "", told)
    assert "NOT_CONFIRMED" in ran.err


def test_what_the_policy_refuses_to_apply_is_in_the_history(shell: Shell, tmp_path: Path) -> None:
    shell.home.mkdir(mode=0o700)
    rules = ("read_only", "typed_confirmation")
    profiles = "".join(f"[profiles.{rule}.policy]\n{rule} = true\n" for rule in rules)
    (shell.home / "settings.toml").write_text(profiles)
    for rule in rules:
        plan = make_plan(plan_id=rule)
        ran = shell("--profile", rule, "apply", saved(tmp_path, plan), "--yes")
        assert ran.code == 6, ran.err
        (operation,) = History(ledger_path(shell.home)).find_by_plan(rule)
        assert operation.status == "failed"
        assert (operation.error or "").startswith(f"[POLICY_{rule.upper()}] ")


def test_a_refusal_by_a_policy_that_is_not_in_force_is_told_as_such(shell: Shell, tmp_path: Path) -> None:
    refuses = PolicyVerdict(rule="max_files_rewritten", limit=0.1, value=1, verdict="refused", how="1 of 1 files.")
    file = saved(tmp_path, make_plan(policy=(refuses,)))
    last = shell("show", file).out.splitlines()[-1]
    assert last.startswith("Not to be applied. The policy refuses it (max_files_rewritten)")
    assert last.endswith("It was planned under that policy; none is in force here, and apply would commit it.")
    shell.home.mkdir(mode=0o700, exist_ok=True)
    (shell.home / "settings.toml").write_text("[profiles.strict.policy]\nread_only = true\n")
    last = shell("--profile", "strict", "show", file).out.splitlines()[-1]
    assert last.startswith("Not to be applied. The policy refuses it (read_only)")
    assert "none is in force" not in last


def test_some_of_the_keys_of_a_warning_are_called_some(shell: Shell, tmp_path: Path) -> None:
    for count, told in ((2, "keys: id = 1; id = 3"), (3, "some of the keys: id = 1; id = 3")):
        remark = Remark(code="UPDATES_CHANGE_NOTHING", sentence="Rows.", count=count, keys=({"id": "1"}, {"id": "3"}))
        lines = shell("show", saved(tmp_path, make_plan(warnings=(remark,)))).out.splitlines()
        assert [line.strip() for line in lines if "keys: " in line] == [told]


def test_zeros_are_told_together(shell: Shell, tmp_path: Path) -> None:
    plan = make_plan()
    promise = {**plan.promise, "numOutputRows": 5, "numA": 0, "numB": 0}
    out = shell("show", saved(tmp_path, plan.model_copy(update={"promise": promise}))).out
    assert "numTargetRowsDeleted" in out
    assert "numOutputRows" in out
    assert "numA" not in out
    assert "… and 2 more that are 0" in out


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_many_files_and_long_paths(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    files = tuple(
        TouchedFile(
            path=f"{'deep/' * 30}part-{n:05}.parquet", bytes=n, rows=1, matched=1, updated=1, deleted=0, copied=0
        )
        for n in range(24)
    )
    plan = make_plan(find_touched_files=TouchedFiles(join_type="inner", matched_predicate=None, files=files))
    ran = shell("show", saved(tmp_path, plan))
    assert "… and 12 more" in ran.out
    if columns != "40":
        assert "part-00011.parquet" in ran.out
        # the next command is not wrapped, to be copied whole
        assert max(len(line) for line in ran.out.splitlines() if not line.startswith(("Next", "/"))) <= int(columns)


def test_a_null_in_a_key_is_one_in_markdown(shell: Shell, tmp_path: Path) -> None:
    conflicts = Conflicts(count=2, true_count=1, keys=(ConflictKey(key={"k": None, "l": "1"}, source_rows=2),))
    plan = make_plan(
        refused=Refused(condition="DELTA_MULTIPLE", message="Several rows match.", hint=""),
        find_touched_files=TouchedFiles(join_type="inner", matched_predicate=None, conflicts=conflicts),
    )
    assert "`k=NULL, l=1` is matched by 2 source rows" in shell("show", saved(tmp_path, plan), "--markdown").out


def test_refused_plan(shell: Shell, tmp_path: Path) -> None:
    keys = tuple(ConflictKey(key={"k": str(n)}, source_rows=2) for n in range(2))
    plan = make_plan(
        refused=Refused(condition="DELTA_MULTIPLE", message="Several rows match.", hint="Deduplicate."),
        find_touched_files=TouchedFiles(
            join_type="inner", matched_predicate=None, conflicts=Conflicts(count=4, true_count=2, keys=keys)
        ),
    )
    ran = shell("show", saved(tmp_path, plan))
    assert "✖ cannot be committed: " in ran.out
    assert "[DELTA_MULTIPLE] Several rows match." in ran.out
    assert "Deduplicate." in ran.out
    assert "2 target rows are matched by more than one source row" in ran.out
    assert "Promise" not in ran.out
    assert "Next:" not in ran.out
    markdown = shell("show", saved(tmp_path, plan), "--markdown").out
    assert "❌ **cannot be committed**: `DELTA_MULTIPLE`" in markdown
    assert "`k=0` is matched by 2 source rows" in markdown


def test_a_refused_plan_counts_nothing_as_if_it_were_written(shell: Shell, tmp_path: Path) -> None:
    file = saved(tmp_path, make_plan(refused=Refused(condition="DELTA_CHECK", message="Broken.", hint="")))
    for options in ((), ("--markdown",)):
        out = shell("show", file, *options).out
        assert "Nothing is written: this cannot be committed." in out
        for count in ("updated", "deleted", "copied", "49,100", "join to write"):
            assert count not in out


def test_the_columns_that_schema_evolution_adds_are_told(shell: Shell, tmp_path: Path) -> None:
    file = saved(tmp_path, evolving(make_plan(), ("v", "int", "bigint"), ("n", None, "date")))
    told = "schema evolves: adds n date; v int becomes bigint"
    assert f"  ⚠ {told}\n" in shell("show", file).out
    assert f"- ⚠️ {told}\n" in shell("show", file, "--markdown").out


def test_what_must_be_accepted_is_part_of_the_next_command(shell: Shell, tmp_path: Path) -> None:
    failing = ExpectationResult(
        name="rows", kind="rows", severity="error", status="fail", sentence="rows: 9 is above the most, 5."
    )
    out = shell("show", saved(tmp_path, make_plan(expectations=(failing,)))).out
    step = out.splitlines()[-1]
    assert step.startswith("If it is meant all the same: deltamerge-console ")
    assert step.endswith(f"apply {tmp_path / 'p.json'} --accept expect:rows")


def test_rivals_stand_below_one_another_with_a_source_to_paste(shell: Shell, tmp_path: Path) -> None:
    rivals: tuple[dict[str, str | None], ...] = ({"k": "1", "v": "a", "w": "x"}, {"k": "1", "v": None, "w": "x"})
    key = ConflictKey(key={"k": "1"}, source_rows=5, rivals=rivals, differing=("v",))
    first = "row_number() OVER (PARTITION BY s.k ORDER BY s.`ts` DESC) = 1"
    sql = f"(SELECT * EXCEPT (kept) FROM (SELECT *, {first} AS kept FROM feed AS s) WHERE kept) AS s"
    dedupe = Dedupe(
        sql=sql, keys=("s.k",), order_by="ts", choice="The latest ts stays.", rows_dropped=4, conflicts_left=1,
        matches_lost=0,
    )  # fmt: skip
    conflicts = Conflicts(count=1, true_count=1, keys=(key,), dedupe=dedupe)
    touched = TouchedFiles(join_type="inner", matched_predicate=None, conflicts=conflicts)
    file = saved(tmp_path, make_plan(find_touched_files=touched))
    out = shell("show", file).out
    lines = [line.split() for line in out.splitlines()]
    assert ["k", "source", "rows", "v"] in lines
    assert ["1", "5", "▸", "a"] in lines
    assert ["1", "▸", "NULL"] in lines
    assert sql in " ".join(out.split())
    assert "The latest ts stays." in out
    assert "it drops 4 source rows" in out
    assert "1 target row would still be matched twice." in out
    assert f"```sql\n{sql}\n```" in shell("show", file, "--markdown").out


def test_what_a_read_would_keep_and_the_partitions_are_told(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    plan = make_plan()
    scan = plan.scan.model_copy(update={"partitions_before": 30, "files_after_of_a_read": 1})
    out = shell("show", saved(tmp_path, plan.model_copy(update={"scan": scan}))).out
    assert "2 of 30 partitions; a read would keep 1 file: it derives filters that a MERGE does not" in out


def test_text_that_is_not_ours(shell: Shell, tmp_path: Path) -> None:
    plan = make_plan(
        table=f"a.`{EVIL}`",
        warnings=(Remark(code="W", sentence=EVIL, evidence=EVIL),),
        samples=(Sample(action="insert", clause=0, after={EVIL: EVIL}),),
    )
    file = saved(tmp_path, plan)
    for arguments in ((), ("--markdown",), ("--json",)):
        out = shell("show", file, *arguments).out
        assert "\x1b" not in out
        assert "\u202e" not in out
    text = shell("show", file).out
    assert "[red]" in text.replace("\n", "")


def test_markdown(shell: Shell, tmp_path: Path) -> None:
    plan = make_plan(
        warnings=(Remark(code="W", sentence="<script> @you [x](y) | `z`", evidence=""),),
        samples=(Sample(action="insert", clause=0, after={"a|b": "`c`", "d": "e|f"}),),
    )
    out = shell("show", saved(tmp_path, plan), "--markdown").out
    assert out.startswith("### MERGE into `demo.orders` at version 7\n")
    assert "- ✅ **updates 900**" in out
    assert "| `numTargetRowsUpdated` | 900 | exact |" in out
    assert r"\<script\> \@you \[x\]\(y\) \| \`z\`" in out
    assert r"``a\|b=`c`, d=e\|f``" in out
    assert "```sql\nMERGE INTO demo.orders" in out


def test_markdown_statement_cannot_leave_its_fence(shell: Shell, tmp_path: Path) -> None:
    plan = make_plan()
    statement = plan.statement.model_copy(update={"sql": "MERGE\n```\n# out\n````"})
    out = shell("show", saved(tmp_path, plan.model_copy(update={"statement": statement})), "--markdown").out
    assert "`````sql\nMERGE\n```\n# out\n````\n`````" in out


def test_ascii_terminal(shell: Shell, tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    ran = subprocess.run(
        [sys.executable, "-c", "from console.cli import main; main()", "show", str(saved(tmp_path, make_plan()))],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "DELTAMERGE_CONSOLE_HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert b"  + updates 900\n" in ran.stdout
    assert max(ran.stdout) < 128


def test_a_create_says_what_becomes_of_the_table(shell: Shell, tmp_path: Path) -> None:
    plan = make_create_plan()
    file = saved(tmp_path, plan)
    out = shell("show", file).out
    assert out.splitlines()[0] == "REPLACE TABLE demo.orders @ v7"
    assert "replaces the table\n" in out
    assert "history will say REPLACE TABLE" in out
    assert "then the catalog entry is altered" in out
    assert re.search(r"changed +id +int (→|->) bigint", out)
    assert re.search(r"goes +old +string", out)
    assert "delta.columnMapping.maxColumnId=(known at the commit)" in out
    assert "[FILES_LEAVE_THE_VERSION]" in out
    assert shell("show", file, "--json").json == json.loads(plan.to_json())
    markdown = shell("show", file, "--markdown").out
    assert markdown.startswith("### REPLACE TABLE")
    assert "```sql\nREPLACE TABLE demo.orders" in markdown
    assert "| changed | `id` | `int → bigint` | `- → not null` | `- → the key` |" in markdown
    assert "| goes | `old` | `string` |  |  |" in markdown


def test_a_create_that_is_refused_says_why(shell: Shell, tmp_path: Path) -> None:
    refused = Refused(condition="DELTA_SCHEMA_NOT_PROVIDED", message="No columns.", hint="Write them.")
    plan = make_create_plan(refused=refused, effect="refused", after=None, operation=None)
    out = shell("show", saved(tmp_path, plan)).out
    assert "[DELTA_SCHEMA_NOT_PROVIDED] No columns." in out
    assert "Write them." in out


@pytest.mark.parametrize("columns", ["20", "30", "45", "60", "62", "80"])
def test_no_number_is_cut_however_narrow_the_terminal(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    file = TouchedFile(
        path="part-00031.parquet", bytes=1_400_000, rows=49_429, matched=49_017, updated=1_068, deleted=0, copied=48_361
    )
    plan = make_plan(find_touched_files=TouchedFiles(join_type="inner", matched_predicate=None, files=(file,)))
    plan = plan.model_copy(update={"promise": {**plan.promise, "numTargetRowsCopied": 48_361_007}})
    words = shell("show", saved(tmp_path, plan)).out
    for number in ("1.4 MB", "49,429", "49,017", "1,068", "48,361", "48,361,007"):
        assert re.search(rf"(?<![\d,]){number}(?![\d,])", words), number
    if columns in ("45", "60"):
        assert "file part-00031.parquet\n" in words
