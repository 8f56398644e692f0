"""What Spark would read, and that no session outlives the question."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from engine.session.connect import Session
from engine.spark.input_files import files_of_query
from tests.conftest import TEST_CONFS


def test_the_files_of_a_query(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t USING parquet AS SELECT * FROM range(0, 4, 1, 2)")
    assert len(files_of_query(spark, "SELECT * FROM t")) == 2


def test_a_session_that_was_asked_is_let_go(session: Session) -> None:
    with session.new_session(TEST_CONFS) as asked:
        files_of_query(asked.spark, "SELECT * FROM range(3)")
        kept = weakref.ref(asked.spark)
    del asked
    gc.collect()
    assert kept() is None
