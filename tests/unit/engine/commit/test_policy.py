"""What a place allows: each rule over a plan made by hand. What is not known is not allowed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.commit.policy import (
    Broken,
    Policy,
    broken_rules,
    check_policy,
    check_writable,
    to_be_typed,
    undo_to_be_typed,
    with_verdicts,
)
from engine.model.errors import RefusedError
from engine.model.plan import Clause, Plan, Undo
from engine.model.plan_checksum import checksum_of
from engine.model.plan_file import read_plan
from tests.console.samples import a_dropping_undo, an_undo
from tests.engine.plans import make_create_plan, make_plan


def a_plan(**target: Any) -> Plan:
    """One of 40 files rewritten: 900 rows updated, 49,100 copied, of 2,000,000."""
    plan = make_plan()
    return plan.model_copy(update={"target": plan.target.model_copy(update={"num_rows": 2_000_000, **target})})


def broken(policy: Policy, plan: Plan, *, reviewed: bool = False) -> list[str]:
    return [one.rule for one in broken_rules(policy, plan, reviewed=reviewed)]


def test_without_rules_all_is_allowed() -> None:
    assert broken(Policy(), a_plan()) == []
    check_writable(Policy())


@pytest.mark.parametrize(("above", "asked"), [(0.03, False), (0.02, True), (None, False)])
def test_the_tables_name_is_typed_above_a_share(above: float | None, asked: bool) -> None:
    rule = to_be_typed(Policy(typed_above=above), a_plan())
    assert (rule is not None) is asked
    if rule is not None:
        assert (rule.rule, rule.how) == (
            "typed_above",
            "1 of 40 files would be rewritten: the table's name is to be typed",
        )
    # where it is not known, it is asked for
    assert to_be_typed(Policy(typed_above=0.99), a_plan(num_rows=None)) is not None


def test_to_verify_refuses_no_plan_and_says_nothing_of_it() -> None:
    assert broken(Policy(verify=True), a_plan()) == []
    assert with_verdicts(Policy(verify=True), a_plan()).policy == ()


def test_read_only() -> None:
    assert broken(Policy(read_only=True), a_plan()) == ["read_only"]
    with pytest.raises(RefusedError, match="nothing may be written"):
        check_writable(Policy(read_only=True))


@pytest.mark.parametrize(("most", "breaks"), [(0.0, True), (0.02, True), (0.025, False), (1.0, False)])
def test_the_share_of_files_that_are_rewritten(most: float, breaks: bool) -> None:
    assert broken(Policy(max_files_rewritten=most), a_plan()) == ["max_files_rewritten"] * breaks


def test_a_file_that_is_only_read_is_not_rewritten() -> None:
    plan = a_plan()
    (file,) = plan.find_touched_files.files
    found = plan.find_touched_files.model_copy(update={"files": (file.model_copy(update={"updated": 0}),)})
    with_vectors = plan.write.model_copy(update={"deletion_vectors": True})
    only_read = plan.model_copy(update={"find_touched_files": found, "write": with_vectors})
    assert broken(Policy(max_files_rewritten=0.0), only_read) == []
    assert broken(Policy(max_files_rewritten=0.0), plan.model_copy(update={"find_touched_files": found})) == [
        "max_files_rewritten"
    ]


@pytest.mark.parametrize(("most", "breaks"), [(0.02, True), (0.025, False)])
def test_the_share_of_rows_that_are_rewritten(most: float, breaks: bool) -> None:
    assert broken(Policy(max_rows_rewritten=most), a_plan()) == ["max_rows_rewritten"] * breaks


def test_the_share_of_rows_that_are_deleted() -> None:
    plan = a_plan()
    assert broken(Policy(max_rows_deleted=0.0), plan) == []
    deleting = plan.model_copy(update={"promise": {**plan.promise, "numTargetRowsDeleted": 300_000}})
    assert broken(Policy(max_rows_deleted=0.1), deleting) == ["max_rows_deleted"]
    assert broken(Policy(max_rows_deleted=0.15), deleting) == []


def test_a_small_limit_is_told_as_it_is() -> None:
    (found,) = broken_rules(Policy(max_rows_rewritten=0.0004), a_plan(), reviewed=False)
    assert found.how.endswith("and at most 0.04% may be")


def test_what_is_not_known_is_not_allowed() -> None:
    plan = a_plan(num_rows=None)
    deleting = plan.model_copy(update={"promise": {**plan.promise, "numTargetRowsDeleted": 1}})
    (found,) = broken_rules(Policy(max_rows_deleted=0.5), deleting, reviewed=False)
    why = "the log does not count the rows of each file"
    assert found.how == f"the share of rows deleted is not known ({why}), and at most 50% may be"
    promised = a_plan().model_copy(update={"promise": {"numTargetRowsUpdated": 900}})
    (found,) = broken_rules(Policy(max_rows_deleted=0.5), promised, reviewed=False)
    assert found.how == "the share of rows deleted is not known (the plan does not promise it), and at most 50% may be"


def test_nothing_is_no_share_of_a_table_however_large() -> None:
    assert broken(Policy(max_rows_deleted=0.0), a_plan(num_rows=None)) == []


@pytest.mark.parametrize(("kind", "condition", "breaks"), [
    ("matched", None, True),
    ("matched", "s.gone", False),
    ("not_matched_by_source", None, True),
    ("matched", "true", True),
    ("matched", "(1 = 1 OR rand() < 2)", True),
    ("matched", "EXISTS (SELECT 1 FROM gone)", False),
])  # fmt: skip
def test_deletes_without_a_condition(kind: Any, condition: str | None, breaks: bool) -> None:
    clause = Clause(kind=kind, condition=condition, action="DELETE", action_kind="delete")
    plan = a_plan()
    deleting = plan.model_copy(update={"statement": plan.statement.model_copy(update={"clauses": (clause,)})})
    rule = "forbid_unconditional_deletes"
    assert broken(Policy(forbid_unconditional_deletes=True), deleting) == [rule] * breaks


def test_plans_that_were_not_looked_at() -> None:
    assert broken(Policy(reviewed_plans=True), a_plan()) == ["reviewed_plans"]
    assert broken(Policy(reviewed_plans=True), a_plan(), reviewed=True) == []


def test_a_plan_that_changes_nothing_breaks_no_rule() -> None:
    idle = a_plan().model_copy(update={"promise": {}})
    assert broken(Policy(read_only=True, reviewed_plans=True, max_files_rewritten=0.0), idle) == []


def test_a_refusal_names_the_rule() -> None:
    with pytest.raises(RefusedError) as raised:
        check_policy(Policy(max_files_rewritten=0.01), a_plan(), reviewed=False)
    assert raised.value.condition == "POLICY_MAX_FILES_REWRITTEN"
    assert raised.value.message == (
        "The policy forbids it (max_files_rewritten): 1 of 40 files would be rewritten, and at most 1% may be."
    )


def test_a_plan_says_what_each_rule_in_force_has_against_it() -> None:
    policy = Policy(typed_above=0.02, max_files_rewritten=0.01, max_rows_deleted=0.5, reviewed_plans=True)
    found = with_verdicts(policy, a_plan()).policy
    assert [(one.rule, one.limit, one.value, one.verdict) for one in found] == [
        ("typed_above", 0.02, 0.025, "asks"),
        ("max_files_rewritten", 0.01, 0.025, "refused"),
        ("max_rows_deleted", 0.5, 0.0, "allowed"),
        ("reviewed_plans", None, None, "asks"),
    ]
    assert "1 of 40 files would be rewritten" in found[1].how
    assert with_verdicts(Policy(), a_plan()).policy == ()


def test_what_is_not_known_is_told_as_not_known() -> None:
    (found,) = with_verdicts(Policy(max_rows_rewritten=0.9), a_plan(num_rows=None)).policy
    assert (found.value, found.verdict) == (None, "refused")


def test_a_plan_file_of_before_the_verdicts_is_read() -> None:
    document = json.loads(a_plan().to_json())
    del document["policy"]
    document["checksum"] = checksum_of(document)
    assert read_plan(json.dumps(document)).policy == ()


PAST, FUTURE = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("undo", "how"),
    [
        (None, "whether its commit can be taken back is not known: plan again"),
        (Undo(possible=None, why="w"), "whether its commit can be taken back is not known: w"),
        (Undo(possible=False, why="w"), "its commit cannot be taken back: w"),
        (Undo(possible=True, why="w"), ""),
        (Undo(possible=True, why="w", until=FUTURE), ""),
        (
            Undo(possible=True, why="w", until=PAST),
            f"that its commit can be taken back was judged until {PAST}: plan again",
        ),
    ],
)
def test_a_commit_must_be_one_that_can_be_taken_back(undo: Undo | None, how: str) -> None:
    plan = a_plan().model_copy(update={"undo": undo})
    found = broken_rules(Policy(require_undo=True), plan, reviewed=False)
    assert [(one.rule, one.how) for one in found] == ([("require_undo", how)] if how else [])


def test_the_name_is_typed_wherever_the_rule_says_so() -> None:
    rule = to_be_typed(Policy(typed_confirmation=True, typed_above=0.9), a_plan())
    assert rule is not None
    assert rule.rule == "typed_confirmation"


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        (Policy(), None),
        (Policy(typed_confirmation=True), "typed_confirmation"),
        (Policy(typed_above=0.07), "typed_above"),  # 3 of 41 files go
        (Policy(typed_above=0.08), None),
    ],
)
def test_the_name_is_typed_before_an_undo_by_the_same_rules(policy: Policy, rule: str | None) -> None:
    found = undo_to_be_typed(policy, an_undo("op1"))
    assert (None if found is None else found.rule) == rule


def test_a_drop_is_above_every_share() -> None:
    found = undo_to_be_typed(Policy(typed_above=0.99), a_dropping_undo("op1"))
    assert found == Broken("typed_above", "every file would be removed: the table's name is to be typed")


def test_a_replace_removes_every_row_unconditionally() -> None:
    rule = Policy(forbid_unconditional_deletes=True, max_rows_deleted=0.5)
    plan = make_create_plan()
    target = plan.target.model_copy(update={"num_rows": 10})
    plan = plan.model_copy(update={"target": target})
    assert [one.how for one in broken_rules(rule, plan, reviewed=True)] == [
        "10 of 10 rows would be deleted, and at most 50% may be",
        "REPLACE removes every row",
    ]
    assert broken_rules(rule, plan.model_copy(update={"files_removed": 0}), reviewed=True) == ()


def test_rules_that_are_kept_raise_nothing() -> None:
    check_policy(Policy(max_files_rewritten=1.0), a_plan(), reviewed=False)


def test_a_verdict_has_its_limit_and_its_value() -> None:
    policy = Policy(typed_above=0.01, max_files_rewritten=0.5, read_only=True, reviewed_plans=True)
    found = {one.rule: one for one in with_verdicts(policy, a_plan()).policy}
    assert {rule: one.verdict for rule, one in found.items()} == {
        "read_only": "refused",
        "typed_above": "asks",
        "max_files_rewritten": "allowed",
        "reviewed_plans": "asks",
    }
    assert (found["max_files_rewritten"].limit, found["max_files_rewritten"].value) == (0.5, 0.025)
    assert (found["typed_above"].value, found["read_only"].limit) == (0.025, None)
    # one share is not known
    (typed,) = with_verdicts(Policy(typed_above=0.5), a_plan(num_rows=None)).policy
    assert typed.value is None


def test_a_policy_without_rules_asks_and_refuses_nothing() -> None:
    assert not any(value for value in vars(Policy()).values())
    assert with_verdicts(Policy(), a_plan()).policy == ()


def test_what_a_typed_confirmation_asks_is_told_as_asked() -> None:
    (verdict,) = with_verdicts(Policy(typed_confirmation=True), a_plan()).policy
    assert (verdict.rule, verdict.verdict) == ("typed_confirmation", "asks")


def test_a_refusal_to_write_names_its_rule() -> None:
    with pytest.raises(RefusedError, match=r"read_only.*nothing may be written|nothing may be written.*read_only"):
        check_writable(Policy(read_only=True))
