"""Find a key: what a plan does to one row, by which clause, and why; shown as a view of the preview."""

from __future__ import annotations

from typing import Literal

import pytest
from textual.widgets import Input

from console.places.merge import find_key
from console.words.glyphs import UNICODE
from console.words.plan_summary import NOTHING_WRITTEN
from engine.explore.find_key import FoundKey, FoundRow
from engine.model.checks import SILENT_FAULTS
from engine.model.errors import EngineError
from engine.model.plan import Sample
from tests.console import samples
from tests.console.drive import Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def look_for(operator: Operator, typed: str) -> None:
    await operator.plan(MERGE_SQL)
    await operator.press("slash")
    await operator.sees("Find a key", "ON t.order_id = s.order_id")
    operator.app.screen.query_one(Input).value = typed
    await operator.press("enter")


async def test_a_key_shows_the_clause_that_takes_its_row_and_the_row_before_and_after(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await look_for(operator, "10001")
        await operator.sees(
            "updated by clause 2: in the source and the target",
            "1 WHEN MATCHED AND s.op = 'D' THEN DELETE",
            "NULL, so not true",
            "no condition: takes the row",
            "written anew, this row changed",
            "▸ paid → shipped",
        )
        plan_id, typed, _ = backend.called("find_key")[0]
        assert (plan_id, typed) == (samples.a_plan().plan_id, "10001")
        await operator.press("y")
        await operator.sees("Copied the key as text.")
        assert "updated by clause 2: in the source and the target" in operator.app.clipboard
        assert "paid → shipped" in operator.app.clipboard


async def test_a_clause_behind_the_one_that_takes_the_row_is_said_to_be_not_asked(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await look_for(operator, "10777")
        await operator.sees("deleted by clause 1", "true: takes the row", "not asked: an earlier clause takes the row")


async def test_a_predicate_may_find_several_rows_each_with_its_number(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 60)) as operator:
        await look_for(operator, "t.status = 'paid'")
        await operator.sees("the first 3 rows of more", "1. updated by clause 2", "2 source rows match")
        await operator.sees("2. inserted by clause 3", "3. unchanged: only in the target", "x.parquet, not touched")


async def test_the_faults_that_the_plan_counts_a_row_in_are_said_of_the_row(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 60)) as operator:
        await look_for(operator, "t.status = 'paid'")
        await operator.sees("no later MERGE finds the row. [NULL_KEYS_INSERTED]", "[DUPLICATE_INSERTS]")


def test_every_fault_of_a_row_has_a_sentence() -> None:
    # the others are about the source or the statement as a whole
    assert set(find_key.FAULTS) == set(SILENT_FAULTS) - {"ON_WITHOUT_KEY", "SOURCE_EMPTY", "SOURCE_SHRANK"}


async def test_a_key_in_a_plan_that_is_refused_is_told_of_as_what_would_be() -> None:
    plan = samples.a_refused_plan()
    for touched, told in ((True, "f0, would be touched"), (False, "f0, would not be touched")):
        row = FoundRow("matched", None, None, (), Sample(action="update", clause=1), "f0", touched=touched)
        head = find_key.key_page(plan, FoundKey(("t.id <=> 5",), (row,)), UNICODE).head
        words = "\n".join(paragraph.body.plain for paragraph in head)
        assert "would be updated by clause 2" in words
        assert told in words
        assert NOTHING_WRITTEN in words
    head = find_key.key_page(plan, FoundKey(("t.id <=> 5",), ()), UNICODE).head
    assert NOTHING_WRITTEN in "\n".join(paragraph.body.plain for paragraph in head)


@pytest.mark.parametrize("opens", ["key", "changes"])
async def test_after_the_commit_it_is_said_where_the_rows_are_shown(backend: FakeBackend, opens: str) -> None:
    gone = EngineError("SOURCE_GONE", "The frozen source is gone.", "Plan again.")
    backend.errors["find_key"] = backend.errors["changes"] = gone
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.commit()
        await operator.sees("kept its promise")
        await operator.press("v")
        await operator.until(lambda: operator.merge.view == "preview")
        if opens == "key":
            await operator.press("slash")
            await operator.sees("Find a key")
            await operator.press("5", "enter")
        else:
            operator.merge.preview.turn_to("changes")
        await operator.sees("This plan is committed already, as v42. Its source is not kept.")
        await operator.sees("1 shows, in the view Versions, the rows of sales.orders as of v42")
        assert "SOURCE_GONE" not in operator.screen


async def test_a_predicate_that_cannot_be_read_says_where(backend: FakeBackend) -> None:
    backend.errors["find_key"] = EngineError("PARSE_SYNTAX_ERROR", "It cannot be read.", line=1, column=8)
    async with console(backend) as operator:
        await look_for(operator, "t.id = )")
        await operator.sees("It cannot be read.", "column 8: )")


