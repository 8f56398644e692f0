"""What schema evolution changes, in words."""

from __future__ import annotations

import pytest

from console.words.glyphs import UNICODE
from console.words.plan_summary import as_text
from console.words.schema_changes import evolution
from engine.model.plan import Refused
from tests.engine.plans import evolving, make_plan


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, "struct<a:int>", "adds c struct<a:int>"),
        ("int", "bigint", "c int becomes bigint"),
        ("decimal(10,2)", "decimal(12,2)", "c decimal(10,2) becomes decimal(12,2)"),
        ("struct<a:int,b:decimal(10,2)>", "struct<a:int,b:decimal(10,2),z:string>", "adds c.z string"),
        ("struct<a:int,s:struct<x:int>>", "struct<A:int,s:struct<x:bigint,y:date>>", "adds c.s.y date; c.s.x int"),
        ("array<struct<a:int>>", "array<struct<a:int,b:map<int,int>>>", "adds c.element.b map<int,int>"),
        ("map<string,int>", "map<string,bigint>", "c.value int becomes bigint"),
        ("int", "struct<a:int>", "c int becomes struct<a:int>"),
        # a field whose name cannot be read from the print
        ("struct<x>", "struct<x,y:int>", "c struct<x> becomes struct<x,y:int>"),
    ],
)
def test_the_innermost_that_changes_is_told(before: str | None, after: str, told: str) -> None:
    assert evolution(evolving(make_plan(), ("same", "int", "int"), ("c", before, after))).startswith(
        f"schema evolves: {told}"
    )


def test_of_many_columns_the_first_ones_are_named() -> None:
    plan = evolving(make_plan(), *((f"c{at}", None, "int") for at in range(9)))
    assert evolution(plan).endswith("c4 int, c5 int and 3 more")
    assert evolution(plan, None).endswith("c8 int")


def test_a_schema_that_stays_and_a_plan_that_is_refused_say_nothing() -> None:
    assert evolution(make_plan()) == ""
    refused = evolving(make_plan(), ("c", None, "int")).model_copy(
        update={"refused": Refused(condition="X", message="no")}
    )
    assert evolution(refused) == ""
    assert "schema evolves: adds c int" in as_text(evolving(make_plan(), ("c", None, "int")), UNICODE)
