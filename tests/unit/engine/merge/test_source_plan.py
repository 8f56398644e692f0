"""The source's plan, read from what Spark printed."""

from __future__ import annotations

from typing import Any

import pytest

from engine.merge.source_plan import (
    NON_DETERMINISTIC_LATERAL,
    SourcePlan,
    delta_scan_ids,
    delta_tables,
    explain_scans,
    hints,
    inlined,
    is_delta,
    is_deterministic,
    leaves,
    query_plan,
    quoted,
    refuse_with_left_outside,
    root_hint,
    uses,
    with_queries_read,
)
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.spark.confs import STATS_SKIPPING
from engine.spark.explain import Node, tree
from tests.unit.explained import Answer, Confs, Prints, Recorded
from tests.unit.explained.cases import SOURCES, sources


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return sources(Recorded("sources"))


def root(name: str, recorded: dict[str, Any]) -> Node:
    found: Node = recorded[name][0].root
    return found


@pytest.mark.parametrize(
    ("name", "deterministic", "tables"),
    [
        ("table", True, ("spark_catalog.shop.feed",)),
        ("query", True, ("spark_catalog.shop.feed",)),
        ("with", True, ("spark_catalog.shop.feed",)),
        ("subquery", True, ("spark_catalog.shop.feed",)),
        ("hint", True, ("spark_catalog.shop.feed",)),
        ("random", False, ("spark_catalog.shop.feed",)),
    ],
)
def test_what_is_known_of_a_source(
    recorded: dict[str, Any], name: str, deterministic: bool, tables: tuple[str, ...]
) -> None:
    _, found, of_delta, _ = recorded[name]
    assert (found, of_delta) == (deterministic, tables)


def test_each_case_was_recorded(recorded: dict[str, Any]) -> None:
    assert set(recorded) == set(SOURCES)


def test_a_parquet_table_is_no_delta_table_though_both_print_alike(recorded: dict[str, Any]) -> None:
    assert sorted(recorded["query"][3]) == [False, True]
    # the plan before the plans of its subqueries
    assert recorded["subquery"][3] == [False, True]


def test_a_with_that_is_used_stands_where_it_is_used(recorded: dict[str, Any]) -> None:
    plan = recorded["with"][0]
    assert plan.unused_with
    assert not any("CTE" in node.name for node in plan.root.walk())
    assert not recorded["query"][0].unused_with


def test_a_hint_is_read_before_and_after_analysis(recorded: dict[str, Any]) -> None:
    assert recorded["hint"][0].hints == ("BROADCAST",)
    assert root_hint(recorded["hint"][0]) == "BROADCAST"
    assert root_hint(recorded["table"][0]) is None


def test_functions_are_called_in_the_text(recorded: dict[str, Any]) -> None:
    assert recorded["random"][0].functions == {("rand",)}
    assert recorded["table"][0].functions == frozenset()


def plan_of(text: str) -> SourcePlan:
    return SourcePlan("", "s", tree(text), frozenset((("f",),)), (), False)


@pytest.mark.parametrize("printed", ["Create [x\n            +- OneRowRelation", "Create"])
def test_a_print_that_is_no_tree_gives_no_plan(printed: str) -> None:
    spark = Prints(f"== Analyzed Logical Plan ==\n{printed}")
    found = query_plan(spark, "", "s")  # type: ignore[arg-type]
    assert (found.root, found.unused_with, found.with_read) == (None, False, frozenset())
    assert (root_hint(found), delta_tables(spark, found)) == (None, ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("plan", "tables"),
    [
        ("SubqueryAlias delta.`/data/t`\n+- Relation [id#9L] parquet", ("delta.`/data/t`",)),
        ("SubqueryAlias spark_catalog.delta.`/data/t`\n+- Relation [id#9L] parquet", ("delta.`/data/t`",)),
        ("Relation [id#9L] csv", ()),
    ],
)
def test_a_table_that_is_read_by_its_path_is_called_by_it(plan: str, tables: tuple[str, ...]) -> None:
    assert delta_tables(Refusing(""), plan_of(plan)) == tables  # type: ignore[arg-type]


class Refusing:
    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.conf = Confs({})

    def sql(self, text: str) -> Any:
        raise EngineError(self.condition, text)


