"""Tables that are made like another, and clones."""

from __future__ import annotations

from tests.engine.creates.case import (
    CLUSTERED,
    COUNTED,
    COUNTING,
    LOG,
    MAPPED,
    PARQUET,
    PATH,
    ROWS,
    SRC,
    SRC_ROWS,
    Case,
    T,
)

ENABLING = (
    *((f"enable{name}", "true") for name in ("DeletionVectors", "InCommitTimestamps", "RowTracking", "TypeWidening")),
    ("enableChangeDataFeed", "true"),
    ("enableRowTracking", "false"),
    ("enableVariantShredding", "true"),
    ("feature.rowTracking", "supported"),
    ("feature.deletionVectors", "supported"),
    ("columnMapping.mode", "name"),
    ("checkpointPolicy", "v2"),
    ("constraints.c", "id > 0"),
    ("minWriterVersion", "7"),
)
CLUSTERED_ANEW = (
    "CREATE TABLE src (a INT, s STRUCT<x: INT, y: INT>) USING delta CLUSTER BY (a) "
    "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.checkpointInterval' = '2')",
    "ALTER TABLE src CLUSTER BY (s.x)",
    "ALTER TABLE src RENAME COLUMN s TO `r 1`",
    "ALTER TABLE src CLUSTER BY NONE",
)
LIKED = (
    Case("like a Delta table", "CREATE TABLE t LIKE src", (SRC, SRC_ROWS), quick=True),
    Case("like one with identities", "CREATE TABLE t LIKE src", (COUNTING, COUNTED)),
    Case("like, with properties", "CREATE TABLE t LIKE src TBLPROPERTIES ('x' = 'y')", (SRC,)),
    *(
        Case(
            f"like one of protocol ({versions}), with {key} = {value}",
            f"CREATE TABLE t LIKE src TBLPROPERTIES ('delta.{key}' = '{value}')",
            (f"CREATE TABLE src (id INT) USING delta TBLPROPERTIES ({of_source})",),
            quick=(versions, key) in (("1, 1", "enableChangeDataFeed"), ("1, 7", "enableTypeWidening")),
        )
        for versions, of_source in (
            ("1, 1", "'delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '1'"),
            ("1, 2", "'a' = 'b'"),
            ("1, 7", "'delta.feature.rowTracking' = 'supported'"),
            ("3, 7", "'delta.enableDeletionVectors' = 'true'"),
        )
        for key, value in ENABLING
    ),
    Case("like a clustered one", "CREATE TABLE t LIKE src", (CLUSTERED,)),
    Case(
        "like one that names its columns with statistics",
        "CREATE TABLE t LIKE src",
        ("CREATE TABLE src (id INT, v STRING) USING delta TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id')",),
    ),
    Case("like a mapped one", "CREATE TABLE t LIKE src", (MAPPED,)),
    Case("like another format", "CREATE TABLE t LIKE pq USING delta", (PARQUET,), quick=True),
    Case("like, at a location", "CREATE TABLE t LIKE src LOCATION '{dir}/new'", (SRC,)),
    Case("like, exists", "CREATE TABLE t LIKE src", (SRC, T)),
    Case("like, if not exists", "CREATE TABLE IF NOT EXISTS t LIKE src", (SRC, T)),
)
CLONED = (
    Case("clone", "CREATE TABLE t SHALLOW CLONE src", (SRC, SRC_ROWS), quick=True),
    Case("clone one with identities", "CREATE TABLE t SHALLOW CLONE src", (COUNTING, COUNTED)),
    Case("clone a version", "CREATE TABLE t SHALLOW CLONE src VERSION AS OF 0", (SRC, SRC_ROWS), quick=True),
    Case("clone a time", "CREATE TABLE t SHALLOW CLONE src TIMESTAMP AS OF '{time}'", (SRC, SRC_ROWS)),
    Case(
        "clone an old schema",
        "CREATE TABLE t SHALLOW CLONE src VERSION AS OF 1",
        (SRC, SRC_ROWS, "ALTER TABLE src ADD COLUMN z INT", "ALTER TABLE src SET TBLPROPERTIES ('n' = '1')"),
    ),
    Case(
        "clone with properties",
        "CREATE TABLE t SHALLOW CLONE src TBLPROPERTIES ('a' = 'c', 'delta.enableDeletionVectors' = 'true')",
        (SRC, SRC_ROWS),
    ),
    Case(
        "clone a row-tracked one without tracking",
        "CREATE TABLE t SHALLOW CLONE src TBLPROPERTIES ('delta.enableRowTracking' = 'false')",
        ("CREATE TABLE src (a INT) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true')",),
    ),
    Case(
        "clone a row-tracked one",
        "CREATE TABLE t SHALLOW CLONE src",
        ("CREATE TABLE src (a INT) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true')",),
    ),
    Case("clone to a location", "CREATE TABLE t SHALLOW CLONE src LOCATION '{dir}/new'", (SRC, SRC_ROWS)),
    Case("clone by path", "CREATE TABLE delta.`{dir}/new` SHALLOW CLONE src", (SRC, SRC_ROWS), "delta.`{dir}/new`"),
    Case("clone a clustered one", "CREATE TABLE t SHALLOW CLONE src", (CLUSTERED,)),
    *(
        Case(
            f"clone v{version} of {of}",
            f"CREATE TABLE t SHALLOW CLONE src VERSION AS OF {version}",
            before,
            quick=quick,
        )
        for version, of, before, quick in (
            (0, "one that is clustered otherwise now", CLUSTERED_ANEW, False),
            (2, "one that is clustered no more, from a checkpoint", CLUSTERED_ANEW, True),
            (3, "one that is clustered no more", (*CLUSTERED_ANEW, "ALTER TABLE src CLUSTER BY (a)"), False),
            (
                0,
                "one that is clustered only now",
                ("CREATE TABLE src (id INT) USING delta", "ALTER TABLE src CLUSTER BY (id)"),
                False,
            ),
        )
    ),
    Case("clone a mapped one", "CREATE TABLE t SHALLOW CLONE src", (MAPPED,)),
    Case("clone another format", "CREATE TABLE t SHALLOW CLONE pq", (PARQUET,)),
    *(
        Case(f"clone {what}", f"CREATE TABLE t SHALLOW CLONE {source} {rest}", before)
        for what, source, rest, before in (
            ("Parquet, row tracking", "pq", "TBLPROPERTIES ('delta.enableRowTracking' = 'true')", (PARQUET,)),
            (
                "files without statistics, row tracking",
                "src",
                "TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
                (
                    "CREATE TABLE src (a INT) USING delta",
                    "SET spark.databricks.delta.stats.collect = false",
                    "INSERT INTO src VALUES (1)",
                    "RESET spark.databricks.delta.stats.collect",
                ),
            ),
            (
                "Parquet with partitions",
                "pp",
                "",
                (
                    "CREATE TABLE pp USING parquet PARTITIONED BY (p) AS SELECT 1 AS id, 'a b' AS p",
                    "INSERT INTO pp VALUES (2, 'c')",
                ),
            ),
            (
                "Parquet at a place with a blank",
                "pq",
                "",
                ("CREATE TABLE pq USING parquet LOCATION '{dir}/p p' AS SELECT 1 AS id",),
            ),
            (
                "Parquet with a partition elsewhere",
                "pp",
                "",
                (
                    "CREATE TABLE pp USING parquet PARTITIONED BY (p) AS SELECT 1 AS id, 2 AS p",
                    "INSERT OVERWRITE DIRECTORY '{dir}/p3' USING parquet SELECT 3 AS id",
                    "ALTER TABLE pp ADD PARTITION (p = 3) LOCATION '{dir}/p3'",
                ),
            ),
            (
                "Parquet without any partition",
                "pp",
                "",
                ("CREATE TABLE pp (id INT, p INT) USING parquet PARTITIONED BY (p)",),
            ),
            (
                "a path with partitions",
                "parquet.`{dir}/pp`",
                "",
                ("CREATE TABLE pp USING parquet PARTITIONED BY (p) LOCATION '{dir}/pp' AS SELECT 1 AS id, 2 AS p",),
            ),
        )
    ),
    *(
        Case(f"clone {source}", f"CREATE TABLE t SHALLOW CLONE {source}", before, quick=source == "js")
        for source, before in (
            ("js", ("CREATE TABLE js USING json AS SELECT 1 AS id",)),
            ("vw", ("CREATE VIEW vw AS SELECT 1 AS id",)),
            ("json.`{dir}/js`", ("INSERT OVERWRITE DIRECTORY '{dir}/js' USING json SELECT 1 AS id",)),
            ("pq VERSION AS OF 0", (PARQUET,)),
        )
    ),
    Case(
        "clone over an empty one", "CREATE OR REPLACE TABLE t SHALLOW CLONE src", (SRC, SRC_ROWS, T + " COMMENT 'old'")
    ),
    Case(
        "clone, column mapping off",
        "CREATE TABLE t SHALLOW CLONE src TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
        (MAPPED,),
        quick=True,
    ),
    Case(
        "clone, column mapping on",
        "CREATE TABLE t SHALLOW CLONE src TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        (SRC, SRC_ROWS),
    ),
    Case(
        "clone, another mode over rows",
        "CREATE OR REPLACE TABLE t SHALLOW CLONE src",
        (SRC, T + " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", ROWS),
    ),
    Case("clone over rows", "CREATE OR REPLACE TABLE t SHALLOW CLONE src", (SRC, T, ROWS), quick=True),
    Case(
        "clone one with the preview of a feature",
        "CREATE TABLE t SHALLOW CLONE src TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        ("CREATE TABLE src (a INT) USING delta TBLPROPERTIES ('delta.feature.typeWidening-preview' = 'supported')",),
        quick=True,
    ),
    Case(
        "clone one with the preview of variants",
        "CREATE TABLE t SHALLOW CLONE src",
        ("CREATE TABLE src (v VARIANT) USING delta TBLPROPERTIES ('delta.feature.variantType-preview' = 'supported')",),
    ),
    Case("clone, exists", "CREATE TABLE t SHALLOW CLONE src", (SRC, T)),
    Case("clone, if not exists", "CREATE TABLE IF NOT EXISTS t SHALLOW CLONE src", (SRC, T)),
    Case("clone, replace a missing one", "REPLACE TABLE t SHALLOW CLONE src", (SRC,)),
    Case("clone over a path", f"CREATE TABLE {PATH} SHALLOW CLONE src", (SRC, LOG), PATH),
)
