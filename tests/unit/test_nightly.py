"""What is left to the night is there: no name of a test, or of where one dies, stays behind when that is renamed."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from tests.crash.dying import APPLYING, PLANNING
from tests.nightly import KEPT

TESTS = Path(__file__).parent.parent


@pytest.mark.parametrize("function", KEPT)
def test_each_function_is_there(function: str) -> None:
    file, _, name = function.partition("::")
    assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("function", "kept"), [(name, kept) for name, kept in KEPT.items() if not isinstance(kept, int)]
)
def test_each_case_that_is_named_is_there(function: str, kept: tuple[str, ...]) -> None:
    file = TESTS / function.partition("::")[0]
    # a fixture of the folder may name them
    text = "".join(one.read_text(encoding="utf-8") for one in (file, file.parent / "conftest.py") if one.exists())
    # a fixture for both kinds of sessions puts the kind before the case
    cases = [case.removeprefix("connect-").removeprefix("classic-") for case in kept]
    assert [case for case in cases if f'"{case}"' not in text] == []


@pytest.mark.parametrize("point", (PLANNING | APPLYING))
def test_each_place_to_die_is_there(point: str) -> None:
    place, _ = (PLANNING | APPLYING)[point]
    module, _, name = place.partition(":")
    assert callable(attrgetter(name)(import_module(module)))
