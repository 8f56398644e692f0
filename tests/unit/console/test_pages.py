"""Pages of the console that are pure functions: what they say of a plan and of the ledger."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from console.places.history.history_pages import LIMIT, Group, detail_page, grouped, list_page, matches, sql_page
from console.places.merge.saved import recent_choices
from console.places.plan_diff import before_page
from console.places.statement.commit_pane import _what_now
from console.places.statement.create_pages import table_page
from console.places.statement.export import as_json
from console.places.statement.plan_pages import VIEWS
from console.places.tables.table_pages import advice_page, columns_page, rows_page, versions_table
from console.places.tables.table_shown import Shown
from console.widgets.page import Page
from console.words.glyphs import UNICODE
from console.work import Failure
from engine.explore.layout_advice import MERGES
from engine.model.browse import Column, RowPage, TableVersion
from engine.model.expectation import ExpectationResult
from engine.model.operation import Operation, OperationStatus, UndoRefused
from engine.model.plan import Refused
from engine.model.plans import OperationDetail
from tests.console.samples import a_detail
from tests.engine.plans import make_create_plan, make_outcome, make_plan

NO = Refused(condition="DELTA_NOT_A_DELTA_TABLE", message="t is a table of format parquet.", hint="")
FAILS = ExpectationResult(
    name="rows_unique", kind="unique", severity="error", status="fail", value="1", sentence="Two."
)


def an_operation(**changes: object) -> Operation:
    given = {"op_id": "op", "plan_id": "plan", "kind": "merge", "table": "t", "sql": "MERGE", "status": "applied"}
    return Operation(**given | {"started_at": "2026-11-20T12:05:02Z", "kept": True, "version": 8} | changes)  # type: ignore[arg-type]


def text(page: Page) -> str:
    table = page.table
    rows = [] if table is None else [tuple(one.label for one in table.columns), *table.rows, (table.empty,)]
    return "\n".join([*(one.body.plain for one in page.head), *(" ".join(map(str, row)) for row in rows)])


def test_no_view_of_a_refused_plan_counts_what_would_be_written() -> None:
    asked = make_plan(samples=())
    refused = asked.model_copy(update={"refused": NO})
    for view in ("files", "rows", "changes", "write"):
        shown = text(VIEWS[view][1](refused, UNICODE))
        assert "Nothing is written: this cannot be committed." in shown, view
        for count in ("updated", "deleted", "copied", "49,100", "written anew", "removed from", "private"):
            assert count not in shown, view
    files = VIEWS["files"][1](refused, UNICODE).files
    assert files is not None
    assert [mode.label for mode in files.modes] == ["size"]
    # beside the plan before, which could be committed
    differing = text(before_page(asked, refused, UNICODE))
    assert "▸ changed can be committed yes no" in differing
    assert "▸ changed files rewritten 1 0" in differing
    assert "▸ changed numTargetRowsUpdated 900 -" in differing
    operation = OperationDetail(operation=an_operation(status="refused", version=None), plan=refused)
    assert "900" not in text(detail_page(operation, UNICODE))


@pytest.mark.parametrize(
    ("executor", "vectors", "rewrites", "does"),
    [
        ("ClassicMergeExecutor", False, True, "finds the touched files, then writes them anew"),
        ("ClassicMergeExecutor", True, False, "finds the touched files, then marks the changed rows in them"),
        ("ClassicMergeExecutor", False, False, "finds no touched file, and only appends"),
        ("InsertOnlyMergeExecutor", False, False, "only appends what has no match"),
    ],
)
def test_what_the_executor_does_is_what_the_plan_writes(
    executor: str, vectors: bool, rewrites: bool, does: str
) -> None:
    plan = make_plan()
    write = plan.write.model_copy(update={"deletion_vectors": vectors, "unmodified_rows_written": rewrites})
    shown = text(VIEWS["write"][1](plan.model_copy(update={"executor": executor, "write": write}), UNICODE))
    assert f"{executor}: {does}" in shown
    assert ("anew" in shown) is rewrites
    assert "files stay" not in shown  # one whose rows all change goes


def test_only_what_has_a_code_is_counted_as_a_warning() -> None:
    """The source is materialized, which has the sign ⚠ in the verdict, and no code."""
    plan = make_plan(warnings=())
    assert plan.decision.materialize
    assert "same warning codes none none" in text(before_page(plan, plan, UNICODE))
    assert text(VIEWS["advice"][1](plan, UNICODE)) == "No warning codes, and nothing to advise."
    moves = make_plan()
    assert "▸ changed warning codes none SOURCE_MOVES" in text(before_page(plan, moves, UNICODE))


def test_what_expectations_came_to_is_compared_with_the_plan_before() -> None:
    plan, one = make_plan(), ExpectationResult(name="x", kind="unique", status="fail", value="1", sentence="1 key.")
    holds = plan.model_copy(update={"expectations": (one.model_copy(update={"status": "pass"}),)})
    fails, worse = (
        plan.model_copy(update={"expectations": (one.model_copy(update={"sentence": why}),)}) for why in ("1 key.", "2")
    )
    assert "▸ changed expectations none 1 expectation holds" in text(before_page(plan, holds, UNICODE))
    assert "▸ changed expectations x fails (error): 1 key. 1 expectation holds" in text(
        before_page(fails, holds, UNICODE)
    )
    assert "▸ changed expectations x fails (error): 1 key." in text(before_page(fails, worse, UNICODE))


def test_a_source_that_is_in_a_delta_table_needs_no_advice_to_be_loaded_into_one() -> None:
    plan = make_plan()
    decided = plan.decision.model_copy(update={"avoid": "Load it into a Delta table and merge from that table."})
    typed = plan.model_copy(update={"decision": decided})
    kept = typed.model_copy(update={"session": plan.session.model_copy(update={"staged": "db.t"})})
    assert "Load it" in text(VIEWS["decision"][1](typed, UNICODE))
    assert "Load it" not in text(VIEWS["decision"][1](kept, UNICODE))


def test_files_in_which_rows_are_marked_are_not_rewritten_beside_the_plan_before() -> None:
    plan = make_plan()
    promise = {**plan.promise, "numTargetFilesRemoved": 0}
    write = plan.write.model_copy(update={"deletion_vectors": True})
    marks = plan.model_copy(update={"write": write, "promise": promise})
    differing = text(before_page(plan, marks, UNICODE))
    assert "▸ changed files rewritten 1 -" in differing
    assert "▸ changed files marked - 1" in differing


def test_another_table_of_the_same_name_is_told_beside_the_plan_before() -> None:
    plan = make_plan()
    anew = plan.model_copy(update={"target": plan.target.model_copy(update={"table_id": "anew"})})
    assert f"▸ changed table id {plan.target.table_id} anew" in text(before_page(plan, anew, UNICODE))


def test_a_fingerprint_stands_beside_one_of_the_same_columns_alone() -> None:
    plan = make_plan()
    source = plan.source.model_copy(update={"fingerprint": "2-f-f"})
    moved = text(before_page(plan, plan.model_copy(update={"source": source}), UNICODE))
    assert f"▸ changed source fingerprint {plan.source.fingerprint} 2-f-f" in moved
    assert "columns used" not in moved
    wider = source.model_copy(update={"columns_used": (*source.columns_used, "op")})
    edited = text(before_page(plan, plan.model_copy(update={"source": wider}), UNICODE))
    used = ", ".join(source.columns_used)
    assert f"▸ changed source columns used {used} {used}, op" in edited
    assert "fingerprint" not in edited


@pytest.mark.parametrize("in_catalog", [True, False])
def test_what_is_not_delta_is_a_table_all_the_same(in_catalog: bool) -> None:
    plan = make_create_plan(before=None, in_catalog=in_catalog, refused=NO, effect="refused")
    shown = text(table_page(plan, UNICODE))
    assert ("There is no" in shown) is not in_catalog


def test_a_table_that_is_replaced_does_not_stay_as_it_is() -> None:
    plan = make_create_plan()
    replaced = plan.model_copy(update={"effect": "replace", "before": plan.after})
    assert text(table_page(replaced, UNICODE)).startswith("Beside its columns and rows the table stays as it is:")
    stays = replaced.model_copy(update={"effect": "nothing"})
    assert text(table_page(stays, UNICODE)).startswith("The table stays as it is:")


def test_the_history_says_what_an_expectation_came_to() -> None:
    one, outcome = an_operation(), make_outcome("op").model_copy(update={"expectations": (FAILS,)})
    detail = OperationDetail(operation=one, plan=make_plan(), outcome=outcome)
    assert "rows_unique fails (error): Two." in text(detail_page(detail, UNICODE))
    assert "1 of 1 expectation fails: rows_unique" in text(list_page([one], {"op": outcome}, 1, UNICODE))


def test_an_apply_that_committed_nothing_is_no_commit_and_has_no_undo() -> None:
    one = an_operation(version=None)
    outcome = make_outcome("op").model_copy(update={"version": None, "metrics": {}})
    shown = text(detail_page(OperationDetail(operation=one, plan=make_plan(), outcome=outcome), UNICODE, "u"))
    assert "○ no commit · t · plan" in shown
    assert "nothing to commit: it changes nothing" in shown
    for wrong in ("applied", "kept", "takes it back", "RESTORE", "not reported"):
        assert wrong not in shown
    listed = grouped([one, an_operation(op_id="other")], "table")
    assert "1 no commit · 1 applied" in text(list_page(listed, {}, 2, UNICODE, "table"))


def test_a_group_is_of_one_table_however_its_name_was_typed() -> None:
    typed = ("demo.Wide", "demo.wide", "delta.`/Data/x`", "delta.`/data/x`", "T", "default.t")
    listed = grouped([an_operation(op_id=name, table=name) for name in typed], "table")
    assert [one.name for one in listed if isinstance(one, Group)] == [
        *("demo.Wide", "delta.`/Data/x`", "delta.`/data/x`", "T"),
    ]


def test_a_table_that_is_only_entered_into_the_catalog_is_registered() -> None:
    one = an_operation(kind="create_table", sql="CREATE TABLE t USING delta", version=None, registered=True)
    plan = make_create_plan(effect="adopt", operation=None, because="The log at /data/orders is registered.")
    shown = text(detail_page(OperationDetail(operation=one, plan=plan), UNICODE, "u"))
    assert "✔ registered · t · plan" in shown
    assert "nothing committed: The log at /data/orders is registered." in shown
    assert "no commit" not in shown
    listed = text(list_page(grouped([one, an_operation(op_id="other")], "table"), {}, 2, UNICODE, "table"))
    assert "✔ registered" in listed
    assert "1 registered · 1 applied" in listed


@pytest.mark.parametrize(("measured", "told"), [(3_512, "took 3.5 s"), (0, "took 3.6 s")])
def test_a_commit_took_as_long_in_the_history_as_on_its_own_page(measured: int, told: str) -> None:
    """The row was begun before the clock of the commit; one that was found later has no clock of its own."""
    one = an_operation(started_at="2026-11-20T12:05:02.000Z", finished_at="2026-11-20T12:05:05.600Z")
    outcome = make_outcome("op").model_copy(update={"duration_ms": measured})
    for plan in (make_plan(), make_create_plan()):
        assert told in text(detail_page(OperationDetail(operation=one, plan=plan, outcome=outcome), UNICODE))


def test_what_was_taken_back_says_by_what_operation() -> None:
    undo = an_operation(op_id="undo1", kind="restore", version=10, finished_at="2026-11-21T10:00:00Z")
    for plan in (make_plan(), make_create_plan()):
        detail = OperationDetail(operation=an_operation(status="undone"), plan=plan, taken_back_by=undo)
        shown = text(detail_page(detail, UNICODE, "u"))
        assert "taken back 2026-11-21" in shown
        assert "by operation undo1, as v10" in shown


def test_what_was_overwritten_says_by_which_restore() -> None:
    sql = "RESTORE TABLE t TO VERSION AS OF 6"
    restore = an_operation(op_id="undo1", kind="restore", version=10, finished_at="2026-11-21T10:00:00Z", sql=sql)
    for plan in (make_plan(), make_create_plan()):
        detail = OperationDetail(operation=an_operation(status="overwritten"), plan=plan, overwritten_by=restore)
        shown = text(detail_page(detail, UNICODE, "u"))
        assert "gone 2026-11-21" in shown
        assert "with the RESTORE to v6 of operation undo1, as v10" in shown


def test_an_undo_that_is_not_possible_is_not_offered() -> None:
    refused = UndoRefused(at="2026-11-21T10:00:00Z", why="v6 cannot be restored: 1 of its files is deleted.")
    for plan in (make_plan(), make_create_plan()):
        detail = OperationDetail(operation=an_operation(), plan=plan, outcome=make_outcome("op"))
        assert "u takes it back" in text(detail_page(detail, UNICODE, "u"))
        shown = text(detail_page(detail.model_copy(update={"undo_refused": refused}), UNICODE, "u"))
        assert "u takes it back" not in shown
        assert "undo is NOT possible, as was found 2026-11-21" in shown
        assert "v6 cannot be restored" in shown


@pytest.mark.parametrize(
    "changes",
    [
        *({"status": status} for status in get_args(OperationStatus)),
        {"version": None},
        {"version": None, "kind": "create_table", "registered": True},
        {"kept": False},
        {"status": "running", "program_gone": True},
        {"status": "planned", "rehearsed": False},
        {"kind": "create_table", "sql": "CREATE TABLE t SHALLOW CLONE s"},
    ],
)
def test_the_filter_finds_every_word_of_a_row(changes: dict[str, object]) -> None:
    one, outcome = an_operation(**changes), make_outcome("op")
    page = list_page([one], {"op": outcome}, 1, UNICODE)
    assert page.table is not None
    (row,) = page.table.rows
    for cell in filter(None, row):
        assert matches(one, outcome, UNICODE, str(cell).split()), cell
    assert not matches(one, outcome, UNICODE, ["nowhere"])


@pytest.mark.parametrize("typed", ["part", "Default.Part", "spark_catalog.default.part"])
def test_the_filter_finds_a_table_of_default_however_its_name_was_typed(typed: str) -> None:
    for words in ("default.part", "spark_catalog.default.part", "`default`.`part`", "SPARK_CATALOG.`Default`.part"):
        assert matches(an_operation(table=typed), None, UNICODE, [words]), words
    assert not matches(an_operation(table=typed), None, UNICODE, ["other.part"])


def test_a_source_that_is_cut_in_the_list_of_recent_merges_says_so() -> None:
    query = "(SELECT customer_id, name, country, 'gold' AS tier FROM demo.customers)"
    found = [
        recent_choices([an_operation(sql=f"MERGE INTO t USING {source} ON true")], UNICODE)[0].detail
        for source in (query, "feed s")
    ]
    assert found == ["applied  (SELECT customer_id, name, country, 'gold' AS tier FROM dem…", "applied  feed s"]
    setup = "CREATE TEMPORARY VIEW feed USING csv ON x; "
    no_commit = an_operation(sql=f"{setup}MERGE INTO t USING feed s ON true", version=None)
    assert recent_choices([no_commit], UNICODE)[0].detail == "no commit  feed s"


def test_an_answer_that_was_lost_after_nothing_was_committed_tells_no_commit() -> None:
    said = _what_now(Failure("UNREACHABLE", "gone", unreachable=True), an_operation(version=None), True)
    assert said.startswith("There was nothing to commit.")


def test_what_was_refused_before_it_wrote_asked_no_log() -> None:
    failed = an_operation(status="failed", version=None)
    refused = Failure("POLICY_READ_ONLY", "The policy forbids it.")
    assert _what_now(refused, failed, False).startswith("Nothing was committed: it had not begun to write.")
    assert _what_now(refused, failed, True).startswith("Nothing was committed: the table's log was asked.")


def test_what_drops_or_misses_its_commit_is_not_called_no_commit() -> None:
    rows = [an_operation(kind="drop", version=None), an_operation(version=None, kept=False)]
    listed = text(list_page(rows, {}, 2, UNICODE))
    assert "✔ applied, kept" in listed
    assert "✖ applied, DEVIATED" in listed
    assert "no commit" not in listed


def test_a_list_that_is_cut_says_so() -> None:
    assert "The newest 500 operations alone" in text(list_page([an_operation()], {}, LIMIT, UNICODE))
    assert "alone" not in text(list_page([an_operation()], {}, LIMIT - 1, UNICODE))


def test_an_operation_has_one_word() -> None:
    one = an_operation(kind="create_table", sql="CREATE TABLE t SHALLOW CLONE s")
    detail = OperationDetail(operation=one, plan=None, outcome=None)
    assert text(sql_page(detail, UNICODE)).startswith("clone of t, plan ")


def test_the_advice_on_a_table_says_which_merges_it_looked_at() -> None:
    backend: Any = SimpleNamespace(table_advice=lambda _: ())
    detail: Any = None
    said = text(advice_page(backend, Shown("t"), detail))
    assert f"its newest applied merges in the history, {MERGES} at most" in said
    assert said.endswith("Nothing to advise.")


def test_the_columns_of_a_table_tell_where_values_come_from_if_any_do() -> None:
    plain, counted = Column(name="a", type="int"), Column(name="b", type="int", default="1 + 6")
    detail = a_detail("sales.orders")
    for columns, labels in (((plain,), []), ((plain, counted), ["value"])):
        page = columns_page(None, Shown(detail.name), detail.model_copy(update={"columns": columns}))  # type: ignore[arg-type]
        assert page.table is not None
        assert [one.label for one in page.table.columns] == ["#", "column", "type", "", "role", *labels, "comment"]
        assert {len(row) for row in page.table.rows} == {6 + len(labels)}
        assert page.table.names[3] == "constraint", "of a row in full, and of a file"
    assert [row[5] for row in page.table.rows] == ["", "default 1 + 6"]


def test_the_versions_of_a_table_name_their_users_where_any_has_one() -> None:
    nobody = TableVersion(version=0, timestamp="2026-11-20T12:05:02Z", operation="WRITE")
    for versions, labels in (([nobody], []), ([nobody.model_copy(update={"user": "ann"}), nobody], ["user"])):
        table = versions_table(versions)
        assert [one.label for one in table.columns] == ["version", "time", "operation", *labels, "what it did", "by"]
        assert {len(row) for row in table.rows} == {5 + len(labels)}


@pytest.mark.parametrize(("percent", "more"), [(100.0, False), (99.9, True), (None, False)])
def test_of_a_sample_there_are_more_rows_unless_it_is_all_of_them(
    monkeypatch: pytest.MonkeyPatch, percent: float | None, more: bool
) -> None:
    monkeypatch.setattr("console.places.tables.table_pages._sample", lambda *_: (percent, "told"))
    backend: Any = SimpleNamespace(
        table_rows=lambda *_: RowPage(columns=(Column(name="v", type="int"),), rows=(("1",),))
    )
    table = rows_page(backend, Shown("t", sampled=True), a_detail("t")).table
    assert table is not None
    assert table.more is more


def test_a_row_is_shown_made_visible_and_exported_as_it_is() -> None:
    texts = ("a\nb", "a\\nb", "\x1b[31m", None)
    page = RowPage(columns=(Column(name="v", type="string"),), rows=tuple((text,) for text in texts))
    backend: Any = SimpleNamespace(table_rows=lambda *_: page)
    table = rows_page(backend, Shown("t", rows=10), a_detail("t")).table
    assert table is not None
    assert [row[0] for row in table.rows] == ["a\\nb", "a\\nb", "\\x1b[31m", None]
    assert [json.loads(line)["v"] for line in as_json(table).splitlines()] == list(texts)
