"""The demo's tables, small, and what its merges are meant to show."""

from __future__ import annotations

import re
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest

from engine.demo.demo import DemoTables, build_demo
from engine.demo.demo_sql import STATEMENTS
from engine.model.progress import Progress
from tests.cli.running import Shell
from tests.conftest import TEST_CONFS

SCALE = 0.02


@pytest.fixture(scope="module")
def demo(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("demo")
    told: list[Progress] = []
    built = build_demo(spark, home, told.append, schema="demo_test", scale=SCALE)
    yield built, home, told
    spark.sql("DROP SCHEMA demo_test CASCADE")


def one(spark: Any, sql: str) -> Any:
    return spark.sql(sql).collect()[0][0]


def test_tables(spark: Any, demo: tuple[DemoTables, Path, list[Progress]]) -> None:
    tables, _, told = demo
    assert tables.built
    assert tables.orders == "demo_test.orders"
    assert [told[0].done, told[-1].done] == [0, 8]
    orders = spark.sql(f"DESCRIBE DETAIL {tables.orders}").collect()[0]
    assert (orders["numFiles"], list(orders["partitionColumns"])) == (40, ["order_date"])
    assert one(spark, f"SELECT count(*) FROM {tables.orders}") == 2_000_000 * SCALE
    assert one(spark, f"SELECT count(DISTINCT order_id) FROM {tables.orders}") == 2_000_000 * SCALE
    customers = spark.sql(f"DESCRIBE DETAIL {tables.customers}").collect()[0]
    assert {"deletionVectors", "changeDataFeed"} <= set(customers["tableFeatures"])
    history = spark.sql(f"DESCRIBE HISTORY {tables.customers} LIMIT 1").collect()[0]
    assert int(history["operationMetrics"]["numDeletionVectorsAdded"]) > 0
    columns = {row["col_name"]: row["comment"] for row in spark.sql(f"DESCRIBE {tables.orders}").collect()}
    assert columns["currency"] == "ISO 4217"


def test_feeds_are_what_their_merges_show(spark: Any, demo: tuple[DemoTables, Path, list[Progress]]) -> None:
    feed = "FROM demo_test.orders_feed"
    assert one(spark, f"SELECT count(*) - count(DISTINCT order_id) {feed}") == 0
    assert one(spark, f"SELECT count(DISTINCT order_date) {feed}") == 4
    touched = "FROM demo_test.orders t JOIN demo_test.{} s ON t.order_id = s.order_id"
    assert one(spark, f"SELECT count(DISTINCT t.order_date) {touched.format('orders_feed')}") == 3
    stale = f"{touched.format('orders_feed')} WHERE s.updated_at <= t.updated_at"
    assert one(spark, f"SELECT count(*) {stale}") == 0
    assert one(spark, "SELECT count(*) - count(DISTINCT order_id) FROM demo_test.orders_retried") > 0
    assert one(spark, f"SELECT count(DISTINCT t.order_date) {touched.format('amount_corrections')}") == 40
    late = "SELECT count(*) FROM demo_test.orders_late s LEFT {} JOIN demo_test.orders t USING (order_id)"
    assert one(spark, late.format("SEMI")) > 0
    assert one(spark, late.format("ANTI")) > 0
    customers = "SELECT count(*) FROM demo_test.{} a LEFT ANTI JOIN demo_test.{} b ON a.customer_id = b.customer_id"
    assert one(spark, customers.format("customers", "customers_snapshot")) > 0
    assert one(spark, customers.format("customers_snapshot", "customers")) > 0


def test_statements(spark: Any, demo: tuple[DemoTables, Path, list[Progress]]) -> None:
    tables, home, _ = demo
    assert [path.name for path in tables.statements] == list(STATEMENTS)
    assert len(tables.statements) == 6
    for path in tables.statements:
        assert path.parent == home / "demo"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = path.read_text(encoding="utf-8")
        assert "demo_test." in text
        explained = one(spark, f"EXPLAIN EXTENDED {text}")
        assert "MergeIntoCommand" in explained


@pytest.mark.thorough
def test_it_is_built_once(spark: Any, demo: tuple[DemoTables, Path, list[Progress]]) -> None:
    tables, home, _ = demo
    tables.statements[0].write_text("-- mine\n", encoding="utf-8")
    told: list[Progress] = []
    again = build_demo(spark, home, told.append, schema="demo_test", scale=SCALE)
    assert not again.built
    assert told == []
    assert tables.statements[0].read_text(encoding="utf-8") == "-- mine\n"
    table_id = one(spark, "DESCRIBE DETAIL demo_test.orders_late")
    spark.sql("DROP TABLE demo_test.orders_late")
    assert build_demo(spark, home, schema="demo_test", scale=SCALE).built, "a table was missing"
    assert one(spark, "DESCRIBE DETAIL demo_test.orders_late") == table_id == "delta"
    assert tables.statements[0].read_text(encoding="utf-8") == "-- mine\n"


TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
OPTIONS = ("--master", "local[2]", *(word for conf in TEST_CONFS.items() for word in ("--conf", "=".join(conf))))


def test_the_tutorial(
    spark: Any,
    demo: tuple[DemoTables, Path, list[Progress]],
    spark_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its commands as printed, on its merges as printed: the careless producer's feed has each fault that it lists."""
    page = TUTORIAL.read_text(encoding="utf-8").replace("demo.orders", "demo_test.orders")
    monkeypatch.chdir(tmp_path)
    merges = re.findall(r"^ *MERGE INTO[^`]+?INSERT \*$", page, re.MULTILINE)
    for name, text in zip(("merge.sql", "nightly.sql"), merges, strict=True):
        Path(name).write_text(text, encoding="utf-8")
    shell = Shell(capsys, spark_home, *OPTIONS)
    ran = {}
    for line in re.findall("^    deltamerge-console (.+)$", page, re.MULTILINE):
        more = {"plan": ["--json"], "apply": ["--yes"]}.get(line.split()[0], [])
        ran[line] = shell(*shlex.split(line), *more)
        assert ran[line].code == 0, (line, ran[line].err)
    warnings = ran["plan nightly.sql"].json["warnings"]
    assert [warning["code"] for warning in warnings] == re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)
    pairs = (
        "SELECT count_if(s.updated_at {} t.updated_at AND t.order_date >= DATE'2026-11-18') "
        "FROM demo_test.orders t JOIN demo_test.orders_nightly s USING (order_id)"
    )
    outside = one(spark, "SELECT count(*) FROM demo_test.orders_nightly WHERE order_date = DATE'2026-11-10'")
    same, older = one(spark, pairs.format("=")), one(spark, pairs.format("<"))
    assert [warning["count"] for warning in warnings] == [1, 2, outside, same, older]
    assert min(outside, same, older) > 1
    form = ran["plan orders.sql"].json
    assert form["warnings"] == []
    assert [each["status"] for each in form["expectations"]] == ["pass", "pass"]
