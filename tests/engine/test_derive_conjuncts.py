"""The bounds of the source's keys, added to ON: files are skipped, and nothing else changes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.merge.derive_conjuncts import BY_SOURCE, CONDITION_MAY_RAISE, MAY_RAISE, NULL_SAFE
from engine.merge.running_statement import running_sql
from engine.model.errors import EngineError
from engine.model.plan import Plan
from engine.plan_merge import plan
from engine.table.commits import commits
from tests.conftest import own_schema
from tests.engine.some import every_nth

UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
COLUMNS = (
    "id, CAST(id AS INT) AS i, concat('n', lpad(id, 4, '0')) AS name, timestamp_micros(id * 1000001) AS at, "
    "CAST(id / 4 AS DECIMAL(10, 2)) AS dec, date_add(DATE'2024-01-01', CAST(id AS INT)) AS d, "
    "CAST(id AS DOUBLE) AS f, CAST(id DIV 10 AS INT) AS p"
)
TYPES = (
    "id BIGINT, i INT, name STRING, at TIMESTAMP, dec DECIMAL(10, 2), d DATE, f DOUBLE, p INT, c CHAR(3), "
    "vc VARCHAR(9), v STRING"
)


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """``tgt`` has ids 0 to 39 in four files of ten, ``days`` the same partitioned by ``p``; ``src`` has 12 to 15, a
    row whose keys are NULL, and one that is new in the same file."""
    with own_schema(spark):
        for table, layout in (("tgt", ""), ("days", "PARTITIONED BY (p)")):
            spark.sql(f"CREATE TABLE {table} ({TYPES}) USING delta {layout}")
            for first in (0, 10, 20, 30):
                spark.sql(
                    f"INSERT INTO {table} SELECT {COLUMNS}, 'x', concat('n', lpad(id, 4, '0')), 'old' "
                    f"FROM range({first}, {first + 10}, 1, 1) WHERE id <> 14"
                )
        spark.sql(
            f"CREATE TABLE src USING delta AS SELECT {COLUMNS}, 'x' AS c, "
            "concat('n', lpad(id, 4, '0')) AS vc, 'new' AS v "
            "FROM range(12, 16) UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'none'"
        )
        yield spark


def a_clone(spark: Any, of: str = "tgt") -> str:
    table = f"x_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {table} SHALLOW CLONE {of}")
    return table


def merge(on: str, clauses: str = UPSERT, table: str = "tgt", source: str = "src") -> str:
    return f"MERGE INTO {table} t USING {source} s ON {on} {clauses}"


def derived(looked: Plan) -> list[str]:
    return [one.text or one.why_not for one in looked.scan.derived]


def rows(spark: Any, table: str) -> list[str]:
    return sorted(str(row) for row in spark.sql(f"SELECT * FROM {table}").collect())


def outcome_of(spark: Any, on: str, clauses: str, of: str, prune: bool) -> tuple[list[str], dict[str, int]]:
    table = a_clone(spark, of)
    looked = plan(spark, merge(on, clauses, table), prune=prune, rows=0)
    outcome = apply(spark, looked)
    assert outcome.kept, outcome.deviations
    return rows(spark, table), dict(looked.promise)


KEYS = {
    "t.id = s.id": "t.id >= 12L AND t.id <= 15L",
    "t.i = s.id": "t.i >= 12L AND t.i <= 15L",
    "s.name = t.name": "t.name >= 'n0012' AND t.name <= 'n0015'",
    "t.vc = s.vc": "t.vc >= 'n0012' AND t.vc <= 'n0015'",
    "t.at = s.at": "t.at >= timestamp_micros(11000012L) AND t.at <= timestamp_micros(16000015L)",
    "t.dec = s.dec": "t.dec >= CAST('3.00' AS DECIMAL(10,2)) AND t.dec <= CAST('3.75' AS DECIMAL(10,2))",
    "t.d = s.d": "t.d >= DATE'2024-01-13' AND t.d <= DATE'2024-01-16'",
    "(t.id = s.id AND t.v <> 'gone')": "t.id >= 12L AND t.id <= 15L",
}


@pytest.mark.parametrize("on", every_nth({on: on for on in KEYS}, 2))
def test_what_is_derived(shop: Any, on: str) -> None:
    assert derived(plan(shop, merge(on), rows=0)) == [KEYS[on]]


@pytest.mark.thorough
@pytest.mark.parametrize("on", KEYS)
def test_an_equality_bounds_the_target_by_the_keys_of_the_source(shop: Any, on: str) -> None:
    looked = plan(shop, merge(on), rows=0)
    assert derived(looked) == [KEYS[on]]
    assert (looked.scan.files_before, looked.scan.files_after_as_typed, looked.scan.files_after) == (4, 4, 1)
    assert running_sql(looked) == merge(f"{on} AND {KEYS[on]}", source="(SELECT * FROM src VERSION AS OF 0) AS")
    table = a_clone(shop)
    shop.sql(merge(on, table=table)).collect()
    with_it, promise = outcome_of(shop, on, UPSERT, "tgt", prune=True)
    assert with_it == rows(shop, table)
    assert promise == {name: n for name, n in commits(shop, table, 1)[0].metrics.items() if name in promise}


@pytest.mark.parametrize(
    "clauses",
    [
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
        pytest.param("WHEN MATCHED AND s.v = 'new' THEN DELETE", marks=pytest.mark.thorough),
        pytest.param(
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.id > 0 THEN INSERT (id) VALUES (s.id)",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_with_and_without_it_the_rows_and_the_metrics_are_the_same(shop: Any, clauses: str) -> None:
    with_it = outcome_of(shop, "t.id = s.id", clauses, "tgt", prune=True)
    assert with_it == outcome_of(shop, "t.id = s.id", clauses, "tgt", prune=False)


def test_a_partition_column_is_held_to_the_values_that_the_source_has(shop: Any) -> None:
    source = "(SELECT id + 8 AS id, p * 2 AS p, v FROM src WHERE id = 15 UNION ALL SELECT id, p, v FROM src)"
    looked = plan(shop, merge("t.p = s.p AND t.id = s.id", table="days", source=source), rows=0)
    assert derived(looked) == ["t.p IN (1, 2)", "t.id >= 12L AND t.id <= 23L"]
    assert looked.scan.partitions_after == 2


def test_one_key_is_an_equality(shop: Any) -> None:
    looked = plan(shop, merge("t.id = s.id", source="(SELECT * FROM src WHERE id = 13)"), rows=0)
    assert derived(looked) == ["t.id = 13L"]


NOT_DERIVED = {
    "t.id <=> s.id": NULL_SAFE,
    "t.id + 0 = s.id": "t.id + 0 is no plain column",
    "t.id = s.f": "the source's double and the target's bigint are compared in a type of neither",
    "t.f = s.f": "double is not among the types whose statistics every writer keeps exactly",
    "t.id = s.id AND t.v > 5": MAY_RAISE,
    "t.id = s.id AND 1 / length(t.v) > 0": MAY_RAISE,
}


@pytest.mark.parametrize("on", every_nth({on: on for on in NOT_DERIVED}, 2))
def test_nothing_is_derived_where_it_could_be_untrue_or_hide_an_error(shop: Any, on: str) -> None:
    looked = plan(shop, merge(on), rows=0)
    assert derived(looked) == [NOT_DERIVED[on]]
    assert [splice.part for splice in looked.splices] == ["source"]


def test_nothing_is_derived_where_a_clause_could_fail_on_a_row_that_is_skipped(shop: Any) -> None:
    def conditioned(condition: str) -> list[str]:
        return derived(
            plan(shop, merge("t.id = s.id", f"WHEN MATCHED AND {condition} THEN UPDATE SET v = s.v"), rows=0)
        )

    assert conditioned("1 / (1 + length(t.v)) > 0") == [CONDITION_MAY_RAISE]
    assert conditioned("1 / (1 + length(s.v)) > 0") != [CONDITION_MAY_RAISE]


def test_not_matched_by_source_needs_every_row(shop: Any) -> None:
    looked = plan(shop, merge("t.id = s.id", "WHEN NOT MATCHED BY SOURCE THEN DELETE"), rows=0)
    assert derived(looked) == [BY_SOURCE]


def test_an_equality_below_or_is_no_key(shop: Any) -> None:
    assert derived(plan(shop, merge("t.id = s.id OR t.i = s.i"), rows=0)) == []


def test_what_skips_no_file_is_not_added(shop: Any) -> None:
    looked = plan(shop, merge("t.id = s.id", source="(SELECT id * 13 AS id, 'a' AS v FROM range(4))"))
    assert derived(looked) == ["t.id >= 0L AND t.id <= 39L"]
    assert looked.scan.predicates == ()
    assert [splice.part for splice in looked.splices] == ["source"]


def test_no_prune_and_a_profile_that_hides_values_derive_nothing(shop: Any) -> None:
    for options in ({"prune": False}, {"private": True}):
        looked = plan(shop, merge("t.id = s.id"), rows=0, **options)
        assert derived(looked) == []
        assert looked.scan.files_after == 4


def elsewhere(session: Any, looked: Plan) -> int | None:
    """Apply a plan file in a session that did not plan it; the version that it made."""
    with session.new_session() as other:
        other.spark.sql(f"USE {session.spark.sql('SELECT current_schema()').collect()[0][0]}")
        return apply(other.spark, Plan.from_json(looked.to_json())).version


@pytest.mark.parametrize(
    "source", ["src", "(SELECT * FROM src WHERE id < 15)", "(SELECT id, 'v' AS v FROM range(12, 16))"]
)
def test_a_plan_of_elsewhere_may_narrow_on_by_what_its_source_says_alone(session: Any, shop: Any, source: str) -> None:
    table = a_clone(shop)
    looked = plan(shop, merge("t.id = s.id", table=table, source=source), rows=0)
    (one,) = looked.scan.derived
    assert one.text
    forged = one.model_copy(update={"text": "t.id = 12L"})
    splice = looked.splices[-1].model_copy(update={"text": f" AND {forged.text}"})
    narrowed = looked.scan.model_copy(update={"derived": (forged,)})
    with pytest.raises(EngineError, match="keys of its source") as caught:
        elsewhere(session, looked.model_copy(update={"scan": narrowed, "splices": (*looked.splices[:-1], splice)}))
    assert caught.value.condition == "PLAN_FILE_INVALID"
    assert len(commits(shop, table)) == 1
    assert elsewhere(session, looked) == 1
