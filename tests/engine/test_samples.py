"""The rows that a plan shows are rows of the table before, and rows that its commit makes."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.merge.prepare_delta_scan import kept_paths
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.preflight import samples
from engine.sql.literals import shown as text_of

UPSERT = (
    "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND s.v < 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
    "WHEN NOT MATCHED THEN INSERT (k, part, v) VALUES (s.k, 9, s.v)"
)
# the keys of the source, by the type in which ON compares them with BIGINT
KEYS = {"bigint": "id", "int": "CAST(id AS INT)", "double": "CAST(id AS DOUBLE)", "string": "CAST(id AS STRING)"}


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    """``t``: keys 0 to 99, one file for each 10 of them, v 10 times the key."""
    spark.sql(
        "CREATE TABLE t USING delta PARTITIONED BY (part) AS "
        "SELECT id AS k, CAST(id DIV 10 AS INT) AS part, id * 10 AS v FROM range(0, 100, 1, 1)"
    )
    return spark


def shown(made: Plan) -> dict[str, list[tuple[str | None, str | None, str | None]]]:
    """(key, v before, v after) by action, in the order of the keys."""
    found: dict[str, list[tuple[str | None, str | None, str | None]]] = {}
    for one in made.samples:
        before, after = one.before or {}, one.after or {}
        found.setdefault(one.action, []).append((before.get("k") or after.get("k"), before.get("v"), after.get("v")))
    return {action: sorted(rows, key=lambda row: int(row[0] or 0)) for action, rows in found.items()}


@pytest.mark.parametrize("type_", KEYS)
def test_each_clause_shows_rows_that_it_takes_whatever_type_the_keys_are_of(shop: Any, type_: str) -> None:
    shop.sql(
        f"CREATE TABLE s USING delta AS SELECT {KEYS[type_]} AS k, IF(id IN (20, 70), -1L, id) AS v "
        "FROM (SELECT id * 10 AS id FROM range(2, 12))"
    )
    looked = plan(shop, UPSERT, rows=3)
    rows = shown(looked)
    assert rows["delete"] == [("20", "200", None), ("70", "700", None)]
    assert len(rows["update"]) == 3
    assert all(
        int(v or 0) == 10 * int(k or 0) and after == k and k not in ("20", "70") for k, v, after in rows["update"]
    )
    assert rows["insert"] == [("100", None, "100"), ("110", None, "110")]
    assert apply(shop, looked).kept
    for key, _, after in rows["update"] + rows["insert"]:
        assert [str(row["v"]) for row in shop.sql(f"SELECT v FROM t WHERE k = {key}").collect()] == [after]


def test_of_a_large_table_the_same_rows_are_shown(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its partitions are not all read in one job, but those alone in which each clause has its first rows."""
    shop.sql("CREATE TABLE s USING delta AS SELECT id AS k, IF(id > 90, -1L, id) AS v FROM range(2, 120)")
    few = shown(plan(shop, UPSERT, rows=3))
    monkeypatch.setattr("engine.spark.confs.FEW_ROWS", 0)
    large = shown(plan(shop, UPSERT, rows=3))
    assert {action: len(rows) for action, rows in few.items()} == {"delete": 3, "update": 3, "insert": 3}
    assert (large["delete"], large["update"]) == (few["delete"], few["update"])
    assert len(large["insert"]) == 3


def test_no_more_rows_than_were_asked_for_and_none_for_none(shop: Any) -> None:
    shop.sql("CREATE TABLE s USING delta AS SELECT id AS k, id AS v FROM range(0, 200)")
    for rows in (0, 1, 4):
        assert {action: len(found) for action, found in shown(plan(shop, UPSERT, rows=rows)).items()} == (
            {"update": rows, "insert": rows} if rows else {}
        )


@pytest.mark.parametrize("type_", ["BIGINT", "SMALLINT", "DOUBLE"])
def test_rows_to_show_are_read_out_of_their_files_alone(shop: Any, monkeypatch: pytest.MonkeyPatch, type_: str) -> None:
    read: list[int] = []
    rows = samples._rows

    def counted(spark: Any, merge: Any, asked: Any, writes: Any) -> Any:
        read.extend(len(kept_paths(spark, query, as_merge=False)) for _, query in asked)
        return rows(spark, merge, asked, writes)

    monkeypatch.setattr(samples, "_rows", counted)
    source = f"(SELECT CAST(target AS {type_}) AS target, -7L AS row FROM VALUES (5), (95) AS v(target)) s"
    text = f"MERGE INTO t USING {source} ON t.k = s.target WHEN MATCHED THEN UPDATE SET v = s.row"
    looked = plan(shop, text, rows=5)
    assert sorted(shown(looked)["update"]) == [("5", "50", "-7"), ("95", "950", "-7")]
    # of other types, a value in a text may be another one
    assert read == [10 if type_ == "DOUBLE" else 2]


def test_a_source_row_that_two_clauses_take_is_shown_under_each(shop: Any) -> None:
    shop.sql("CREATE TABLE s USING delta AS SELECT 7 AS part, 1 AS v")
    clauses = "WHEN MATCHED AND t.k > 77 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 0"
    text = f"MERGE INTO t USING s ON t.part = s.part {clauses}"
    rows = shown(plan(shop, text, rows=5))
    assert rows["delete"] == [("78", "780", None), ("79", "790", None)]
    assert len(rows["update"]) == 5
    assert all(after == "0" and 70 <= int(k or 0) <= 77 for k, _, after in rows["update"])


