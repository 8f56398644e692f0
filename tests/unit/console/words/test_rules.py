"""What a profile sets is told by the names that it has in the settings."""

from __future__ import annotations

from console.words.rules import rules_set
from engine.commit.policy import Policy
from engine.model.checks import Checks


def test_what_is_set_is_told_and_defaults_are_not() -> None:
    policy = Policy(read_only=True, max_rows_deleted=0.1)
    assert rules_set("policy", policy) == {"policy.read_only": "true", "policy.max_rows_deleted": "0.1"}
    checks = Checks(off=("SOURCE_EMPTY", "SOURCE_SHRANK"), version_column="seq")
    assert rules_set("checks", checks) == {"checks.off": "SOURCE_EMPTY, SOURCE_SHRANK", "checks.version_column": "seq"}


def test_where_nothing_is_set_that_is_said() -> None:
    assert rules_set("policy", Policy()) == {"policy": "as by default"}
