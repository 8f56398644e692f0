"""What is expected of a table, checked on the rows that a MERGE would leave.

Each kind holds for one feed, and fails for another by a known number of rows.

All plans are of one table, which only the last tests change.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.commit.rehearse import rehearse
from engine.commit.verify import expected_of, verify
from engine.expect.read_expectations import Declared, read_expectations
from engine.explore.propose_expectations import propose_expectations
from engine.ledger.history import History
from engine.model.errors import UsageError
from engine.model.expectation import ExpectationResult, failing
from engine.model.plan import Plan
from engine.plan_statement import plan
from engine.recovery.undo import plan_undo, undo
from tests.cli.running import Shell
from tests.conftest import TEST_CONFS, own_schema
from tests.engine.old_versions import make_old

EXPECTED = """
t:
  - unique: [id]
  - not_null: [v, n]
  - accepted: {v: [a, b, c, NO], n: [10, 20, 30, 40]}
  - references: {n: r.k}
  - references: {parent: t.id}
  - history: {key: [v], current: open, from: since, to: until}
  - rows: {min: 2, max: 4, change: 50%}
  - sum: {n: {change: 50%}}
  - freshness: {at: 1 day}
  - name: no_big_id
    sql: |
      SELECT a.id, s.id FROM after a JOIN source s ON a.id = s.id -- those of the source
      WHERE a.id NOT IN (SELECT id FROM before) AND a.id > 100
    severity: warn
