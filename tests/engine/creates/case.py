"""What the cases share: how one is written, and the tables that are there before it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One statement. ``target`` is the table that it is about, ``before`` what is run first."""

    name: str
    sql: str
    before: tuple[str, ...] = ()
    target: str = "t"
    quick: bool = False


T = "CREATE TABLE t (id INT, v STRING) USING delta"
ROWS = "INSERT INTO t VALUES (1, 'a'), (2, 'b')"
APPEND_ONLY = "CREATE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true')"
SRC = (
    "CREATE TABLE src (id INT NOT NULL COMMENT 'the key', d DATE, g INT GENERATED ALWAYS AS (id + 1), s VARCHAR(10)) "
    "USING delta PARTITIONED BY (d) COMMENT 'hello' TBLPROPERTIES ('a' = 'b')"
)
SRC_ROWS = "INSERT INTO src (id, d, s) VALUES (1, DATE'2024-01-01', 'x'), (2, DATE'2024-01-02', 'y')"
CLUSTERED = (
    "CREATE TABLE src (id INT, v STRING) USING delta CLUSTER BY (id) TBLPROPERTIES ('delta.appendOnly' = 'true')"
)
PARQUET = "CREATE TABLE pq USING parquet AS SELECT 1 AS id, 'a' AS b"
MAPPED = "CREATE TABLE src (`a b` INT, c STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
LOG = "CREATE TABLE delta.`{dir}/log` (id INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v')"
LOG_ROWS = "INSERT INTO delta.`{dir}/log` VALUES (1, 1)"
PATH = "delta.`{dir}/log`"
VIEW = "CREATE VIEW t AS SELECT 1 AS a"


def with_columns(name: str, columns: str, rest: str = "", *, quick: bool = False) -> Case:
    return Case(name, f"CREATE TABLE t ({columns}) USING delta {rest}", quick=quick)
