"""Tables that are made by a query."""

# ruff: noqa: E501  a statement stays on its line

from __future__ import annotations

from tests.engine.creates.case import CLUSTERED, LOG, LOG_ROWS, PATH, ROWS, SRC, SRC_ROWS, Case, T

SELECTED = (
    Case(
        "as select",
        "CREATE TABLE t USING delta AS SELECT id, v FROM VALUES (1, 'a'), (2, NULL) AS x(id, v)",
        quick=True,
    ),
    Case(
        "as select, partitioned",
        "CREATE TABLE t USING delta PARTITIONED BY (d) AS SELECT id, d, s FROM src",
        (SRC, SRC_ROWS),
        quick=True,
    ),
    Case(
        "as select, clustered", "CREATE TABLE t USING delta CLUSTER BY (id) AS SELECT id, s FROM src", (SRC, SRC_ROWS)
    ),
    Case("as select, WITH", "CREATE TABLE t USING delta COMMENT 'c' AS WITH q AS (SELECT 1 AS a) SELECT * FROM q"),
    Case("as select without AS", "CREATE TABLE t USING delta TBLPROPERTIES ('x' = '1') SELECT 1 AS a"),
    Case(
        "as select, options",
        "CREATE TABLE t USING delta OPTIONS ('x' = '1', 'delta.AppendOnly' = 'true') AS SELECT 1 AS a",
    ),
    Case("as select, no row", "CREATE TABLE t USING delta AS SELECT 1 AS a WHERE false"),
    Case("as select, if not exists", "CREATE TABLE IF NOT EXISTS t USING delta AS SELECT 1 AS a", (T, ROWS)),
    Case("as select, exists", "CREATE TABLE t USING delta AS SELECT 1 AS a", (T,)),
    Case(
        "as select, replaced",
        "CREATE OR REPLACE TABLE t USING delta AS SELECT id + 1 AS id FROM t",
        (T, ROWS),
        quick=True,
    ),
    Case("as select, replace", "REPLACE TABLE t USING delta AS SELECT 1 AS a, 'x' AS b", (T, ROWS)),
    Case("as select, replace a missing one", "REPLACE TABLE t USING delta AS SELECT 1 AS a"),
    Case(
        "as select, clustered by partitioned",
        "REPLACE TABLE t USING delta PARTITIONED BY (v) AS SELECT 1 AS id, 2 AS v",
        (CLUSTERED.replace("src", "t").replace("true", "false"),),
    ),
    Case("as select, external", "CREATE TABLE t USING delta LOCATION '{dir}/new' AS SELECT 1 AS a"),
    Case("as select, over a log", "CREATE TABLE t USING delta LOCATION '{dir}/log' AS SELECT 1 AS a", (LOG, LOG_ROWS)),
    Case(
        "as select, replace a log",
        "CREATE OR REPLACE TABLE t USING delta LOCATION '{dir}/log' AS SELECT 1 AS a, 2 AS b",
        (LOG, LOG_ROWS),
    ),
    Case(
        "as select, by path", "CREATE TABLE delta.`{dir}/new` USING delta AS SELECT 1 AS a", target="delta.`{dir}/new`"
    ),
    Case("as select, replace by path", f"REPLACE TABLE {PATH} USING delta AS SELECT 1 AS a", (LOG, LOG_ROWS), PATH),
    Case(
        "as select, a default without the feature",
        "CREATE TABLE t USING delta AS SELECT * FROM src",
        (
            "CREATE TABLE src (a INT DEFAULT 1) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults'='supported')",
        ),
    ),
    Case(
        "as select, a constraint that a row breaks",
        "CREATE TABLE t USING delta TBLPROPERTIES ('delta.constraints.c' = 'a > 0') AS SELECT id AS a FROM range(3)",
        quick=True,
    ),
    Case(
        "as select, a constraint that holds",
        "CREATE TABLE t USING delta TBLPROPERTIES ('delta.constraints.c' = 'a >= 0') AS SELECT id AS a FROM range(3)",
    ),
    Case("as select, two columns of a name", "CREATE TABLE t USING delta AS SELECT 1 AS a, 2 AS A"),
)
