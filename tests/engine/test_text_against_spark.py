"""Our reading of any text is Spark's, or the statement is refused.

The statements lie between tables that do not exist, so that Spark does no more than parse them. CI judges the first
2,000; ``pytest -m fidelity --statements N`` the next N, from where the last such run ended: pytest's cache keeps the
log.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine.merge.check_reading import alike, check_parsed, from_parts
from engine.model.errors import EngineError
from engine.spark.confs import confs_set
from engine.spark.explain import explain
from engine.sql.parse import parse_merge
from engine.sql.sql_text import parameter_markers
from tests.engine.random_names import POSITIONS
from tests.engine.random_texts import Text, content_of, random_text, statement_of

IN_CI = 2_000
LOG = "text_against_spark/statements"
MOST_REFUSED = 0.005
SHRINKING_SECONDS = 20
CONFS = {
    "spark.sql.debug.maxToStringFields": "1000000",
    # ANTLR keeps what it learnt of each text, until the heap is full
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushThreshold": "20000",
}


class Rows:
    def __init__(self, text: str) -> None:
        self._text = text

    def collect(self) -> list[list[str]]:
        return [[self._text]]


class ParserAlone:
    """Stands for a session: answers EXPLAIN by what Spark's parser says, in 5 ms instead of 100."""

    def __init__(self, classic: Any) -> None:
        self._parser = classic._jsparkSession.sessionState().sqlParser()
        self.conf = classic.conf

    def sql(self, text: str) -> Rows:
        plan = self._parser.parsePlan(text.removeprefix("EXPLAIN EXTENDED "))
        return Rows(f"== Parsed Logical Plan ==\n{plan.toString()}")


@pytest.fixture(scope="module")
def parser(classic: Any) -> Iterator[Any]:
    with confs_set(classic, CONFS):
        yield ParserAlone(classic)


@pytest.fixture(scope="module")
def words(classic: Any) -> tuple[str, ...]:
    return tuple(row[0] for row in classic.sql("SELECT keyword FROM SQL_KEYWORDS() ORDER BY keyword").collect())


def verdict(parser: Any, text: Text) -> tuple[str, str]:
    """(agreed, refused, no SQL, other to Spark or WRONG; and why)."""
    sql, content = text.write()
    try:
        plan = explain(parser, sql)
    except EngineError as error:
        return "no SQL", str(error)
    try:
        read = parse_merge(sql)
        check_parsed(parser, read, plan.parsed)
    except EngineError as error:
        return "refused", str(error)
    ours = content_of(read, tuple((start, end) for _, start, end in parameter_markers(sql)))
    if ours == content:
        return "agreed", ""
    if replace(ours, markers=content.markers) == content and set(ours.markers) > set(content.markers):
        # a bare column called like an operator, with a path behind it: fill asks for a value, and nothing is planned
        return "refused", "a path is taken for a parameter"
    try:
        meant = explain(parser, from_parts(statement_of(content))).parsed
    except EngineError as error:
        meant = str(error)
    if alike(meant) != alike(plan.parsed):
        return "other to Spark", ""
    return "WRONG", f"{ours}\nis not\n{content}"


def shrunk(parser: Any, text: Text, wanted: str) -> Text:
    """A smaller statement of the same verdict."""
    end = time.monotonic() + SHRINKING_SECONDS
    while time.monotonic() < end:
        smaller = next((one for one in text.smaller() if verdict(parser, one)[0] == wanted), None)
        if smaller is None:
            break
        text = smaller
    return text


def judge(parser: Any, words: tuple[str, ...], seeds: range) -> tuple[Counter[str], list[str]]:
    seen: Counter[str] = Counter()
    shown: list[str] = []
    for seed in seeds:
        text = random_text(seed, words)
        found, _ = verdict(parser, text)
        seen[found] += 1
        if found in ("WRONG", "refused") and len(shown) < 5:
            least = shrunk(parser, text, found)
            shown.append(f"{found}, seed {seed}: {least.write()[0]!r}\n{verdict(parser, least)[1]}")
    return seen, shown


@pytest.mark.fidelity
def test_our_reading_is_sparks_or_the_statement_is_refused(
    parser: Any, words: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    wanted = request.config.getoption("--statements")
    cache = getattr(request.config, "cache", None)
    done = int(cache.get(LOG, 0)) if wanted and cache else 0
    seeds = range(done, done + (wanted or IN_CI))
    seen, shown = judge(parser, words, seeds)
    print(f"statements {seeds.start} to {seeds.stop - 1}: {dict(seen)}", *shown, sep="\n")
    assert seen["WRONG"] == 0, shown
    assert seen["refused"] <= MOST_REFUSED * len(seeds), shown
    assert seen["agreed"] > 0.9 * len(seeds)
    if wanted and cache:
        cache.set(LOG, seeds.stop)


def test_every_word_comes_to_every_position(words: tuple[str, ...]) -> None:
    pairs = len(words) * len(POSITIONS)
    assert len(words) > 400
    assert pairs < 20_000
    assert len({seed * 4001 % pairs for seed in range(pairs)}) == pairs


def test_the_parser_alone_prints_what_explain_does(classic: Any, parser: Any, words: tuple[str, ...]) -> None:
    compared = 0
    for seed in range(10):
        sql, _ = random_text(seed, words).write()
        try:
            parsed = explain(parser, sql).parsed
        except EngineError:
            continue
        text = classic.sql(f"EXPLAIN EXTENDED {sql}").collect()[0][0]
        assert alike(parsed).split() == alike(text.split("== Analyzed Logical Plan ==")[0].partition("==\n")[2]).split()
        compared += 1
    assert compared > 5
