"""What was done, in sentences."""

from __future__ import annotations

from typing import Any

import pytest

from console.words import outcome_sentences as words
from engine.model.operation import Deviation, Operation
from tests.engine.plans import make_create_plan, make_outcome, make_plan

NAME = "demo.orders"
NOT_KNOWN = "was to be cancelled; whether it was applied is not known yet: the history says it later."


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kept": True, "duration_ms": 6200}, f"kept its promise · made v8 of {NAME} · read v7 · 6.2 s"),
        (
            {"kept": False, "version": None, "read_version": None,
             "deviations": (Deviation(metric="m", promised=1, actual=2),)},
            f"DEVIATED in 1 number · made v? of {NAME} · read v? · 0 ms",
        ),
        (
            {"kept": False, "deviations": (Deviation(metric="tableId", promised="a", actual="b"),)},
            f"DEVIATED in 1 part · made v8 of {NAME} · read v7 · 0 ms",
        ),
        (
            {"kept": True, "version": 0, "read_version": None},
            f"kept its promise · made v0 of {NAME} · the table is new · 0 ms",
        ),
        ({"already_applied": True, "version": None}, "was applied already: nothing changed now"),
        ({"already_applied": True, "kept": True}, "was committed already, as v8: nothing changed now"),
        ({"already_applied": True, "version": 1234}, "was committed already, as v1234: nothing changed now"),
        (
            {"already_applied": True, "kept": False},
            "DEVIATED in 0 numbers · was committed already, as v8: nothing changed now",
        ),
    ],
)  # fmt: skip
def test_what_a_commit_did(changes: dict[str, Any], told: str) -> None:
    assert words.outcome(make_outcome("op").model_copy(update=changes), make_plan()) == told


@pytest.mark.parametrize(
    ("status", "changes", "ended", "told"),
    [
        ("applied", {"version": 6, "kept": True}, True, "was applied, as v6."),
        ("applied", {"version": 6, "kept": False}, False, "was applied, as v6, and DEVIATED from its promise."),
        ("applied", {"kept": True}, True, "had nothing to commit."),
        ("applied", {"kept": True, "kind": "drop"}, True, "was applied."),
        ("cancelled", {}, True, "was cancelled: nothing was written."),
        ("failed", {}, True, "failed; the history says how."),
        ("lost", {"version": 6}, True, "failed; the history says how."),
        (None, {}, True, "had not begun: nothing was written."),
        *((status, {}, ended, NOT_KNOWN) for status, ended in (("running", True), ("running", False), (None, False))),
    ],
)  # fmt: skip
def test_what_became_of_work_that_the_console_was_left_in(
    status: str | None, changes: dict[str, Any], ended: bool, told: str
) -> None:
    fields = {"op_id": "1", "plan_id": "p", "kind": "merge", "table": NAME, "sql": "", "started_at": "2026-11-20"}
    one = None if status is None else Operation.model_validate({**fields, "status": status, **changes})
    assert words.became("The commit to t", one, ended=ended) == f"The commit to t {told}"


def test_a_table_that_is_only_added_to_the_catalog_has_no_version() -> None:
    plan, outcome = make_create_plan(effect="adopt"), make_outcome("op").model_copy(update={"version": None})
    assert words.outcome(outcome, plan) == f"{NAME} is in the catalog; nothing was committed"
    by_path = make_create_plan(effect="adopt", by_path=True)
    assert words.outcome(outcome, by_path) == "nothing to commit: it changes nothing"


def test_the_version_that_a_commit_read() -> None:
    assert [words.read(version) for version in (None, 0, -1)] == [
        "read v?",
        "read v0",
        "the table is new",
    ]


def test_an_operation_is_the_word_of_its_statement() -> None:
    fields = {"op_id": "1", "plan_id": "p", "table": NAME, "sql": "", "status": "applied", "started_at": "2026-11-20"}
    for of, told in (("merge", "merge"), ("create_table", "create"), ("restore", "restore"), ("drop", "drop")):
        assert words.kind(Operation.model_validate({**fields, "kind": of})) == told


@pytest.mark.parametrize(
    ("sql", "version", "told"),
    [
        ("CREATE TABLE t (a INT)", 0, "create"),
        ("CREATE TABLE t (a INT)", None, "create"),
        ("CREATE OR REPLACE TABLE t (a INT)", 0, "create"),
        ("CREATE OR REPLACE TABLE t AS SELECT 1 AS a", 1, "replace"),
        # it is not known yet, or nobody knows any more
        ("CREATE OR REPLACE TABLE t (a INT)", None, "create or replace"),
        ("REPLACE TABLE t (a INT)", 4, "replace"),
        ("REPLACE TABLE t (a INT)", None, "replace"),
        ("CREATE OR REPLACE TABLE t SHALLOW CLONE s", 0, "clone"),
        # a secret in it is masked
        ("CREATE TABLE t OPTIONS (***", 0, "create"),
        ("CREATE OR REPLACE TABLE t OPTIONS (***", 4, "replace"),
    ],
)
def test_a_table_that_a_commit_made_was_not_replaced(sql: str, version: int | None, told: str) -> None:
    status = "planned" if version is None else "applied"
    one = Operation(
        op_id="1",
        plan_id="p",
        kind="create_table",
        table=NAME,
        sql=sql,
        status=status,
        version=version,
        started_at="2026-11-20",
    )
    assert words.kind(one) == told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": "applied", "version": 8, "kept": True}, "applied, kept"),
        ({"status": "applied", "version": 8, "kept": False}, "applied, DEVIATED"),
        ({"status": "applied", "version": 8}, "applied"),
        ({"status": "applied", "kept": True}, "no commit"),
        ({"status": "applied", "kept": True, "registered": True}, "registered"),
        ({"status": "running"}, "running"),
        ({"status": "running", "program_gone": True}, "unfinished"),
        ({"status": "not_committed"}, "not committed"),
        ({"status": "lost", "kept": False}, "LOST"),
    ],
)
def test_a_status_says_what_is_known_of_the_commit(changes: dict[str, Any], told: str) -> None:
    base = {
        "op_id": "a",
        "plan_id": "p",
        "kind": "merge",
        "table": NAME,
        "sql": "",
        "started_at": "2026-11-21T10:00:00Z",
    }
    assert words.status(Operation.model_validate({**base, **changes})) == told
