"""A CHECK's names are those of the table, in whatever case they are written."""

from __future__ import annotations

import pytest
from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType

from engine.sql.extractors import NOT_COMPUTED, with_extractors

COLUMNS = {
    "v": IntegerType(),
    "user": IntegerType(),
    "st": StructType([StructField("n", IntegerType())]),
    "items": ArrayType(StructType([StructField("n", IntegerType())])),
    "m": MapType(StringType(), IntegerType()),
}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("V > 0", "`v` > 0"),
        ("`V`+v>0", "`v`+`v`>0"),
        ("ST.N IS NULL", "`st`.`n` IS NULL"),
        ("size(ITEMS) > v", "size(`items`) > `v`"),
        ("forall(Items, V -> V > 0) AND V = 1", "forall(`items`, V -> V > 0) AND `v` = 1"),
        ("User = 1 AND D < current_date", "`user` = 1 AND NULL < NULL"),
        ("nope > 0 OR t.v > 0", "NULL > 0 OR NULL > 0"),
        ("st.nope > 0", "NULL > 0"),
        ("d < current_date()", "NULL < current_date()"),
        ("ST['N'] > 0", "`st`['N'] > 0"),
        ("v > ", "v > "),
    ],
)
def test_names_are_spelled_as_the_table_has_them(text: str, read: str) -> None:
    assert with_extractors(text, COLUMNS).text == read


def raised(function: str) -> str:
    return f"CAST(isnull(raise_error('{NOT_COMPUTED}{function}()')) AS STRING)"


def test_words_that_are_reserved_are_functions_and_no_columns() -> None:
    read = with_extractors("V < current_date AND `user` = 1", COLUMNS, reserved=True)
    assert (read.text, read.otherwise) == ("`v` < current_date AND `user` = 1", False)
    assert with_extractors("USER = 'a'", COLUMNS, reserved=True).text == f"{raised('user')} = 'a'"


def test_what_a_plan_has_the_value_of_and_a_row_has_not_is_an_error() -> None:
    read = with_extractors("V = 1 OR Current_Catalog() = 'a'", COLUMNS)
    assert read.text == f"`v` = 1 OR {raised('current_catalog')} = 'a'"
    assert with_extractors("mine.user() = 'a'", COLUMNS).text == "mine.user() = 'a'"


@pytest.mark.parametrize(
    ("text", "otherwise", "leaves_structs"),
    [
        ("v > 0 AND st.n > 0 AND m['k'] > 0", False, False),
        ("v < current_timestamp", True, False),
        ("v < current_timestamp()", False, False),
        ("v > 0 OR system.builtin.current_user() = 'a'", True, False),
        ("nope.k > 0", True, False),
        ("st.nope.k > 0", True, False),
        ("M.k > 0", True, True),
        ("size(items.n) > 0", True, True),
        ("st.n.k > 0", True, True),
    ],
)
def test_a_name_without_a_column_is_null_and_one_that_leaves_structs_an_error(
    text: str, otherwise: bool, leaves_structs: bool
) -> None:
    read = with_extractors(text, COLUMNS)
    assert (read.otherwise, read.leaves_structs) == (otherwise, leaves_structs)
