"""Tables that are replaced, or made or replaced."""

from __future__ import annotations

from tests.engine.creates.case import (
    APPEND_ONLY,
    CLUSTERED,
    LOG,
    LOG_ROWS,
    MAPPED,
    PARQUET,
    PATH,
    ROWS,
    SRC,
    VIEW,
    Case,
    T,
)

REPLACED = (
    Case(
        "replace, append-only and empty",
        "CREATE OR REPLACE TABLE t (id INT) USING delta",
        (APPEND_ONLY,),
    ),
    Case("replace", "REPLACE TABLE t (x BIGINT) USING delta COMMENT 'new'", (T, ROWS), quick=True),
    Case("create or replace", "CREATE OR REPLACE TABLE t (id INT) USING delta CLUSTER BY (id)", (T, ROWS), quick=True),
    Case("replace partitioning", "REPLACE TABLE t (id INT, v STRING) USING delta PARTITIONED BY (v)", (T, ROWS)),
    Case(
        "replace properties",
        "REPLACE TABLE t (id INT) USING delta TBLPROPERTIES ('x' = 'y')",
        (SRC.replace("src", "t"),),
    ),
    Case(
        "replace keeps the protocol",
        "REPLACE TABLE t (id INT) USING delta",
        (T + " TBLPROPERTIES ('delta.enableDeletionVectors'='true')",),
    ),
    Case(
        "replace a mapped table",
        "REPLACE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode'='name')",
        (MAPPED.replace("src", "t"),),
    ),
    Case(
        "replace, in-commit timestamps on",
        "REPLACE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.enableInCommitTimestamps'='true')",
        (T, ROWS),
    ),
    Case("replace without columns", "REPLACE TABLE t USING delta", (T,)),
    Case("replace a missing table", "REPLACE TABLE t (id INT) USING delta", quick=True),
    Case("replace a missing path", "REPLACE TABLE delta.`{dir}/new` (id INT) USING delta", target="delta.`{dir}/new`"),
    Case("replace by path", f"REPLACE TABLE {PATH} (x INT) USING delta", (LOG, LOG_ROWS), PATH),
    Case("replace, a view", "CREATE OR REPLACE TABLE t (id INT) USING delta", (VIEW,)),
    Case("replace, another format", "CREATE OR REPLACE TABLE pq (id INT) USING delta", (PARQUET,), "pq"),
    Case("replace at another place", "CREATE OR REPLACE TABLE t (id INT) USING delta LOCATION '{dir}/new'", (T,)),
    Case(
        "clustered by partitioned",
        "REPLACE TABLE t (id INT, v INT) USING delta PARTITIONED BY (v)",
        (CLUSTERED.replace("src", "t"),),
        quick=True,
    ),
    Case("exists", "CREATE TABLE t (id INT) USING delta", (T,), quick=True),
    Case("exists by path", f"CREATE TABLE {PATH} (id INT) USING delta", (LOG,), PATH),
)
