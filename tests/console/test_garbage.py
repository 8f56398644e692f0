"""Full collections of garbage do not hold the screen where there are many values."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from console import app, garbage
from console.app import DeltaMergeApp
from tests.console.drive import console
from tests.console.fake_backend import FakeBackend


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


@pytest.fixture
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("threshold")
def test_full_ones_are_left_until_nobody_waits() -> None:
    garbage.by_hand()
    gc.collect()
    full = gc.get_stats()[2]["collections"]

    kept: list[list[int]] = []
    while gc.get_count()[2] <= garbage.DUE:
        kept.append([1])
    assert gc.get_stats()[2]["collections"] == full

    garbage.collect_if_due()
    assert gc.get_stats()[2]["collections"] == full + 1
    garbage.collect_if_due()
    assert gc.get_stats()[2]["collections"] == full + 1


@pytest.mark.usefixtures("threshold")
async def test_none_is_made_by_the_console_just_after_a_key(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    rests: list[int] = []
    rest = DeltaMergeApp._collect_garbage

    def counted(self: DeltaMergeApp) -> None:
        rest(self)
        rests.append(len(made))

    monkeypatch.setattr(garbage, "collect_if_due", lambda: made.append("a full one"))
    monkeypatch.setattr(DeltaMergeApp, "_collect_garbage", counted)
    monkeypatch.setattr(app, "REST_SECONDS", 0.05)
    async with console(backend) as operator:
        await operator.until(lambda: bool(made))
        monkeypatch.setattr(app, "REST_SECONDS", 3600)
        await operator.press("down")
        made.clear()
        rests.clear()
        await operator.until(lambda: len(rests) >= 3)
        assert not made
