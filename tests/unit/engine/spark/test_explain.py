"""What Spark prints of a plan, read as a tree."""

from __future__ import annotations

from engine.spark.explain import one_line_names, tree

PLAN = """Project [id#1L]
+- Filter id#1L IN (list#2 [])
   :  +- Project [id#3L]
   :     +- Relation spark_catalog.a.b[id#3L] parquet
   +- Union false, false
      :- Relation spark_catalog.a.c[id#1L] parquet
      +- LocalRelation [id#4L]"""


def test_inputs_stand_one_step_to_the_right_and_plans_of_subqueries_two() -> None:
    root = tree(PLAN)
    assert root is not None
    (filtered,) = root.children
    assert [query.name for query in filtered.subqueries] == ["Project"]
    assert [node.name for node in filtered.children[0].children] == ["Relation", "LocalRelation"]


def test_a_plan_is_walked_before_its_subqueries() -> None:
    root = tree(PLAN)
    assert root is not None
    names = [node.name for node in root.walk()]
    assert names == ["Project", "Filter", "Union", "Relation", "LocalRelation", "Project", "Relation"]


def test_a_line_that_is_no_branch_continues_the_one_before() -> None:
    root = tree("Project [one\ntwo AS v#1]\n+- OneRowRelation")
    assert root is not None
    assert (root.text, root.children[0].name) == ("Project [one\ntwo AS v#1]", "OneRowRelation")


def test_a_print_that_is_no_tree_is_not_guessed() -> None:
    assert tree("Project [x\n+- Range (0, 1) AS v#1]\n            +- OneRowRelation") is None


def test_a_literal_of_the_statement_is_printed_on_one_line() -> None:
    """A literal with a line break could otherwise pass for a node of the plan."""
    sql = "SELECT 'x\\n+- Range (0, 1)' AS v"
    root = tree(one_line_names("Project [x\n+- Range (0, 1) AS v#1]\n+- OneRowRelation", sql))
    assert root is not None
    assert [node.name for node in root.walk()] == ["Project", "OneRowRelation"]
