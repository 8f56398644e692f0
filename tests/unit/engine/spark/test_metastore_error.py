"""A Hive metastore that is away is told in one sentence, whichever statement met it first."""

from __future__ import annotations

import pytest

from engine.spark.metastore_error import METASTORE_UNREACHABLE
from engine.spark.spark_errors import refused_while_planning

AWAY = (
    "org.apache.spark.sql.AnalysisException: org.apache.hadoop.hive.ql.metadata.HiveException: java.lang."
    "RuntimeException: Unable to instantiate org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient"
)
BROKEN_OFF = (
    "org.apache.spark.sql.AnalysisException: org.apache.hadoop.hive.ql.metadata.HiveException: "
    "org.apache.thrift.transport.TTransportException: Socket is closed by peer."
)
LEGACY = f"[_LEGACY_ERROR_TEMP_3065] {AWAY}"


@pytest.mark.parametrize("text", [AWAY, BROKEN_OFF, LEGACY])
def test_a_metastore_that_is_away_is_one_sentence(text: str) -> None:
    error = refused_while_planning(text, "SELECT 1")
    assert (error.condition, error.message) == (
        METASTORE_UNREACHABLE,
        "The Hive metastore does not answer, or cannot be opened.",
    )
    assert "hive.metastore.uris" in error.hint


def test_what_a_table_is_called_is_no_metastore() -> None:
    text = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `Could not connect to meta store` cannot be found."
    assert refused_while_planning(text, "SELECT 1").condition == "TABLE_OR_VIEW_NOT_FOUND"