"""
COLUMNS = "AS x(id, v, n, parent, open, since, until, at)"
NOW = "current_timestamp()"


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        build(spark)
        yield spark


def build(spark: Any) -> None:
    spark.sql(
        "CREATE TABLE t (id INT, v STRING, n INT, parent INT, open BOOLEAN, since INT, until INT, at TIMESTAMP) "
        "USING DELTA"
    )
    spark.sql(
        "INSERT INTO t VALUES (1, 'a', 10, NULL, true, 1, NULL, TIMESTAMP'2020-01-01'), "
        "(2, 'b', 20, 1, true, 1, NULL, TIMESTAMP'2020-01-01')"
    )
    # its other column could be taken for an alias of ours
    spark.sql("CREATE TABLE r AS SELECT k, named_struct('n', k) AS c FROM VALUES (10), (20), (30) AS x(k)")


def merge(rows: str, on: str = "t.id = s.id") -> str:
    return (
        f"MERGE INTO t USING (SELECT * FROM VALUES {rows} {COLUMNS}) AS s ON {on} "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


GOOD = merge(f"(2, 'b', 20, NULL, true, 1, NULL, {NOW}), (3, 'NO', 10, 2, true, 5, NULL, {NOW})")
BAD = merge(
    "(1, 'a', 10, 77, true, 1, NULL, NULL), (101, 'x', 99, NULL, true, 4, NULL, NULL), "
    "(101, 'a', 50, NULL, true, 0, 3, NULL), (102, NULL, 30, NULL, false, 1, NULL, NULL)"
)


def planned(spark: Any, sql: str, text: str = EXPECTED, **options: Any) -> Plan:
    found = plan(spark, sql, rows=0, checks=None, expectations=declared(text), **options)
    assert isinstance(found, Plan)
    return found


def declared(text: str) -> tuple[Declared, ...]:
    return tuple(read_expectations(text, "f.yml"))


def by_name(found: Plan) -> dict[str, ExpectationResult]:
    return {one.name: one for one in found.expectations}


def test_each_kind_holds_for_a_good_feed(shop: Any) -> None:
    found = by_name(planned(shop, GOOD))
    assert {name: one.status for name, one in found.items()} == dict.fromkeys(found, "pass"), found
    assert len(found) == 10
    assert found["rows"].value == "2 -> 3"


def test_rows_that_sql_gives_have_each_column_that_it_asked_for(shop: Any) -> None:
    text = """
    t:
      - {name: images, sql: "SELECT id, _change_type FROM changes WHERE _change_type <> 'insert' AND id = 2"}
      - accepted: {n: [30]}
    """
    found = by_name(planned(shop, GOOD, text))
    told = [(row["id"], row["_change_type"]) for row in found["images"].rows]
    assert sorted(told) == [("2", "update_postimage"), ("2", "update_preimage")]
    assert all("_change_type" not in row for row in found["accepted_n"].rows)


def test_a_plan_with_expectations_hides_none_without_in_the_history(shop: Any, tmp_path: Path) -> None:
    history = History(tmp_path / "history.duckdb")
    elsewhere = "other: [{unique: [id]}]"
    sql = GOOD.replace(NOW, "TIMESTAMP'2020-01-01'")
    plans = [plan(shop, sql, rows=0, checks=None), *(planned(shop, sql, text) for text in (elsewhere, EXPECTED))]
    for one in plans:
        history.record_planned(one)
    without, of_another_table, checked = (one.plan_id for one in plans)
    assert without == of_another_table
    assert [one.plan_id for one in history.list()] == [checked, without]


def test_each_kind_counts_the_rows_that_fail(shop: Any) -> None:
    plan_ = planned(shop, BAD)
    found = by_name(plan_)
    assert {name: one.value for name, one in found.items() if one.status == "fail"} == {
        "unique_id": "1",
        "not_null_v_n": "1",
        "accepted_v_n": "2",
        "references_n": "2",
        "references_parent": "1",
        "history_v_open_since_until": "2",
        "rows": "2 -> 5",
        "sum_n": "30 -> 209",
        "freshness_at": "2020-01-01 00:00:00",
        "no_big_id": "5",
    }
    assert found["not_null_v_n"].sentence == "1 row: NULL in v."
    assert found["unique_id"].rows == ({"id": "101", "number of rows": "2"},)
    assert found["references_parent"].rows[0]["parent"] == "77"
    assert [one.name for one in failing(plan_.expectations)] == [name for name in found if name != "no_big_id"]
    again = Plan.from_json(plan_.to_json())
    assert again.expectations == plan_.expectations


def test_two_rows_of_a_key_that_both_begin_at_null_overlap(shop: Any) -> None:
    rows = f"(8, 'h', 1, NULL, false, NULL, 2020, {NOW}), (9, 'h', 1, NULL, false, NULL, 2021, {NOW})"
    (found,) = planned(
        shop, merge(rows), "t:\n  - history: {key: [v], current: open, from: since, to: until}"
    ).expectations
    assert (found.status, found.value) == ("fail", "1")


def test_what_cannot_be_computed_is_an_error_and_what_only_the_commit_knows_is_unknown(shop: Any) -> None:
    shop.sql("CREATE TABLE i (id BIGINT GENERATED ALWAYS AS IDENTITY, k INT) USING DELTA")
    sql = "MERGE INTO i USING (SELECT 1 AS k) AS s ON i.k = s.k WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k)"
    text = """
    i:
      - unique: [id]
      - not_null: [k]
      - {name: fails, sql: "SELECT * FROM after WHERE raise_error('no') = 1"}
      - {name: gone, sql: SELECT * FROM nowhere}
      - {name: endless, timeout: 1s, sql: "SELECT 1 FROM range(100000000) a(x), range(100000000) b(y) WHERE x + y < 0"}
    t:
      - unique: [nothing]
    """
    found = planned(shop, sql, text, private=True).expectations
    assert [one.status for one in found] == ["unknown", "pass", "error", "error", "error"]
    assert found[0].sentence == "Only the commit gives id its value."
    assert "USER_RAISED_EXCEPTION" in found[2].sentence
    assert "TABLE_OR_VIEW_NOT_FOUND" in found[3].sentence
    assert found[4].sentence == "It took longer than its timeout of 1 s."
    assert not [row for row in shop.sql("SHOW VIEWS").collect() if "_after_" in row[1] or "_changes_" in row[1]]


@pytest.mark.parametrize(
    ("entry", "condition", "message"),
    [
        ("not_null: [idd]", "EXPECTATION_UNKNOWN_COLUMN", "there is no column idd (id, v, n, parent, open, since"),
        ("{name: x, sql: INSERT INTO t SELECT * FROM t}", "EXPECTATION_NOT_A_QUERY", "x: its SQL is no SELECT"),
        ("{name: x, sql: SELECT 1) UNION (DROP TABLE t}", "EXPECTATION_NOT_A_QUERY", "x: its SQL is no SELECT"),
    ],
)
def test_what_can_never_be_computed_is_refused_at_once(shop: Any, entry: str, condition: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        planned(shop, GOOD, f"t:\n  - {entry}")
    assert caught.value.condition == condition
    assert caught.value.message.startswith("f.yml, line 2: ")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("sql", "is_refused"),
    [
        ("SELECT * FROM t WHERE n < 0", True),
        ("SELECT * FROM after JOIN seen USING (id) WHERE false", True),
        ("SELECT 1 FROM r WHERE k IN (SELECT n FROM {schema}.t) AND false", True),
        ("SELECT * FROM delta.`{path}` WHERE false", True),
        ("WITH t AS (SELECT * FROM t WHERE n < 0) SELECT * FROM t", True),
        ("SELECT * FROM (WITH t AS (SELECT 1 AS id) SELECT * FROM t) JOIN t USING (id) WHERE false", True),
        ("SELECT * FROM IDENTIFIER('{schema}.t') WHERE false", True),
        ("SELECT * FROM IDENTIFIER('{schema}.' || 't') WHERE false", True),
        ("SELECT 1 WHERE highest() < 0", True),
        ("SELECT id FROM after WHERE beyond(id)", True),
        ("SELECT * FROM those_above(10)", True),
        # what it reads is what it says
        ("SELECT 1 WHERE lowest() < 0", False),
        ("SELECT * FROM t VERSION AS OF 0 WHERE false", False),
        ("WITH t AS (SELECT * FROM after) SELECT * FROM t WHERE false", False),
        ("WITH a AS (SELECT * FROM after), t AS (SELECT * FROM a) SELECT * FROM t WHERE false", False),
        ("SELECT * FROM r WHERE k NOT IN (10, 20, 30)", False),
    ],
)
def test_sql_that_reads_the_target_by_its_own_name_is_refused(shop: Any, sql: str, is_refused: bool) -> None:
    shop.sql("CREATE OR REPLACE VIEW seen AS SELECT id FROM t")
    for function in (
        "highest() RETURNS INT RETURN (SELECT max(id) FROM seen)",
        "beyond(x BIGINT) RETURNS BOOLEAN RETURN x > 1000 AND highest() < 0",
        "those_above(x INT) RETURNS TABLE (id BIGINT) RETURN SELECT id FROM t WHERE n > x + 1000",
        "lowest() RETURNS INT RETURN (SELECT min(k) FROM r)",
    ):
        shop.sql(f"CREATE OR REPLACE FUNCTION {function}")
    schema = shop.sql("SELECT current_schema()").collect()[0][0]
    path = shop.sql("DESCRIBE DETAIL t").collect()[0]["location"]
    text = f't: [{{name: x, sql: "{sql.format(schema=schema, path=path)}"}}]'
    if not is_refused:
        assert by_name(planned(shop, GOOD, text))["x"].status == "pass"
        return
    with pytest.raises(UsageError, match=r"EXPECTATION_READS_TARGET.*x: its SQL reads .*read after or before"):
        planned(shop, GOOD, text)


def test_a_first_file_says_what_holds(shop: Any) -> None:
    shop.sql("CREATE TABLE p AS SELECT id AS k, IF(id % 2 = 0, 'NO', 'SE') AS land, nullif(id, 3) AS n FROM range(20)")
    text = propose_expectations(shop, "p")
    assert [one.expectation.name for one in declared(text)] == ["unique_k", "not_null_k_land", "accepted_land", "rows"]
    assert "{land: ['NO', SE]}" in text
    assert "accepted" not in propose_expectations(shop, "p", private=True)


@pytest.mark.thorough
def test_after_the_commit(shop: Any, tmp_path: Path) -> None:
    """The same kinds on the two versions, the results in the ledger, and the undo where nothing came after."""
    history = History(tmp_path / "history.duckdb")
    expected = declared(
        "t: [{unique: [id]}, {not_null: [v]}, {rows: {change: 10%}}, {name: s, sql: SELECT 1 FROM source}, "
        "{name: images, sql: SELECT id FROM changes WHERE _change_type = 'update_preimage'}, "
        "{name: inserted, sql: SELECT * FROM changes WHERE _change_type = 'insert' AND id = 1}]"
    )
    found = planned(shop, BAD, "t: []")
    outcome = verify(shop, found, apply(shop, found, history=history), expected, history=history)
    assert {one.name: (one.status, one.value) for one in outcome.expectations} == {
        "unique_id": ("fail", "1"),
        "not_null_v": ("fail", "1"),
        "rows": ("fail", "2 -> 5"),
        "s": ("unknown", None),
        "images": ("unknown", None),
        "inserted": ("unknown", None),
    }
    recorded = history.get(outcome.op_id)
    assert recorded.outcome == outcome
    # as by a job that is run again where its ledger is gone
    elsewhere = History(tmp_path / "another.duckdb")
    again = verify(shop, found, apply(shop, found, history=elsewhere), expected, history=elsewhere)
    assert [one.status for one in again.expectations] == [one.status for one in outcome.expectations]
    undo(shop, plan_undo(shop, recorded), history=history)
    assert shop.table("t").count() == 2
    assert not [row for row in shop.sql("SHOW VIEWS").collect() if "_changes_" in row[1]]


def test_a_plan_that_is_refused_leaves_no_rows(shop: Any) -> None:
    found = planned(shop, merge(f"(1, 'a', 10, 1, true, 1, NULL, {NOW}), (1, 'b', 10, 1, true, 1, NULL, {NOW})"))
    assert found.refused is not None
    assert {one.status for one in found.expectations} == {"unknown"}


def test_a_fault_in_a_row_that_is_written_again_as_it_was_is_not_said_to_be_gone(spark: Any, schema: str) -> None:
    del schema
    spark.sql("CREATE TABLE again USING delta AS SELECT 1 AS id, CAST(NULL AS INT) AS v")
    merging = "MERGE INTO again t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = NULL"
    text = "again: [{not_null: [v]}, {unique: [id]}]"
    found = planned(spark, merging, text)
    assert [one.status for one in found.expectations] == ["fail", "pass"]
    checked = verify(spark, found, apply(spark, found, accept=("expect:not_null_v",)), declared(text)).expectations
    assert [one.status for one in checked] == ["unknown", "pass"]
    assert checked[0].sentence.endswith(f"of the plan: {found.expectations[0].sentence}")


def test_a_merge_into_a_table_that_nobody_wrote_to_for_long_is_verified(spark: Any, schema: str) -> None:
    del schema
    spark.sql("CREATE TABLE quiet USING delta AS SELECT id, 'old' AS v FROM range(3)")
    make_old(spark, "quiet", days=8)
    merging = "MERGE INTO quiet t USING (SELECT 7L AS id, 'new' AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    found = planned(spark, merging, "quiet: []")
    expected = declared("quiet: [{rows: {change: 10%}}, {unique: [id]}]")
    checked = verify(spark, found, apply(spark, found), expected)
    told = {one.name: (one.status, one.value) for one in checked.expectations}
    assert told == {"rows": ("fail", "3 -> 4"), "unique_id": ("pass", "0")}


@pytest.mark.thorough
def test_a_classic_session_says_the_same(classic: Any) -> None:
    with own_schema(classic):
        build(classic)
        text = "t: [{unique: [id]}, {name: x, sql: SELECT * FROM changes WHERE id > 2, timeout: 1m}]"
        found = planned(classic, BAD, text).expectations
    assert [(one.status, one.value) for one in found] == [("fail", "1"), ("fail", "3")]


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "expectations.md"
OPTIONS = ("--master", "local[2]", *(word for conf in TEST_CONFS.items() for word in ("--conf", "=".join(conf))))


def test_the_recipe_of_the_docs(
    spark: Any,
    spark_home: Path,
    schema: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As printed: a bad feed stays out, and is let in by name. What nobody accepted is taken back after the commit."""
    page = PAGE.read_text(encoding="utf-8").replace("demo.orders", f"{schema}.orders")
    _, yaml, _ = page.split("```", 2)
    commands = [
        shlex.split(line.strip())[1:] for line in page.splitlines() if line.startswith("    deltamerge-console")
    ]
    assert [words[0] for words in commands] == ["plan", "apply", "apply"]
    monkeypatch.chdir(tmp_path)
    Path("expect").mkdir()
    Path("expect/orders.yml").write_text(yaml.removeprefix("yaml"), encoding="utf-8")
    Path("orders.sql").write_text(
        f"MERGE INTO {schema}.orders t USING (SELECT id + 1 AS order_id, 1 AS customer_id FROM range(3)) s "
        "ON t.order_id = s.order_id WHEN NOT MATCHED THEN INSERT *",
        encoding="utf-8",
    )
    spark.sql(f"CREATE TABLE {schema}.orders USING DELTA AS SELECT 1L AS order_id, 1 AS customer_id")
    shell = Shell(capsys, spark_home, *OPTIONS)
    ran = shell(*commands[0])
    assert ran.code == 6, ran.err
    assert "1 of 3 expectations fails: rows" in ran.out
    refused, accepted = shell("apply", "orders.sql", "--yes"), shell(*commands[1])
    assert (refused.code, accepted.code) == (6, 0), accepted.err
    spark.sql(f"DELETE FROM {schema}.orders WHERE order_id > 1")
    stays = shell(*commands[2], "--json")
    assert (stays.code, stays.json.get("undone_as")) == (0, None), stays.err
    assert [one["severity"] for one in stays.json["expectations"]] == ["error", "error", "warn"]
    spark.sql(f"DELETE FROM {schema}.orders WHERE order_id > 1")
    # of a plan that was made where nothing was expected
    Path("elsewhere").mkdir()
    Path("orders.sql").rename("elsewhere/orders.sql")
    assert shell("plan", "elsewhere/orders.sql", "-o", "p.json").code == 0
    taken_back = shell("apply", "p.json", "--yes", "--expect", "expect", "--undo-on-failure", "--json")
    assert taken_back.code == 7, taken_back.err
    assert [one["status"] for one in taken_back.json["expectations"]] == ["pass", "pass", "fail"]
    assert taken_back.json["undone_as"] == taken_back.json["version"] + 1
    assert spark.table(f"{schema}.orders").count() == 1
    shown = " ".join(shell("show-op", taken_back.json["op_id"]).out.split())
    assert "undone" in shown
    assert "rows fails (error): rows: 1 before, 3 after, 200 % more; at most 50 % is expected." in " ".join(
        shown.split()
    )


