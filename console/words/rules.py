"""The rules of a profile as facts: those that are not as they are by default."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.commit.policy import Policy
    from engine.model.checks import Checks


def rules_set(name: str, rules: Policy | Checks) -> dict[str, str]:
    """``rules`` by ``name.rule``; by ``name`` alone if all of them are the defaults."""
    values = {one.name: (getattr(rules, one.name), one.default) for one in fields(rules)}
    set_ones = {f"{name}.{rule}": _text(value) for rule, (value, default) in values.items() if value != default}
    return set_ones or {name: "as by default"}


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
