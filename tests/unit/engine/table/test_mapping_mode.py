"""DeltaColumnMapping.allowMappingModeChange."""

from __future__ import annotations

import pytest

from engine.table.mapping_mode import MODE, REMOVAL, why_no_change


@pytest.mark.parametrize(
    ("old", "new", "is_allowed"),
    [
        (None, None, True),
        (None, "none", True),
        ("name", "NAME", True),
        (None, "name", True),
        ("name", None, True),
        ("id", "none", True),
        (None, "id", False),
        ("name", "id", False),
        ("id", "name", False),
    ],
)
def test_a_commit_may_turn_names_on_and_all_off(old: str | None, new: str | None, is_allowed: bool) -> None:
    before, after = ({} if mode is None else {MODE: mode} for mode in (old, new))
    assert (not why_no_change(before, after, removal=True)) is is_allowed


def test_a_session_may_forbid_to_turn_it_off() -> None:
    assert REMOVAL in why_no_change({MODE: "name"}, {}, removal=False)
    assert not why_no_change({MODE: "name"}, {MODE: "name"}, removal=False)
