"""What the demo tells of itself while it is built, from two threads at once."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from engine.demo.demo import build_demo
from engine.demo.demo_sql import STATEMENTS
from engine.model.progress import Progress


class FastAndSlow:
    """A Spark whose odd tables take longer than the others."""

    def __init__(self) -> None:
        self.statements = 0

    def sql(self, _: str) -> FastAndSlow:
        self.statements += 1
        return self

    def collect(self) -> list[Any]:
        time.sleep(0.002 * (self.statements % 3))
        return []


def test_the_count_of_the_demo_s_tables_only_rises_and_names_those_that_are_not_done(tmp_path: Path) -> None:
    for _ in range(5):
        told: list[Progress] = []
        build_demo(FastAndSlow(), tmp_path, told.append, reset=True)  # type: ignore[arg-type]
        counts = [one.done for one in told]
        assert counts == sorted(counts)
        assert (counts[0], counts[-1], {one.total for one in told}) == (0, 8, {8})
        for one in told:
            under_way = one.phase.removeprefix("Generating ").split(", ") if "Generating" in one.phase else []
            assert one.done + len(under_way) <= one.total
            assert "tables" in one.counts


def test_a_merge_says_of_itself_only_what_is_true_after_its_commit_too() -> None:
    """The demo opens on a merge that may be committed already, and has more files by then."""
    for text in STATEMENTS.values():
        comments = " ".join(line for line in text.splitlines() if line.startswith("--"))
        assert not re.search(r"\b(\d+|three|forty)\b( of the \w+)? files", comments, re.IGNORECASE)


def test_a_step_that_counts_by_itself_keeps_its_count_over_the_tasks_of_its_queries() -> None:
    step = Progress(phase="Generating demo.orders", done=3, total=8, counts="tables")
    assert step.with_tasks(50, 60, 0) == step
    assert Progress(phase="analyze").with_tasks(5, 6, 7) == Progress(phase="analyze", done=5, total=6, bytes_read=7)
