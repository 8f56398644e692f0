"""A MERGE that only inserts (InsertOnlyMergeExecutor): the source rows without a match, by one join with the target."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.plan_merge import plan
from tests.engine.fidelity import refused_by_delta

TWO_CLAUSES = (
    "WHEN NOT MATCHED AND s.k % 2 = 0 THEN INSERT (k, n) VALUES (s.k, 0) "
    "WHEN NOT MATCHED AND s.k % 3 = 0 THEN INSERT (k, n) VALUES (s.k, 1)"
)


@pytest.fixture
def shop(spark: Any, schema: str) -> Any:
    """``t``: keys 0 to 9, each three times, n 1, 1 and 0. ``s``: keys 5 to 19 and NULL, two rows each."""
    spark.sql("CREATE TABLE t USING delta AS SELECT id DIV 3 AS k, IF(id % 3 = 2, 0, 1) AS n FROM range(0, 30, 1, 1)")
    spark.sql(
        "CREATE TABLE s USING delta AS SELECT IF(id = 40, NULL, id DIV 2) AS k, id AS v FROM range(10, 42, 1, 1)"
        " WHERE id <> 41"
    )
    return spark


def merge(on: str, clauses: str) -> str:
    return f"MERGE INTO t USING s ON {on} {clauses}"


def test_a_source_row_is_inserted_once_for_no_match_and_never_for_several(shop: Any) -> None:
    looked = plan(shop, merge("t.k = s.k", "WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.k, 2)"))
    # 10 to 19 twice each, and the NULL that matches nothing
    assert looked.promise["numTargetRowsInserted"] == 21
    assert looked.promise["numSourceRows"] == 31
    assert looked.executor == "InsertOnlyMergeExecutor"
    assert apply(shop, looked).kept


def test_each_clause_gets_the_rows_that_the_ones_before_it_leave(shop: Any) -> None:
    looked = plan(shop, merge("t.k = s.k", TWO_CLAUSES))
    # 10, 12, …, 18 and 15, twice each
    assert looked.promise["numTargetRowsInserted"] == 12
    assert apply(shop, looked).kept


@pytest.mark.parametrize("on", ["t.k = s.k AND t.n = 0", "t.k <=> s.k", "t.k > s.k", "t.n = 5 AND t.k = s.k", "FALSE"])
def test_the_promise_is_kept_whatever_on_is(shop: Any, on: str) -> None:
    looked = plan(shop, merge(on, TWO_CLAUSES))
    assert looked.refused is None
    assert apply(shop, looked).kept


def test_an_on_that_fails_for_some_pair_is_judged_as_delta_judges_it(shop: Any) -> None:
    """Delta's join ends at the first match of a source row, which may come before the pair that fails."""
    text = merge("t.k = s.k AND 1 / t.n = 1", "WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.k, 2)")
    looked = plan(shop, text)
    if looked.refused is None:
        assert apply(shop, looked).kept
    else:
        assert looked.refused.condition == refused_by_delta(shop, text)


def test_a_source_that_gives_others_each_time_is_applied_as_it_was_planned(shop: Any) -> None:
    source = "(SELECT k, uuid() AS u FROM s)"
    text = f"MERGE INTO t USING {source} s ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.k, length(s.u))"
    looked = plan(shop, text)
    assert looked.executor == "InsertOnlyMergeExecutor"
    assert looked.promise["numTargetRowsInserted"] == 21
    assert apply(shop, looked).kept


def test_the_target_is_read_once(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(type(shop), "sql", recorded(type(shop).sql, sent))
    plan(shop, merge("t.k = s.k", TWO_CLAUSES), rows=5)
    joins = [one for one in sent if "monotonically_increasing_id() AS __dm_target_row" in one]
    assert len(joins) == 1


def recorded(sql: Any, sent: list[str]) -> Any:
    def send(self: Any, text: str, *args: Any, **kwargs: Any) -> Any:
        sent.append(text)
        return sql(self, text, *args, **kwargs)

    return send
