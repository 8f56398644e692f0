"""Which files of a log make up a version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from engine.model.errors import EngineError
from engine.table import delta_log
from engine.table.delta_log import (
    STRICT,
    STRICTLY,
    EmptyCheckpointError,
    ListedLog,
    LogSegment,
    is_action,
    list_files,
    listed_log,
    logged_transactions,
)
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


def test_without_the_files_of_a_checkpoint_that_are_empty_an_older_one_makes_up_the_version() -> None:
    empty = {f"{3:020}.checkpoint.parquet", parts((2, 2))[0]}
    log = ListedLog("/t", (*names(range(5)), *empty, parts((1, 2))[0], f"{1:020}.checkpoint.parquet"), "v")

    def read(segment: LogSegment) -> LogSegment:
        if found := empty.intersection(segment.checkpoint_files):
            raise EmptyCheckpointError(found)
        return segment

    segment = log.read(4, read)
    assert segment.checkpoint_files == (f"{1:020}.checkpoint.parquet",)
    assert segment.commits == names((2, 3, 4))


class Log:
    """A session that lists the files ``names`` of a log, and finds no action there. ``empty`` have no byte."""

    def __init__(self, *names: str, empty: Sequence[str] = ()) -> None:
        self.names = names
        self.empty = empty
        self.asked: list[str] = []
        self.read_with: dict[str, str] = {}
        self.loaded = ""

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

    format = where = createTempView = schema

    def load(self, path: str) -> Log:
        self.loaded = path
        return self

    def selectExpr(self, *_: str) -> Log:
        return self

    def inputFiles(self) -> list[str]:
        return [f"file:/t/_delta_log/{name}" for name in self.names]

    def collect(self) -> list[Any]:
        if not self.asked:
            return []
        if "binaryFile" in self.asked[-1]:
            filled = set(self.names).difference(self.empty)
            return [{"name": name, "length": 9, "modified": 9} for name in filled]
        return [[None]] if "max_by" in self.asked[-1] else []

    def toArrow(self) -> pa.Table:
        return pa.table({name: [] for name in (*LogFile._fields, "commit_file", "removed", "sidecar")})


def test_the_log_is_listed_whatever_the_session_ignores() -> None:
    spark: Any = Log(*names(range(2)))
    with listed_log(spark, "/t") as log:
        assert log.names == names(range(2))
    assert spark.read_with.items() >= STRICT.items()


def test_no_two_listings_are_one_question() -> None:
    asked = []
    for _ in range(2):
        spark: Any = Log(*names(range(2)))
        with listed_log(spark, "/t"):
            asked.append(spark.read_with)
    assert asked[0] != asked[1]


def test_transactions_are_read_whatever_the_session_ignores() -> None:
    spark: Any = Log(*names(range(5)))
    assert logged_transactions(spark, "/t", (3, 4)) == {}
    assert spark.read_with.items() >= STRICT.items()
    assert spark.loaded == f"/t/_delta_log/{{{names((3,))[0]},{names((4,))[0]}}}"


@pytest.mark.parametrize("checkpoint", ["parquet", f"{'0' * 8}-0000-0000-0000-{'0' * 12}.json"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda spark: list_files(spark, "/t", 4),
        lambda spark: logged_clustering(spark, "/t", 4),
    ],
)
def test_the_log_is_read_whatever_the_session_ignores(ask: Callable[[Any], Any], checkpoint: str) -> None:
    spark = Log(*names(range(5)), f"{2:020}.checkpoint.{checkpoint}")
    assert not ask(spark)
    opened = [text for text in spark.asked if "text.`" in text or "USING parquet" in text]
    assert opened, "it opens a file by its path"
    assert all(STRICTLY in text for text in opened)


WHOLE = f"{2:020}.checkpoint.parquet"


@pytest.mark.parametrize(
    ("there", "empty"),
    [
        ((WHOLE,), (WHOLE,)),
        (parts((1, 2), (2, 2)), parts((2, 2))),
        (parts((1, 2), (2, 2)), parts((1, 2), (2, 2))),
        ((*parts((1, 2), (2, 2)), WHOLE), (WHOLE, *parts((1, 2)))),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda spark: list_files(spark, "/t", 4),
        lambda spark: list_files(spark, "/t", 4, with_stats=True),
        lambda spark: logged_clustering(spark, "/t", 4),
    ],
)
def test_a_checkpoint_without_a_byte_is_none(
    ask: Callable[[Any], Any], there: tuple[str, ...], empty: tuple[str, ...]
) -> None:
    older = f"{1:020}.checkpoint.parquet"
    spark = Log(*names(range(5)), older, *there, empty=empty)
    ask(spark)
    newest = [text for text in spark.asked if "USING parquet" in text][-1]
    assert older in newest
    assert any(f"BETWEEN '{names((2,))[0]}'" in text for text in spark.asked), "the commits since that one"


def test_the_length_of_a_checkpoint_that_gave_rows_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    spark: Any = Log(*names(range(5)), f"{3:020}.checkpoint.parquet")
    file = LogFile("f", 1, {}, 1, 0, "", 0)
    monkeypatch.setattr(delta_log, "_parquet_files", lambda *_: ([file], []))
    assert list_files(spark, "/t", 4) == (file,)
    assert not any("binaryFile" in text for text in spark.asked)


def test_a_commit_without_a_byte_is_one_without_actions() -> None:
    spark: Any = Log(*names(range(2)), empty=names((1,)))
    assert list_files(spark, "/t", 1, with_stats=True) == ()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"remove":{"path":"a"}}', True),
        ('  { "remove" : { "path" : "a" } }', True),
        ('{"add":{"path":"{\\"remove\\""}}', False),
        ('{"removed":{}}', False),
        ("", False),
    ],
)
def test_an_action_is_known_however_its_writer_sets_blanks(line: str, found: bool) -> None:
    asked = duckdb.execute(f"SELECT {is_action('remove')} FROM (SELECT $line AS value)", {"line": line})
    assert asked.fetchone() == (found,)