async def test_a_key_that_nothing_has_is_said_to_be_in_neither_table(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await look_for(operator, "404")
        await operator.sees("In neither the source nor the target")


async def test_a_predicate_about_one_side_that_nothing_fulfils_says_which_side() -> None:
    """The other has perhaps a row of that key."""
    key = FoundKey(("s.id = 900",), (), side="source")
    head = "\n".join(paragraph.body.plain for paragraph in find_key.key_page(samples.a_plan(), key, UNICODE).head)
    assert "No row of the source, which alone it names, fulfils it." in head
    assert "In neither" not in head


@pytest.mark.parametrize("rows", [(), (samples.a_found_key("10001").rows[0],)])
async def test_a_predicate_about_both_sides_says_that_it_is_asked_of_pairs_alone(rows: tuple[FoundRow, ...]) -> None:
    key = FoundKey(("s.k = 6 OR t.k = 6",), rows, of_pairs=True)
    head = "\n".join(paragraph.body.plain for paragraph in find_key.key_page(samples.a_plan(), key, UNICODE).head)
    assert "It names both sides, so only rows that ON ties are looked at" in head
    assert "In neither" not in head


async def test_the_key_typed_last_is_offered_again_and_an_empty_one_is_not_taken(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await look_for(operator, "404")
        await operator.sees("In neither")
        await operator.press("slash")
        await operator.sees("Find a key")
        path = operator.app.screen.query_one(Input)
        assert path.value == "404"
        path.value = " "
        await operator.press("enter")
        await operator.sees("Type a key first.")


async def test_a_source_that_is_gone_is_told_of_in_one_line(backend: FakeBackend) -> None:
    backend.errors["find_key"] = EngineError("SOURCE_GONE", "The frozen source is gone.", "Plan again.")
    async with console(backend) as operator:
        await look_for(operator, "10001")
        await operator.sees("[SOURCE_GONE] The frozen source is gone.", "Plan again.")
        # another plan knows nothing of the key
        await operator.press("r")
        await operator.sees("data skipping leaves")
        assert " Key" not in operator.screen


async def test_values_that_are_private_are_not_shown_but_the_clause_is(backend: FakeBackend) -> None:
    from console.places.merge.find_key import key_page

    row = FoundRow("matched", None, None, (), Sample(action="delete", clause=0), "f.parquet", touched=True)
    page = key_page(samples.a_plan(), FoundKey(("t.id <=> 5",), (row,)), UNICODE)
    assert "deleted by clause 1" in "".join(paragraph.body.plain for paragraph in page.head)
    assert page.table is not None
    assert not page.table.rows


@pytest.mark.parametrize(
    ("rows", "removed", "told"),
    [
        ((3, 9), 0, "rows of it are marked"),
        ((3, 3), 1, "it is removed: each of its rows changes"),
        # the log has no count of rows of one of two
        ((3, 3, 3), 1, "rows of it are marked, or it is removed: each of its rows changes"),
    ],
)
async def test_a_file_of_which_each_row_changes_is_not_marked_but_removed(
    rows: tuple[int, ...], removed: int, told: str
) -> None:
    from console.places.merge.find_key import key_page

    plan = samples.a_plan()
    changed, *others = rows
    file = plan.find_touched_files.files[0].model_copy(update={"updated": changed, "deleted": 0})
    files = [file.model_copy(update={"path": f"f{at}", "rows": all_}) for at, all_ in enumerate(others)]
    plan = plan.model_copy(
        update={
            "write": plan.write.model_copy(update={"deletion_vectors": True}),
            "promise": {**plan.promise, "numTargetFilesRemoved": removed},
            "find_touched_files": plan.find_touched_files.model_copy(update={"files": tuple(files)}),
        }
    )
    row = FoundRow("matched", None, None, (), Sample(action="delete", clause=0), "f0", touched=True)
    page = key_page(plan, FoundKey(("t.id <=> 5",), (row,)), UNICODE)
    assert f"f0, {told}" in "\n".join(paragraph.body.plain for paragraph in page.head)


@pytest.mark.parametrize(
    ("action", "told"), [("delete", "this row left out"), ("update", "this row changed"), (None, "this row with it")]
)
async def test_a_file_that_is_written_anew_says_what_becomes_of_the_row(
    action: Literal["delete", "update"] | None, told: str
) -> None:
    change = Sample(action=action, clause=0) if action else None
    row = FoundRow("matched", None, None, (), change, "f0", touched=True)
    page = find_key.key_page(samples.a_plan(), FoundKey(("t.id <=> 5",), (row,)), UNICODE)
    assert f"f0, written anew, {told}" in "\n".join(paragraph.body.plain for paragraph in page.head)


async def test_an_empty_text_is_told_from_a_column_that_a_side_has_not() -> None:
    from console.places.merge.find_key import key_page

    row = FoundRow("matched", {"id": "5", "op": ""}, {"id": "5", "note": ""}, (), None)
    table = key_page(samples.a_plan(), FoundKey(("t.id <=> 5",), (row,)), UNICODE).table
    assert table is not None
    assert [*table.rows] == [("id", "5", "5"), ("note", "(not read)", ""), ("op", "", "(no such column)")]


async def test_a_question_that_is_replaced_at_once_ends_and_leaves_nothing_running(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        plan = operator.merge.plan
        assert plan is not None
        assert plan.kind == "merge"
        for typed in ("1", "2"):
            find_key._look(operator.merge, plan, typed)
        await operator.until(lambda: not operator.app.status.work, "no work")
        await operator.sees("CAST('2' AS bigint)")


async def test_a_question_of_a_merge_that_is_closed_leaves_nothing_running(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        operator.app.action_new_merge()
        await operator.plan(MERGE_SQL)
        assert operator.merge.number == 2
        backend.hold("find_key")
        await operator.press("slash")
        await operator.sees("Find a key")
        operator.app.screen.query_one(Input).value = "1"
        await operator.press("enter")
        await operator.until(lambda: backend.called("find_key"))
        assert operator.app.status.work == "looking for a key"
        await operator.merge.action_close_merge()
        await operator.until(lambda: operator.app.merges.keys() == {1}, "one merge")
        backend.release("find_key")
        await operator.until(lambda: not operator.app.status.work, "no work")


async def test_the_next_key_is_typed_in_place_of_the_last_one(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await look_for(operator, "10001")
        await operator.sees("updated by clause 2")
        await operator.press("slash")
        await operator.sees("Find a key")
        assert operator.app.screen.query_one(Input).value == "10001"
        await operator.press(*"10777", "enter")
        await operator.sees("deleted by clause 1")
        assert [typed for _, typed, _ in backend.called("find_key")] == ["10001", "10777"]
