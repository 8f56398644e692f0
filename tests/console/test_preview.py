"""The preview of a plan: a verdict on top, its evidence in views below, and nothing written yet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Input

from console.app import DeltaMergeApp
from console.drafts import Draft
from console.places.statement.plan_pages import files_page
from console.places.statement.preview import Verdict, brief, verdict
from console.widgets.editor import SqlView
from console.widgets.page_view import PageView
from console.words.glyphs import UNICODE
from console.words.visible import visible
from engine.commit.policy import Policy, with_verdicts
from engine.model.changes import Changes
from engine.model.errors import EngineError, InputFileError
from engine.model.plan import Remark
from engine.model.plan_file import read_plan_file
from engine.model.plans import AnyPlan
from engine.session.store_watch import Silence
from tests.console import samples
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

VIEWS = {
    "files": ("2 rewritten", "35 skipped", "434,088", "t.order_date IN"),
    "rows": ("3 samples", "paid → shipped", "10777"),
    "changes": (
        "1,204,220 rows + 220 inserted - 3 deleted = 1,204,437 rows",
        "4 of them to the values that they have",
        "99 % of the 1,423 rows inserted, updated or deleted have country = 'DE'",
        "9.0 times its share of the table",
        "paid → shipped (900), NULL → [/paid] (2)",
        "10,500.50 → 9,800.00",
        "unknown: current_timestamp()",
    ),
    "decision": ("The source is materialized", "NON_DETERMINISTIC_SOURCE_NON_DELTA", "DISK_ONLY"),
    "conflicts": ("No target row is matched twice",),
    "write": ("ClassicMergeExecutor", "right outer join", "change data feed"),
    "promise": ("numTargetRowsCopied", "869,298", "exact", "2 to 4", "estimated"),
    "advice": ("[SOURCE_NOT_DELTA]", "A Delta table as source would not be materialized."),
    "sql": ("deltamerge_source_7f3a9c", "USING orders_feed AS s"),
    "spark": ("== Analyzed Logical Plan ==", "MergeIntoCommand SubqueryAlias t, [/x]", "== Physical Plan =="),
}


async def test_a_page_of_another_plan_is_not_seen_below_the_title_of_a_new_one(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("data skipping leaves")
        await operator.press("e")
        preview = operator.merge.preview
        preview.show(samples.a_plan().model_copy(update={"plan_id": "another"}))
        assert not any(child.display for child in preview.page.children)
        await operator.press("escape", "v")
        await operator.sees("data skipping leaves")


def test_of_an_empty_table_no_file_is_skipped() -> None:
    plan = samples.a_plan()
    scan = plan.scan.model_copy(update={"files_before": 0, "files_after": 0})
    none = plan.find_touched_files.model_copy(update={"files": ()})
    page = files_page(plan.model_copy(update={"scan": scan, "find_touched_files": none}), UNICODE)
    assert "0 skipped" in page.head[0].body.plain


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_verdict_is_in_the_first_lines_and_stays_in_every_view(
    backend: FakeBackend, size: tuple[int, int]
) -> None:
    async with console(backend, size=size) as operator:
        await operator.plan(MERGE_SQL)
        for view, expected in VIEWS.items():
            await operator.sees(*expected)
            await operator.sees("updates 1,204 · inserts 220 · deletes 3")
            # where there is little room it is whole above the first view alone
            assert ("rewrites 2 of 40 files" in operator.screen) is (view == "files" or size != (80, 24))
            await operator.press("right_square_bracket")
        await operator.press("d")
        await operator.sees("to avoid it", "make the feed a Delta table")
        assert not backend.called("apply")


def test_the_verdict_says_first_which_warnings_must_be_accepted() -> None:
    warnings = tuple(
        Remark(code=code, sentence="Some rows.", severity=severity)
        for code, severity in (("MILD", "warning"), ("BAD", "error"))
    )
    lines = [paragraph.body.plain for paragraph in verdict(samples.a_plan(warnings=warnings), UNICODE)]
    assert lines[-3:] == ["1 error to be accepted, 1 warning", "[BAD] Some rows.", "[MILD] Some rows."]


def test_in_brief_the_verdict_says_what_matters_most() -> None:
    def lines(plan: AnyPlan, since: Sequence[str] = ()) -> list[str]:
        return [paragraph.body.plain for paragraph in brief(plan, UNICODE, since=since)]

    counts = verdict(samples.a_plan(), UNICODE)[0].body.plain
    mild, bad = (Remark(code=code, sentence="Some.", severity=code) for code in ("warning", "error"))  # type: ignore[arg-type]
    assert lines(samples.a_plan(warnings=())) == [counts]
    assert lines(samples.a_plan(warnings=(mild,))) == [counts, "[warning] Some."]
    assert lines(samples.a_plan(warnings=(mild,)), ("It moved.",)) == [counts, "It moved."]
    assert lines(samples.a_plan(warnings=(bad,)), ("It moved.",)) == [counts, "[error] Some."]
    assert lines(samples.a_plan(warnings=(mild, bad))) == [counts, "1 error to be accepted, 1 warning"]


async def test_a_new_plan_is_read_from_its_top(backend: FakeBackend) -> None:
    warnings = tuple(Remark(code=f"MANY_{at}", sentence="Some rows.", severity="warning") for at in range(20))
    backend.plans = [samples.a_plan(plan_id=name * 12, warnings=warnings) for name in "ab"]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        scroll = operator.merge.preview.query_one("#verdict-scroll")
        scroll.scroll_end(animate=False)
        await operator.until(lambda: scroll.scroll_y > 0)
        operator.merge.preview.edited(True)
        await operator.pilot.pause()
        assert scroll.scroll_y > 0
        await operator.press("r")
        await operator.sees("plan bbbbbb")
        await operator.until(lambda: scroll.scroll_y == 0)


async def test_sql_that_was_just_removed_may_be_drawn_once_more(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        view = SqlView("SELECT 1")
        await operator.app.screen.mount(view)
        await view.remove()
        assert [strip.text for strip in view.render_lines(Region(0, 0, 3, 2))] == ["   ", "   "]


async def test_changes_are_asked_once_and_again_after_a_failure(backend: FakeBackend) -> None:
    backend.errors["changes"] = EngineError("SOURCE_GONE", "The frozen source is gone.", "Plan again.")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        assert not backend.called("changes")
        await operator.press("right_square_bracket", "right_square_bracket")
        await operator.sees("The frozen source is gone.")
        del backend.errors["changes"]
        await operator.press("left_square_bracket", "right_square_bracket")
        await operator.sees("paid → shipped")
        await operator.press("left_square_bracket", "right_square_bracket")
        await operator.sees("paid → shipped")
        assert len(backend.called("changes")) == 2


async def test_a_plan_that_holds_its_changes_is_not_asked(backend: FakeBackend) -> None:
    backend.plans = [samples.a_plan().model_copy(update={"changes": samples.some_changes()})]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("right_square_bracket", "right_square_bracket")
        await operator.sees("paid → shipped")
        assert not backend.called("changes")


async def test_the_phases_are_told_while_spark_plans(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r", "escape")
        await operator.sees("planning", "5 of 10 tasks", "5 MB read", "x cancels")
        assert "planning" in operator.first_line
        backend.release("plan")
        await operator.sees("updates 1,204")


async def test_a_step_that_brings_nothing_new_says_since_when(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.hold("plan")
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r", "escape")
        await operator.sees("5 of 10 tasks")
        assert "nothing new" not in operator.screen
        monkeypatch.setattr("console.widgets.running.monotonic", lambda: time.monotonic() + 20)
        await operator.sees("nothing new for 2")
        backend.silence = Silence("lake:9000", 20)
        await operator.sees("the store has not answered for 20 s", "x cancels")
        backend.release("plan")
        await operator.sees("updates 1,204")


async def test_x_cancels_the_plan_of_this_operation_and_says_so(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r", "escape")
        await operator.sees("5 of 10 tasks")
        await operator.press("x")
        await operator.sees("The plan was cancelled. Nothing was written.")
        *_, operation_id = backend.called("plan")[0]
        await operator.until(lambda: backend.called("cancel") == [(operation_id,)])
        assert operator.merge.editor.text == MERGE_SQL


async def test_what_costs_nothing_is_told_while_the_plan_is_made(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r")
        await operator.sees("source is materialized", "data skipping leaves 5 of 40 files")
        assert operator.merge.plan is None
        backend.release("plan")
        await operator.sees("plan 7f3a9c")


async def test_a_plan_of_an_older_text_is_marked_as_such(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("e", *"-- ", "escape", "v")
        await operator.sees("The text was edited since this plan: r plans it again.", "7f3a9c (text edited)")
        await operator.press("c")
        await operator.sees("The text was edited since; what is committed is the plan")


async def test_a_plan_is_not_said_to_be_of_a_text_that_came_from_elsewhere(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        operator.merge.use_text("MERGE INTO other t USING s ON t.id = s.id WHEN MATCHED THEN DELETE")
        await operator.sees("7f3a9c (of another text)")
        operator.merge.use_text(MERGE_SQL)
        await operator.misses("7f3a9c (")


async def test_a_script_that_was_not_touched_is_not_marked_as_edited(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(f"SET spark.sql.ansi.enabled = true;\n{MERGE_SQL}")
        await operator.press("c")
        await operator.sees("Commit plan")
        assert "edited since" not in operator.screen


async def test_the_preview_has_the_name_of_its_plan_even_where_the_text_was_typed_on(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan_again_and_wait(backend, MERGE_SQL)
        await operator.press("e", *"xy")
        backend.plans = [samples.a_plan().model_copy(update={"plan_id": "012345678901"})]
        backend.release("plan")
        await operator.sees("Plan 012345 is ready", "Preview 012345")


async def test_typing_on_while_spark_plans_is_not_interrupted(backend: FakeBackend) -> None:
    backend.hold("plan")
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.press("ctrl+r", *"xy")
        backend.release("plan")
        await operator.sees("Plan 7f3a9c is ready")
        assert operator.merge.view == "compose"
        assert operator.merge.editor.text.startswith("xyMERGE")


async def test_what_is_not_known_is_no_zero(backend: FakeBackend) -> None:
    promise = {name: value for name, value in samples.a_plan().promise.items() if name != "numTargetRowsInserted"}
    backend.plans = [samples.a_plan(promise=promise)]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("updates 1,204 · inserts ? · deletes 3")
        await operator.press("c")
        await operator.sees("1,204 updated   ? inserted   3 deleted")


async def test_a_plan_without_effect_offers_nothing_to_commit(backend: FakeBackend) -> None:
    nothing = dict.fromkeys(samples.a_plan().promise, 0)
    touched = samples.a_plan().find_touched_files.model_copy(update={"files": ()})
    backend.plans = [samples.a_plan(promise=nothing, find_touched_files=touched)]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("▸ changes no row", "nothing would be committed", "c why not commit")
        await operator.press("c")
        await operator.sees("It changes nothing, so there is nothing to commit.")


async def test_a_refused_plan_shows_the_keys_and_cannot_be_committed(backend: FakeBackend) -> None:
    backend.plans = [samples.a_refused_plan()]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees(
            "cannot be committed: 2 target rows are matched by more than one source row",
            "[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE]",
            "Remove the duplicates",
            "10001",
            "c why not commit",
        )
        await operator.press("c")
        await operator.sees("It would be refused")
        await operator.press("ctrl+y", "enter")
        assert not backend.called("apply")
        await operator.press("escape")
        operator.merge.show_view("preview")
        operator.merge.preview.turn_to("promise")
        await operator.sees("Nothing is promised: this cannot be committed.")
        assert "compared with the commit" not in operator.screen
        operator.merge.preview.turn_to("advice")
        await operator.sees("It would be refused, so nothing of it runs.")
        assert "REWRITE_AMPLIFICATION" not in operator.screen


async def test_a_text_that_is_again_what_was_planned_is_said_to_be(backend: FakeBackend) -> None:
    backend.plans = [samples.a_refused_plan()]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("e")
        await operator.sees("was made of this text; nothing is written yet")
        await operator.press("x")
        await operator.sees("Spark accepts it", "plans it")
        await operator.press("ctrl+z")
        await operator.sees("was made of this text; nothing is written yet")
        assert "plans it" not in operator.screen


async def test_ctrl_s_saves_the_plan_where_that_is_shown_and_the_merge_where_its_text_is(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("ctrl+s")
        await operator.sees("Save plan 7f3a9c")
        await operator.press("escape", "e", "ctrl+s")
        await operator.sees("Save this merge")


async def test_another_key_to_save_the_plan_is_on_the_key_line(backend: FakeBackend) -> None:
    (backend.home / "settings.toml").write_text('[keys]\n"merge.save" = "f6"\n')
    async with console(backend, size=(120, 36)) as operator:
        await operator.until(lambda: operator.app.keymap)
        await operator.plan(MERGE_SQL)
        await operator.until(lambda: "F6 save" in operator.keys)
        await operator.press("f6")
        await operator.sees("Save plan 7f3a9c")


async def test_s_saves_the_plan_as_a_file_and_never_overwrites_unasked(backend: FakeBackend) -> None:
    target = backend.home / "p.json"
    target.write_text("what was there")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("s")
        await operator.sees("Save plan 7f3a9c")
        path = operator.app.screen.query_one(Input)
        path.value = "/no/such/place/p.json"
        await operator.press("enter")
        await operator.sees("There is no directory /no/such/place.", "/no/such/place/p.json")
        path.value = str(target)
        await operator.press("enter")
        await operator.sees("It exists already: ctrl+y overwrites it.")
        assert target.read_text() == "what was there"
        await operator.press("ctrl+y")
        await operator.sees("Saved as")
    assert read_plan_file(target).plan_id == samples.a_plan().plan_id


async def test_after_a_re_plan_what_changed_since_the_plan_before_it_comes_first(backend: FakeBackend) -> None:
    later = {**samples.a_plan().promise, "numTargetRowsInserted": 7_777}
    backend.plans = [samples.a_plan(), samples.a_plan(plan_id="5ec0nd000000", promise=later)]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        assert "Before" not in operator.screen
        await operator.press("r")
        await operator.sees("Preview 5ec0nd", "Before")
        await operator.press("left_square_bracket")
        await operator.sees("1 of 20 facts differs from plan 7f3a9c of 12:04:11.", "▸ changed  numTargetRowsInserted")
        assert "220" in operator.screen
        assert "7,777" in operator.screen


async def test_a_text_that_changed_is_shown_by_its_lines_with_those_that_differ_marked(backend: FakeBackend) -> None:
    before = MERGE_SQL.replace("MERGE", "-- the daily upsert\nMERGE", 1)
    after = before.replace("MATCHED THEN UPDATE", "MATCHED AND s.v >\t0 THEN UPDATE", 1)
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(before)
        await operator.press("e")
        operator.merge.editor.replace_all(after)
        await operator.press("ctrl+r")
        await operator.sees("Before")
        operator.merge.preview.turn_to("before")
        await operator.sees("1 of 20 facts differs", "line 6: WHEN MATCHED THEN UPDATE SET *", "▸ changed  text")
        await operator.press("enter")
        await operator.sees("Beside plan 7f3a9c of")
        lines = [line.split("│")[1].strip() for line in operator.screen.splitlines() if "│" in line]
        assert "▸ text    -- the daily upsert" in lines, "the comment hides nothing of what is behind it"
        assert f"- {before.splitlines()[5]}" in lines
        assert f"+ {visible(after.splitlines()[5])}" in lines
        assert lines.count(before.splitlines()[1]) == 1
        await operator.press("c")
        assert operator.app.clipboard == after


async def test_the_plan_is_copied_as_markdown(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("Y")
        await operator.sees("Copied the plan as Markdown.")
        assert operator.app.clipboard.startswith("### MERGE into `sales.orders` at version 41")


async def test_what_the_policy_has_against_it_stands_in_the_verdict(backend: FakeBackend) -> None:
    plan = with_verdicts(Policy(max_files_rewritten=0.01, typed_confirmation=True), samples.a_plan())
    backend.plans = [plan]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("the policy refuses it (max_files_rewritten): 2 of 40 files would be rewritten")
        await operator.sees("the policy asks for more (typed_confirmation)")


async def test_a_plan_that_the_policy_refuses_is_not_offered_for_commit(backend: FakeBackend) -> None:
    backend.plans = [with_verdicts(Policy(read_only=True), samples.a_plan())]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("the policy refuses it (read_only): nothing may be written")
        assert "commit…" not in operator.screen
        await operator.press("c")
        await operator.sees("Cannot be committed", "The policy refuses it (read_only)")
        assert not operator.app.query("CommitDialog")
        assert not backend.called("apply")


async def test_the_chosen_view_is_in_the_line_of_views_however_narrow_it_is(backend: FakeBackend) -> None:
    async with console(backend, size=(50, 24)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("Files Rows Changes")
        assert "Spark" not in _line_of_views(operator.screen)
        operator.merge.preview.turn_to("spark")
        await operator.until(lambda: "Spark" in _line_of_views(operator.screen))
        assert _line_of_views(operator.screen).startswith(" … ")
        operator.merge.preview.turn_to("files")
        await operator.until(lambda: _line_of_views(operator.screen).startswith(" Files Rows"))


def _line_of_views(screen: str) -> str:
    return next(line for line in screen.splitlines() if "Promise" in line or "Decision" in line)


async def test_changes_of_a_merge_that_updates_nothing_do_not_speak_of_updated_rows(backend: FakeBackend) -> None:
    nothing = Changes(rows_before=8, inserted=0, updated=0, updated_same=0, deleted=0)
    backend.plans = [samples.a_plan().model_copy(update={"changes": nothing})]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        operator.merge.preview.turn_to("changes")
        await operator.sees("No row is updated.")


async def test_a_plan_of_another_table_is_not_compared_with_the_one_before(backend: FakeBackend) -> None:
    plan = samples.a_plan()
    target = plan.target.model_copy(update={"name": "sales.customers", "path": "/warehouse/sales.db/customers"})
    other = plan.model_copy(update={"target": target})
    backend.plans = [plan, other, other]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("r")
        await operator.sees("MERGE into sales.customers")
        assert operator.merge.preview.before is None
        await operator.press("r")
        await operator.until(lambda: operator.merge.preview.before is not None, "a plan of the same table")


async def test_another_merge_is_opened_from_a_preview_too(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("o")
        await operator.sees("Open a merge")


async def test_no_frame_has_the_headline_of_one_plan_above_the_files_of_another(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = samples.a_plan().find_touched_files
    file = touched.files[0].model_copy(update={"path": "of-the-second.parquet"})
    second = touched.model_copy(update={"files": (file,)})
    backend.plans = [samples.a_plan(), samples.a_plan(plan_id="5ec0nd000000", find_touched_files=second)]
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("plan 7f3a9c", "434,088")
        frames: list[str] = []
        drawn = type(operator.app)._display

        def keep(app: DeltaMergeApp, screen: Screen[object], renderable: object) -> None:
            if not app._batch_count:
                frames.append(operator.screen)
            drawn(app, screen, renderable)  # type: ignore[arg-type]

        monkeypatch.setattr(type(operator.app), "_display", keep)
        swapped = PageView._swap

        async def late(view: PageView) -> None:
            # on a busy machine it is a while until the page has its turn
            await asyncio.sleep(0.2)
            await swapped(view)

        monkeypatch.setattr(PageView, "_swap", late)
        await operator.press("r")
        await operator.sees("plan 5ec0nd", "of-the-second.parquet")
    of_second = [frame for frame in frames if "plan 5ec0nd" in frame]
    assert of_second
    assert all("of-the-second.parquet" in frame for frame in of_second)


async def test_the_key_of_a_row_is_in_sight_before_what_changes_and_stays_there(backend: FakeBackend) -> None:
    sample = samples.a_plan().samples[0]
    assert sample.before is not None
    assert sample.after is not None
    wide = {f"wide_{number}": "x" * 12 for number in range(9)}
    before, after = ({**wide, **cells} for cells in (sample.before, {**sample.after, **dict.fromkeys(wide, "y" * 12)}))
    backend.plans = [samples.a_plan(samples=(sample.model_copy(update={"before": before, "after": after}),))]
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        operator.merge.preview.turn_to("rows")
        await operator.sees("order_id", "10001", "order_date", "wide_0")
        await operator.press(*["right"] * 20)
        await operator.sees("wide_6")
        assert "10001" in operator.screen
        assert "wide_0" not in operator.screen


def test_a_plan_that_is_refused_rewrites_no_file() -> None:
    plan = samples.a_plan(refused=samples.a_refused_plan().refused)
    assert plan.changed_files
    assert "0 rewritten" in files_page(plan, UNICODE).head[0].body.plain


def test_rows_that_are_matched_twice_have_no_check_mark() -> None:
    plan = samples.a_plan()
    conflicts = plan.find_touched_files.conflicts.model_copy(update={"true_count": 3})
    found = plan.find_touched_files.model_copy(update={"conflicts": conflicts})
    for one, sign in ((plan, UNICODE.ok), (plan.model_copy(update={"find_touched_files": found}), UNICODE.warning)):
        lines = verdict(one, UNICODE)
        (line,) = [line for line in lines if "matched" in line.body.plain and "row" in line.body.plain]
        assert line.lead.plain.strip() == sign


async def test_a_plan_is_compared_with_the_one_before_of_the_same_merge_alone(backend: FakeBackend) -> None:
    plans = [samples.a_plan(plan_id=f"{at}{'0' * 11}") for at in range(1, 6)]
    backend.plans = list(plans)
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        preview = operator.merge.preview
        await operator.press("r")
        await operator.until(lambda: preview.before and preview.before.plan_id == plans[0].plan_id)
        preview.turn_to("before")
        await operator.sees("Nothing differs from plan 100000")
        # another merge into the same table, from elsewhere
        other = MERGE_SQL.replace("orders_feed", "other_feed")
        operator.merge.use_draft(Draft(other))
        await operator.press("ctrl+r")
        await operator.sees("Preview 300000", "This is the first plan of")
        assert preview.before is None
        assert (preview.view, "Before" in operator.screen) == ("files", False)
        # nor does the view come back by itself
        await operator.press("r")
        await operator.until(lambda: preview.before and preview.before.plan_id == plans[2].plan_id)
        assert preview.view == "files"
        # the text of before comes back by undo, and it is another merge than the last one
        operator.merge.action_edit()
        await operator.press("ctrl+z")
        assert operator.merge.editor.text == MERGE_SQL
        await operator.press("ctrl+r")
        await operator.sees("Preview 500000")
        assert preview.before is None


async def test_an_error_in_a_file_beside_the_statement_is_none_of_its_text(backend: FakeBackend) -> None:
    """Its line and column are of that file, and are in the message."""
    message = "expect/lab.yml, line 3, column 5: not_nul is none of the checks."
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("e")
        backend.errors["plan"] = InputFileError("BAD_EXPECTATIONS", message, line=3, column=5)
        await operator.press("ctrl+r")
        await operator.sees("line 3, column 5: not_nul")
        assert operator.merge.pane.error_at is None
        assert "to the error" not in operator.keys


async def test_an_error_that_a_new_plan_does_not_meet_is_forgotten(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("e")
        backend.errors["plan"] = EngineError("UNRESOLVED_COLUMN", "There is no x.", line=2, column=7)
        await operator.press("ctrl+r")
        await operator.sees("There is no x.", "line 2, column 7")
        del backend.errors["plan"]
        await operator.press("ctrl+r")
        await operator.sees("rewrites 2 of 40 files")
        await operator.press("e")
        await operator.sees("Plan ")
        assert "to the error" not in operator.keys


async def test_the_keys_of_a_create_in_the_merge_place_are_those_that_do_something(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.warm()
        await operator.write(samples.CREATE_SQL)
        await operator.press("ctrl+r")
        await operator.sees("parts of 10 change")
        for dead in ("why", "find key"):
            assert f" {dead}" not in operator.keys.replace("why not commit", "")


@pytest.mark.parametrize("width", [20, 60, 80])
def test_a_title_that_is_longer_than_the_line_is_wrapped_and_hides_no_line_below(width: int) -> None:
    plan = samples.a_plan()
    target = plan.target.model_copy(update={"name": f"demo.{'customers_snapshot_rehearsal' * 2}"})
    shown = Verdict()
    shown.show_plan(plan.model_copy(update={"target": target}), since=(), glyphs=UNICODE, is_brief=False)
    lines = shown.laid_out(width).split("\n")
    assert max(line.cell_length for line in lines) <= width
