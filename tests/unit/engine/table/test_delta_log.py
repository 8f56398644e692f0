"""Which files of a log make up a version."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.model.errors import EngineError
from engine.table.delta_log import ListedLog


def names(versions: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{version:020}.json" for version in versions)


def test_a_version_is_the_newest_checkpoint_and_the_commits_since() -> None:
    log = ListedLog("/t", (*names(range(5)), f"{2:020}.checkpoint.parquet"), "v")
    segment = log.segment(4)
    assert segment.checkpoint_files == (f"{2:020}.checkpoint.parquet",)
    assert segment.commits == names((3, 4))


@pytest.mark.parametrize(
    ("there", "hint"),
    [((2, 3, 4), "the log was cleaned"), ((0, 1, 2), "keeps the newest ones elsewhere"), ((), "elsewhere")],
)
def test_a_log_that_was_cleaned_is_told_from_one_whose_newest_commits_are_elsewhere(
    there: tuple[int, ...], hint: str
) -> None:
    with pytest.raises(EngineError) as refused:
        ListedLog("/t", names(there), "v").segment(4)
    assert hint in refused.value.hint


def test_of_a_log_that_begins_with_a_later_checkpoint_the_version_was_cleaned() -> None:
    with pytest.raises(EngineError) as refused:
        ListedLog("/t", (f"{7:020}.checkpoint.parquet",), "v").segment(4)
    assert "was cleaned" in refused.value.hint


def parts(*which: tuple[int, int]) -> tuple[str, ...]:
    return tuple(f"{2:020}.checkpoint.{part:010}.{count:010}.parquet" for part, count in which)


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (parts((1, 2), (2, 2)), parts((1, 2), (2, 2))),
        (parts((1, 2)), ()),
        # two writers, each with its own number of parts
        (parts((1, 2), (1, 3)), ()),
        (parts((1, 2), (1, 3), (2, 2)), parts((1, 2), (2, 2))),
        (parts((1, 2), (1, 3), (2, 3), (3, 3)), parts((1, 3), (2, 3), (3, 3))),
        ((*parts((1, 2)), f"{2:020}.checkpoint.parquet"), (f"{2:020}.checkpoint.parquet",)),
    ],
)
def test_a_checkpoint_is_complete_with_all_parts_of_one_number_of_parts(
    there: tuple[str, ...], taken: tuple[str, ...]
) -> None:
    segment = ListedLog("/t", tuple(sorted((*names(range(4)), *there))), "v").segment(3)
    assert segment.checkpoint_files == taken
    assert segment.commits == names(range(3 if taken else 0, 4))
