"""``kill -9`` at any moment: the table is committed or not, never twice, and the ledger says which."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter

import pytest

from engine.model.plan_file import read_plan_file, write_plan
from tests.crash.counting import Counted
from tests.crash.dying import APPLYING, PLANNING, run_and_die, run_and_die_after

COMMITTED = {
    "the MERGE has returned",
    "the commit is read",
    "the commit is half recorded",
    "the commit is recorded",
    "the source is dropped",
    "the session is closing",
}
MAYBE = {"the MERGE is sent", "the MERGE runs"}
SHORT = {
    *("the source is frozen", "the plan is half recorded", "the plan file is half written", "the apply is begun"),
    *("the MERGE runs", "the MERGE has returned", "the commit is half recorded"),
}


def points(names: dict[str, tuple[str, str]]) -> list[object]:
    """All of them where the run is thorough, some of them else."""
    return [pytest.param(one, marks=() if one in SHORT else pytest.mark.thorough) for one in names]


@pytest.mark.parametrize("point", points(PLANNING))
def test_a_plan_that_dies_leaves_nothing_and_a_plan_file_that_is_whole(counted: Counted, point: str) -> None:
    file, saved = counted.merge(), counted.folder / "plan.json"
    saved.unlink(missing_ok=True)
    assert run_and_die(counted.command("plan", str(file), "-o", str(saved)), point) == -signal.SIGKILL
    assert saved.exists() == (point == "the plan file is written"), "whole or not at all"
    told, mine = counted.after_crash(file.read_text(), saving=True)
    assert told == ()
    assert not counted.check(mine)
    print(f"died where {point}: {[one.status for one in mine]}")
    if mine:
        plan = counted.history.get(mine[0].op_id).plan
        assert plan is not None
        if saved.exists():
            assert read_plan_file(saved) == plan
        write_plan(saved, plan)
    assert not counted.half_files(), "the next one clears up"


@pytest.mark.parametrize("point", points(APPLYING))
def test_an_apply_that_dies_is_committed_once_or_not_at_all(counted: Counted, point: str) -> None:
    file, plan = counted.saved_plan()
    assert run_and_die(counted.command("apply", str(file), "--yes"), point) == -signal.SIGKILL
    told, mine = counted.after_crash(plan.statement.sql)
    committed = counted.check(mine)
    if point not in MAYBE:
        assert committed == (point in COMMITTED)
    assert {one.status for one in told} <= {"applied" if committed else "not_committed"}
    assert mine[0].status == "applied" or not committed
    print(f"died where {point}: {[one.status for one in mine]}")


def test_applied_again_after_a_crash_it_is_committed_once_in_all(counted: Counted) -> None:
    file, plan = counted.saved_plan()
    run_and_die(counted.command("apply", str(file), "--yes"), "the MERGE runs")
    _, mine = counted.after_crash(plan.statement.sql)
    counted.apply_again(plan, counted.check(mine))
    counted.apply_again(plan, True)


def test_dying_at_random_moments(counted: Counted, request: pytest.FixtureRequest) -> None:
    kills = request.config.getoption("--kills")
    seed = random.randrange(1 << 30)
    moments = random.Random(seed)
    whole: dict[bool, float] = {}
    found: Counter[str] = Counter()
    for kill in range(kills + 2):
        # every third time the text, so that planning is hit as well
        saved = kill % 3 != 0
        if saved:
            file, plan = counted.saved_plan()
            sql = plan.statement.sql
        else:
            file = counted.merge()
            sql = file.read_text()
        # the first of each kind lives, to know how long it takes
        lives = saved not in whole
        began = time.monotonic()
        moment = 3600 if lives else moments.uniform(0, whole[saved])
        code = run_and_die_after(counted.command("apply", str(file), "--yes"), moment)
        assert code == 0 or (code == -signal.SIGKILL and not lives), f"exit {code}, to die after {moment:.2f} s"
        whole.setdefault(saved, time.monotonic() - began)
        _, mine = counted.after_crash(sql)
        counted.check(mine)
        found[mine[0].status if mine else "nothing"] += not lives
    print(f"{kills} kills survived (seed {seed}): {dict(found)}; nothing lost, nothing twice")
