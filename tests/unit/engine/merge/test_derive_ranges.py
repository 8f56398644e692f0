"""The ranges that keys lie in, without the gaps between them."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.merge.derive_ranges import MAX_RANGES, SMALL_GAP, KeyRange, in_one_of, joined
from tests.unit.explained import Recorded
from tests.unit.explained.cases import ranges

NUMBERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=4), min_size=1, max_size=30))
def test_every_key_lies_in_a_range_and_the_widest_gaps_are_left_out(buckets: list[list[int]]) -> None:
    keys = sorted(key for bucket in buckets for key in bucket)
    # each bucket is a stretch of the ordered keys
    rest, ranges = list(keys), []
    for bucket in buckets:
        mine, rest = rest[: len(bucket)], rest[len(bucket) :]
        ranges.append(KeyRange(Decimal(mine[0]), Decimal(mine[-1]), str(mine[0]), str(mine[-1])))
    found = joined(ranges)
    assert all(any(one.low <= key <= one.high for one in found) for key in keys)
    gaps = sorted((after.low - one.high for one, after in pairwise(ranges)), reverse=True)
    left_out = sorted((after.low - one.high for one, after in pairwise(found)), reverse=True)
    # whole numbers that follow one another leave no gap
    small = max(Decimal(keys[-1] - keys[0]) / SMALL_GAP, Decimal(1))
    assert left_out == [gap for gap in gaps if gap > small][: MAX_RANGES - 1]


def test_keys_that_lie_apart_are_bounded_by_their_ranges() -> None:
    apart, together, texts = ranges(Recorded("ranges"))
    assert [(one.first, one.last) for one in apart] == [("0L", "9L"), ("990L", "999L")]
    # one day is no gap, and a text has none
    assert (together, texts) == ((), ())


def test_one_of_some_ranges() -> None:
    found = [KeyRange(Decimal(0), Decimal(1), "0", "1"), KeyRange(Decimal(5), Decimal(5), "5", "5")]
    assert in_one_of("t.a", found) == "(t.a >= 0 AND t.a <= 1 OR t.a = 5)"
