"""Sources of every kind and what Delta decides about them: the classic session asks Delta itself (py4j)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AUTO = "NOT_MATERIALIZED_AUTO"
INSERT_ONLY = "NOT_MATERIALIZED_AUTO_INSERT_ONLY"
NONE = "NOT_MATERIALIZED_NONE"
ALL = "MATERIALIZE_ALL"
NON_DELTA = "NON_DETERMINISTIC_SOURCE_NON_DELTA"
OPERATORS = "NON_DETERMINISTIC_SOURCE_OPERATORS"
UNREADABLE = "IGNORE_UNREADABLE_FILES_CONFIGS_ARE_SET"
UDF = "NON_DETERMINISTIC_SOURCE_WITH_DETERMINISTIC_UDF"
CACHED = "SOURCE_CACHED"

UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
INSERT = "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
BY_SOURCE = "WHEN NOT MATCHED BY SOURCE THEN DELETE"
MERGE = "spark.databricks.delta.merge."
MODE = f"{MERGE}materializeSource"
OPTIMIZATION_OFF = (f"{MERGE}optimizeInsertOnlyMerge.enabled", "false")
UNREADABLE_OFF = (f"{MERGE}forceSourceMaterializationWithUnreadableFilesConfig", "false")
CACHED_OFF = (f"{MERGE}materializeCachedSource", "false")
MISSING = ("spark.sql.files.ignoreMissingFiles", "true")
CORRUPT = ("spark.sql.files.ignoreCorruptFiles", "true")


@dataclass(frozen=True)
class Shape:
    """A source, and the reason that Delta gives; ``{names}`` are the shop's."""

    name: str
    reason: str
    source: str
    clauses: str = UPSERT
    confs: tuple[tuple[str, str], ...] = ()
    prefix: str = ""
    since: str = "4.0"
    """The release of Spark that knows the statement, or resolves its names so."""

    @property
    def sql(self) -> str:
        return f"{self.prefix}MERGE INTO tgt AS t USING {self.source} AS s ON t.id = s.id {self.clauses}"


