"""A CREATE or REPLACE TABLE plan in sentences."""

from __future__ import annotations

from typing import Any

import pytest

from console.places.plan_diff import before_page
from console.words import create_sentences as words
from console.words.glyphs import UNICODE
from engine.model.create_values import CreateSource, CreateStatement, StateColumn
from engine.model.plan import Refused
from tests.engine.plans import make_create_plan

NAME = "demo.orders"


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
    assert words.leaving(make_create_plan()) == "3 files (3 kB) leave the table; a later VACUUM deletes them"
    assert (
        words.leaving(make_create_plan(files_removed=1)) == "1 file (3 kB) leaves the table; a later VACUUM deletes it"
    )
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
    assert "column id bigint not null" in text
    assert "warning [FILES_LEAVE_THE_VERSION] 3 files (3,000 bytes) leave." in text
    assert text.endswith("\n\nREPLACE TABLE demo.orders (id BIGINT NOT NULL) USING delta")
    assert "delta.columnMapping.maxColumnId=(known at the commit)" in text
    assert "column id" not in words.as_text(make_create_plan(after=None), "→")