def test_bytes_of_a_row_that_fails_are_shown_by_their_digits(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id INT, b BINARY) USING delta")
    sql = "MERGE INTO t USING (SELECT 1 AS id, X'00FF' AS b) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    (found,) = planned(spark, sql, "t:\n  - accepted: {id: [2]}").expectations
    assert [row["b"] for row in found.rows] == ["00FF"]


@pytest.mark.parametrize(("written", "status"), [("1.5", "fail"), ("1.46", "fail"), ("1.4", "pass")])
def test_a_listed_number_is_not_rounded_to_the_type_of_its_column(
    spark: Any, schema: str, written: str, status: str
) -> None:
    spark.sql("CREATE TABLE t (id INT, d DECIMAL(5, 1)) USING delta")
    sql = f"MERGE INTO t USING (SELECT 1 AS id, {written} AS d) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    (found,) = planned(spark, sql, "t:\n  - accepted: {d: [1.46, 1.40]}").expectations
    assert found.status == status


@pytest.mark.parametrize(
    ("accepted", "clauses"),
    [
        ("paid", "WHEN NOT MATCHED THEN INSERT *"),
        ("paid", "WHEN MATCHED THEN UPDATE SET n = s.n"),
        ("paid", "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"),
        ("open", "WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT *"),
    ],
)
def test_the_blanks_that_fill_up_a_char_are_no_part_of_an_accepted_value(
    spark: Any, schema: str, accepted: str, clauses: str
) -> None:
    spark.sql("CREATE TABLE t (id INT, status CHAR(8), n INT) USING delta")
    spark.sql("INSERT INTO t VALUES (1, 'paid', 1)")
    rows = "SELECT * FROM VALUES (1, 'paid', 2), (2, 'paid', 2) AS x(id, status, n)"
    sql = f"MERGE INTO t USING ({rows}) s ON t.id = s.id {clauses}"
    (found,) = planned(spark, sql, f"t:\n  - accepted: {{status: [{accepted}]}}").expectations
    assert found.status == ("pass" if accepted == "paid" else "fail")


