"""The files of a version are read out of the log as Delta reads them, whatever form its checkpoint has."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from engine import apply, plan
from engine.explore.find_key import find_key
from engine.model.errors import EngineError
from engine.spark.confs import confs_set
from engine.sql.names import string
from engine.table import delta_log
from engine.table.commits import current_version
from engine.table.delta_log import list_files, listed_log
from engine.table.logged_schema import logged_metadata
from tests.engine.some import some


@pytest.mark.parametrize("folder", ["pé q%41+", "日本\u3000e\u0301[x]"])
def test_a_file_is_known_by_the_path_that_spark_reads_it_by(spark: Any, tmp_path: Path, folder: str) -> None:
    table = f"delta.`{tmp_path / folder}`"
    spark.sql(f"CREATE TABLE {table} USING delta PARTITIONED BY (p) AS SELECT 1 AS id, 'ü %é' AS p")
    location = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    read = {row[0] for row in spark.sql(f"SELECT xxhash64(_metadata.file_path) FROM {table}").collect()}
    assert {file.file_hash for file in list_files(spark, location, 0)} == read


@pytest.mark.parametrize("value", ["ü %é", "日\u3000本 😀+", "a=b:c#?[x]~'q'", "plain"])
def test_a_file_is_known_however_its_writer_encodes_its_path(spark: Any, tmp_path: Path, value: str) -> None:
    table = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {table} USING delta PARTITIONED BY (p) AS SELECT 1 AS id, {string(value)} AS p")
    log = tmp_path / "t" / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for one in actions:
        if "add" in one:
            one["add"]["path"] = quote(unquote(one["add"]["path"]), safe="/").replace("%C3", "%c3")
    log.write_text("".join(f"{json.dumps(one)}\n" for one in actions))
    log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    spark.sql(f"REFRESH TABLE {table}")
    read = {row[0] for row in spark.sql(f"SELECT xxhash64(_metadata.file_path) FROM {table}").collect()}
    assert {file.file_hash for file in list_files(spark, f"file:{tmp_path}/t", 0)} == read


def test_a_plan_over_files_that_the_log_names_otherwise_is_an_error_and_no_promise(
    spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_log, "encoded", lambda path: f"{path}-elsewhere")
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id, 'a' AS v")
    with pytest.raises(EngineError) as raised:
        plan(spark, "MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert raised.value.condition == "FILES_NOT_UNDERSTOOD"


def test_a_process_that_takes_up_a_session_lists_the_log_anew(session: Any, schema: str, spark_home: Path) -> None:
    """Spark Connect knows what is asked for by its number, and each process begins at 0."""
    with session.new_session() as left:
        left.spark.sql(f"CREATE TABLE {schema}.taken_up (id INT) USING delta")
        location = left.spark.sql(f"DESCRIBE DETAIL {schema}.taken_up").collect()[0]["location"]
        found = []
        for version in (1, 2):
            left.spark.sql(f"INSERT INTO {schema}.taken_up VALUES ({version})")
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                place = (spark_home, left.session_id, left.user_id)
                found.append(pool.submit(_files_in_session, *place, location, version).result())
    assert found == [1, 2]


def _files_in_session(home: Path, session_id: str, user_id: str, location: str, version: int) -> int:
    from engine.session.connect import connect
    from tests.conftest import SERVER_CONFS

    with connect("local[2]", home=home, confs=SERVER_CONFS) as session:
        taken_up = session.attach(session_id, user_id)
        assert taken_up is not None
        try:
            return len(list_files(taken_up.spark, location, version))
        finally:
            taken_up.close(keep=True)


FORMS = {
    "one Parquet file": "",
    "statistics as a struct alone": "'delta.checkpoint.writeStatsAsJson' = 'false', "
    "'delta.checkpoint.writeStatsAsStruct' = 'true'",
    "with sidecars": "'delta.checkpointPolicy' = 'v2'",
    "deletion vectors": "'delta.enableDeletionVectors' = 'true'",
}


@pytest.mark.parametrize("form", some(FORMS, ["one Parquet file", "with sidecars"]))
def test_a_checkpoint_and_the_commits_after_it_make_up_the_files(spark: Any, schema: str, form: str) -> None:
    properties = ", ".join(filter(None, ("'delta.checkpointInterval' = '3'", FORMS[form])))
    columns = "(id BIGINT, part STRING)"
    spark.sql(f"CREATE TABLE t {columns} USING delta PARTITIONED BY (part) TBLPROPERTIES ({properties})")
    for low in (0, 10, 20, 30):
        spark.sql(f"INSERT INTO t SELECT /*+ REPARTITION(1) */ id, 'a b' FROM range({low}, {low + 10})")
    spark.sql("DELETE FROM t WHERE id IN (3, 25)")
    location, version = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"], current_version(spark, f"{schema}.t")
    with listed_log(spark, location) as log:
        segment = log.segment(version)
    assert segment.checkpoint_files, "there is one to be read"
    assert segment.commits, "and commits after it"

    rows = spark.sql("SELECT _metadata.file_path AS path, count(*) AS n FROM t GROUP BY 1").collect()
    files = list_files(spark, location, version, with_stats=True)
    assert {Path(unquote(file.path)).name: file.rows for file in files} == {Path(row.path).name: row.n for row in rows}
    assert all('"minValues"' in (file.stats or "") for file in files)
    assert {file.partition["part"] for file in files} == {"a b"}
    assert any(file.deleted_rows for file in files) == (form == "deletion vectors")
    left = [row.viewName for row in spark.sql("SHOW VIEWS").collect()]
    assert not [name for name in left if name.startswith("__dm_checkpoint")]


def test_a_session_that_enforces_reserved_words_reads_the_log_too(spark: Any, schema: str) -> None:
    vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    spark.sql(f"CREATE TABLE t USING delta {vectors} AS SELECT id FROM range(9)")
    spark.sql("DELETE FROM t WHERE id = 3")
    spark.sql("CREATE TABLE s USING delta AS SELECT id FROM range(5, 12)")
    merge = "MERGE INTO t AS t USING s AS s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    with confs_set(spark, {"spark.sql.ansi.enforceReservedKeywords": "true"}):
        looked = plan(spark, merge, changes=True)
        assert (looked.promise["numTargetRowsDeleted"], looked.promise["numTargetRowsInserted"]) == (4, 3)
        assert find_key(spark, looked, "5").rows
        assert apply(spark, looked).kept


def written(spark: Any, schema: str, properties: str = "") -> str:
    """The folder of a table of five versions."""
    spark.sql(f"CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'false'{properties})")
    for low in (0, 10, 20, 30):
        spark.sql(f"INSERT INTO t SELECT /*+ REPARTITION(1) */ id FROM range({low}, {low + 10})")
    return str(spark.sql("DESCRIBE DETAIL t").collect()[0]["location"])


def log_folder(location: str) -> Path:
    return Path(unquote(location).removeprefix("file:")) / "_delta_log"


@pytest.mark.parametrize("name", ["{:020}.checkpoint.parquet", "{:020}.checkpoint.{:010}.{:010}.parquet"])
@pytest.mark.parametrize("with_stats", [False, True], ids=["opened", "stamped"])
def test_a_checkpoint_without_a_byte_is_none(spark: Any, schema: str, name: str, with_stats: bool) -> None:
    location = written(spark, schema, ", 'delta.checkpointInterval' = '2'")
    files, metadata = list_files(spark, location, 4, with_stats=with_stats), logged_metadata(spark, location, 4)
    assert len(files) == 4
    for part in (1, 2):
        (log_folder(location) / name.format(3, part, 2)).touch()
    assert list_files(spark, location, 3, with_stats=with_stats) != files
    assert list_files(spark, location, 4, with_stats=with_stats) == files
    (log_folder(location) / f"{4:020}.checkpoint.parquet").write_bytes(b"")
    log_folder(location).joinpath(f".{4:020}.checkpoint.parquet.crc").unlink(missing_ok=True)
    assert list_files(spark, location, 4, with_stats=with_stats) == files
    assert logged_metadata(spark, location, 4) == metadata


@pytest.mark.parametrize("form", ["one Parquet file", "with sidecars"])
def test_a_checkpoint_holds_the_metadata_of_the_commits_before_it(spark: Any, schema: str, form: str) -> None:
    properties = ", ".join(filter(None, ("'delta.checkpointInterval' = '2'", FORMS[form])))
    location = written(spark, schema, f", {properties}")
    metadata = logged_metadata(spark, location, 4)
    assert metadata.configuration["delta.checkpointInterval"] == "2"
    for version in range(3):
        (log_folder(location) / f"{version:020}.json").unlink()
    assert logged_metadata(spark, location, 4) == metadata
    assert len(list_files(spark, location, 4)) == 4


def test_a_session_that_ignores_files_is_told_of_a_checkpoint_that_cannot_be_read(spark: Any, schema: str) -> None:
    location = written(spark, schema, ", 'delta.checkpointInterval' = '2'")
    checkpoint = log_folder(location) / f"{4:020}.checkpoint.parquet"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-9])
    log_folder(location).joinpath(f".{checkpoint.name}.crc").unlink(missing_ok=True)
    with confs_set(spark, {"spark.sql.files.ignoreCorruptFiles": "true"}), pytest.raises(EngineError):
        list_files(spark, location, 4)


def test_a_session_that_ignores_files_is_told_of_a_commit_that_is_cleaned_meanwhile(spark: Any, schema: str) -> None:
    location = written(spark, schema)
    with confs_set(spark, {"spark.sql.files.ignoreMissingFiles": "true"}), listed_log(spark, location) as log:
        (log_folder(location) / f"{1:020}.json").unlink()
        with pytest.raises(Exception, match=r"FILE_NOT_EXIST|does not exist"):
            spark.sql(f"SELECT count(value) FROM {log.view}").collect()


def test_an_action_that_is_written_with_blanks_is_read(spark: Any, schema: str) -> None:
    location = written(spark, schema)
    spark.sql("DELETE FROM t WHERE id < 10")
    metadata = logged_metadata(spark, location, 5)
    for log in log_folder(location).glob("*.json"):
        lines = [line.replace('{"', '{ "', 1) for line in log.read_text().splitlines()]
        log.write_text("".join(f" {line}\n" for line in lines))
        log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    assert len(list_files(spark, location, 5)) == 3
    assert logged_metadata(spark, location, 5) == metadata
