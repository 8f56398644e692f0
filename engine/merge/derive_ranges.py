"""Where the keys of the source lie apart: the ranges they lie in, without the gaps between them.

Between the least and the greatest key of a day's rows and a few late ones lies most of a table. Delta skips by each
part of an OR, while a list of IN is to it one range, from its least value to its greatest
(DataSkippingReader.constructDataFilters).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from engine.merge.exact_statistics import lower_bound, upper_bound
from engine.spark.spark_errors import collected
from engine.sql.literals import DECIMAL, INTEGERS, printed, within

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUCKETS = 256
MAX_RANGES = 8
# a gap is too small to matter where it is no more than this part of the whole
SMALL_GAP = 64
# the values of a type as numbers that have the same order and the same gaps
NUMBERS = {"date": "unix_date({})", "timestamp": "unix_micros({})"}


class KeyRange(NamedTuple):
    """Keys from ``low`` to ``high``, both of them keys, as numbers, and the literals between which they lie."""

    low: Decimal
    high: Decimal
    first: str | None
    last: str | None


def key_ranges(
    spark: SparkSession, view: str, reference: str, key: str, type_: str, low: str, high: str
) -> tuple[KeyRange, ...]:
    """The ranges that hold every ``key`` of ``view``, all of them between the literals ``low`` and ``high``;
    () where they leave out less than half of what lies between these, and for a type without gaps.

    At most MAX_RANGES, whatever the number of rows: keys are put into BUCKETS of one width, and each bucket gives its
    least and greatest. Raises EngineError.
    """
    if type_ not in INTEGERS and type_ not in NUMBERS and not DECIMAL.match(type_):
        return ()
    number = NUMBERS.get(type_, "{}")
    spans = ", ".join(f"CAST({number.format(one)} AS DOUBLE)" for one in (key, low, high))
    ends = (f"min({key})", f"max({key})")
    items = [f"CAST({number.format(end)} AS STRING)" for end in ends] + [printed(type_, end) for end in ends]
    query = (
        f"SELECT {', '.join(items)} FROM {view} AS {reference} WHERE {key} IS NOT NULL "
        f"GROUP BY width_bucket({spans}, {BUCKETS})"
    )
    ranges = joined(
        [
            KeyRange(Decimal(low), Decimal(high), lower_bound(type_, first), upper_bound(type_, last))
            for low, high, first, last in collected(spark, query)
        ]
    )
    covered = sum(one.high - one.low for one in ranges)
    apart = len(ranges) > 1 and covered * 2 <= ranges[-1].high - ranges[0].low
    return ranges if apart and all(one.first and one.last for one in ranges) else ()


def joined(ranges: Sequence[KeyRange]) -> tuple[KeyRange, ...]:
    """At most MAX_RANGES ranges, in order, with the widest of the gaps between them, and none too small to matter."""
    ordered = sorted(ranges)
    # 1 for whole numbers, 0.01 for a decimal with two digits: those that follow one another leave no gap
    unit = Decimal(1).scaleb(int(ordered[-1].high.as_tuple().exponent))
    small = max((ordered[-1].high - ordered[0].low) / SMALL_GAP, unit)
    gaps = [(after.low - before.high, at) for at, (before, after) in enumerate(pairwise(ordered), 1)]
    widest = sorted((gap for gap in gaps if gap[0] > small), reverse=True)[: MAX_RANGES - 1]
    starts = [0, *sorted(at for _, at in widest), len(ordered)]
    return tuple(
        KeyRange(ordered[start].low, ordered[end - 1].high, ordered[start].first, ordered[end - 1].last)
        for start, end in pairwise(starts)
    )


def in_one_of(column: str, ranges: Sequence[KeyRange]) -> str:
    """The conjunct that ``column`` lies in one of some ranges."""
    return f"({' OR '.join(within(column, str(one.first), str(one.last)) for one in ranges)})"
