"""A CHECK's names are those of the table, in whatever case they are written."""

from __future__ import annotations

import pytest
from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

from engine.sql.extractors import with_extractors

COLUMNS = {
    "v": IntegerType(),
    "user": IntegerType(),
    "st": StructType([StructField("n", IntegerType())]),
    "items": ArrayType(IntegerType()),
}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("V > 0", "`v` > 0"),
        ("`V`+v>0", "`v`+`v`>0"),
        ("ST.N IS NULL", "`st`.`n` IS NULL"),
        ("size(ITEMS) > v", "size(`items`) > `v`"),
        ("forall(Items, V -> V > 0) AND V = 1", "forall(`items`, V -> V > 0) AND `v` = 1"),
        ("User = 1 AND D < current_date", "`user` = 1 AND NULL < current_date"),
        ("nope > 0 OR t.v > 0", "NULL > 0 OR NULL > 0"),
        ("st.nope > 0", "st.nope > 0"),
        ("ST['N'] > 0", "`st`['N'] > 0"),
        ("v > ", "v > "),
    ],
)
def test_names_are_spelled_as_the_table_has_them(text: str, read: str) -> None:
    assert with_extractors(text, COLUMNS) == read
