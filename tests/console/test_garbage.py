"""Full collections of garbage do not hold the screen where there are many values."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from console import garbage


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_many_values_that_stay_are_not_looked_at_again() -> None:
    values = [[number] for number in range(garbage.MANY)]
    before = len(gc.get_objects())
    garbage.stays(len(values))
    assert gc.get_freeze_count() >= garbage.MANY
    assert len(gc.get_objects()) <= before - garbage.MANY


def test_a_few_values_are_left_to_the_collector() -> None:
    garbage.stays(garbage.MANY - 1)
    assert gc.get_freeze_count() == 0


def test_it_is_put_off_while_they_are_made_and_goes_on_after_an_error() -> None:
    def refused() -> None:
        assert not gc.isenabled()
        raise ValueError("no list")

    with pytest.raises(ValueError, match="no list"):
        garbage.put_off()(refused)()
    assert gc.isenabled()
