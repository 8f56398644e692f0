"""How a commit is taken back, and until when, in words."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from console.words import undo_sentences as words
from engine.model.operation import ColumnsChange, Outcome, PartChange, UndoPlan
from engine.model.plan import RaisedProperty, Undo
from engine.model.plans import AnyPlan
from tests.engine.plans import make_create_plan, make_outcome, make_plan

UNTIL = "2026-11-28T10:00:00Z"
RAISED = (
    RaisedProperty(name="p.one", before=None, after="interval 9 days"),
    RaisedProperty(name="p.two", before="interval 1 day", after="interval 9 days"),
)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


def a_plan(**undo: Any) -> AnyPlan:
    return make_plan(undo=Undo(**{"possible": True, "why": "kept a week", **undo}))


def outcome(**changes: Any) -> Outcome:
    return make_outcome("op").model_copy(update=changes)


def undo_plan(**changes: Any) -> UndoPlan:
    given: dict[str, Any] = {
        "undo_id": "u",
        "op_id": "o",
        "table": "a.b",
        "path": "/p",
        "table_id": "t",
        "version": 8,
        "to_version": 7,
        "promise": {"numRestoredFiles": 1, "numRemovedFiles": 2, "restoredFilesSize": 1000, "removedFilesSize": 2000},
        "rows_now": 10,
        "why": "kept a week",
    }
    return UndoPlan(**given | changes)


def test_one_row_is_no_rows() -> None:
    assert words.page(undo_plan(rows_now=1, rows_after=0))[0].endswith(": 1 row now, 0 afterwards")


def test_a_merge_is_taken_back_by_a_restore() -> None:
    name = "spark_catalog.demo.orders"
    assert words.undo(make_plan()) == f"RESTORE TABLE {name} TO VERSION AS OF 7"
    assert words.undo(make_plan(), 12) == f"RESTORE TABLE {name} TO VERSION AS OF 11"


@pytest.mark.parametrize(
    ("effect", "managed", "statement"),
    [
        ("create", True, "DROP TABLE spark_catalog.demo.orders"),
        ("adopt", False, "DROP TABLE spark_catalog.demo.orders (the files stay where they are)"),
        ("replace", True, "RESTORE TABLE spark_catalog.demo.orders TO VERSION AS OF 7"),
    ],
)
def test_a_table_that_was_made_is_dropped(effect: str, managed: bool, statement: str) -> None:
    assert words.undo(make_create_plan(effect=effect, managed=managed)) == statement


@pytest.mark.parametrize(
    ("undo", "told"),
    [
        ({"possible": None}, "not known whether it will be possible: kept a week"),
        ({"possible": False}, "will NOT be possible: kept a week"),
        (
            {"raise_retention": RAISED},
            "refused by retention: kept a week; the undo raises that to interval 9 days first",
        ),
        ({}, "possible right after the commit: kept a week"),
        ({"until": UNTIL}, "possible until 2026-11-28 10:00: kept a week"),
    ],
)
def test_until_when_the_commit_of_a_plan_can_be_taken_back(undo: dict[str, Any], told: str) -> None:
    assert words.until(a_plan(**undo)) == told
    short = "possible until 2026-11-28 10:00" if undo.keys() == {"until"} else told
    assert words.until_short(a_plan(**undo)) == short


def test_a_plan_that_does_not_say_it_is_not_known() -> None:
    assert words.until(make_plan(undo=None)) == words.NOT_KNOWN
    assert words.made(make_plan(undo=None), None)[1] == f"{words.NOT_KNOWN}; `undo` looks"
    assert words.after(make_plan(undo=None), outcome()) == f"{words.NOT_KNOWN}; `undo` looks"


@pytest.mark.parametrize(
    ("undo", "sure"),
    [({}, True), ({"possible": False}, False), ({"possible": None}, False), ({"raise_retention": RAISED}, False)],
)
def test_the_statement_alone_is_enough_where_nothing_has_to_be_raised(undo: dict[str, Any], sure: bool) -> None:
    assert words.is_sure(a_plan(**undo)) is sure
    assert words.is_sure(make_plan(undo=None))


NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("undo", "told"),
    [
        ({"possible": False}, "NOT possible: kept a week"),
        ({"raise_retention": RAISED}, f"refused by retention: `undo` raises p.one and p.two first, {words.FILES_GONE}"),
        ({}, "kept a week"),
        ({"until": "soon"}, "kept a week"),
        ({"until": UNTIL}, f"possible until 2026-11-28 10:00, {words.FILES_GONE}"),
        (
            {"until": "2026-11-21T10:00:00Z"},
            "was possible until 2026-11-21 10:00; `undo` looks whether raising the retention helps, "
            f"{words.FILES_GONE}",
        ),
    ],
)
def test_until_when_a_commit_that_is_made_can_be_taken_back(undo: dict[str, Any], told: str) -> None:
    statement, until = words.made(a_plan(**undo), outcome(), now=NOW)
    assert until == told
    # no statement where none takes it back
    assert (statement == "") is told.startswith("NOT possible")


@pytest.mark.parametrize(
    ("undo", "refused"),
    [
        ({}, False),
        ({"until": UNTIL}, False),
        ({"until": "2026-11-21T10:00:00Z"}, True),
        ({"raise_retention": RAISED}, True),
    ],
)
def test_delta_refuses_the_statement_alone_before_a_property_is_raised(undo: dict[str, Any], refused: bool) -> None:
    assert words.needs_undo(a_plan(**undo), now=NOW) is refused
    assert not words.needs_undo(make_plan(undo=None))


def test_of_a_commit_without_an_outcome_no_statement_is_told_that_its_plan_knows_to_fail() -> None:
    assert words.made(a_plan(possible=False), None) == ("", "NOT possible: kept a week")
    assert words.made(a_plan(until=UNTIL), None)[0].startswith("RESTORE TABLE")


def test_a_commit_over_another_than_the_judged_version_is_looked_at_anew() -> None:
    assert words.after(a_plan(), outcome(version=10)).startswith("it goes back to v9, which others committed")
    assert words.after(a_plan(), outcome(version=None)) == "kept a week"


def test_what_an_undo_brings_back() -> None:
    assert words.page(undo_plan(until=UNTIL)) == [
        "v7 of a.b comes back, as v9: 10 rows now, ? afterwards",
        "1 file comes back (1 kB), none is missing; 2 files go (2 kB)",
        "possible until 2026-11-28 10:00: kept a week",
    ]
    assert len(words.page(undo_plan())) == 2


def test_what_is_raised_first_is_told() -> None:
    *_, refused, raised = words.page(undo_plan(raise_retention=RAISED))
    assert refused == "refused by retention: kept a week"
    assert raised == (
        "v9 raises p.one from the default to interval 9 days and p.two from interval 1 day to interval 9 days; "
        "what v7 has comes back with it"
    )
    assert "as v10:" in words.page(undo_plan(raise_retention=RAISED))[0]
    assert len(words.statements(undo_plan(raise_retention=RAISED))) == 2


SHALLOW = "its own files are deleted, also those that a shallow clone of it reads: no table knows its clones"


@pytest.mark.parametrize(("stay", "told"), [(True, "its files stay in /p"), (False, SHALLOW)])
def test_a_drop_says_what_comes_of_the_files(stay: bool, told: str) -> None:
    (page,) = words.page(undo_plan(kind="drop", to_version=-1, files_stay=stay))
    assert page.endswith(f"; {told}")


def test_later_commits_that_take_each_other_back_are_told_and_not_lost() -> None:
    one, other = "v4 MERGE, undone by v5", "v6 WRITE, undone by v7"
    assert words.page(undo_plan(taken_back=(one,)))[2] == f"2 later commits take each other back: {one}"
    assert words.page(undo_plan(taken_back=(other, one)))[2] == (
        f"4 later commits take each other back in pairs: {other}; {one}"
    )


def test_later_commits_are_lost_as_well() -> None:
    assert words.lost(undo_plan(lost=("v9 WRITE",))) == "1 later commit would be lost as well:"


@pytest.mark.parametrize(
    ("undo", "result", "told"),
    [
        ({}, {"kept": True}, "undone, as promised · made v8 of demo.orders · read v7"),
        (
            {},
            {"kept": False, "version": None},
            "DEVIATED in 0 numbers, undone · made v? of demo.orders · read v7",
        ),
        ({"kind": "drop"}, {"kept": True}, "undone, demo.orders is dropped"),
        (
            {"kind": "drop", "files_stay": True},
            {"kept": True},
            "undone, demo.orders is dropped · its files stay in /p",
        ),
        ({"kind": "drop"}, {"kept": False}, "demo.orders is still in the catalog"),
    ],
)
def test_what_an_undo_did(undo: dict[str, Any], result: dict[str, Any], told: str) -> None:
    assert words.done(undo_plan(**undo), outcome(**result)) == told


def test_columns_that_change_with_a_restore_are_named() -> None:
    change = ColumnsChange(back=("city", "zip"), gone=("note",), changed=("v",))
    told = "its columns change too: city, zip come back; note goes; v becomes what it was"
    assert told in words.page(undo_plan(columns=change))
    assert not any("columns" in line for line in words.page(undo_plan()))


def test_the_layout_that_changes_with_a_restore_is_told_before_it_and_after_it() -> None:
    parts = (
        PartChange(name="partitioned by", now="", before="day"),
        PartChange(name="comment", now="new\n", before="old"),
    )
    told = "partitioned by day again, instead of nothing; comment old again, instead of new\\n"
    assert f"it changes back too: {told}" in words.page(undo_plan(parts=parts))
    assert words.done(undo_plan(parts=parts), outcome(kept=True)).endswith(f" · read v7 · {told}")
    assert not any("back too" in line for line in words.page(undo_plan()))