def test_a_merge_that_only_inserts_shows_rows_without_a_match(shop: Any) -> None:
    shop.sql("CREATE TABLE s USING delta AS SELECT id AS k, id AS v FROM range(95, 103)")
    text = "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED AND s.k > 100 THEN INSERT (k, v) VALUES (s.k, s.v)"
    assert shown(plan(shop, text, rows=5)) == {"insert": [("101", None, "101"), ("102", None, "102")]}


def test_a_text_that_names_no_partition_is_shown_as_the_null_that_comes_back(shop: Any) -> None:
    shop.sql("CREATE TABLE texts (k BIGINT, part STRING, v BIGINT) USING delta PARTITIONED BY (part)")
    shop.sql("INSERT INTO texts VALUES (1, 'a', 10), (2, 'b', 20)")
    rows = "(1, '', 11), (2, '__HIVE_DEFAULT_PARTITION__', 20), (3, '', 30)"
    looked = plan(
        shop,
        f"MERGE INTO texts USING (SELECT * FROM VALUES {rows} AS s(k, part, v)) AS s ON texts.k = s.k "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        rows=9,
        changes=True,
    )
    assert [one.after["part"] for one in looked.samples if one.after] == [None, None, None]
    assert looked.changes is not None
    assert {one.name: one.to_null for one in looked.changes.columns}["part"] == 2
    assert apply(shop, looked).kept
    assert [row[0] for row in shop.sql("SELECT part FROM texts").collect()] == [None, None, None]


def test_an_empty_char_that_names_a_partition_is_null_before_it_is_filled_up(shop: Any) -> None:
    shop.sql("CREATE TABLE chars (k BIGINT, part CHAR(4), v BIGINT) USING delta PARTITIONED BY (part)")
    shop.sql("INSERT INTO chars VALUES (1, 'a', 10)")
    source = "(SELECT 1L AS k, '' AS part) s"
    merge = f"MERGE INTO chars t USING {source} ON t.k = s.k WHEN MATCHED THEN UPDATE SET part = s.part"
    looked = plan(shop, merge, changes=True)
    assert [one.after["part"] for one in looked.samples if one.after] == [None]
    assert apply(shop, looked).kept
    assert shop.sql("SELECT part FROM chars").collect()[0][0] is None


def test_bytes_that_name_a_partition_are_unknown_until_the_commit(shop: Any) -> None:
    """Delta writes them as a text: those that are none become others, and none at all NULL."""
    shop.sql("CREATE TABLE bytes (k BIGINT, part BINARY) USING delta PARTITIONED BY (part)")
    shop.sql("INSERT INTO bytes VALUES (1, X'61')")
    merge = "MERGE INTO bytes t USING (SELECT 1L AS k, X'FF80' AS part) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET *"
    looked = plan(shop, merge)
    assert "part: bytes" in next(one.evidence for one in looked.warnings if one.code == "VALUES_UNKNOWN")
    assert apply(shop, looked).kept
    assert shop.sql("SELECT part FROM bytes").collect()[0][0] != b"\xff\x80"


@pytest.mark.parametrize("type_", [None, "binary"])
def test_bytes_are_shown_by_their_digits_whether_the_type_is_known_or_not(spark: Any, type_: str | None) -> None:
    shown_bytes = text_of("c", type_)
    assert spark.sql(f"SELECT {shown_bytes} FROM VALUES (X'00FF'), (NULL) AS q(c)").collect() == [("00FF",), (None,)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'é\tx'", "é\tx"),
        ("CAST(X'FF' AS STRING)", "\ufffd"),
        ("DATE'2024-01-02'", "2024-01-02"),
        ("1.50BD", "1.50"),
        ("map('a', X'61')", "{a -> a}"),
        ("named_struct('a', 1, 'b', array(1L))", "{1, [1]}"),
        ("INTERVAL '1' DAY", "INTERVAL '1' DAY"),
        ("parse_json('[1]')", "[1]"),
        ("NULL", None),
    ],
)
def test_a_value_of_any_type_is_shown_as_spark_casts_it(spark: Any, value: str, expected: str | None) -> None:
    assert spark.sql(f"SELECT {text_of('c')} FROM (SELECT {value} AS c)").collect()[0][0] == expected


@pytest.mark.parametrize("on", ["t.k = s.k", "t.k <= s.k -- by a range"])
def test_a_row_that_several_source_rows_delete_is_shown_once(shop: Any, on: str) -> None:
    shop.sql("CREATE TABLE s USING delta AS SELECT explode(array(2, 2, 3, 900)) AS k")
    looked = plan(shop, f"MERGE INTO t USING s ON {on}\nWHEN MATCHED THEN DELETE", rows=200)
    deleted = [key for key, _, _ in shown(looked)["delete"]]
    assert len(deleted) == len(set(deleted)) == looked.promise["numTargetRowsDeleted"]


def test_a_variant_is_shown_as_json_in_which_a_text_is_no_number(spark: Any, schema: str) -> None:
    spark.sql("CREATE TABLE t (id INT, va VARIANT) USING delta")
    spark.sql("INSERT INTO t VALUES (1, parse_json('1')), (2, parse_json('null')), (3, NULL)")
    source = "(SELECT * FROM VALUES (1, parse_json('\"1\"')), (2, NULL), (3, parse_json('null')) AS x(id, va)) s"
    merge = f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET va = s.va"
    samples = plan(spark, merge).samples
    shown = {(one.before or {})["id"]: ((one.before or {})["va"], (one.after or {})["va"]) for one in samples}
    assert shown == {"1": ("1", '"1"'), "2": ("null", None), "3": (None, "null")}
