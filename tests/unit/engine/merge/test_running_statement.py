"""The statement that runs is the operator's with the splices in it, whatever blanks it was typed with."""

from __future__ import annotations

import pytest

from engine.commit.check_plan import check_plan
from engine.merge.running_statement import running_sql
from engine.model.plan import SessionRef, Splice
from engine.model.scan import DerivedConjunct
from engine.sql.parse import parse_merge
from tests.engine.plans import make_plan

VIEW = "deltamerge_source_0123456789ab"
BOUND = "t.id = 7"
WHEN = "WHEN MATCHED THEN DELETE"


@pytest.mark.parametrize(
    ("typed", "runs"),
    [
        (
            f"MERGE INTO d.t t USING(SELECT 7 AS id)s ON t.id=s.id {WHEN}",
            f"MERGE INTO d.t t USING {VIEW} AS s ON t.id=s.id AND {BOUND} {WHEN}",
        ),
        (
            f"MERGE INTO d.t t USING(SELECT 7 AS k)ON(t.id=k){WHEN}",
            f"MERGE INTO d.t t USING {VIEW} ON(t.id=k) AND {BOUND} {WHEN}",
        ),
        (
            f"MERGE INTO d.t t USING/*(*/`s`--)\nON t.id=s.id--\n{WHEN}",
            f"MERGE INTO d.t t USING/*(*/{VIEW} AS `s`--)\nON t.id=s.id AND {BOUND}--\n{WHEN}",
        ),
    ],
)
def test_a_statement_typed_without_blanks_runs_and_its_plan_passes(typed: str, runs: str) -> None:
    merge = parse_merge(typed)
    alias = f" AS {merge.source.reference}" if merge.source.reference else ""
    source = Splice(start=merge.source.start, end=merge.source.end_alias, text=f"{VIEW}{alias}", why="")
    end = merge.condition_end
    bound = Splice(part="condition", start=end, end=end, text=f" AND {BOUND}", why="")
    plan = make_plan("0" * 32, table="d.t")
    plan = plan.model_copy(
        update={
            "statement": plan.statement.model_copy(update={"sql": typed}),
            "session": SessionRef(source_view=VIEW),
            "splices": (source, bound),
            "scan": plan.scan.model_copy(update={"derived": (DerivedConjunct(column="t.id", text=BOUND),)}),
        }
    )
    check_plan(plan)
    assert running_sql(plan) == runs
    again = parse_merge(runs)
    assert (again.source.alias, again.clauses[0].action) == (merge.source.reference or None, "DELETE")
