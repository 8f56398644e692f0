"""Merges of every kind over one small table, shared by the fidelity tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PLAIN = ""
VECTORS = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
VECTORS_AND_FEED = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')"

UPSERT = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
BY_SOURCE = (
    "WHEN MATCHED THEN UPDATE SET k = s.k WHEN NOT MATCHED BY SOURCE AND t.k = 3 THEN DELETE "
    "WHEN NOT MATCHED BY SOURCE AND t.k = 4 THEN UPDATE SET v = 'gone'"
)
SOME_EACH = (
    "WHEN MATCHED AND t.k = 4 THEN DELETE WHEN MATCHED AND s.k > 0 THEN UPDATE SET v = upper(s.v) "
    "WHEN NOT MATCHED AND s.id > 1000 THEN INSERT (id, d) VALUES (s.id, s.d)"
)
DELTA = "src"
QUERY = "(SELECT DISTINCT id, k, v, d FROM src WHERE k <> 1)"
VALUES = "(SELECT * FROM VALUES (950L, 1, 'a', DATE'2024-01-02'), (2000L, 2, 'b', DATE'2024-01-03') AS x(id, k, v, d))"
EMPTY = "(SELECT * FROM src WHERE false)"
TWICE = "(SELECT * FROM src UNION ALL SELECT * FROM src)"


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    on: str
    clauses: str
    table: str = PLAIN
    before: str = ""
    confs: tuple[tuple[str, str], ...] = ()

    def into(self, target: str) -> str:
        """The statement; a source may read the target as well, as ``{target}``."""
        source = self.source.replace("{target}", target)
        return f"{self.before}MERGE INTO {target} t USING {source} s ON {self.on} {self.clauses}"


def _cases() -> list[Case]:
    ids = "t.id = s.id"
    dated = "t.id = s.id AND t.d >= DATE'2024-01-03'"
    cases = []
    for kind, table in (
        ("plain", PLAIN),
        ("vectors", VECTORS),
        ("feed", FEED),
        ("vectors_feed", VECTORS_AND_FEED),
    ):
        cases += [
            Case(f"{kind}-upsert", DELTA, ids, UPSERT, table),
            Case(f"{kind}-upsert-materialized", VALUES, ids, UPSERT, table),
            Case(f"{kind}-some-each", QUERY, ids, SOME_EACH, table),
            Case(
                f"{kind}-matched-only-conditional",
                DELTA,
                dated,
                "WHEN MATCHED AND t.k > 5 THEN DELETE WHEN MATCHED AND s.k = 0 THEN UPDATE SET v = s.v",
                table,
            ),
            Case(f"{kind}-delete-all-matched", DELTA, ids, "WHEN MATCHED THEN DELETE", table),
            Case(f"{kind}-delete-with-duplicates", TWICE, ids, "WHEN MATCHED THEN DELETE", table),
            Case(f"{kind}-not-matched-by-source", DELTA, ids, BY_SOURCE, table),
            Case(
                f"{kind}-by-source-delete-empty-source",
                EMPTY,
                ids,
                "WHEN NOT MATCHED BY SOURCE THEN DELETE",
                table,
            ),
            Case(f"{kind}-insert-only", DELTA, dated, "WHEN NOT MATCHED THEN INSERT *", table),
            Case(
                f"{kind}-insert-two-clauses",
                DELTA,
                ids,
                "WHEN NOT MATCHED AND s.k = 0 THEN INSERT * "
                "WHEN NOT MATCHED AND s.k = 2 THEN INSERT (id) VALUES (s.id)",
                table,
            ),
        ]
    cases += [
        Case("no-match-inserts-all", DELTA, "t.id = s.id + 5000", UPSERT),
        Case("no-match-no-insert", DELTA, "t.id = s.id + 5000", "WHEN MATCHED THEN DELETE"),
        Case("matched-clause-never-true", DELTA, ids, "WHEN MATCHED AND t.k > 100 THEN DELETE"),
        Case(
            "insert-clause-rewrites-all-matches",
            DELTA,
            ids,
            "WHEN MATCHED AND t.k > 100 THEN DELETE WHEN NOT MATCHED THEN INSERT *",
        ),
        Case("constant-false", DELTA, "false", UPSERT),
        Case("null-safe-key", DELTA, "t.id <=> s.id AND t.k <=> s.k", UPSERT),
        Case("or-in-on", DELTA, "t.id = s.id AND (t.k = 1 OR s.k = 1)", UPSERT),
        Case("empty-source-upsert", EMPTY, ids, UPSERT),
        Case(
            "insert-only-optimization-off",
            DELTA,
            ids,
            "WHEN NOT MATCHED THEN INSERT *",
            confs=(("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled", "false"),),
        ),
        # found by random merges
        Case(
            "insert-only-from-a-view-that-takes-no-version",
            "fresh",
            ids,
            "WHEN NOT MATCHED THEN INSERT *",
            before="CREATE OR REPLACE TEMPORARY VIEW fresh AS SELECT * FROM src;\n",
        ),
        Case("insert-only-from-parquet-that-has-no-version", "src_parquet", ids, "WHEN NOT MATCHED THEN INSERT *"),
        Case("a-with-query-takes-no-version", "w", ids, UPSERT, before="WITH w AS (SELECT * FROM src WHERE k > 0) "),
        Case(
            "a-source-with-vectors-that-is-the-target",
            "(SELECT id + 500 AS id, k, v, d FROM {target} WHERE k > 3)",
            ids,
            UPSERT,
            VECTORS,
        ),
        Case(
            "statistics-off-over-vectors",
            DELTA,
            dated,
            SOME_EACH,
            VECTORS,
            confs=(("spark.databricks.delta.stats.skipping", "false"),),
        ),
        Case("a-constant-that-takes-the-key-away", DELTA, "t.id = s.id AND false", BY_SOURCE),
        Case("no-key-to-join-by", DELTA, "t.id = s.id OR t.id = s.id - 900", "WHEN MATCHED THEN UPDATE SET v = s.v"),
    ]
    return cases


# What neither vectors nor a change feed touches is merged once, or once with both.
SAME = {
    f"{kind}-{name}"
    for kind in ("vectors", "feed")
    for name in ("upsert-materialized", "insert-only", "insert-two-clauses", "by-source-delete-empty-source")
}
CASES = [case for case in _cases() if case.name not in SAME]


def build_source(spark: Any) -> None:
    """``src``: 200 rows, half of which match, and the same in Parquet. No merge changes them, so they serve for all."""
    spark.sql(
        "CREATE TABLE IF NOT EXISTS src USING delta AS SELECT id + 900 AS id, CAST(id % 3 AS INT) AS k, 'new' AS v, "
        "DATE'2024-01-02' AS d FROM range(0, 200, 1, 2)"
    )
    spark.sql("CREATE TABLE IF NOT EXISTS src_parquet USING parquet AS SELECT * FROM src")


def build_target(spark: Any, name: str, table: str) -> None:
    """1,000 rows, 4 partitions, 8 files, some with deletion vectors where ``table`` has them."""
    spark.sql(
        f"CREATE TABLE {name} USING delta PARTITIONED BY (d) {table} AS SELECT id, CAST(id % 10 AS INT) AS k, "
        "concat('v', id) AS v, DATE'2024-01-01' + CAST(id % 4 AS INT) AS d FROM range(0, 1000, 1, 2)"
    )
    if "DeletionVectors" in table:
        spark.sql(f"DELETE FROM {name} WHERE id % 50 = 3")
