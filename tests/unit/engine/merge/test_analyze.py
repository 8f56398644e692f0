"""What is read from the analyzed plan of a MERGE beside its expressions."""

from __future__ import annotations

import pytest

from engine.merge.explain_merge import CATALOG_TABLE

AS_PRINTED = "MergeIntoCommand SubqueryAlias s, SubqueryAlias t, "


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("`spark_catalog`.`db`.`t`, ", "`spark_catalog`.`db`.`t`"),
        ("`spark_catalog`.`db`.`t`, org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe, ", "`spark_catalog`.`db`.`t`"),
        ("`c`.`a, b`.`x``y`, ", "`c`.`a, b`.`x``y`"),
        ("", None),
    ],
    ids=["Spark's own catalog", "Hive's catalog", "odd names", "a path"],
)
def test_the_catalog_s_name_of_the_target_is_what_stands_before_its_index(printed: str, name: str | None) -> None:
    text = f"{AS_PRINTED}{printed}Delta[version=3, file:/w/t], (k#1 = k#2)"
    found = CATALOG_TABLE.search(text, 0, text.index("Delta["))
    assert (found.group() if found else None) == name
