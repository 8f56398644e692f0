"""The forms beside what they mean, in plain Python: feeds with rows that come late, twice, out of order, or with NULL.

Many small histories are drawn, and go into one table and one feed together: ``case``, a part of the key, tells them
apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from console.statements.forms import FORMS, Form, expectations
from engine.commit.apply_plan import apply
from engine.expect.read_expectations import read_expectations
from engine.model.plan import Plan
from engine.plan_statement import plan
from tests.conftest import own_schema
from tests.engine.some import some

Key = tuple[int, int | None]
Row = tuple[Any, ...]
KEY = ("case", "the-id")
GONE = object()


class Change(NamedTuple):
    """A row of a feed. What a key and a sequence say is always the same; ``state`` is what a snapshot has instead."""

    key: Key
    value: str | None
    seq: int | None
    op: str | None
    state: str | None

    @property
    def is_whole(self) -> bool:
        return self.key[1] is not None and self.seq is not None


Feed = Sequence[Change]


@st.composite
def feeds(draw: st.DrawFn) -> list[list[Change]]:
    """Two feeds of three keys: the later one may go back, and repeat."""
    values, ids, times = st.sampled_from(("a", "b", None)), st.sampled_from((1, 2, 3, None)), st.integers(0, 7)
    facts: dict[tuple[Any, Any], tuple[str | None, str | None]] = {}
    found = []
    for _ in range(2):
        states: dict[Any, str | None] = {}
        feed = []
        for key, seq in draw(st.lists(st.tuples(ids, st.one_of(times, times, times, st.none())), max_size=8)):
            value, op = facts.setdefault((key, seq), (draw(values), draw(st.sampled_from(("U", "U", "D", None)))))
            feed.append(Change((0, key), value, seq, op, states.setdefault(key, draw(values))))
        found.append(feed)
    return found


def drawn(count: int, *, derandomize: bool) -> list[list[Change]]:
    """The two feeds of ``count`` cases, all of them in one."""
    both: list[list[Change]] = [[], []]

    @settings(
        max_examples=count,
        derandomize=derandomize,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(feeds())
    def take(found: list[list[Change]]) -> None:
        case[0] += 1
        for all_, feed in zip(both, found, strict=True):
            all_ += [change._replace(key=(case[0], change.key[1])) for change in feed]

    case = [0]
    take()
    return both


def last_of_each(feed: Feed) -> dict[Key, Change]:
    """The change of each key that has the highest sequence; one without any comes before all others."""
    return {one.key: one for one in sorted(feed, key=lambda one: -1 if one.seq is None else one.seq)}


def after_cdc(rows: set[Row], feed: Feed) -> set[Row]:
    """(case, id, value, seq, deleted) of the last change ever seen of each key."""
    state = {row[:2]: row for row in rows}
    for key, one in last_of_each([one for one in feed if one.is_whole]).items():
        if key not in state or state[key][3] < one.seq:
            state[key] = (*key, one.value, one.seq, one.op == "D")
    return set(state.values())


def after_scd1(rows: set[Row], feed: Feed) -> set[Row]:
    """(case, id, value) of the last snapshot in which each key was."""
    state = {row[:2]: row for row in rows} | {one.key: (*one.key, one.state) for one in feed if one.key[1] is not None}
    return set(state.values())


def after_dedupe(rows: set[Row], feed: Feed) -> set[Row]:
    """(case, id, value, seq) as each key came first."""
    new = {key: (*key, one.value, one.seq) for key, one in last_of_each(feed).items() if key[1] is not None}
    return set((new | {row[:2]: row for row in rows}).values())


def after_scd2(rows: set[Row], feed: Feed) -> set[Row]:
    """(case, id, value, since, until, current): what is there stays, and what is new gets its place between."""
    moments: dict[Key, dict[int, Any]] = {}
    for row in rows:
        if row[4] is not None:
            moments.setdefault(row[:2], {})[row[4]] = GONE
    for one in sorted((one for one in feed if one.is_whole), key=lambda one: one.op != "D"):
        moments.setdefault(one.key, {})[one.seq or 0] = GONE if one.op == "D" else one.value
    for row in rows:
        moments.setdefault(row[:2], {})[row[3]] = row[2]
    there = {(*row[:2], row[3]) for row in rows}
    found: set[Row] = set()
    for key, of_key in moments.items():
        kept: list[tuple[int, Any]] = []
        for time, value in sorted(of_key.items()):
            if not kept or value != kept[-1][1] or (*key, time) in there:
                kept.append((time, value))
        for (time, value), until in zip(kept, [*(time for time, _ in kept[1:]), None], strict=True):
            if value is not GONE:
                found.add((*key, value, time, until, until is None))
    return found


class Case(NamedTuple):
    """A form, the columns of its target, and what it means."""

    columns: str
    after: Callable[[set[Row], Feed], set[Row]]
    options: Mapping[str, Any]


FEED = "`case` INT, `the-id` INT, `from` STRING, seq INT, op STRING, state STRING"
CASES = {
    "cdc": Case(
        "`case` INT, `the-id` INT, `from` STRING, seq INT, deleted BOOLEAN",
        after_cdc,
        {"columns": (*KEY, "from", "seq"), "sequence": "seq", "delete": "op = 'D'", "deleted": "deleted"},
    ),
    "scd1": Case(
        "`case` INT, `the-id` INT, state STRING", after_scd1, {"columns": (*KEY, "state"), "compared": ("state",)}
    ),
    "scd2": Case(
        "`case` INT, `the-id` INT, `from` STRING, valid_from INT, valid_to INT, is_current BOOLEAN",
        after_scd2,
        {"columns": (*KEY, "from"), "compared": ("from",), "sequence": "seq", "delete": "op = 'D'"},
    ),
    "dedupe": Case(
        "`case` INT, `the-id` INT, `from` STRING, seq INT",
        after_dedupe,
        {"columns": (*KEY, "from", "seq"), "sequence": "seq"},
    ),
}


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        yield spark


@pytest.mark.parametrize("name", some(FORMS, always=("cdc", "scd2")))
def test_a_form_does_what_it_means(shop: Any, name: str) -> None:
    check(shop, name, drawn(60, derandomize=True))


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMS)
def test_a_form_does_so_for_many_feeds(shop: Any, name: str) -> None:
    check(shop, name, drawn(500, derandomize=False))


def check(spark: Any, name: str, feeds: Sequence[Feed]) -> None:
    """The plan of the second feed warns of nothing, and what it promises and expects comes true."""
    case, (first, second) = CASES[name], feeds
    before = case.after(set(), first)
    after = case.after(before, second)
    fill(spark, "feed", FEED, ((*one.key, *one[1:]) for one in second))
    fill(spark, name, case.columns, before)
    form = Form(name, "feed", KEY, **case.options)
    expected = tuple(read_expectations(expectations(name, form)))
    found = plan(spark, FORMS[name][2](form), rows=0, expectations=expected)
    assert isinstance(found, Plan)
    assert (found.refused, found.warnings) == (None, ())
    assert [one.status for one in found.expectations] == ["pass", "pass"]
    assert found.promise["numTargetRowsInserted"] == len(after) - len(before)
    outcome = apply(spark, found)
    assert (outcome.kept, outcome.deviations) == (True, ())
    rows = {tuple(row) for row in spark.table(name).collect()}
    assert (rows - after, after - rows) == (set(), set())


def fill(spark: Any, table: str, columns: str, rows: Iterable[Row]) -> None:
    """A new table of these rows."""
    spark.sql(f"CREATE OR REPLACE TABLE {table} ({columns}) USING DELTA")
    values = ", ".join(f"({', '.join(literal(cell) for cell in row)})" for row in rows)
    spark.sql(f"INSERT INTO {table} VALUES {values}")


def literal(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