@pytest.mark.parametrize(("condition", "deterministic"), [(NON_DETERMINISTIC_LATERAL, False), ("ANOTHER", None)])
def test_what_spark_refuses_tells_whether_it_is_deterministic(condition: str, deterministic: bool | None) -> None:
    assert is_deterministic(Refusing(condition), plan_of("Project")) is deterministic  # type: ignore[arg-type]


class Accepting(Refusing):
    def sql(self, _: str) -> Any:
        return Answer([["== Parsed Logical Plan =="]], {})


def test_a_source_that_may_stand_in_a_lateral_subquery_is_deterministic() -> None:
    assert is_deterministic(Accepting(""), plan_of("Project")) is True  # type: ignore[arg-type]


@pytest.mark.parametrize(("condition", "times"), [("ANOTHER", 2), (None, 1)])
def test_where_delta_plans_no_read_without_data_skipping_it_is_explained_with_it(
    condition: str | None, times: int
) -> None:
    skipping: list[str | None] = []

    class Some(Refusing):
        def sql(self, text: str) -> Any:
            skipping.append(self.conf.get(STATS_SKIPPING))
            if condition and len(skipping) == 1:
                raise EngineError(condition, text)
            return Answer([["== Parsed Logical Plan =="]], {})

    explain_scans(Some(""), plan_of("Project"))  # type: ignore[arg-type]
    assert skipping == ["false", "true"][:times]


@pytest.mark.parametrize("error", [CancelledError("CANCELLED", "x"), UnreachableError("SERVER_DOWN", "x")])
def test_a_cancel_and_a_lost_spark_are_not_asked_again(error: EngineError) -> None:
    class Failing(Refusing):
        def sql(self, _: str) -> Any:
            raise error

    with pytest.raises(type(error)):
        explain_scans(Failing(""), plan_of("Project"))  # type: ignore[arg-type]


WITH = """WithCTE
:- CTERelationDef 0, false
:  +- Project [a]
:- CTERelationDef 1, false
:  +- CTERelationRef 0, true
+- Filter b
   :  +- WithCTE
   :     :- CTERelationDef 0, false
   :     :  +- Range
   :     +- CTERelationRef 0, true
   +- CTERelationRef 1, true"""


def test_ctes_are_put_where_they_are_used_but_not_in_subqueries() -> None:
    plan = tree(WITH)
    assert plan is not None
    found = inlined(plan)
    assert [node.name for node in found.children] == ["Project"]
    assert found.subqueries[0].name == "WithCTE"
    assert uses(found) == {"Filter b", "Project [a]", "Range"}


def test_a_with_inside_a_view_stays() -> None:
    plan = tree(f"View (`v`)\n+- {WITH.splitlines()[0]}")
    assert plan is not None
    assert inlined(plan) is plan


def test_a_reference_to_a_with_of_elsewhere_stays() -> None:
    plan = tree("CTERelationRef 7, true")
    assert plan is not None
    assert inlined(plan).text == plan.text


AROUND = """WithCTE
:- CTERelationDef 5, false
:  +- SubqueryAlias r
:- CTERelationDef 6, false
:  +- SubqueryAlias k
:     +- CTERelationRef 5, true
:- CTERelationDef 7, false
:  +- SubqueryAlias other
+- """
VIEW = """View (`v`)
   +- WithCTE
      :- CTERelationDef 9, false
      :  +- SubqueryAlias r
      +- CTERelationRef 9, true"""


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("CTERelationRef 6, true", {"r", "k"}),
        ("CTERelationRef 7, true", {"other"}),
        ("Filter id IN (list#1)\n   :  +- CTERelationRef 5, true\n   +- Range", {"r"}),
        (VIEW, set()),
        ("Range", set()),
    ],
)
def test_a_source_reads_queries_of_the_with_around_it(source: str, read: set[str]) -> None:
    plan = tree(AROUND + source)
    assert plan is not None
    assert with_queries_read(plan) == read
    # nothing around the query
    assert with_queries_read(plan.children[-1]) == set()


