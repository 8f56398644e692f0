"""Which files of a log make up a version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from engine.model.errors import EngineError
from engine.table.delta_log import STRICT, STRICTLY, ListedLog, list_files, logged_transactions
from engine.table.log_file import LogFile
from engine.table.logged_schema import logged_clustering


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


class Log:
    """A session that lists the files ``names`` of a log, and finds no action there."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked: list[str] = []
        self.read_with: dict[str, str] = {}

    @property
    def read(self) -> Log:
        return self

    def sql(self, text: str) -> Log:
        self.asked.append(text)
        return self

    def options(self, **options: str) -> Log:
        self.read_with = options
        return self

    def schema(self, _: str) -> Log:
        return self

    format = load = createTempView = schema

    def selectExpr(self, *_: str) -> Log:
        return self

    def inputFiles(self) -> list[str]:
        return [f"file:/t/_delta_log/{name}" for name in self.names]

    def collect(self) -> list[list[None]]:
        return [[None]] if "max_by" in self.asked[-1] else []

    def toArrow(self) -> pa.Table:
        return pa.table({name: [] for name in (*LogFile._fields, "commit_file", "removed", "sidecar")})


@pytest.mark.parametrize("checkpoint", ["parquet", f"{'0' * 8}-0000-0000-0000-{'0' * 12}.json"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda spark: list_files(spark, "/t", 4),
        lambda spark: logged_clustering(spark, "/t", 4),
        lambda spark: logged_transactions(spark, "/t", (3, 4)),
    ],
)
def test_the_log_is_read_whatever_the_session_ignores(ask: Callable[[Any], Any], checkpoint: str) -> None:
    spark = Log(*names(range(5)), f"{2:020}.checkpoint.{checkpoint}")
    assert not ask(spark)
    opened = [text for text in spark.asked if "text.`" in text or "parquet" in text]
    assert opened, "it opens a file by its path"
    assert all(STRICTLY in text for text in opened)
    assert spark.read_with == STRICT or (not spark.read_with and "txn" in opened[0])
