"""What the backend remembers in the ledger, for the next launch and for as long as Spark is not up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from console.spark_backend import SparkBackend
from engine.values import TableRef
from tests.conftest import TEST_CONFS


def test_tables_are_remembered_by_endpoint(tmp_path: Path) -> None:
    orders = TableRef(name="sales.orders", schema_name="sales", table="orders", is_delta=True)
    SparkBackend("local[*]", tmp_path).remember_tables([orders])
    assert SparkBackend("local[*]", tmp_path).remembered_tables() == [orders]
    assert SparkBackend("sc://host:15002/;token=secret", tmp_path).remembered_tables() == []


def test_the_versions_that_were_looked_at_are_remembered(spark: Any, schema: str, spark_home: Path) -> None:
    spark.sql("CREATE TABLE t (x INT) USING delta")
    spark.sql("INSERT INTO t VALUES (1)")
    backend = SparkBackend("local[2]", spark_home, TEST_CONFS)
    assert backend.remembered_versions(f"{schema}.t") == []
    backend.connect(lambda _: None)
    try:
        seen = backend.table_versions(f"{schema}.t")
    finally:
        backend.close()
    assert [version.version for version in seen] == [1, 0]
    assert SparkBackend("local[2]", spark_home).remembered_versions(f"{schema}.t") == seen