def test_a_source_is_refused_if_what_it_reads_stays_around_the_command() -> None:
    head, command = "num_affected_rows: bigint\n", "MergeIntoCommand SubqueryAlias s, Delta[version=0, file:/t]"
    refuse_with_left_outside(head + AROUND + command, frozenset())
    refuse_with_left_outside(head + AROUND + command, frozenset(("inlined",)))
    refuse_with_left_outside(head + command, frozenset(("r",)))
    with pytest.raises(EngineError, match="reads k, r:") as refused:
        refuse_with_left_outside(head + AROUND + command, frozenset(("r", "k")))
    assert (refused.value.condition, "in the brackets where it is read" in refused.value.hint) == (
        "WITH_RECURSIVE_BEFORE_MERGE",
        True,
    )


def test_hints_stand_on_the_plans_own_path_and_in_a_with() -> None:
    text = (
        "CTE [q]\n:  +- 'UnresolvedHint MERGE, [q]\n:     +- 'Project\n"
        "+- 'Project\n   +- 'UnresolvedHint BROADCAST, [a]\n      +- 'X"
    )
    assert list(hints(tree(text))) == ["BROADCAST", "MERGE"]
    assert list(hints(None)) == []


@pytest.mark.parametrize(
    ("plan", "hint"),
    [
        ("ResolvedHint (strategy=shuffle_hash)\n+- Range", "SHUFFLE_HASH"),
        ("Project\n+- ResolvedHint (strategy=broadcast)\n   +- Range", "BROADCAST"),
        ("Except\n:- ResolvedHint (strategy=broadcast)\n:  +- Range\n+- Range", "BROADCAST"),
        ("Join\n:- ResolvedHint (strategy=broadcast)\n:  +- Range\n+- Range", None),
    ],
)
def test_the_topmost_hint_on_the_way_down(plan: str, hint: str | None) -> None:
    assert root_hint(plan_of(plan)) == hint


def test_leaves_come_with_what_is_above_them() -> None:
    plan = tree("Join\n:- SubqueryAlias a\n:  +- Range\n+- LocalRelation")
    assert plan is not None
    assert [(leaf.name, parent.name if parent else None) for leaf, parent in leaves(plan)] == [
        ("Range", "SubqueryAlias"),
        ("LocalRelation", "Join"),
    ]


@pytest.mark.parametrize(("name", "sql"), [("a.b_1.C", "a.b_1.C"), ("a.b c.1d", "a.`b c`.`1d`")])
def test_a_name_of_the_catalog_is_quoted_where_it_must_be(name: str, sql: str) -> None:
    assert quoted(name) == sql


def test_an_index_of_delta_lists_the_files_of_a_scan() -> None:
    physical = (
        "FileScan parquet shop.a[id#1L,v#2] Batched: true, Location: TahoeBatchFileIndex(1 paths)[x]\n"
        "FileScan parquet [id#3L] Batched: true, Location: InMemoryFileIndex(1 paths)[x]\n"
        "FileScan parquet b[id#5L] Location: PreparedDeltaFileIndex(1 paths)[x]\n"
        "FileScan parquet c[] Location: InMemoryFileIndex(1 paths)[x]"
    )
    assert delta_scan_ids(physical) == {1: True, 3: False, 5: True}


@pytest.mark.parametrize(
    ("leaf", "parent", "delta"),
    [
        ("Range (0, 3)", None, False),
        ("Relation [id#1L] csv", None, False),
        ("Relation [id#9L] parquet", "SubqueryAlias delta.`/data/t`", True),
        # no name says it: the index of the scan that reads its first column does
        ("Relation [id#1L,v#2] parquet", "SubqueryAlias a", True),
        ("Relation [id#3L] parquet", None, False),
        ("Relation [id#4L] parquet", None, False),
        ("Relation [] parquet", None, False),
    ],
)
def test_a_table_without_a_name_is_known_by_its_path_or_its_scan(leaf: str, parent: str | None, delta: bool) -> None:
    class Scanning(Refusing):
        def sql(self, _: str) -> Any:
            scans = "FileScan parquet [id#1L] Location: TahoeFileIndex[x]\nFileScan parquet [id#3L] Location: Other[x]"
            return Answer([[f"== Physical Plan ==\n{scans}"]], {})

    above = Node(parent) if parent else None
    assert is_delta(Scanning(""), plan_of("Project"), Node(leaf), above) is delta  # type: ignore[arg-type]