def test_a_parent_that_only_the_commit_gives_its_id_is_unknown(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, k INT, parent BIGINT) USING delta")
    sql = (
        "MERGE INTO t USING (SELECT 1 AS k, 1L AS parent) s ON t.k = s.k "
        "WHEN NOT MATCHED THEN INSERT (k, parent) VALUES (s.k, s.parent)"
    )
    (found,) = planned(spark, sql, "t:\n  - references: {parent: t.id}").expectations
    assert (found.status, found.sentence) == ("unknown", "Only the commit gives id its value.")


def test_sql_that_reads_a_value_of_the_commit_without_its_name_is_unknown(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (k BIGINT GENERATED ALWAYS AS IDENTITY, id INT, v INT) USING delta")
    sql = (
        "MERGE INTO t USING (SELECT 7 AS id, explode(array(7, 7)) AS v) s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    )
    text = """
    t:
      - {name: grouped, sql: SELECT * FROM after GROUP BY ALL HAVING count(*) > 1}
      - {name: renamed, sql: "SELECT * FROM (SELECT * FROM after) AS q(a, b, c) WHERE a IS NULL"}
      - {name: changed, sql: SELECT DISTINCT * FROM changes}
      - {name: others, sql: SELECT * FROM after WHERE v > 5}
      - {name: none, sql: SELECT * FROM after WHERE v > 9}
    """
    found = planned(spark, sql, text).expectations
    assert [one.status for one in found] == ["unknown", "unknown", "unknown", "fail", "pass"]
    assert found[0].sentence == "Only the commit gives k its value."
    assert found[3].value == "2"


@pytest.mark.thorough
def test_of_two_values_of_the_commit_the_one_that_is_read_is_named(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (k DOUBLE, k2 DOUBLE, id INT) USING delta")
    sql = "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (k, k2, id) "
    renamed = "t: [{name: renamed, sql: 'SELECT * FROM (SELECT * FROM after) AS q(a, b, c) WHERE b > 0'}]"
    (found,) = planned(spark, f"{sql}VALUES (rand(), rand(), s.id)", renamed).expectations
    assert (found.status, found.sentence) == ("unknown", "Only the commit gives k2 its value.")


def test_a_target_that_is_named_by_its_path_has_the_expectations_of_its_name(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id INT) USING delta")
    path = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"].removeprefix("file:")
    sql = f"MERGE INTO delta.`{path}` AS t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    for name in ("t", f"{schema}.t"):
        (found,) = planned(spark, sql, f"{name}:\n  - rows: {{min: 2}}").expectations
        assert (found.status, found.value) == ("fail", "1")
    both = f"no_such_table:\n  - rows: {{max: 1}}\nt:\n  - rows: {{min: 1}}\n{schema}.t:\n  - rows: {{min: 2}}"
    assert [one.status for one in planned(spark, sql, both).expectations] == ["pass", "fail"]
    assert not planned(spark, sql, "no_such_table:\n  - rows: {min: 2}").expectations


def test_what_was_committed_into_a_path_is_held_to_the_expectations_of_its_name(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id INT) USING delta")
    path = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"].removeprefix("file:")
    sql = f"MERGE INTO delta.`{path}` AS t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    found = plan(spark, sql, rows=0)
    expected = declared("t:\n  - rows: {min: 2}\nno_such_table:\n  - rows: {min: 3}")
    assert expected_of(expected, found) == expected, "without Spark each may be meant"
    assert expected_of(expected, found, spark) == expected[:1]
    assert [one.status for one in rehearse(spark, found, expectations=expected).expectations] == ["fail"]
    assert [one.status for one in verify(spark, found, apply(spark, found), expected).expectations] == ["fail"]


@pytest.mark.parametrize(
    ("value", "status"), [("rand()", "unknown"), ("cast(unix_timestamp() AS DOUBLE)", "pass"), ("s.f", "pass")]
)
def test_a_value_of_chance_is_not_promised_to_be_as_expected(spark: Any, schema: str, value: str, status: str) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id, CAST(0 AS DOUBLE) AS f")
    declared = read_expectations("t: [{not_null: [f]}, {name: least, sql: 'SELECT f FROM after WHERE f < 0'}]")
    sql = f"MERGE INTO t USING (SELECT 1 AS id, 2D AS f) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET f = {value}"
    assert [one.status for one in plan(spark, sql, expectations=declared).expectations] == [status] * 2


def test_a_file_that_names_the_table_by_its_path_is_for_a_merge_into_its_name(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id")
    path = spark.sql("DESCRIBE DETAIL t").collect()[0]["location"].removeprefix("file:")
    declared = read_expectations(f"delta.`{path}`: [{{unique: [id]}}]")
    sql = "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    assert [one.status for one in plan(spark, sql, expectations=declared).expectations] == ["pass"]


def test_rows_that_were_wrong_before_fail_nothing_where_written_ones_cannot_be_told(
    spark: Any, schema: str, tmp_path: Path
) -> None:
    spark.sql("CREATE TABLE t USING delta AS SELECT 1 AS id, CAST(NULL AS STRING) AS v, map('a', 1) AS m")
    expected = declared("t: [{unique: [v]}, {not_null: [v]}, {accepted: {v: [ok]}}, {rows: {max: 2}}]")
    source = "(SELECT 9 AS id, 'ok' AS v, map('b', 2) AS m)"
    sql = f"MERGE INTO t USING {source} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    history = History(tmp_path / "history.duckdb")
    looked = plan(spark, sql, expectations=expected)
    assert [one.status for one in looked.expectations] == ["pass"] * 4
    found = verify(spark, looked, apply(spark, looked, history=history), expected).expectations
    assert [one.status for one in found] == ["unknown"] * 3 + ["pass"]
