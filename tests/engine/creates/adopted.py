"""Tables at a place that has a log already."""

# ruff: noqa: E501  a statement stays on its line

from __future__ import annotations

from tests.engine.creates.case import LOG, LOG_ROWS, Case

ADOPTED = (
    Case("a log without columns", "CREATE TABLE t USING delta LOCATION '{dir}/log'", (LOG, LOG_ROWS), quick=True),
    Case(
        "a log that fits",
        "CREATE TABLE t (id INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('k'='v') LOCATION '{dir}/log'",
        (LOG, LOG_ROWS),
    ),
    Case(
        "a log, its columns and fields in another order",
        "CREATE TABLE t (p INT, s STRUCT<y: MAP<STRING, STRUCT<c: INT, b: DECIMAL(10, 2)>>, x: INT>, id INT NOT NULL) "
        "USING delta PARTITIONED BY (p) LOCATION '{dir}/log'",
        (
            "CREATE TABLE delta.`{dir}/log` (id INT NOT NULL, "
            "s STRUCT<x: INT, y: MAP<STRING, STRUCT<b: DECIMAL(10, 2), c: INT>>>, p INT) USING delta PARTITIONED BY (p)",
        ),
        quick=True,
    ),
    Case(
        "a log, a field of another type",
        "CREATE TABLE t (s STRUCT<y: INT, x: STRING>) USING delta LOCATION '{dir}/log'",
        ("CREATE TABLE delta.`{dir}/log` (s STRUCT<x: INT, y: STRING>) USING delta",),
    ),
    Case(
        "a log, a length for a plain string",
        "CREATE TABLE t (s VARCHAR(3)) USING delta LOCATION '{dir}/log'",
        ("CREATE TABLE delta.`{dir}/log` (s STRING) USING delta",),
    ),
    Case(
        "a log, no length for its string",
        "CREATE TABLE t (s STRING) USING delta LOCATION '{dir}/log'",
        ("CREATE TABLE delta.`{dir}/log` (s VARCHAR(3)) USING delta",),
    ),
    Case(
        "a log, its lengths",
        "CREATE TABLE t (s VARCHAR(3), c CHAR(2), a STRUCT<x: INT, v: VARCHAR(4)>) USING delta LOCATION '{dir}/log'",
        ("CREATE TABLE delta.`{dir}/log` (s VARCHAR(3), c CHAR(2), a STRUCT<x: INT, v: VARCHAR(4)>) USING delta",),
    ),
    Case(
        "a log, no properties given",
        "CREATE TABLE t (id INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{dir}/log'",
        (LOG, LOG_ROWS),
    ),
    Case(
        "a log, create or replace",
        "CREATE OR REPLACE TABLE t (id INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{dir}/log'",
        (LOG, LOG_ROWS),
        quick=True,
    ),
    Case("a log, other columns", "CREATE TABLE t (id INT) USING delta LOCATION '{dir}/log'", (LOG,), quick=True),
    Case(
        "a log, another type",
        "CREATE TABLE t (id BIGINT, p INT) USING delta PARTITIONED BY (p) LOCATION '{dir}/log'",
        (LOG,),
    ),
    Case("a log, other partitioning", "CREATE TABLE t (id INT, p INT) USING delta LOCATION '{dir}/log'", (LOG,)),
    Case(
        "a log, clustering",
        "CREATE TABLE t (id INT, v STRING) USING delta LOCATION '{dir}/log'",
        ("CREATE TABLE delta.`{dir}/log` (id INT, v STRING) USING delta CLUSTER BY (id)",),
    ),
    Case(
        "a log, other properties",
        "CREATE TABLE t (id INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('k'='w') LOCATION '{dir}/log'",
        (LOG,),
    ),
    *(
        Case(
            f"a log, {what}",
            f"CREATE TABLE t {given} USING delta {rest} LOCATION '{{dir}}/log'",
            (f"CREATE TABLE delta.`{{dir}}/log` {logged}", *more),
        )
        for what, given, rest, logged, more in (
            (
                "the mode of its mapping",
                "",
                "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
                "(id INT) USING delta",
                (),
            ),
            (
                "its mode is not given",
                "",
                "TBLPROPERTIES ('a' = 'b')",
                "(id INT) USING delta TBLPROPERTIES ('a' = 'b', 'delta.columnMapping.mode' = 'name')",
                (),
            ),
            (
                "its mode is given",
                "(id INT, s STRUCT<a: INT COMMENT 'x'>)",
                "TBLPROPERTIES ('a' = 'b', 'delta.columnMapping.mode' = 'name')",
                "(id INT, s STRUCT<a: INT COMMENT 'x'>) USING delta "
                "TBLPROPERTIES ('a' = 'b', 'delta.columnMapping.mode' = 'name')",
                (),
            ),
            (
                "its nested fields alike",
                "(s STRUCT<a: INT NOT NULL COMMENT 'x'>, l ARRAY<STRUCT<b: INT COMMENT 'y'>>)",
                "",
                "(s STRUCT<a: INT NOT NULL COMMENT 'x'>, l ARRAY<STRUCT<b: INT COMMENT 'y'>>) USING delta",
                (),
            ),
            ("a nested NOT NULL", "(s STRUCT<a: INT NOT NULL>)", "", "(s STRUCT<a: INT>) USING delta", ()),
            ("a nested comment", "(s STRUCT<a: INT COMMENT 'x'>)", "", "(s STRUCT<a: INT>) USING delta", ()),
            (
                "a default",
                "(a INT, b INT DEFAULT 7)",
                "",
                "(a INT, b INT DEFAULT 7) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
                (),
            ),
            (
                "an identity that has counted",
                "(i BIGINT GENERATED ALWAYS AS IDENTITY, v INT)",
                "",
                "(i BIGINT GENERATED ALWAYS AS IDENTITY, v INT) USING delta",
                ("INSERT INTO delta.`{dir}/log` (v) VALUES (1)",),
            ),
            (
                "clustered no more",
                "(id INT)",
                "",
                "(id INT) USING delta CLUSTER BY (id)",
                ("ALTER TABLE delta.`{dir}/log` CLUSTER BY NONE",),
            ),
            (
                "clustered, properties alone",
                "",
                "TBLPROPERTIES ('a' = 'b')",
                "(id INT) USING delta CLUSTER BY (id) TBLPROPERTIES ('a' = 'b')",
                (),
            ),
            (
                "clustered, all given",
                "(id INT)",
                "CLUSTER BY (id) TBLPROPERTIES ('a' = 'b')",
                "(id INT) USING delta CLUSTER BY (id) TBLPROPERTIES ('a' = 'b')",
                (),
            ),
        )
    ),
    Case(
        "files without a log",
        "CREATE TABLE t (a INT) USING delta LOCATION '{dir}/files'",
        ("INSERT OVERWRITE DIRECTORY '{dir}/files' USING parquet SELECT 1 AS a",),
    ),
    Case(
        "files without a log, no columns",
        "CREATE TABLE t USING delta LOCATION '{dir}/files'",
        ("INSERT OVERWRITE DIRECTORY '{dir}/files' USING parquet SELECT 1 AS a",),
    ),
    Case(
        "files without a log, as select",
        "CREATE TABLE t USING delta LOCATION '{dir}/files' AS SELECT 1 AS a",
        ("INSERT OVERWRITE DIRECTORY '{dir}/files' USING parquet SELECT 1 AS a",),
    ),
)