SHAPES = (
    # the mode decides alone (rules 1 and 2)
    Shape("mode_all", ALL, "src", confs=((MODE, "all"),)),
    Shape("mode_all_in_capitals", ALL, "src", confs=((MODE, "ALL"),)),
    Shape("mode_all_for_an_insert", ALL, "src", INSERT, confs=((MODE, "all"),)),
    Shape("mode_none_over_parquet", NONE, "pq", confs=((MODE, "none"),)),
    Shape("mode_none_over_rand", NONE, "(SELECT id, CAST(rand() AS STRING) AS v FROM src)", confs=((MODE, "NONE"),)),
    Shape("mode_auto_in_capitals", NON_DELTA, "pq", confs=((MODE, "AUTO"),)),
    # a merge that only inserts reads its source once (rule 3)
    Shape("insert_only", INSERT_ONLY, "pq", INSERT),
    Shape(
        "insert_only_with_a_condition",
        INSERT_ONLY,
        "pq",
        f"WHEN NOT MATCHED AND s.id > 2 THEN INSERT (id) VALUES (s.id) {INSERT}",
    ),
    Shape("insert_only_star", INSERT_ONLY, "pq", "WHEN NOT MATCHED THEN INSERT *"),
    Shape("insert_only_by_target", INSERT_ONLY, "pq", "WHEN NOT MATCHED BY TARGET THEN INSERT *"),
    Shape("insert_only_without_its_optimization", NON_DELTA, "pq", INSERT, confs=(OPTIMIZATION_OFF,)),
    Shape("insert_only_without_its_optimization_over_delta", AUTO, "src", INSERT, confs=(OPTIMIZATION_OFF,)),
    Shape("insert_and_not_matched_by_source", NON_DELTA, "pq", f"{INSERT} {BY_SOURCE}"),
    Shape("not_matched_by_source_alone", AUTO, "src", BY_SOURCE),
    Shape("not_matched_by_source_over_parquet", NON_DELTA, "pq", BY_SOURCE),
    Shape("matched_only", AUTO, "src", "WHEN MATCHED THEN DELETE"),
    # scans (rule 4)
    Shape("a_delta_table", AUTO, "src"),
    Shape("the_target_itself", AUTO, "tgt"),
    Shape("the_target_filtered", AUTO, "(SELECT * FROM tgt WHERE id > 3)"),
    Shape("a_qualified_delta_table", AUTO, "{schema}.src"),
    Shape("a_fully_qualified_delta_table", AUTO, "spark_catalog.{schema}.src"),
    Shape("identifier_clause", AUTO, "IDENTIFIER('src')"),
    Shape("a_delta_table_at_a_version", AUTO, "(SELECT * FROM src VERSION AS OF 0)"),
    Shape("a_delta_table_at_a_timestamp", AUTO, "(SELECT * FROM src TIMESTAMP AS OF '{timestamp}')"),
    Shape("a_delta_path", AUTO, "{path}"),
    Shape("a_delta_path_in_a_query", AUTO, "(SELECT * FROM {path} WHERE id > 1)"),
    Shape("a_delta_path_at_a_version", AUTO, "(SELECT * FROM {path} VERSION AS OF 0)"),
    Shape("a_delta_path_with_at", AUTO, "delta.`{dpath}@v0`"),
    Shape("a_partitioned_delta_table_with_deletion_vectors", AUTO, "parted"),
    Shape("a_partition_filter", AUTO, "(SELECT id, v FROM parted WHERE p = 1)"),
    Shape("a_wide_table_with_column_mapping_generated_and_char_columns", AUTO, "mapped"),
    Shape(
        "columns_with_odd_names", AUTO, "(SELECT `id` AS id, `a b`, `rand()` AS v, `x#12`, `outer(x#1)` FROM mapped)"
    ),
    Shape("char_columns_compared", AUTO, "(SELECT id, v FROM mapped WHERE c = 'a')"),
    Shape("a_delta_table_that_is_named_by_a_number", AUTO, "`2024`"),
    Shape("a_parquet_table_that_is_named_by_a_number", NON_DELTA, "`2025`"),
    Shape("a_parquet_table_called_delta", NON_DELTA, "delta"),
    Shape("rand_behind_many_columns", OPERATORS, "(SELECT * EXCEPT (v), CAST(rand() AS STRING) AS v FROM mapped)"),
    Shape("a_parquet_table", NON_DELTA, "pq"),
    Shape("a_csv_table", NON_DELTA, "cs"),
    Shape("an_orc_table", NON_DELTA, "oc"),
    Shape("a_hive_table", NON_DELTA, "hv"),
    Shape("a_parquet_path", NON_DELTA, "(SELECT * FROM parquet.`{parquet_path}`)"),
    Shape("a_parquet_path_without_a_query", NON_DELTA, "parquet.`{parquet_path}`"),
    Shape("parquet_files_of_a_delta_table", NON_DELTA, "(SELECT id, v FROM parquet.`{dpath}`)"),
    Shape("literal_rows", NON_DELTA, "(SELECT * FROM VALUES (1L, 'a'), (2L, 'b') AS x(id, v))"),
    Shape("one_literal_row", AUTO, "(SELECT 1L AS id, 'a' AS v)"),
    Shape("one_literal_row_with_rand", OPERATORS, "(SELECT 1L AS id, CAST(rand() AS STRING) AS v)"),
    Shape("literal_rows_by_union", AUTO, "(SELECT 1L AS id, 'a' AS v UNION ALL SELECT 2L, 'b')"),
    Shape("range", NON_DELTA, "(SELECT id, 'a' AS v FROM range(5))"),
    Shape("range_joined", NON_DELTA, "(SELECT r.id, src.v FROM range(5) r JOIN src ON r.id = src.id)"),
    Shape("an_explode_without_a_table", OPERATORS, "(SELECT col AS id, 'a' AS v FROM explode(array(1L, 2L)))"),
    Shape("an_inline_without_a_table", OPERATORS, "(SELECT col1 AS id, col2 AS v FROM inline(array(struct(1L, 'a'))))"),
    Shape("a_stack_without_a_table", OPERATORS, "(SELECT col0 AS id, col1 AS v FROM stack(2, 1L, 'a', 2L, 'b'))"),
    Shape("table_changes", NON_DELTA, "(SELECT id, v FROM table_changes('parted', 0))"),
    Shape(
        "table_changes_joined",
        NON_DELTA,
        "(SELECT id, v FROM src UNION ALL SELECT id, v FROM table_changes('parted', 0))",
    ),
    Shape("the_table_statement", AUTO, "(TABLE src)"),
    Shape("the_from_statement", AUTO, "(FROM src SELECT id, v)"),
    Shape("pipes", OPERATORS, "(FROM src |> WHERE id > 2 |> SELECT id, v)"),
    Shape("pipes_with_limit", OPERATORS, "(FROM src |> WHERE id > 2 |> LIMIT 3)"),
    Shape("a_table_in_brackets", AUTO, "(SELECT * FROM (src))"),
    Shape("delta_and_parquet", NON_DELTA, "(SELECT * FROM src UNION ALL SELECT * FROM pq)"),
    Shape("delta_joined_with_parquet", NON_DELTA, "(SELECT src.id, pq.v FROM src JOIN pq ON src.id = pq.id)"),
    Shape("parquet_that_is_filtered_away", NON_DELTA, "(SELECT * FROM src UNION ALL SELECT * FROM pq WHERE false)"),
    Shape("parquet_that_is_limited_away", NON_DELTA, "(SELECT * FROM src UNION ALL (SELECT * FROM pq LIMIT 0))"),
    Shape(
        "parquet_cross_joined_and_unused", NON_DELTA, "(SELECT src.* FROM src CROSS JOIN (SELECT 1 FROM pq LIMIT 1))"
    ),
    Shape("an_empty_filter_over_delta", AUTO, "(SELECT * FROM src WHERE false)"),
    Shape("an_empty_filter_over_parquet", NON_DELTA, "(SELECT * FROM pq WHERE false)"),
    Shape("an_in_subquery_over_parquet", NON_DELTA, "(SELECT * FROM src WHERE id IN (SELECT id FROM pq))"),
    Shape("a_not_in_subquery_over_parquet", NON_DELTA, "(SELECT * FROM src WHERE id NOT IN (SELECT id FROM pq))"),
    Shape("an_exists_subquery_over_parquet", NON_DELTA, "(SELECT * FROM src WHERE EXISTS (SELECT 1 FROM pq))"),
    Shape("a_scalar_subquery_over_parquet", NON_DELTA, "(SELECT id, v FROM src WHERE id > (SELECT min(id) FROM pq))"),
    Shape("a_scalar_subquery_over_parquet_in_select", NON_DELTA, "(SELECT id, (SELECT max(v) FROM pq) AS v FROM src)"),
    Shape("an_in_subquery_over_values", NON_DELTA, "(SELECT * FROM src WHERE id IN (SELECT * FROM VALUES (1L), (2L)))"),
    Shape("an_in_subquery_over_range", NON_DELTA, "(SELECT * FROM src WHERE id IN (SELECT id FROM range(3)))"),
    Shape("an_in_list", AUTO, "(SELECT * FROM src WHERE id IN (1, 2, 3))"),
    Shape(
        "a_subquery_in_a_subquery_over_parquet",
        NON_DELTA,
        "(SELECT * FROM src WHERE id IN (SELECT id FROM src WHERE id IN (SELECT id FROM pq)))",
    ),
    Shape(
        "parquet_in_a_case_in_a_subquery",
        NON_DELTA,
        "(SELECT id, CASE WHEN EXISTS (SELECT 1 FROM pq) THEN v ELSE 'x' END AS v FROM src)",
    ),
    # views
    Shape("a_temporary_view_over_delta", OPERATORS, "delta_view"),
    Shape("a_temporary_view_over_parquet", NON_DELTA, "parquet_view"),
    Shape("a_temporary_view_over_values", NON_DELTA, "values_view"),
    Shape("a_temporary_view_using_delta", OPERATORS, "using_delta"),
    Shape("a_temporary_view_using_parquet", NON_DELTA, "using_parquet"),
    Shape("a_view_over_delta", OPERATORS, "lasting_view"),
    Shape("a_view_over_a_view", OPERATORS, "view_over_view"),
    Shape("a_view_over_parquet", NON_DELTA, "lasting_parquet_view"),
    Shape("a_global_temporary_view", OPERATORS, "global_temp.{schema}_view"),
    Shape("a_view_in_a_union", OPERATORS, "(SELECT * FROM src UNION ALL SELECT * FROM delta_view)"),
    Shape("a_view_in_an_in_subquery", OPERATORS, "(SELECT * FROM src WHERE id IN (SELECT id FROM delta_view))"),
    Shape("a_union_in_a_subquery_in_a_view", NON_DELTA, "(SELECT * FROM nested_view)"),
    Shape(
        "a_parquet_view_in_an_in_subquery", NON_DELTA, "(SELECT * FROM src WHERE id IN (SELECT id FROM parquet_view))"
    ),
    Shape("an_insert_from_a_view", INSERT_ONLY, "delta_view", INSERT),
    # operators (rule 5)
    Shape("a_filter", AUTO, "(SELECT * FROM src WHERE id > 3)"),
    Shape("a_projection", AUTO, "(SELECT id + 1 AS id, upper(v) AS v FROM src)"),
    Shape("a_star_without_a_column", AUTO, "(SELECT * EXCEPT (v), 'x' AS v FROM src)"),
    Shape("a_lateral_column_alias", AUTO, "(SELECT id + 1 AS id, concat(id, 'x') AS w, concat(w, 'y') AS v FROM src)"),
    Shape("nested_queries", AUTO, "(SELECT * FROM (SELECT * FROM (SELECT id, v FROM src) a WHERE id > 1) b)"),
    Shape("case_and_cast", AUTO, "(SELECT CAST(CASE WHEN id > 3 THEN id ELSE 0 END AS BIGINT) AS id, v FROM src)"),
    Shape("a_lambda", AUTO, "(SELECT id, element_at(transform(array(v), x -> concat(x, '!')), 1) AS v FROM src)"),
    Shape("distinct", AUTO, "(SELECT DISTINCT id, v FROM src)"),
    Shape("distinct_over_a_filter", AUTO, "(SELECT DISTINCT id, v FROM src WHERE id > 3)"),
    Shape("distinct_on_union", AUTO, "(SELECT DISTINCT * FROM (SELECT * FROM src UNION ALL SELECT * FROM src))"),
    Shape("union_all", AUTO, "(SELECT * FROM src UNION ALL SELECT * FROM src)"),
    Shape("union_distinct", AUTO, "(SELECT * FROM src UNION SELECT * FROM src)"),
    Shape(
        "a_union_of_three", AUTO, "(SELECT * FROM src UNION ALL SELECT * FROM tgt UNION ALL SELECT id, v FROM parted)"
    ),
    Shape("a_union_with_casts", AUTO, "(SELECT id, v FROM src UNION ALL SELECT CAST(id AS INT), v FROM src)"),
    Shape("group_by", OPERATORS, "(SELECT id, max(v) AS v FROM src GROUP BY id)"),
    Shape("group_by_having", OPERATORS, "(SELECT id, max(v) AS v FROM src GROUP BY id HAVING count(*) = 1)"),
    Shape("group_by_all", OPERATORS, "(SELECT id, max(v) AS v FROM src GROUP BY ALL)"),
    Shape("group_by_as_distinct", OPERATORS, "(SELECT id, v FROM src GROUP BY id, v)"),
    Shape("an_aggregate_without_keys", OPERATORS, "(SELECT max(id) AS id, max(v) AS v FROM src)"),
    Shape("grouping_sets", OPERATORS, "(SELECT id, v FROM src GROUP BY id, v GROUPING SETS ((id, v), (id)))"),
    Shape(
        "a_window",
        OPERATORS,
        "(SELECT id, v FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY v) n FROM src) WHERE n = 1)",
    ),
    Shape(
        "a_named_window",
        OPERATORS,
        "(SELECT id, first(v) OVER w AS v FROM src WINDOW w AS (PARTITION BY id ORDER BY v))",
    ),
    Shape(
        "qualify",
        OPERATORS,
        "(SELECT id, v FROM src QUALIFY row_number() OVER (PARTITION BY id ORDER BY v) = 1)",
        since="4.2",
    ),
    Shape("order_by", OPERATORS, "(SELECT * FROM src ORDER BY id)"),
    Shape("sort_by", OPERATORS, "(SELECT * FROM src SORT BY id)"),
    Shape("distribute_by", OPERATORS, "(SELECT * FROM src DISTRIBUTE BY id)"),
    Shape("cluster_by", OPERATORS, "(SELECT * FROM src CLUSTER BY id)"),
    Shape("limit", OPERATORS, "(SELECT * FROM src LIMIT 3)"),
    Shape("limit_zero", OPERATORS, "(SELECT * FROM src LIMIT 0)"),
    Shape("limit_all", AUTO, "(SELECT * FROM src LIMIT ALL)"),
    Shape("offset", OPERATORS, "(SELECT * FROM src OFFSET 2)"),
    Shape("order_by_limit_offset", OPERATORS, "(SELECT * FROM src ORDER BY id LIMIT 3 OFFSET 1)"),
    Shape("a_join", OPERATORS, "(SELECT a.id, b.v FROM src a JOIN src b ON a.id = b.id)"),
    Shape("a_join_by_commas", OPERATORS, "(SELECT a.id, b.v FROM src a, tgt b WHERE a.id = b.id)"),
    Shape("a_semi_join", OPERATORS, "(SELECT a.* FROM src a LEFT SEMI JOIN tgt b ON a.id = b.id)"),
    Shape("an_anti_join", OPERATORS, "(SELECT a.* FROM src a LEFT ANTI JOIN tgt b ON a.id = b.id)"),
    Shape("a_left_join", OPERATORS, "(SELECT a.id, b.v FROM src a LEFT JOIN tgt b ON a.id = b.id)"),
    Shape("a_natural_join", OPERATORS, "(SELECT id, v FROM src NATURAL JOIN tgt)"),
    Shape("a_lateral_join", OPERATORS, "(SELECT src.id, x.v FROM src, LATERAL (SELECT concat(src.v, 'x') AS v) x)"),
    Shape(
        "a_lateral_join_over_parquet",
        NON_DELTA,
        "(SELECT src.id, x.v FROM src, LATERAL (SELECT v FROM pq WHERE pq.id = src.id) x)",
    ),
    Shape("except", OPERATORS, "(SELECT * FROM src EXCEPT SELECT * FROM src WHERE id = 1)"),
    Shape("except_all", OPERATORS, "(SELECT * FROM src EXCEPT ALL SELECT * FROM src WHERE id = 1)"),
    Shape("minus_parquet", NON_DELTA, "(SELECT * FROM src MINUS SELECT * FROM pq)"),
    Shape("intersect", OPERATORS, "(SELECT * FROM src INTERSECT SELECT * FROM src)"),
    Shape("intersect_all", OPERATORS, "(SELECT * FROM src INTERSECT ALL SELECT * FROM tgt)"),
    Shape("explode", OPERATORS, "(SELECT id, explode(array(v, 'x')) AS v FROM src)"),
    Shape("lateral_view", OPERATORS, "(SELECT id, e AS v FROM src LATERAL VIEW explode(array(v)) x AS e)"),
    Shape(
        "lateral_view_outer",
        OPERATORS,
        "(SELECT id, e AS v FROM src LATERAL VIEW OUTER posexplode(array(v)) x AS p, e)",
    ),
    Shape("pivot", OPERATORS, "(SELECT id, a AS v FROM src PIVOT (max(v) FOR v IN ('v1' AS a, 'v2' AS b)))"),
    Shape("unpivot", OPERATORS, "(SELECT id, val AS v FROM src UNPIVOT (val FOR name IN (v)))"),
    Shape("tablesample", OPERATORS, "(SELECT * FROM src TABLESAMPLE (50 PERCENT))"),
    Shape("tablesample_repeatable", OPERATORS, "(SELECT * FROM src TABLESAMPLE (50 PERCENT) REPEATABLE (7))"),
    Shape("tablesample_all", OPERATORS, "(SELECT * FROM src TABLESAMPLE (100 PERCENT))"),
    Shape("tablesample_rows", OPERATORS, "(SELECT * FROM src TABLESAMPLE (5 ROWS))"),
    Shape("tablesample_buckets", OPERATORS, "(SELECT * FROM src TABLESAMPLE (BUCKET 1 OUT OF 2))"),
    # expressions that give another value each time
    Shape("rand", OPERATORS, "(SELECT id, CAST(rand() AS STRING) AS v FROM src)"),
    Shape("rand_with_a_seed", OPERATORS, "(SELECT id, CAST(rand(1) AS STRING) AS v FROM src)"),
    Shape("random", OPERATORS, "(SELECT id, CAST(random() AS STRING) AS v FROM src)"),
    Shape("randn", OPERATORS, "(SELECT id, CAST(randn() AS STRING) AS v FROM src)"),
    Shape("rand_in_capitals", OPERATORS, "(SELECT id, CAST(RAND ( ) AS STRING) AS v FROM src)"),
    Shape("rand_in_back_quotes", OPERATORS, "(SELECT id, CAST(`rand`() AS STRING) AS v FROM src)"),
    Shape("rand_in_where", OPERATORS, "(SELECT * FROM src WHERE rand() < 0.5)"),
    Shape(
        "rand_in_a_case", OPERATORS, "(SELECT id, CASE WHEN false THEN CAST(rand() AS STRING) ELSE v END AS v FROM src)"
    ),
    Shape("rand_in_a_union", OPERATORS, "(SELECT * FROM src UNION ALL SELECT id, CAST(rand() AS STRING) FROM src)"),
    Shape(
        "rand_in_an_in_subquery", OPERATORS, "(SELECT * FROM src WHERE id IN (SELECT id FROM src WHERE rand() < 0.5))"
    ),
    Shape("rand_in_an_unused_column", OPERATORS, "(SELECT id, v FROM (SELECT id, v, rand() AS r FROM src))"),
    Shape("uuid", OPERATORS, "(SELECT id, uuid() AS v FROM src)"),
    Shape("uniform", OPERATORS, "(SELECT id, CAST(uniform(0, 10) AS STRING) AS v FROM src)"),
    Shape("randstr", OPERATORS, "(SELECT id, randstr(5) AS v FROM src)"),
    Shape("shuffle", OPERATORS, "(SELECT id, shuffle(array(v))[0] AS v FROM src)"),
    Shape("monotonically_increasing_id", OPERATORS, "(SELECT monotonically_increasing_id() AS id, v FROM src)"),
    Shape("spark_partition_id", OPERATORS, "(SELECT id, CAST(spark_partition_id() AS STRING) AS v FROM src)"),
    Shape("reflect", OPERATORS, "(SELECT id, reflect('java.util.UUID', 'randomUUID') AS v FROM src)"),
    Shape("try_reflect", OPERATORS, "(SELECT id, try_reflect('java.util.UUID', 'randomUUID') AS v FROM src)"),
    Shape("input_file_name", OPERATORS, "(SELECT id, input_file_name() AS v FROM src)"),
    Shape("the_file_path_metadata", AUTO, "(SELECT id, _metadata.file_path AS v FROM src)"),
    Shape("current_timestamp", AUTO, "(SELECT id, CAST(current_timestamp() AS STRING) AS v FROM src)"),
    Shape("current_date_without_brackets", AUTO, "(SELECT id, CAST(current_date AS STRING) AS v FROM src)"),
    Shape("now_in_where", AUTO, "(SELECT * FROM src WHERE now() > TIMESTAMP'2020-01-01')"),
    Shape("current_user", AUTO, "(SELECT id, current_user() AS v FROM src)"),
    Shape("unix_timestamp", AUTO, "(SELECT id, CAST(unix_timestamp() AS STRING) AS v FROM src)"),
    Shape("aes_encrypt", AUTO, "(SELECT id, hex(aes_encrypt(v, '0000111122223333')) AS v FROM src)"),
    Shape("raise_error", AUTO, "(SELECT id, CASE WHEN id < 0 THEN raise_error('no') ELSE v END AS v FROM src)"),
    Shape("assert_true", AUTO, "(SELECT id, CAST(assert_true(id >= 0) AS STRING) AS v FROM src)"),
    Shape("version_function", AUTO, "(SELECT id, version() AS v FROM src)"),
    # texts that look like a plan
    Shape("a_literal_that_looks_like_rand", AUTO, "(SELECT id, 'rand()' AS v FROM src)"),
    Shape("a_literal_that_looks_like_rand_with_an_escape", AUTO, "(SELECT id, 'it\\'s rand()' AS v FROM src)"),
    Shape(
        "a_literal_that_looks_like_rand_beside_rand",
        OPERATORS,
        "(SELECT id, concat('rand()', CAST(rand() AS STRING)) AS v FROM src)",
    ),
    Shape("two_literals_that_make_rand", AUTO, "(SELECT id, 'ra' 'nd()' AS v FROM src)"),
    Shape("an_escaped_literal_that_makes_rand", AUTO, "(SELECT id, '\\u0072and()' AS v FROM src)"),
    Shape("a_raw_literal_that_looks_like_rand", AUTO, "(SELECT id, r'rand(\\d)' AS v FROM src)"),
    Shape("an_alias_that_looks_like_rand", AUTO, "(SELECT id, v AS `rand()` , v FROM src)"),
    Shape("a_comment_that_looks_like_rand", AUTO, "(SELECT id, /* rand() */ v FROM src -- uuid()\n)"),
    Shape("a_column_called_rand", AUTO, "(SELECT id, rand AS v FROM (SELECT id, v AS rand FROM src))"),
    Shape("a_literal_that_looks_like_an_outer_reference", AUTO, "(SELECT id, 'outer(x#1)' AS v FROM src)"),
    Shape("a_literal_that_looks_like_a_column_id", AUTO, "(SELECT id, 'v#12' AS v FROM src WHERE v <> '#12')"),
    Shape(
        "a_literal_that_looks_like_a_scan",
        AUTO,
        "(SELECT id, 'FileScan parquet [id#1L] Location: InMemoryFileIndex' AS v FROM src)",
    ),
    Shape("a_literal_with_a_line_break", AUTO, "(SELECT id, 'one\ntwo' AS v FROM src)"),
    Shape("a_literal_with_an_escaped_line_break", AUTO, "(SELECT id, 'one\\ntwo' AS v FROM src)"),
    Shape("a_literal_with_a_line_like_a_node", AUTO, "(SELECT id, 'one\n   +- Range (0, 1)' AS v FROM src)"),
    Shape(
        "a_literal_with_an_escaped_line_like_a_node", AUTO, "(SELECT id, 'one\\n+- LocalRelation [id#1]' AS v FROM src)"
    ),
    Shape("a_literal_with_a_line_like_a_section", AUTO, "(SELECT id, 'x\n== Physical Plan ==\ny' AS v FROM src)"),
    Shape(
        "a_literal_with_a_line_like_an_error",
        AUTO,
        "(SELECT id, 'x\nError occurred during query planning: no' AS v FROM src)",
    ),
    Shape("an_alias_with_a_line_break", AUTO, "(SELECT id, v, v AS `x\n+- Range (0, 1)` FROM src)"),
    Shape("a_literal_with_a_semicolon_and_quotes", AUTO, '(SELECT id, "a;b\'c" AS v FROM src)'),
    Shape("a_literal_that_looks_like_cached_data", AUTO, "(SELECT id, 'InMemoryRelation [id#1]' AS v FROM src)"),
    Shape("a_literal_that_looks_like_a_union", AUTO, "(SELECT id, 'UNION ALL SELECT * FROM pq' AS v FROM src)"),
    Shape("a_literal_that_looks_like_a_function_of_the_user", AUTO, "(SELECT id, 'py_up(v)' AS v FROM src)"),
    # hints
    Shape("a_hint", OPERATORS, "(SELECT /*+ BROADCAST(src) */ * FROM src)"),
    Shape("a_hint_below", OPERATORS, "(SELECT * FROM (SELECT /*+ BROADCAST(src) */ * FROM src) x WHERE id > 1)"),
    Shape("a_merge_hint", OPERATORS, "(SELECT /*+ MERGE(src) */ * FROM src)"),
    Shape("a_hint_on_an_alias", OPERATORS, "(SELECT /*+ BROADCAST(x) */ * FROM src x)"),
    Shape("a_hint_that_names_nothing", AUTO, "(SELECT /*+ BROADCAST(nothing) */ * FROM src)"),
    Shape("a_hint_that_spark_does_not_know", OPERATORS, "(SELECT /*+ FASTER(src) */ * FROM src)"),
    Shape("a_coalesce_hint", OPERATORS, "(SELECT /*+ COALESCE(1) */ * FROM src)"),
    Shape("a_repartition_hint", OPERATORS, "(SELECT /*+ REPARTITION(3, id) */ * FROM src)"),
    Shape("a_rebalance_hint", OPERATORS, "(SELECT /*+ REBALANCE */ * FROM src)"),
    Shape(
        "a_hint_in_an_in_subquery",
        OPERATORS,
        "(SELECT * FROM src WHERE id IN (SELECT /*+ BROADCAST(tgt) */ id FROM tgt))",
    ),
    # subqueries
    Shape("an_in_subquery_over_delta", AUTO, "(SELECT * FROM src WHERE id IN (SELECT id FROM src))"),
    Shape("a_not_in_subquery_over_delta", AUTO, "(SELECT * FROM src WHERE id NOT IN (SELECT id FROM tgt))"),
    Shape("an_in_subquery_with_two_columns", AUTO, "(SELECT * FROM src WHERE (id, v) IN (SELECT id, v FROM tgt))"),
    Shape(
        "a_correlated_in_subquery",
        OPERATORS,
        "(SELECT * FROM src a WHERE id IN (SELECT id FROM tgt b WHERE b.v = a.v))",
    ),
    Shape(
        "an_exists_that_is_not_correlated", AUTO, "(SELECT * FROM src WHERE EXISTS (SELECT 1 FROM tgt WHERE id > 3))"
    ),
    Shape("exists", OPERATORS, "(SELECT * FROM src a WHERE EXISTS (SELECT 1 FROM src b WHERE b.id = a.id))"),
    Shape("not_exists", OPERATORS, "(SELECT * FROM src a WHERE NOT EXISTS (SELECT 1 FROM src b WHERE b.id = a.id))"),
    Shape(
        "a_scalar_subquery_with_an_aggregate", OPERATORS, "(SELECT id, v FROM src WHERE id > (SELECT min(id) FROM tgt))"
    ),
    Shape(
        "a_scalar_subquery_without_an_aggregate", AUTO, "(SELECT id, (SELECT v FROM tgt WHERE id = 1) AS v FROM src)"
    ),
    Shape("a_scalar_subquery_of_one_row", AUTO, "(SELECT id, (SELECT 'x') AS v FROM src)"),
    Shape(
        "a_correlated_scalar_subquery",
        OPERATORS,
        "(SELECT id, (SELECT max(v) FROM tgt WHERE tgt.id = src.id) AS v FROM src)",
    ),
    Shape("an_in_subquery_with_distinct", AUTO, "(SELECT * FROM src WHERE id IN (SELECT DISTINCT id FROM tgt))"),
    Shape("an_in_subquery_with_limit", OPERATORS, "(SELECT * FROM src WHERE id IN (SELECT id FROM tgt LIMIT 3))"),
    Shape(
        "an_in_subquery_with_a_union",
        AUTO,
        "(SELECT * FROM src WHERE id IN (SELECT id FROM tgt UNION ALL SELECT id FROM src))",
    ),
    Shape(
        "an_in_subquery_in_a_case", AUTO, "(SELECT id, CASE WHEN id IN (SELECT id FROM tgt) THEN v END AS v FROM src)"
    ),
    # WITH
    Shape("a_cte", AUTO, "c", prefix="WITH c AS (SELECT * FROM src) "),
    Shape("a_cte_over_parquet", NON_DELTA, "c", prefix="WITH c AS (SELECT * FROM pq) "),
    Shape(
        "a_cte_used_twice",
        AUTO,
        "(SELECT * FROM c UNION ALL SELECT * FROM c)",
        prefix="WITH c AS (SELECT * FROM src WHERE id > 1) ",
    ),
    Shape(
        "a_cte_with_rand_used_twice",
        OPERATORS,
        "(SELECT * FROM c UNION ALL SELECT * FROM c)",
        prefix="WITH c AS (SELECT id, uuid() AS v FROM src) ",
    ),
    Shape("an_unused_cte_over_parquet", AUTO, "src", prefix="WITH c AS (SELECT * FROM pq) "),
    Shape("an_unused_cte_with_rand", AUTO, "src", prefix="WITH c AS (SELECT rand() AS r FROM src) "),
    Shape("an_unused_cte_inside", AUTO, "(WITH c AS (SELECT * FROM pq) SELECT * FROM src)"),
    Shape(
        "an_unused_cte_with_rand_inside",
        AUTO,
        "(WITH c AS (SELECT rand() AS r, id FROM src ORDER BY id) SELECT * FROM src)",
    ),
    Shape(
        "an_unused_cte_with_a_function_of_the_user", AUTO, "(WITH c AS (SELECT py_up(v) FROM src) SELECT * FROM src)"
    ),
    Shape("a_cte_inside", AUTO, "(WITH c AS (SELECT * FROM src WHERE id > 1) SELECT * FROM c)"),
    Shape(
        "a_cte_inside_used_twice",
        AUTO,
        "(WITH c AS (SELECT * FROM src WHERE id > 1) SELECT * FROM c UNION ALL SELECT * FROM c)",
    ),
    Shape(
        "nested_ctes", AUTO, "(WITH a AS (WITH b AS (SELECT * FROM src) SELECT * FROM b WHERE id > 1) SELECT * FROM a)"
    ),
    Shape(
        "ctes_that_build_on_each_other",
        AUTO,
        "(WITH a AS (SELECT * FROM src), b AS (SELECT * FROM a WHERE id > 1), c AS (SELECT * FROM pq) SELECT * FROM b)",
    ),
    Shape(
        "ctes_that_build_on_parquet",
        NON_DELTA,
        "(WITH a AS (SELECT * FROM pq), b AS (SELECT * FROM a WHERE id > 1) SELECT * FROM b)",
    ),
    Shape(
        "a_cte_in_an_in_subquery",
        AUTO,
        "(WITH a AS (SELECT id FROM tgt) SELECT * FROM src WHERE id IN (SELECT id FROM a))",
    ),
    Shape(
        "a_cte_in_an_in_subquery_over_parquet",
        NON_DELTA,
        "(WITH a AS (SELECT id FROM pq) SELECT * FROM src WHERE id IN (SELECT id FROM a))",
    ),
    Shape(
        "a_cte_inside_an_in_subquery",
        NON_DELTA,
        "(SELECT * FROM src WHERE id IN (WITH a AS (SELECT id FROM tgt) SELECT id FROM a))",
    ),
    Shape("a_cte_that_hides_a_table", AUTO, "(WITH pq AS (SELECT * FROM src) SELECT * FROM pq)"),
    Shape("a_cte_that_hides_a_delta_table", NON_DELTA, "(WITH src AS (SELECT * FROM pq) SELECT * FROM src)"),
    Shape(
        "a_cte_used_in_the_query_and_the_prefix",
        AUTO,
        "(SELECT * FROM d)",
        prefix="WITH c AS (SELECT * FROM src), d AS (SELECT * FROM c WHERE id > 1) ",
    ),
    Shape(
        "a_recursive_cte",
        NON_DELTA,
        "(WITH RECURSIVE r(id) AS (SELECT 1L UNION ALL SELECT id + 1 FROM r WHERE id < 3) SELECT id, 'x' AS v FROM r)",
        since="4.1",
    ),
    Shape("a_cte_in_a_view", NON_DELTA, "(SELECT * FROM cte_view)"),
    # unreadable files may be left out of one read (rule 6)
    Shape("ignoring_missing_files", UNREADABLE, "src", confs=(MISSING,)),
    Shape("ignoring_corrupt_files", UNREADABLE, "src", confs=(CORRUPT,)),
    Shape("ignoring_missing_files_in_capitals", UNREADABLE, "src", confs=((MISSING[0], "TRUE"),)),
    Shape(
        "ignoring_missing_files_where_it_does_not_matter",
        AUTO,
        "src",
        confs=(
            MISSING,
            UNREADABLE_OFF,
        ),
    ),
    Shape("ignoring_missing_files_over_parquet", NON_DELTA, "pq", confs=(MISSING,)),
    Shape("ignoring_missing_files_of_one_literal_row", UNREADABLE, "(SELECT 1L AS id, 'a' AS v)", confs=(MISSING,)),
    Shape("ignoring_missing_files_below_a_limit", OPERATORS, "(SELECT * FROM src LIMIT 3)", confs=(MISSING,)),
    Shape(
        "ignoring_missing_files_with_a_function_of_the_user",
        UNREADABLE,
        "(SELECT id, py_up(v) AS v FROM src)",
        confs=(MISSING,),
    ),
    Shape(
        "a_function_of_the_user_ignoring_missing_files_where_it_does_not_matter",
        UDF,
        "(SELECT id, py_up(v) AS v FROM src)",
        confs=(
            MISSING,
            UNREADABLE_OFF,
        ),
    ),
    Shape("ignoring_missing_files_for_an_insert", INSERT_ONLY, "src", INSERT, confs=(MISSING,)),
    Shape("ignoring_missing_files_as_an_option", AUTO, "(SELECT * FROM src WITH ('ignoreMissingFiles' = 'true'))"),
    Shape("a_temporary_view_ignoring_missing_files", OPERATORS, "ignoring_view"),
    # functions of the user (rule 7)
    Shape("an_sql_function", AUTO, "(SELECT id, plus_x(v) AS v FROM src)"),
    Shape("an_sql_function_with_rand", OPERATORS, "(SELECT id, random_x(v) AS v FROM src)"),
    Shape("an_sql_function_over_parquet", NON_DELTA, "(SELECT id, looked_up() AS v FROM src)"),
    Shape("an_sql_function_over_delta", AUTO, "(SELECT id, counted() AS v FROM src)"),
    Shape("a_lasting_sql_function", AUTO, "(SELECT id, plus_y(v) AS v FROM src)"),
    Shape("a_qualified_sql_function", AUTO, "(SELECT id, {schema}.plus_y(v) AS v FROM src)"),
    Shape("an_sql_function_that_calls_another", OPERATORS, "(SELECT id, plus_z(v) AS v FROM src)"),
    Shape("an_sql_function_with_a_subquery_in_where", AUTO, "(SELECT * FROM src WHERE v <> counted())"),
    Shape("a_table_function", OPERATORS, "(SELECT id, v FROM rows_of(3))"),
    Shape("a_table_function_over_parquet", NON_DELTA, "(SELECT id, v FROM parquet_rows())"),
    Shape("a_python_function", UDF, "(SELECT id, py_up(v) AS v FROM src)"),
    Shape("a_python_function_in_capitals", UDF, "(SELECT id, PY_UP(v) AS v FROM src)"),
    Shape("a_python_function_in_back_quotes", UDF, "(SELECT id, `py_up`(v) AS v FROM src)"),
    Shape("a_python_function_in_where", UDF, "(SELECT * FROM src WHERE py_up(v) = 'V1')"),
    Shape(
        "a_python_function_in_an_in_subquery",
        UDF,
        "(SELECT * FROM src WHERE id IN (SELECT id FROM tgt WHERE py_up(v) = 'V1'))",
    ),
    Shape("a_python_function_in_an_sql_function", UDF, "(SELECT id, sql_up(v) AS v FROM src)"),
    Shape("a_python_function_that_is_not_deterministic", OPERATORS, "(SELECT id, py_random(v) AS v FROM src)"),
    Shape(
        "a_python_function_that_is_not_deterministic_in_where",
        OPERATORS,
        "(SELECT * FROM src WHERE py_random(v) = 'V1')",
    ),
    Shape("a_python_function_over_parquet", NON_DELTA, "(SELECT id, py_up(v) AS v FROM pq)"),
    Shape("a_python_function_over_a_limit", OPERATORS, "(SELECT id, py_up(v) AS v FROM (SELECT * FROM src LIMIT 3))"),
    Shape("a_python_function_in_a_view", OPERATORS, "(SELECT id, v FROM py_view)"),
    Shape("a_java_function", UDF, "(SELECT CAST(hive_abs(id) AS BIGINT) AS id, v FROM src)"),
    Shape("a_lasting_java_function", UDF, "(SELECT CAST(hive_abs2(id) AS BIGINT) AS id, v FROM src)"),
    # session variables
    Shape("a_session_variable", AUTO, "(SELECT * FROM src WHERE id > least_id)"),
    # cached data does not pin its version (rule 8)
    Shape("cached", CACHED, "cached_src"),
    Shape("cached_in_a_query", CACHED, "(SELECT * FROM cached_src)"),
    Shape("cached_under_a_filter", CACHED, "(SELECT * FROM cached_src WHERE id > 3)"),
    Shape("cached_in_a_union", CACHED, "(SELECT * FROM src UNION ALL SELECT * FROM cached_src)"),
    Shape("cached_filtered_away", CACHED, "(SELECT * FROM src UNION ALL SELECT * FROM cached_src WHERE false)"),
    Shape("cached_in_a_distinct", CACHED, "(SELECT DISTINCT * FROM cached_src)"),
    Shape("cached_in_an_in_subquery", AUTO, "(SELECT * FROM src WHERE id IN (SELECT id FROM cached_src))"),
    Shape("cached_with_an_in_subquery", CACHED, "(SELECT * FROM cached_src WHERE id IN (SELECT id FROM src))"),
    Shape(
        "cached_with_a_cached_in_subquery",
        CACHED,
        "(SELECT * FROM cached_src WHERE id NOT IN (SELECT id FROM cached_src WHERE id = 1))",
    ),
    Shape("cached_in_an_exists_subquery", AUTO, "(SELECT * FROM src WHERE EXISTS (SELECT 1 FROM cached_src))"),
    Shape(
        "cached_in_an_exists_in_select",
        AUTO,
        "(SELECT id, CASE WHEN id IN (SELECT id FROM cached_src) THEN v END AS v FROM src)",
    ),
    Shape("cached_in_a_scalar_subquery", AUTO, "(SELECT id, (SELECT v FROM cached_src WHERE id = 1) AS v FROM src)"),
    Shape(
        "cached_in_a_union_in_a_subquery",
        AUTO,
        "(SELECT * FROM src WHERE id IN (SELECT id FROM src UNION ALL SELECT id FROM cached_src))",
    ),
    Shape("cached_under_a_limit", OPERATORS, "(SELECT * FROM cached_src LIMIT 3)"),
    Shape("cached_at_a_version", AUTO, "(SELECT * FROM cached_src VERSION AS OF 0)"),
    Shape("cached_parquet", NON_DELTA, "cached_pq"),
    Shape("a_cached_query_by_name", OPERATORS, "cached_query"),
    Shape("a_cached_query_written_out", CACHED, "(SELECT id, v FROM src WHERE id > 7)"),
    Shape(
        "a_cached_query_written_out_below",
        CACHED,
        "(SELECT id, upper(v) AS v FROM (SELECT id, v FROM src WHERE id > 7))",
    ),
    Shape("cached_where_it_does_not_matter", AUTO, "cached_src", confs=(CACHED_OFF,)),
    Shape("cached_for_an_insert", INSERT_ONLY, "cached_src", INSERT),
    Shape("cached_for_an_insert_without_its_optimization", CACHED, "cached_src", INSERT, confs=(OPTIMIZATION_OFF,)),
    Shape("cached_ignoring_missing_files", UNREADABLE, "cached_src", confs=(MISSING,)),
    Shape("cached_through_a_function_of_the_user", UDF, "(SELECT id, py_up(v) AS v FROM cached_src)"),
    Shape("cached_at_a_path", CACHED, "{cached_path}"),
    Shape("a_cte_over_cached", CACHED, "c", prefix="WITH c AS (SELECT * FROM cached_src) "),
    Shape("storage_level", NON_DELTA, "pq", confs=((f"{MODE}.rddStorageLevel", "MEMORY_AND_DISK"),)),
    # shapes that disagreed
    Shape("an_unknown_hint_below", OPERATORS, "(SELECT * FROM (SELECT /*+ FASTER(src) */ * FROM src) x WHERE id > 1)"),
    Shape(
        "an_unknown_hint_in_an_in_subquery",
        AUTO,
        "(SELECT * FROM src WHERE id IN (SELECT /*+ FASTER(tgt) */ id FROM tgt))",
    ),
    Shape("an_unknown_hint_in_a_cte", OPERATORS, "(WITH c AS (SELECT /*+ FASTER(src) */ * FROM src) SELECT * FROM c)"),
    Shape("a_literal_that_looks_like_an_unknown_hint", AUTO, "(SELECT id, '/*+ FASTER(src) */' AS v FROM src)"),
    Shape("a_hint_for_shuffle_hash", OPERATORS, "(SELECT /*+ SHUFFLE_HASH(src) */ * FROM src)"),
    Shape("a_python_function_called_like_a_built_in_one", AUTO, "(SELECT id, lcase(v) AS v FROM src)", since="4.2"),
    Shape("a_correlated_sql_function", OPERATORS, "(SELECT id, best_of(id) AS v FROM src)"),
    Shape("an_sql_function_in_another_schema", AUTO, "(SELECT id, {schema}_too.plus_y(v) AS v FROM src)"),
    Shape(
        "a_java_function_in_another_schema", UDF, "(SELECT CAST({schema}_too.hive_abs(id) AS BIGINT) AS id, v FROM src)"
    ),
    Shape(
        "a_built_in_function_by_its_full_name", AUTO, "(SELECT id, system.builtin.upper(v) AS v FROM src)", since="4.2"
    ),
    Shape(
        "rand_by_its_full_name",
        OPERATORS,
        "(SELECT id, CAST(system.builtin.rand() AS STRING) AS v FROM src)",
        since="4.2",
    ),
    Shape("a_source_with_one_column_twice", OPERATORS, "(SELECT a.*, b.v AS w FROM src a JOIN tgt b ON a.id = b.id)"),
    Shape("values_with_column_names", NON_DELTA, "(SELECT col1 AS id, col2 AS v FROM VALUES (1L, 'a'))"),
    Shape(
        "a_scalar_subquery_in_a_cte_in_a_union",
        AUTO,
        "(WITH c AS (SELECT id, (SELECT v FROM tgt WHERE id = 1) AS v FROM src) TABLE c UNION ALL TABLE src)",
    ),
    Shape("struct_and_map_columns", AUTO, "(SELECT n.id AS id, m['a'] AS v FROM mapped)"),
    Shape("a_literal_that_ends_as_a_branch_begins", AUTO, r"(SELECT id, '\n+-' AS v FROM src)"),
    Shape("strings_side_by_side_that_look_like_a_plan", AUTO, r"(SELECT id, 'x\n' '+- Range (0, 1)' AS v FROM src)"),
    Shape(
        "a_text_put_together_that_looks_like_cached_data",
        AUTO,
        "(SELECT id, concat('x', chr(10), '+- InMemoryRelation [v#1]') AS v FROM src)",
    ),
)

