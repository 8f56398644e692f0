"""What is added to ON changes nothing but the files that are read, where data is odd or moves on meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

import engine.table.commits as module
from engine.commit.apply_plan import REWRITING, apply
from engine.commit.prepare_again import is_own_session
from engine.commit.rehearse import rehearse
from engine.commit.verify import verify
from engine.expect.read_expectations import read_expectations
from engine.explore.changes import changes
from engine.explore.find_key import find_key
from engine.explore.propose_expectations import propose_expectations
from engine.merge.derive_conjuncts import MAY_RAISE
from engine.merge.derive_generated import EMPTY
from engine.model.errors import EngineError, UsageError
from engine.model.plan import Plan
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.plan_statement import plan as plan_statement
from engine.spark.confs import AS_WRITTEN, ESCAPED, confs_set
from engine.spark.session_state import PLANNED
from engine.table.tables import table_rows

UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT ({0}, v) VALUES (s.{0}, s.v)"
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"


def derived(looked: Plan) -> list[str]:
    return [one.text or one.why_not for one in looked.scan.derived]


def merged(spark: Any, looked: Plan) -> list[tuple[Any, ...]]:
    """The rows after ``looked`` was applied as it was promised."""
    outcome = apply(spark, looked)
    assert outcome.kept, outcome.deviations
    return sorted(tuple(row) for row in spark.sql("SELECT * FROM tgt").collect())


@pytest.mark.parametrize("names", [("ab",), ("ab", "abcd")])
def test_an_empty_text_in_a_generated_partition_column_is_null_there(
    spark: Any, schema: str, names: tuple[str, ...]
) -> None:
    spark.sql(
        "CREATE TABLE tgt (name STRING, v STRING, part STRING GENERATED ALWAYS AS (substring(name, 3, 2))) "
        "USING delta PARTITIONED BY (part)"
    )
    spark.sql("INSERT INTO tgt (name, v) VALUES ('ab', 'old'), ('abcd', 'old'), ('zzzz', 'old')")
    rows = ", ".join(f"('{name}', 'new')" for name in names)
    spark.sql(f"CREATE TABLE src USING delta AS SELECT * FROM VALUES {rows} AS x(name, v)")
    clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (name, v) VALUES (s.name, s.v)"
    looked = plan(spark, f"MERGE INTO tgt t USING src s ON t.name = s.name {clauses}")
    assert EMPTY in derived(looked)
    assert [row[0] for row in merged(spark, looked)] == [name for name in ("ab", "abcd", "zzzz") if name not in names]


def test_a_key_that_spark_would_substitute_is_not_written_as_a_literal(spark: Any, schema: str) -> None:
    odd = "concat('$', '{env:PATH}')"
    spark.sql(f"CREATE TABLE tgt USING delta AS SELECT {odd} AS id, 'old' AS v")
    spark.sql("INSERT INTO tgt VALUES ('zz', 'old')")
    spark.sql(f"CREATE TABLE src USING delta AS SELECT {odd} AS id, 'new' AS v")
    looked = plan(spark, f"MERGE INTO tgt t USING src s ON t.id = s.id {UPSERT.format('id')}")
    assert "PATH" not in "".join(splice.text for splice in looked.splices)
    assert merged(spark, looked) == [("${env:PATH}", "new"), ("zz", "old")]


def test_a_column_whose_name_spark_would_substitute_is_read_by_its_own_name(spark: Any, schema: str) -> None:
    properties = "USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    with confs_set(spark, AS_WRITTEN):
        for table, rows in (("tgt", "(1, 'a', 'o'), (2, 'b', 'p')"), ("src", "(2, 'z', NULL), (3, 'y', NULL)")):
            spark.sql(f"CREATE TABLE {table} (id INT, `${{my.x}}` STRING, ok STRING) {properties}")
            spark.sql(f"INSERT INTO {table} VALUES {rows}")
    with confs_set(spark, {"my.x": "ok"}):
        stars = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        looked = plan(spark, f"MERGE INTO tgt t USING src s ON t.id = s.id {stars}")
        (found,) = find_key(spark, looked, "2").rows
        assert found.change is not None
        assert found.change.before == {"id": "2", "${my.x}": "b", "ok": "p"}
        assert found.change.after == {"id": "2", "${my.x}": "z", "ok": None}
        assert {one.name: one.changed for one in changes(spark, looked).columns} == {"${my.x}": 1, "ok": 1}
        assert rehearse(spark, looked).kept
        outcome = apply(spark, looked)
        assert outcome.kept, outcome.deviations
        declared = tuple(read_expectations("tgt:\n  - accepted: {'${my.x}': [a, z, y]}\n"))
        (verified,) = verify(spark, looked, outcome, declared).expectations
        assert verified.status == "pass", verified.sentence
        assert sorted(table_rows(spark, "tgt").rows) == [("1", "a", "o"), ("2", "z", None), ("3", "y", None)]
        assert "not_null: [id, '${my.x}']\n" in propose_expectations(spark, "tgt")


@pytest.mark.parametrize("name", ["lang", "spark.sql.shuffle.partitions", "spark.sql.ansi.enabled"])
def test_a_key_that_spark_would_substitute_is_shown_and_found(spark: Any, schema: str, name: str) -> None:
    odd = f"concat('$', '{{{name}}}')"
    spark.sql(f"CREATE TABLE tgt USING delta AS SELECT {odd} AS id, 'old' AS v UNION ALL SELECT 'zz', 'old'")
    spark.sql(f"CREATE TABLE src USING delta AS SELECT {odd} AS id, 'new' AS v UNION ALL SELECT 'zz', 'new'")
    looked = plan(spark, f"MERGE INTO tgt t USING src s ON t.id = s.id {UPSERT.format('id')}")
    assert sorted(str(one.before["id"]) for one in looked.samples if one.before) == [f"${{{name}}}", "zz"]
    found = find_key(spark, looked, f"${{{name}}}")
    assert [row.change.after["v"] for row in found.rows if row.change and row.change.after] == ["new"]
    assert merged(spark, looked) == [(f"${{{name}}}", "new"), ("zz", "new")]


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [("v STRING", "v <> '${spark.sql.shuffle.partitions}'"), ("v STRING GENERATED ALWAYS AS (id || '${my.op}')", "")],
)
def test_a_rule_of_the_table_that_delta_reads_with_the_value_of_a_conf_is_refused(
    spark: Any, schema: str, columns: str, constraint: str
) -> None:
    with confs_set(spark, AS_WRITTEN):
        spark.sql(f"CREATE TABLE tgt (id STRING, {columns}) USING delta")
        if constraint:
            spark.sql(f"ALTER TABLE tgt ADD CONSTRAINT odd CHECK ({constraint})")
    source = "(SELECT 'a' AS id)"
    with pytest.raises(EngineError, match="VARIABLE_SUBSTITUTION"):
        plan(spark, f"MERGE INTO tgt t USING {source} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)")


def test_a_default_that_spark_does_not_substitute_is_shown_as_it_is(spark: Any, schema: str) -> None:
    with confs_set(spark, AS_WRITTEN):
        spark.sql(
            "CREATE TABLE tgt (id STRING, v STRING DEFAULT 'a${my.op}b') USING delta "
            "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
        )
    insert = "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    looked = plan(spark, f"MERGE INTO tgt t USING (SELECT 'a' AS id) s ON t.id = s.id {insert}")
    assert [one.after["v"] for one in looked.samples if one.after] == ["a${my.op}b"]
    assert merged(spark, looked) == [("a", "a${my.op}b")]


@pytest.mark.parametrize("value", ["Dear ${name}, hello", "${spark.sql.ansi.enabled}", "it's", "a\\b", "\\u0024{x}"])
def test_a_parameter_is_written_as_it_is_given(spark: Any, schema: str, value: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1 AS id, 'old' AS v")
    sql = "MERGE INTO tgt t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = :y"
    looked = plan_statement(spark, sql, params={"y": value})
    assert isinstance(looked, Plan)
    assert [one.after["v"] for one in looked.samples if one.after] == [value]
    assert merged(spark, looked) == [(1, value)]


def test_a_parameter_that_the_session_would_read_otherwise_is_refused(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1 AS id, 'old' AS v")
    sql = "MERGE INTO tgt t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = :y"
    with confs_set(spark, {ESCAPED: "true"}):
        for value in ("it's", "a\\b", "${x}"):
            with pytest.raises(UsageError, match="SQL_PARAMETER_NOT_WRITABLE"):
                plan_statement(spark, sql, params={"y": value})
        assert plan_statement(spark, sql, params={"y": "plain"}).promise["numTargetRowsUpdated"] == 1


@pytest.mark.parametrize(
    ("column", "old", "other", "conjunct"),
    [
        ("day STRING", "'2024-01-01'", "'n/a'", "t.day >= DATE'2023-01-01'"),
        ("day STRING", "'2024-01-01'", "'n/a'", "t.day <= current_date()"),
        ("day STRING", "'true'", "'n/a'", "t.day = TRUE"),
        ("n STRUCT<code: STRING>", "named_struct('code', '1')", "named_struct('code', 'n/a')", "t.n.code = s.num"),
    ],
    ids=["a date", "the clock", "a truth", "a field"],
)
def test_an_error_of_a_row_that_would_be_skipped_is_still_raised(
    spark: Any, schema: str, column: str, old: str, other: str, conjunct: str
) -> None:
    spark.sql(f"CREATE TABLE tgt (id BIGINT, {column}, v STRING) USING delta")
    spark.sql(f"INSERT INTO tgt SELECT 1, {old}, 'old'")
    spark.sql(f"INSERT INTO tgt SELECT 100, {other}, 'old'")
    spark.sql("CREATE TABLE src USING delta AS SELECT 1L AS id, 1L AS num, 'new' AS v")
    looked = plan(
        spark, f"MERGE INTO tgt t USING src s ON t.id = s.id AND {conjunct} WHEN MATCHED THEN UPDATE SET v = s.v"
    )
    assert MAY_RAISE in derived(looked)
    assert looked.refused is not None


def test_a_text_beside_texts_alone_raises_nothing(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 'old' AS v FROM range(0, 40, 1, 4)")
    spark.sql("CREATE TABLE src USING delta AS SELECT 1L AS id, 'new' AS v")
    on = "t.id = s.id AND t.v <> 'gone' AND t.v <> s.v"
    looked = plan(spark, f"MERGE INTO tgt t USING src s ON {on} WHEN MATCHED THEN UPDATE SET v = s.v")
    assert derived(looked) == ["t.id = 1L"]


def test_a_generated_column_is_computed_in_the_width_of_its_base(spark: Any, schema: str) -> None:
    spark.sql(
        "CREATE TABLE tgt (i INT, v STRING, part INT GENERATED ALWAYS AS (pmod(i * 40503, 10))) "
        "USING delta PARTITIONED BY (part)"
    )
    with confs_set(spark, {"spark.sql.ansi.enabled": "false"}):
        spark.sql("INSERT INTO tgt (i, v) VALUES (100000, 'old'), (1, 'old'), (2, 'old')")
        spark.sql("CREATE TABLE src USING delta AS SELECT 100000L AS i, 'new' AS v")
        looked = plan(spark, f"MERGE INTO tgt t USING src s ON t.i = s.i {UPSERT.format('i')}")
        assert looked.promise["numTargetRowsInserted"] == 0
        assert [row[:2] for row in merged(spark, looked)] == [(1, "old"), (2, "old"), (100000, "new")]


@pytest.mark.parametrize("clauses", [UPSERT, UPSERT[UPSERT.index("WHEN NOT") :]], ids=["upsert", "insert only"])
def test_a_source_whose_keys_narrow_on_is_merged_as_it_was_looked_at(spark: Any, schema: str, clauses: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT id, 'old' AS v FROM range(0, 40, 1, 4)")
    spark.sql("CREATE TABLE src USING delta AS SELECT id, 'new' AS v FROM range(12, 16)")
    live = "(SELECT * FROM src WHERE id < 100)"
    looked = plan(spark, f"MERGE INTO tgt t USING {live} s ON t.id = s.id {clauses.format('id')}")
    assert not looked.decision.materialize
    assert derived(looked) == ["t.id >= 12L AND t.id <= 15L"]

    def another_key(progress: Progress) -> None:
        if progress.phase.startswith(REWRITING):
            spark.sql("INSERT INTO src VALUES (35, 'late')").collect()

    assert apply(spark, looked, on_progress=another_key).kept
    assert [tuple(row) for row in spark.sql("SELECT v FROM tgt WHERE id = 35").collect()] == [("old",)]


def test_what_was_at_its_default_when_planned_is_so_when_applied(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id, 'old' AS v")
    spark.sql("CREATE TABLE src USING delta AS SELECT 1L AS id, 'new' AS v, 9 AS extra")
    looked = plan(spark, "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
    with confs_set(spark, {AUTO_MERGE: "true"}):
        assert merged(spark, looked) == [(1, "new")]
        assert spark.conf.get(AUTO_MERGE) == "true"


def test_the_time_zone_is_kept_though_it_is_the_servers_own(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id, 'old' AS v")
    looked = plan(spark, "MERGE INTO tgt t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert looked.confs["spark.sql.session.timeZone"] == spark.conf.get("spark.sql.session.timeZone")


@pytest.mark.parametrize("clock", ["current_timestamp()", "current_timestamp", "now()"])
def test_a_condition_that_asks_the_time_is_warned_of(spark: Any, schema: str, clock: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id, TIMESTAMP'2020-01-01 00:00:00' AS seen")
    looked = plan(
        spark,
        "MERGE INTO tgt t USING (SELECT 99L AS id) s ON t.id = s.id "
        f"WHEN NOT MATCHED BY SOURCE AND t.seen < {clock} THEN DELETE",
        checks=None,
    )
    assert [one.code for one in looked.warnings] == ["CLOCK_IN_CONDITION"]


def test_another_session_of_the_same_id_is_not_the_one_that_planned(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id")
    spark.sql("CREATE TABLE src USING delta AS SELECT 1L AS id")
    looked = plan(spark, "MERGE INTO tgt t USING src s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert is_own_session(spark, looked)
    forgotten = looked.model_copy(update={"session": looked.session.model_copy(update={"source_view": None})})
    spark.conf.unset(PLANNED)
    assert not is_own_session(spark, forgotten)


def test_a_commit_between_two_questions_hides_no_other(spark: Any, schema: str, monkeypatch: Any) -> None:
    spark.sql("CREATE TABLE tgt USING delta AS SELECT 1L AS id")
    spark.sql("INSERT INTO tgt VALUES (2)")
    asked = module.commits

    def late(session: Any, table: str, limit: int | None = None) -> list[module.Commit]:
        monkeypatch.setattr(module, "commits", asked)
        session.sql("INSERT INTO tgt VALUES (3)").collect()
        return asked(session, table, limit)

    monkeypatch.setattr(module, "commits", late)
    version, since = module.commits_since(spark, "tgt", 0)
    assert (version, [one.version for one in since]) == (2, [2, 1])
