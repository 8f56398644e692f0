"""What was listed before is read again only where the log is the same: never a stale list of files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine.merge.prepare_delta_scan import input_files, input_names
from engine.table import log_cache
from engine.table.delta_log import list_files, listed_log, log_state
from engine.table.log_cache import LogState, Stamp
from engine.table.log_file import LogFile

WRITES = (
    "INSERT INTO t SELECT /*+ REPARTITION(1) */ id FROM range(10)",
    "INSERT INTO t SELECT /*+ REPARTITION(1) */ id FROM range(10, 20)",
    "DELETE FROM t WHERE id IN (3, 15)",  # a vector for each file, and a checkpoint
    "DELETE FROM t WHERE id IN (4, 16)",  # other vectors of the same files
    "RESTORE TABLE t TO VERSION AS OF 2",
    "CREATE OR REPLACE TABLE t USING delta AS SELECT 1L AS id",
)


@pytest.fixture(autouse=True)
def _nothing_listed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(log_cache, "LARGE", 1)
    monkeypatch.setattr(log_cache, "_large", set())
    log_cache.forget()
    yield
    log_cache.forget()


def listed(spark: Any, location: str, version: int) -> tuple[LogFile, ...]:
    files = list_files(spark, location, version, with_stats=True)
    read = input_files(spark, f"SELECT * FROM t VERSION AS OF {version}", {})
    assert set(input_names(files, location)) == read
    return files


def test_every_version_is_listed_as_if_it_were_the_first_to_be(spark: Any, schema: str) -> None:
    properties = "'delta.checkpointInterval' = '3', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ({properties})")
    location = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    after = {}
    for version, write in enumerate(WRITES, 1):
        spark.sql(write).collect()
        after[version] = listed(spark, location, version)
        # in between one of the past
        after[version // 2] = list_files(spark, location, version // 2, with_stats=True)
    assert {file.deleted_rows for file in after[4]} == {2}
    for version, files in after.items():
        log_cache.forget()
        assert list_files(spark, location, version, with_stats=True) == files


def test_what_is_known_of_a_log_is_its_longest_beginning(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id BIGINT) USING delta")
    for at in range(2):
        spark.sql(f"INSERT INTO t VALUES ({at})")
    location = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    assert listed(spark, location, 1) == (first := listed(spark, location, 1))
    with listed_log(spark, location) as log:
        state = log_state(spark, log.segment(2), True)
    assert log_cache.find(state) == (first, 2)
    assert listed(spark, location, 2) != first
    assert log_cache.find(state) == (listed(spark, location, 2), 3)


def test_a_small_table_with_a_long_log_is_kept(spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_cache, "LARGE", 100)
    monkeypatch.setattr(log_cache, "MANY_COMMITS", 3)
    spark.sql("CREATE TABLE t (id BIGINT) USING delta")
    location = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    for at in range(3):
        spark.sql(f"INSERT INTO t VALUES ({at})")
        files = list_files(spark, location, at + 1)
    with listed_log(spark, location) as log:
        segments = [log.segment(version) for version in (1, 3)]
        short, long = (log_state(spark, segment, False) for segment in segments)
    assert log_cache.find(short) == ((), -1)
    assert log_cache.find(long) == (files, 4)


def test_of_a_small_table_nothing_is_kept(spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id")
    location = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    with listed_log(spark, location) as log:
        state = log_state(spark, log.segment(0), True)
    monkeypatch.setattr(log_cache, "LARGE", 2)
    for _ in range(2):
        listed(spark, location, 0)
        assert log_cache.find(state) == ((), -1)


def test_a_table_made_again_in_its_place_is_another(spark: Any, schema: str) -> None:
    seen = []
    for _ in range(2):
        spark.sql("CREATE TABLE t (id BIGINT) USING delta")
        spark.sql("INSERT INTO t VALUES (1)")
        location = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"]
        seen.append((location, {file.path for file in listed(spark, location, 1)}))
        spark.sql("DROP TABLE t")
    (there, before), (here, now) = seen
    assert (there, len(before), len(now)) == (here, 1, 1)
    assert before != now


ELEVENTH = Stamp("11.json", 70, 6)
A = LogState("/t/_delta_log", True, (Stamp("10.checkpoint.parquet", 900, 5),), ("11.json",), frozenset((ELEVENTH,)))
FILES = (LogFile("f", 1, {}, 1, 0, "", 0),)


@pytest.mark.parametrize(
    "other",
    [
        replace(A, directory="/u/_delta_log"),
        replace(A, with_stats=False),
        replace(A, checkpoint=()),
        replace(A, checkpoint=(Stamp("10.checkpoint.parquet", 901, 5),)),
        replace(A, ends=frozenset((Stamp("11.json", 70, 7),))),
        replace(A, commits=(), ends=frozenset()),
    ],
)
def test_a_log_of_which_any_file_differs_is_not_known(other: LogState) -> None:
    log_cache.keep(A.directory, A, FILES)
    assert log_cache.find(other) == ((), -1)
    assert log_cache.find(A) == (FILES, 1)


def test_a_later_version_is_known_up_to_where_the_list_ends_if_that_commit_is_the_same() -> None:
    log_cache.keep(A.directory, A, FILES)
    assert log_cache.ends_in(A.directory, ("11.json", "12.json", "13.json")) == {"11.json", "13.json"}
    later = replace(A, commits=("11.json", "12.json"), ends=frozenset((ELEVENTH, Stamp("12.json", 70, 9))))
    assert log_cache.find(later) == (FILES, 1)
    assert log_cache.find(replace(later, ends=later.ends - {ELEVENTH})) == ((), -1)
    assert log_cache.find(replace(later, commits=("10.json", "12.json"))) == ((), -1)


def test_the_list_that_was_asked_for_longest_ago_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_cache, "MOST_BYTES", 2 * log_cache.FILE_BYTES)
    one, two, three = (LogState(f"/{name}", False, (), (), frozenset()) for name in "abc")
    log_cache.keep(one.directory, one, FILES)
    log_cache.keep(two.directory, two, FILES)
    log_cache.find(one)
    log_cache.keep(three.directory, three, FILES)
    assert [log_cache.find(state) for state in (one, two, three)] == [(FILES, 0), ((), -1), (FILES, 0)]


def test_a_table_too_large_to_keep_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_cache, "MOST_BYTES", log_cache.FILE_BYTES)
    log_cache.keep(A.directory, A, (FILES[0]._replace(stats="{}"),))
    assert log_cache.find(A) == ((), -1)