# Where the print does not tell, the answer says so.
INFERRED = (
    "broken_view",  # only the view knows that its text holds a line that looks like a plan
    "(WITH c AS (SELECT /*+ FASTER(src) */ * FROM src) SELECT * FROM src)",
    "(WITH c AS (SELECT rand() AS r FROM src) SELECT id, py_up(v) AS v FROM src)",
    "(SELECT id, v FROM src WHERE id IN (SELECT id FROM tgt WHERE v <> 'outer(x#1)'))",
)

# {names} stand for the schema and paths of one shop
SETUP = r"""
CREATE SCHEMA {schema};
USE {schema};
CREATE TABLE tgt (id BIGINT, v STRING) USING delta;
CREATE TABLE src (id BIGINT, v STRING) USING delta;
INSERT INTO src VALUES (10, 'v10');
CREATE TABLE cached_src (id BIGINT, v STRING) USING delta;
CREATE TABLE delta.`{dpath}` USING delta AS SELECT * FROM src;
CREATE TABLE delta.`{cpath}` (id BIGINT, v STRING) USING delta;
CREATE TABLE pq (id BIGINT, v STRING) USING parquet;
CREATE TABLE cached_pq (id BIGINT, v STRING) USING parquet;
CREATE TABLE cs (id BIGINT, v STRING) USING csv;
CREATE TABLE oc (id BIGINT, v STRING) USING orc;
CREATE TABLE hv (id BIGINT, v STRING) STORED AS TEXTFILE;
CREATE TABLE at_a_path USING parquet LOCATION '{parquet_path}' AS SELECT * FROM src;
CREATE TABLE parted (id BIGINT, v STRING, p INT) USING delta PARTITIONED BY (p)
    TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true');
CREATE TABLE mapped (id BIGINT, v STRING, `a b` INT, `rand()` STRING, `x#12` INT, `outer(x#1)` INT, c CHAR(5),
    n STRUCT<id: BIGINT, w: STRING>, m MAP<STRING, STRING>, g BIGINT GENERATED ALWAYS AS (id + 1), {wide})
    USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name');
CREATE TABLE `2024` (id BIGINT, v STRING) USING delta;
CREATE TABLE `2025` (id BIGINT, v STRING) USING parquet;
CREATE TABLE delta (id BIGINT, v STRING) USING parquet;
CREATE TEMPORARY VIEW delta_view AS SELECT * FROM src WHERE id > 1;
CREATE TEMPORARY VIEW parquet_view AS SELECT * FROM pq;
CREATE TEMPORARY VIEW values_view AS SELECT * FROM VALUES (1L, 'a') AS x(id, v);
CREATE TEMPORARY VIEW using_delta USING delta OPTIONS (path "{dpath}");
CREATE TEMPORARY VIEW using_parquet USING parquet OPTIONS (path '{parquet_path}');
CREATE TEMPORARY VIEW ignoring_view USING delta OPTIONS (path "{dpath}", ignoreMissingFiles 'true');
CREATE TEMPORARY VIEW broken_view AS SELECT id, 'x\n+- Range (0, 1)' AS v FROM src;
CREATE TEMPORARY VIEW nested_view AS SELECT * FROM src WHERE id IN (SELECT id FROM src UNION SELECT id FROM pq);
CREATE TEMPORARY VIEW cte_view AS WITH c AS (SELECT * FROM src) SELECT * FROM c;
CREATE VIEW lasting_view AS SELECT * FROM src;
CREATE VIEW lasting_parquet_view AS SELECT * FROM pq;
CREATE VIEW view_over_view AS SELECT * FROM lasting_view WHERE id > 1;
CREATE GLOBAL TEMPORARY VIEW {schema}_view AS SELECT * FROM src;
CREATE TEMPORARY FUNCTION plus_x(a STRING) RETURNS STRING RETURN concat(a, 'x');
CREATE TEMPORARY FUNCTION random_x(a STRING) RETURNS STRING RETURN concat(a, uuid());
CREATE TEMPORARY FUNCTION looked_up() RETURNS STRING RETURN (SELECT v FROM pq WHERE id = 1);
CREATE TEMPORARY FUNCTION counted() RETURNS STRING RETURN (SELECT v FROM src WHERE id = 1);
CREATE FUNCTION plus_y(a STRING) RETURNS STRING RETURN concat(a, 'y');
CREATE TEMPORARY FUNCTION plus_z(a STRING) RETURNS STRING RETURN concat(random_x(a), 'z');
CREATE TEMPORARY FUNCTION sql_up(a STRING) RETURNS STRING RETURN py_up(a);
CREATE TEMPORARY FUNCTION rows_of(n BIGINT) RETURNS TABLE (id BIGINT, v STRING)
    RETURN SELECT id, v FROM src WHERE id < n;
CREATE TEMPORARY FUNCTION parquet_rows() RETURNS TABLE (id BIGINT, v STRING) RETURN SELECT id, v FROM pq;
CREATE TEMPORARY FUNCTION hive_abs AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFAbs';
CREATE FUNCTION hive_abs2 AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFAbs';
CREATE TEMPORARY FUNCTION best_of(k BIGINT) RETURNS STRING RETURN (SELECT max(v) FROM tgt WHERE tgt.id = k);
CREATE SCHEMA {schema}_too;
CREATE FUNCTION {schema}_too.plus_y(a STRING) RETURNS STRING RETURN concat(a, 'y');
CREATE FUNCTION {schema}_too.hive_abs AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFAbs';
CREATE TEMPORARY VIEW py_view AS SELECT id, py_up(v) AS v FROM src;
DECLARE VARIABLE least_id BIGINT DEFAULT 3;
CACHE LAZY TABLE cached_src;
CACHE LAZY TABLE cached_pq;
CACHE LAZY TABLE cached_query AS SELECT id, v FROM src WHERE id > 7;
CACHE LAZY TABLE cached_path AS SELECT * FROM delta.`{cpath}`;
"""


