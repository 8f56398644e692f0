"""How long a commit may take: an estimate of what was seen of this table, or nothing."""

from __future__ import annotations

from console.words.projection import Projection, projected, rehearsed
from engine.model.operation import Operation
from engine.model.plan import Plan
from engine.model.plans import OperationDetail
from tests.console import samples
from tests.console.samples import MERGE_SQL

ROWS = 870_722
"""What the sample plan writes: updated, inserted and copied."""


def took(rows: int, milliseconds: int, table: str = "sales.orders", sql: str = MERGE_SQL) -> OperationDetail:
    """A merge that wrote ``rows`` in ``milliseconds``."""
    outcome = samples.an_outcome(samples.a_plan())
    metrics = {"numTargetRowsInserted": 0, "numTargetRowsUpdated": 0, "numTargetRowsCopied": rows}
    operation = Operation(
        op_id="1", plan_id="1", kind="merge", table=table, sql=sql, status="applied", started_at="2026-11-20T12:00:00Z"
    )
    return OperationDetail(
        operation=operation, outcome=outcome.model_copy(update={"metrics": metrics, "duration_ms": milliseconds})
    )


def plan() -> Plan:
    return samples.a_plan()


def test_commits_that_wrote_as_much_say_it_by_their_median() -> None:
    alike = [took(ROWS, 5_000), took(ROWS // 2 + 1, 6_000), took(ROWS + 9, 60_000), took(3, 700)]
    assert projected(plan(), alike) == Projection(6_000, 3)


def test_others_say_it_by_what_a_row_took() -> None:
    known = [took(ROWS // 8, 2_000), took(ROWS // 3, 3_667)]
    found = projected(plan(), known)
    assert found is not None
    assert found.commits == 2
    assert 8_900 < found.milliseconds < 9_100


def test_where_there_is_no_evidence_nothing_is_said() -> None:
    other_table = took(ROWS, 5_000, table="sales.customers")
    for known in ([], [other_table], [took(10, 900)], [took(10, 900), took(20, 1_000)]):
        assert projected(plan(), known) is None


def test_the_same_statement_says_more_than_another_one_into_the_table() -> None:
    assert projected(plan(), [took(ROWS, 9_000, sql="MERGE …"), took(ROWS, 5_000)]) == Projection(5_000, 1)


def test_the_estimate_says_which_commits_it_counts() -> None:
    same = [took(ROWS, 5_000), took(3, 700), took(ROWS, 6_000, sql="MERGE …")]
    for known, told in (
        (same, "1 commit of this statement, as large"),
        (same[2:], "1 commit into this table, as large"),
        ([took(ROWS // 8, 2_000), took(ROWS // 3, 3_667)], "2 commits of this statement"),
        ([took(ROWS // 8, 2_000, sql="M"), took(ROWS // 3, 3_667, sql="M")], "2 commits into this table"),
    ):
        found = projected(plan(), known)
        assert found is not None
        assert found.basis == f"from {told}"


def test_what_deviated_or_failed_on_the_clone_estimates_nothing() -> None:
    rehearsal = samples.a_rehearsal(plan())
    found = rehearsed(rehearsal)
    assert found is not None
    assert (found.milliseconds, found.basis) == (12_300, "from its rehearsal on a clone")
    for changes in ({"kept": False}, {"refused": "DELTA_MULTIPLE_SOURCE_ROW_MATCHING"}, {"duration_ms": 0}):
        assert rehearsed(rehearsal.model_copy(update=changes)) is None


def test_a_plan_whose_rows_are_not_known_is_not_projected() -> None:
    unknown = plan().model_copy(update={"promise": {}})
    assert projected(unknown, [took(ROWS, 5_000)]) is None


def test_commits_of_which_nothing_is_known_say_nothing() -> None:
    known = took(ROWS, 5_000)
    assert known.outcome is not None
    for changes in ({"already_applied": True}, {"duration_ms": 0}, {"metrics": {}}):
        outcome = known.outcome.model_copy(update=changes)
        assert projected(plan(), [known.model_copy(update={"outcome": outcome})]) is None
    assert projected(plan(), [known.model_copy(update={"outcome": None})]) is None


def test_more_rows_that_took_less_time_say_nothing() -> None:
    assert projected(plan(), [took(ROWS // 8, 9_000), took(ROWS // 3, 1_000)]) is None
