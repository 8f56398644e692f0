"""A CREATE or REPLACE TABLE plan in sentences."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from console.cli import view_create
from console.places.plan_diff import before_page
from console.places.statement.create_pages import columns_page
from console.words import create_sentences as words
from console.words import markdown
from console.words.glyphs import UNICODE
from engine.model.create_values import CreateSource, CreateStatement, StateColumn
from engine.model.identity import Identity
from engine.model.plan import Refused
from tests.engine.plans import make_create_plan

NAME = "demo.orders"
ADDED = StateColumn(name="new\n", type="date", nullable=False)


@pytest.mark.parametrize(
    ("mode", "form", "version", "told"),
    [
        ("Create", "empty", -1, f"CREATE TABLE {NAME}"),
        ("CreateOrReplace", "as_select", 7, f"CREATE OR REPLACE TABLE {NAME} @ v7 AS SELECT"),
        ("Replace", "empty", 0, f"REPLACE TABLE {NAME} @ v0"),
        ("Create", "like", -1, f"CREATE TABLE {NAME} LIKE"),
        ("Create", "clone", -1, f"CREATE TABLE {NAME} SHALLOW CLONE"),
    ],
)
def test_a_headline_says_what_is_made_over_which_version(mode: Any, form: Any, version: int, told: str) -> None:
    plan = make_create_plan(statement=CreateStatement(sql="x", form=form, mode=mode))
    assert (
        words.headline(plan.model_copy(update={"target": plan.target.model_copy(update={"version": version})})) == told
    )


def test_a_summary_says_what_it_does_and_what_history_will_say() -> None:
    assert words.summary(make_create_plan()) == "replaces the table; history will say REPLACE TABLE"
    assert words.summary(make_create_plan(operation=None, effect="nothing")) == "changes nothing; nothing is committed"
    assert words.summary(make_create_plan(refused=Refused(condition="X", message="y", hint=""))) == "refused, X"


@pytest.mark.parametrize(
    ("rows", "partitions", "told"),
    [
        (None, None, ""),
        (40, None, "writes 40 rows"),
        (40, 2, "writes 40 rows in 2 partitions"),
        (1, 1, "writes 1 row in 1 partition"),
    ],
)
def test_how_many_rows_are_written(rows: int | None, partitions: int | None, told: str) -> None:
    source = CreateSource(sql="q", num_rows=rows, num_partitions=partitions)
    assert words.rows_written(make_create_plan(source=source)) == told
    assert words.rows_written(make_create_plan(source=None)) == ""


def test_files_leave_the_table_and_stay_until_a_vacuum() -> None:
    own = "if they are its own"
    assert words.leaving(make_create_plan()) == f"3 files (3 kB) leave the table; a later VACUUM deletes them {own}"
    one = "1 file (3 kB) leaves the table; a later VACUUM deletes it if it is its own"
    assert words.leaving(make_create_plan(files_removed=1)) == one
    assert words.leaving(make_create_plan(files_removed=0)) == "no file leaves the table"
    assert words.leaving(make_create_plan(files_removed=0, before=None)) == ""


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ({}, ""),
        ({"nullable": False, "default": "0"}, "not null, default 0"),
        ({"identity": True}, "identity"),
        ({"generated_as": "a\n+ 1"}, "generated as a\\n+ 1"),
    ],
)
def test_what_there_is_beside_name_and_type(column: dict[str, Any], told: str) -> None:
    assert words.marks(StateColumn(name="a", type="int", **column)) == told


def test_what_becomes_of_each_column_is_told_before_and_after() -> None:
    before, after = make_create_plan().before, make_create_plan().after
    assert before is not None
    assert after is not None
    stays = StateColumn(name="s", type="int", default="1")
    counted = StateColumn(name="n", type="bigint", generated_as="id + 1")
    plan = make_create_plan(
        before=before.model_copy(update={"columns": (*before.columns, stays, counted)}),
        after=after.model_copy(
            update={"columns": (*after.columns, stays, counted.model_copy(update={"generated_as": None}), ADDED)}
        ),
    )
    assert words.columns(plan, "→") == [
        ("changed", "id", "int → bigint", "- → not null", "- → the key"),
        ("", "s", "int", "default 1", ""),
        ("changed", "n", "bigint", "generated as id + 1 → -", ""),
        ("new", "new\\n", "date", "not null", ""),
        ("goes", "old", "string", "", ""),
    ]
    made = words.columns(plan.model_copy(update={"before": None}), "→")
    assert made[0] == ("", "id", "bigint", "not null", "the key")
    assert words.columns(plan.model_copy(update={"after": None}), "→") == []


ONE = Identity(start=1, step=1, always=True)
COUNTS = "identity always, start 1, step 1"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (ONE, ONE, COUNTS),
        (ONE, None, f"{COUNTS} → -"),
        (None, ONE, f"- → {COUNTS}"),
        (ONE, Identity(start=5, step=1, always=True), f"{COUNTS} → identity always, start 5, step 1"),
        (ONE, Identity(start=1, step=2, always=True), f"{COUNTS} → identity always, start 1, step 2"),
        (ONE, Identity(start=1, step=1, always=False), f"{COUNTS} → identity by default, start 1, step 1"),
    ],
)
def test_a_change_of_an_identity_is_told(before: Identity | None, after: Identity | None, told: str) -> None:
    was, now = (StateColumn(name="id", type="bigint", identity=one is not None, counted=one) for one in (before, after))
    plan = make_create_plan()
    assert plan.before is not None
    changes = {"before": plan.before.model_copy(update={"columns": (was,)})}
    changes |= {"after": plan.before.model_copy(update={"columns": (now,)})}
    change = "changed" if before != after else ""
    assert words.columns(plan.model_copy(update=changes), "→") == [(change, "id", "bigint", told, "")]


@pytest.mark.parametrize("told", ["text", "command line", "markdown", "page", "beside the plan before"])
def test_every_output_tells_what_becomes_of_the_columns(told: str) -> None:
    plan = make_create_plan()
    console = Console(width=200)
    with console.capture() as printed:
        console.print(view_create.page(plan, UNICODE))
    was = plan.model_copy(update={"after": plan.before})
    outputs = {
        "text": words.as_text(plan, "→"),
        "command line": printed.get(),
        "markdown": markdown.page(plan),
        "page": str(columns_page(plan, UNICODE).table),
        "beside the plan before": str(before_page(was, plan, UNICODE).table),
    }
    for part in ("id", "bigint", "not null", "the key", "old"):
        assert part in outputs[told], part
    if told != "beside the plan before":
        for part in ("int → bigint", "goes"):
            assert part in outputs[told], part


def test_a_refused_plan_counts_nothing_that_would_be_written_or_leave() -> None:
    plan = make_create_plan(source=CreateSource(sql="s", num_rows=40), files_removed=3)
    assert words.rows_written(plan) == "writes 40 rows"
    assert words.leaving(plan).startswith("3 files")
    refused = plan.model_copy(update={"refused": Refused(condition="X", message="no", hint="")})
    assert (words.rows_written(refused), words.leaving(refused)) == ("", "")
    facts = {row[1]: row[2:] for row in before_page(plan, refused, UNICODE).table.rows}  # type: ignore[union-attr]
    assert facts["files that leave"] == ("3", "0")


def test_a_plan_as_text_holds_all_of_it() -> None:
    text = words.as_text(make_create_plan(refused=Refused(condition="X", message="no", hint="")), "→")
    assert "[X] no" in text
    assert "column id int → bigint, - → not null, comment - → the key, changed\ncolumn old string, goes" in text
    assert "warning [FILES_LEAVE_THE_VERSION] 3 files (3,000 bytes) leave." in text
    assert text.endswith("\n\nREPLACE TABLE demo.orders (id BIGINT NOT NULL) USING delta")
    assert "delta.columnMapping.maxColumnId=(known at the commit)" in text
    assert "column id" not in words.as_text(make_create_plan(after=None), "→")
