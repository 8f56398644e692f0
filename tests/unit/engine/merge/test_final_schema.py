"""The schema after a MERGE, read from the command that Spark prints."""

from __future__ import annotations

import pytest
from pyspark.sql import types as t

from engine.merge.final_schema import final_schema
from engine.model.errors import EngineError

NONE = t.StructType()
NESTED = t.StructType(
    [
        t.StructField("l", t.ArrayType(t.IntegerType(), False)),
        t.StructField("m", t.MapType(t.StringType(), t.IntegerType(), False), False),
    ]
)


def printed(*fields: str) -> str:
    return f"MergeIntoCommand x, StructType({','.join(fields)}), true"


def test_nested_columns_keep_whether_they_may_be_null() -> None:
    text = printed(
        "StructField(l,ArrayType(IntegerType,true),false)",
        "StructField(m,MapType(StringType,IntegerType,true),true)",
        "StructField(n,ArrayType(LongType,false),false)",
        "StructField(o,MapType(DateType,DateType,false),false)",
    )
    found = final_schema(text, NESTED, NONE)
    assert [(field.name, field.nullable) for field in found] == [("l", True), ("m", False), ("n", True), ("o", True)]
    assert not found["l"].dataType.containsNull  # type: ignore[attr-defined]
    assert not found["m"].dataType.valueContainsNull  # type: ignore[attr-defined]
    assert found["n"].dataType.containsNull  # type: ignore[attr-defined]
    assert found["o"].dataType.valueContainsNull  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        printed("StructField(a,NoSuchType,true)"),
        printed("StructField(a,ArrayType[IntegerType],true)"),
        printed("StructField(a,IntegerType,maybe)"),
        printed("StructField(a,MapType(StringType;IntegerType,true),true)"),
        printed("StructField(a,IntegerType,true)").replace("), true", ") or so"),
        "Project",
    ],
)
def test_what_cannot_be_read_is_not_guessed(text: str) -> None:
    with pytest.raises(EngineError) as refused:
        final_schema(text, NESTED, NONE)
    assert refused.value.condition == "PLAN_NOT_UNDERSTOOD"


def test_what_subqueries_read_stands_below_and_is_not_looked_at() -> None:
    text = f"{printed('StructField(a,IntegerType,true)')}\n   +- {printed('StructField(b,DateType,true)')}"
    assert final_schema(text, NONE, NONE).names == ["a"]


def test_a_text_that_ends_as_a_line_below_begins_is_none() -> None:
    text = printed("StructField(a,IntegerType,true)").replace(" x,", " (v#1 = x\n   +- ) AS v#2,")
    assert final_schema(text, NONE, NONE).names == ["a"]


def test_a_new_column_brings_the_metadata_of_the_source_and_one_that_stays_keeps_its_own() -> None:
    old = t.StructType([t.StructField("a", t.IntegerType(), metadata={"CURRENT_DEFAULT": "1"})])
    source = t.StructType(
        [
            t.StructField("A", t.IntegerType(), metadata={"CURRENT_DEFAULT": "2"}),
            t.StructField("b", t.IntegerType(), metadata={"CURRENT_DEFAULT": "3"}),
        ]
    )
    text = printed("StructField(a,IntegerType,true)", "StructField(b,IntegerType,true)")
    assert [field.metadata["CURRENT_DEFAULT"] for field in final_schema(text, old, source)] == ["1", "3"]
