"""What is timed: Delta's own 16 merge cases, and merges into one large table by where its keys lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WEB_RETURNS = "web_returns"
FILES, LARGE_FILES = 100, 40
# the widths of TPC-DS: keys of dimensions, and amounts of money
DIMENSIONS = "returned_date returned_time refunded_customer refunded_cdemo refunded_hdemo refunded_addr"
DIMENSIONS += " returning_customer returning_cdemo returning_hdemo returning_addr web_page reason"
AMOUNTS = "return_amt return_tax return_amt_inc_tax fee return_ship_cost refunded_cash reversed_charge account_credit"
AMOUNTS += " net_loss"


@dataclass(frozen=True)
class Case:
    """One MERGE into a shallow clone of ``table``; {target} is the clone. ``group``: the row of the table of goals."""

    name: str
    group: str
    table: str
    sql: str


def web_returns(spark: Any, rows: int) -> None:
    """TPC-DS web_returns by generator: a row for each (wr_order_number, wr_item_sk), in no order, in 100 files."""
    columns = [
        *(f"CAST(abs(xxhash64(id, '{name}')) % 100000 AS INT) AS wr_{name}_sk" for name in DIMENSIONS.split()),
        *(
            f"CAST(abs(xxhash64(id, '{name}')) % 1000000 / 100 AS DECIMAL(7,2)) AS wr_{name}"
            for name in AMOUNTS.split()
        ),
    ]
    spark.sql(
        f"CREATE OR REPLACE TABLE {WEB_RETURNS} USING delta AS SELECT /*+ REPARTITION({FILES}) */"
        " abs(xxhash64(id)) % 1000000000000 AS wr_order_number, id % 18000 AS wr_item_sk,"
        f" CAST(id % 100 AS INT) AS wr_return_quantity, {', '.join(columns)} FROM range({rows})"
    ).collect()


def of_delta(spark: Any, rows: int) -> list[Case]:
    """The 16 cases of Delta's benchmark, and their sources as Delta tables (benchmark/MergeTestCases.scala,
    MergeDataLoad.scala): files are sampled by the hash of their path, rows at random; the keys of rows that match
    nothing are rand(), which makes both keys of the source DOUBLE. The target is web_returns with ``rows`` rows."""
    web_returns(spark, rows)
    insert = "WHEN NOT MATCHED THEN INSERT *"
    even = "WHEN NOT MATCHED AND s.wr_item_sk % 2 = 0 THEN INSERT *"
    update = "WHEN MATCHED THEN UPDATE SET *"
    inserts = [(0.05, 0.0, part) for part in (0.05, 0.5, 1.0)]
    upserts = [
        *((0.05, 0.1, 0.01), (0.05, 0.0, 0.1), (0.05, 0.01, 0.1), (0.05, 0.1, 0.0)),
        *((0.5, 0.01, 0.001), (1.0, 0.01, 0.001)),
        *((0.05, 0.5, 0.001), (0.05, 0.99, 0.001), (0.05, 1.0, 0.001)),
    ]
    wanted = [
        *(("single insert only", parts, insert) for parts in inserts),
        *(("multiple insert only", parts, f"{even} {insert}") for parts in inserts),
        ("delete only", (0.05, 0.05, 0.0), "WHEN MATCHED THEN DELETE"),
        *(("upsert", parts, f"{update} {insert}") for parts in upserts),
    ]
    return [
        Case(
            f"{kind}: files {parts[0]:g}, matched {parts[1]:g}, not matched {parts[2]:g}",
            "Delta's 16 cases",
            WEB_RETURNS,
            f"MERGE INTO {{target}} t USING {_sampled(spark, *parts)} s"
            f" ON t.wr_order_number = s.wr_order_number AND t.wr_item_sk = s.wr_item_sk {clauses}",
        )
        for kind, parts, clauses in wanted
    ]


def _sampled(spark: Any, files: float, matched: float, not_matched: float) -> str:
    name = f"source_{files}_{matched}_{not_matched}".replace(".", "_")
    chosen = f"FROM {WEB_RETURNS} WHERE hash(_metadata.file_path) * 0.5 / 2147483647 + 0.5 < {files}"
    parts = [
        f"SELECT {first} {chosen} AND rand({seed}) < {part}"
        for first, seed, part in (
            ("*", 1, matched),
            (
                "rand(2) AS wr_order_number, rand(3) AS wr_item_sk, * EXCEPT (wr_order_number, wr_item_sk)",
                4,
                not_matched,
            ),
        )
        if part
    ]
    if len(parts) == 1 and matched:
        parts = [parts[0].replace("*", "CAST(wr_order_number AS DOUBLE), CAST(wr_item_sk AS DOUBLE),"
                                  " * EXCEPT (wr_order_number, wr_item_sk)", 1)]  # fmt: skip
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name} USING delta AS {' UNION ALL '.join(parts)}").collect()
    return name


def into_large(spark: Any, rows: int) -> list[Case]:
    """Merges of 0.5 % of ``rows`` into one table of 40 files, by where its keys lie and which the source holds."""
    wide = "id, CAST(id % 1000 AS INT) AS quantity, uuid() AS note, CAST(rand() * 1000 AS DECIMAL(9,2)) AS price"
    contiguous = f"FROM range(0, {rows}, 1, {LARGE_FILES})"
    tables = {
        "contiguous": f"AS SELECT {wide} {contiguous}",
        "scattered": f"AS SELECT /*+ REPARTITION({LARGE_FILES}) */ {wide} {contiguous}",
        "partitioned": f"PARTITIONED BY (part) AS SELECT {wide}, CAST(id * {LARGE_FILES} DIV {rows} AS INT) AS part"
        f" {contiguous}",
        "vectors": "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        f" AS SELECT {wide} {contiguous}",
    }  # fmt: skip
    for name, definition in tables.items():
        off = "" if name == "vectors" else "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false') "
        spark.sql(f"CREATE OR REPLACE TABLE {name} USING delta {off}{definition}").collect()
    part = f", CAST(id * {LARGE_FILES} DIV {rows} AS INT) AS part"
    row = "id, 1 AS quantity, 'merged' AS note, CAST(1 AS DECIMAL(9,2)) AS price"
    every, recent = f"range(0, {rows}, 200)", f"range({rows - rows // 20}, {rows + rows // 2000}, 10)"
    for name, definition in {
        "feed_every": f"SELECT {row}{part} FROM {every}",
        "feed_recent": f"SELECT {row}{part} FROM {recent}",
        "feed_late": f"SELECT {row} FROM {recent} UNION ALL SELECT {row} FROM range({rows // 4}, {rows // 4 + 1000})",
        "feed_lines": f"SELECT id, explode(sequence(1, 8)) AS line FROM {every}",
    }.items():
        spark.sql(f"CREATE OR REPLACE TABLE {name} USING delta AS {definition}").collect()
    clauses = "WHEN MATCHED THEN UPDATE SET quantity = s.quantity, note = s.note WHEN NOT MATCHED THEN INSERT *"
    costly = (
        "(SELECT f.id, CAST(sum(l.line) AS INT) AS quantity, max(f.note) AS note, max(f.price) AS price"
        " FROM feed_every f JOIN feed_lines l ON f.id = l.id GROUP BY f.id)"
    )

    def merge(source: str, more: str = "") -> str:
        return f"MERGE INTO {{target}} t USING {source} s ON t.id = s.id{more} {clauses}"

    return [
        Case("every file, contiguous keys", "rewrite-heavy, contiguous keys", "contiguous", merge("feed_every")),
        Case("every file, scattered keys", "rewrite-heavy, random keys", "scattered", merge("feed_every")),
        Case("the newest keys", "clustered or partitioned keys", "contiguous", merge("feed_recent")),
        Case("the newest keys and some late ones", "clustered or partitioned keys", "contiguous", merge("feed_late")),
        Case("the newest partitions", "clustered or partitioned keys", "partitioned",
             merge("feed_recent", " AND t.part = s.part")),
        Case("the newest keys, with vectors", "deletion vectors", "vectors", merge("feed_recent")),
        Case("a join and an aggregate as source", "costly source", "contiguous", merge(costly)),
    ]  # fmt: skip