@dataclass(frozen=True)
class Shop:
    """A session with the tables, views and functions of SETUP."""

    spark: Any
    names: dict[str, str]

    def fill(self, sql: str) -> str:
        for name, value in self.names.items():
            sql = sql.replace(f"{{{name}}}", value)
        return sql

    def close(self) -> None:
        for cached in ("cached_src", "cached_pq", "cached_query", "cached_path"):
            self.spark.sql(f"UNCACHE TABLE {cached}")
        self.spark.sql("USE default")
        for schema in ("{schema}", "{schema}_too"):
            self.spark.sql(self.fill(f"DROP SCHEMA {schema} CASCADE"))


def open_shop(spark: Any, places: Path, user_defined_function: Any) -> Shop:
    """Run SETUP; ``user_defined_function`` is the session's kind of UserDefinedFunction."""
    from pyspark.sql.types import StringType

    names = {
        "schema": f"decisions_{uuid.uuid4().hex[:8]}",
        "wide": ", ".join(f"c{n} INT" for n in range(40)),
        "dpath": str(places / "it's (.delta.) x"),
        "cpath": str(places / "cached"),
        "parquet_path": str(places / "parquet"),
    }
    shop = Shop(spark, names)
    spark.udf.register("py_up", lambda s: s.upper(), StringType())
    spark.udf.register("lcase", lambda s: s.lower(), StringType())
    spark.udf.register("py_random", user_defined_function(lambda s: s, StringType(), deterministic=False))
    for one in SETUP.strip().removesuffix(";").split(";\n"):
        spark.sql(shop.fill(one)).collect()
    history = spark.sql("DESCRIBE HISTORY src").collect()
    names["timestamp"] = str(next(row["timestamp"] for row in history if row["version"] == 0))
    names |= {"path": f"delta.`{names['dpath']}`", "cached_path": f"delta.`{names['cpath']}`"}
    return shop
