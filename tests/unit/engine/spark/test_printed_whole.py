"""Plans are printed uncut, and the session gets its own settings back."""

from __future__ import annotations

import pytest

from engine.spark.printed_whole import FIELDS, LENGTH, WHOLE, printed_whole
from tests.unit.explained import Prints


@pytest.mark.parametrize(
    ("before", "meanwhile"),
    [
        ({}, {FIELDS: WHOLE[FIELDS]}),
        ({FIELDS: "3"}, {FIELDS: WHOLE[FIELDS]}),
        ({FIELDS: "20000"}, {FIELDS: "20000"}),
        ({LENGTH: "10b", FIELDS: "20000"}, {LENGTH: WHOLE[LENGTH], FIELDS: "20000"}),
        (dict(WHOLE), dict(WHOLE)),
    ],
)
def test_only_what_cuts_is_set_and_all_is_put_back(before: dict[str, str], meanwhile: dict[str, str]) -> None:
    spark = Prints("")
    spark.conf.values = dict(before)
    with printed_whole(spark):  # type: ignore[arg-type]
        assert spark.conf.values == meanwhile
    assert spark.conf.values == before


def test_the_last_of_several_puts_it_back() -> None:
    spark = Prints("")
    with printed_whole(spark):  # type: ignore[arg-type]
        with printed_whole(spark):  # type: ignore[arg-type]
            pass
        assert spark.conf.values[FIELDS] == WHOLE[FIELDS]
    assert spark.conf.values == {}
