"""A plan resolves its target once, at the version that was analyzed, and leaves nothing of that in the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engine.merge.pinned_target import KEEPS_PLAN, PREFIX, path_column, pin, pinned_target
from engine.model.errors import EngineError
from engine.plan_merge import plan
from engine.spark.confs import read_confs
from tests.engine.some import some

UPSERT = (
    "MERGE INTO pinned t USING (SELECT id + 3 AS id, 'new' AS v FROM range(4)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET t.v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
)
# DESCRIBE DETAIL, EXPLAIN of the MERGE and of three readings of it, the view, EXPLAIN of the MERGE that runs
NAME_THE_TARGET = 7
STATEMENTS = 27


@contextmanager
def statements(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Those that the body sends, from any thread."""
    texts: list[str] = []
    sql = type(spark).sql

    def send(self: Any, text: str, *args: Any, **kwargs: Any) -> Any:
        texts.append(text)
        return sql(self, text, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(type(spark), "sql", send)
        yield texts


def left(spark: Any) -> list[str]:
    names = [str(row["viewName"]) for row in spark.sql("SHOW VIEWS").collect()]
    return [name for name in names if name.startswith((PREFIX, "__dm_"))]


def test_a_plan_asks_for_its_target_once_and_for_its_log_once(
    spark: Any, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("CREATE TABLE pinned USING delta AS SELECT /*+ REPARTITION_BY_RANGE(3, id) */ id, 'a' AS v FROM range(9)")
    with statements(spark, monkeypatch) as texts:
        found = plan(spark, UPSERT)
    assert found.promise["numTargetRowsUpdated"] == 4
    assert [text for text in texts if "VERSION AS OF" in text] == [
        text for text in texts if text.startswith(f"CREATE TEMPORARY VIEW {PREFIX}")
    ]
    # each of these costs an object store three requests or more
    assert len([text for text in texts if "pinned" in text and "from_json" not in text]) <= NAME_THE_TARGET
    assert not [text for text in texts if "text.`" in text or "binaryFile.`" in text]
    assert len(texts) <= STATEMENTS
    assert left(spark) == []
    assert not read_confs(spark, (KEEPS_PLAN,))

    def stop(_: Any) -> None:
        raise RuntimeError("stopped")

    with pytest.raises(EngineError):
        plan(spark, UPSERT, on_progress=stop)
    with pytest.raises(EngineError):
        plan(spark, UPSERT.replace("s.v)", "s.w)"))
    assert left(spark) == []


@pytest.mark.parametrize("kind", some(("spark", "classic"), ("spark",)))
def test_what_is_pinned_stays_as_it_was(request: pytest.FixtureRequest, kind: str) -> None:
    request.getfixturevalue("schema" if kind == "spark" else "classic_schema")
    session = request.getfixturevalue(kind)
    session.sql("CREATE TABLE pinned (id BIGINT, c CHAR(3)) USING delta")
    session.sql("INSERT INTO pinned VALUES (1, 'a')")
    path = session.sql("SELECT _metadata.file_path FROM pinned").collect()[0][0]
    with pinned_target(session) as view:
        assert pin(session, "pinned VERSION AS OF 1", view)
        session.sql("INSERT INTO pinned VALUES (2, 'b')")
        assert [tuple(row) for row in session.sql(f"SELECT * FROM {view}").collect()] == [(1, "a  ", path)]
        assert session.sql(f"SELECT count(*) FROM {view} WHERE c = 'a'").collect()[0][0] == 1
        # it is not resolved again
        session.sql("DROP TABLE pinned")
        fields = session.sql(f"SELECT * FROM {view}").schema.fields
        assert [field.name for field in fields] == ["id", "c", path_column(view)]
        assert fields[1].metadata.get("__CHAR_VARCHAR_TYPE_STRING") == "char(3)"
    assert left(session) == []


@pytest.mark.parametrize("type_", ["STRUCT<file_path: STRING>", "STRING"])
def test_a_column_may_be_called_as_sparks_own(spark: Any, schema: str, type_: str) -> None:
    spark.sql(f"CREATE TABLE pinned (id BIGINT, v STRING, _metadata {type_}) USING delta")
    spark.sql("INSERT INTO pinned SELECT /*+ REPARTITION_BY_RANGE(3, id) */ id, 'a', NULL FROM range(9)")
    found = plan(spark, UPSERT)
    assert (found.promise["numTargetRowsUpdated"], len(found.find_touched_files.files)) == (4, 2)
    assert left(spark) == []
