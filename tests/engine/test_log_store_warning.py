"""A table on S3 is planned with a warning unless the session names the log store of this program."""

from __future__ import annotations

from typing import Any

from engine.preflight.log_store_warning import CODE, log_store_warnings
from engine.session.stores import LOG_STORE
from engine.spark.confs import confs_set

KEY = "spark.delta.logStore.s3a.impl"


def test_another_log_store_than_ours_is_told_on_s3_alone(spark: Any) -> None:
    for place in ("file:/t", "/t", "abfss://c@a/t", "gs://b/t", "hdfs://h/s3a/t"):
        assert log_store_warnings(spark, place) == ()
    (unknown,) = log_store_warnings(spark, "s3a://b/t")
    assert (unknown.code, "is not named here" in unknown.sentence) == (CODE, True)
    assert "every writer of the table uses it" in unknown.evidence
    with confs_set(spark, {KEY: "io.delta.storage.S3SingleDriverLogStore"}):
        (other,) = log_store_warnings(spark, "s3a://b/t")
        assert "is io.delta.storage.S3SingleDriverLogStore" in other.sentence
    with confs_set(spark, {KEY: LOG_STORE}):
        assert log_store_warnings(spark, "s3a://b/t") == ()
        assert log_store_warnings(spark, "s3://b/t") != ()
