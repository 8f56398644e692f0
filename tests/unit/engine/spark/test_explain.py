"""What Spark prints of a plan, read as a tree."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from engine.model.errors import EngineError
from engine.spark.explain import Explained, Node, explain, one_line_names, parsed_plan, tree
from tests.unit.explained import Answer, Prints, Recorded
from tests.unit.explained.cases import refusals

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


def test_a_literal_that_looks_like_a_part_of_a_plan_has_no_line_break_left() -> None:
    for literal in ("\n+- Range (0, 1)", "x\n+- Range (0, 1)\ny", "\n== Physical Plan ==\n"):
        sql = f"SELECT '{literal}' AS v"
        text = one_line_names(f"Project [{literal} AS v#1]\n+- OneRowRelation", sql)
        assert text == f"Project [{literal} AS v#1]".replace("\n", " ") + "\n+- OneRowRelation"


@pytest.mark.parametrize("literal", ["\n+-", "\n+- ", "\n:- ", "x\n   +- ", "\n+- *", "\n+- ("])
def test_a_literal_that_ends_as_a_branch_begins_is_none(literal: str) -> None:
    """What is printed behind a literal is no operator."""
    for behind in (" AS v#1]", ", b#2]", ")]", " THEN 1 ELSE 2 END]", "#1]", " IN (1)]", " as date)]"):
        root = tree(one_line_names(f"Project [{literal}{behind}\n+- OneRowRelation", f"SELECT '{literal}' AS v"))
        assert root is not None
        assert [node.name for node in root.walk()] == ["Project", "OneRowRelation"]


def test_columns_of_a_table_that_are_cut_by_what_looks_like_a_branch_make_no_tree() -> None:
    plan = "Project [id#1L]\n+- Relation spark_catalog.a.b[id#1L,x{}LocalRelation#2] parquet"
    assert tree(plan.format("")) is not None
    assert tree(plan.format("\n+- ")) is None


def test_strings_side_by_side_are_one_literal() -> None:
    sql = "SELECT 'x\\n' '+- Range (0, 1)' AS v, 'y'"
    text = one_line_names("Project [x\n+- Range (0, 1) AS v#1, y AS y#2]\n+- OneRowRelation", sql)
    assert text == "Project [x +- Range (0, 1) AS v#1, y AS y#2]\n+- OneRowRelation"


@pytest.mark.parametrize("literal", ["+- Range\n", "\n+- ", "\n   +- "])
def test_a_literal_that_a_plan_also_has_between_its_lines_takes_none_from_it(literal: str) -> None:
    plan = "Project [a#1]\n+- Range\n   +- Range"
    assert one_line_names(plan, f"SELECT '{literal}'") == plan


def test_a_literal_inside_of_another_leaves_it_on_one_line() -> None:
    sql = "SELECT 'b\nc', 'a b\nc\nd'"
    assert one_line_names("Project [b\nc AS x, a b\nc\nd AS y]", sql) == "Project [b c AS x, a b c d AS y]"


@pytest.mark.parametrize("literal", ["\\n", "a#1]\\n", "\\n ", "Plan ==\\n"])
def test_a_line_break_at_the_end_of_a_literal_takes_none_from_the_plan(literal: str) -> None:
    printed = f"== Parsed Logical Plan ==\nProject [a#1]\n+- Filter (a#1 = {literal})\n   +- OneRowRelation"
    text = one_line_names(printed.encode().decode("unicode_escape"), f"SELECT '{literal}' AS v")
    assert text.startswith("== Parsed Logical Plan ==\n")
    root = tree(text.partition("\n")[2])
    assert root is not None
    assert [node.name for node in root.walk()] == ["Project", "Filter", "OneRowRelation"]


WHOLE = """== Parsed Logical Plan ==
'Project [1 AS a#1]

== Analyzed Logical Plan ==
a: int
Project [1 AS a#1]

== Optimized Logical Plan ==
Project [1 AS a#1]

== Physical Plan ==
*(1) Project [1 AS a#1]
"""


def test_the_four_plans_are_told_apart() -> None:
    spark = Prints(WHOLE)
    found = explain(spark, "SELECT 1 AS a")  # type: ignore[arg-type]
    assert spark.asked == ["EXPLAIN EXTENDED SELECT 1 AS a"]
    assert (found.parsed, found.physical) == ("'Project [1 AS a#1]", "*(1) Project [1 AS a#1]")
    assert found.analyzed.startswith("a: int")
    assert found.optimized == "Project [1 AS a#1]"
    assert parsed_plan(spark, "SELECT 1 AS a") == found.parsed  # type: ignore[arg-type]


def test_a_plan_that_is_not_printed_is_empty() -> None:
    assert explain(Prints("== Parsed Logical Plan ==\nProject\n"), "SELECT 1") == Explained("Project", "", "", "")  # type: ignore[arg-type]


def test_a_plan_is_printed_whole_and_the_session_is_left_as_it_was() -> None:
    spark = Prints(WHOLE)
    explain(spark, "SELECT 1")  # type: ignore[arg-type]
    assert dict(spark.conf.were_set)["spark.sql.debug.maxToStringFields"] == "10000"
    assert spark.conf.values == {}


def test_a_plan_that_is_hidden_is_refused() -> None:
    with pytest.raises(EngineError) as refused:
        explain(Prints(WHOLE.replace("1 AS a", "*********(redacted)")), "SELECT 1")  # type: ignore[arg-type]
    assert refused.value.condition == "PLAN_REDACTED"


def test_what_fails_while_it_is_planned_is_told_as_such() -> None:
    text = "Error occurred during query planning: \norg.apache.spark.SparkException: [BAD_ONE] It is bad. SQLSTATE: 1"
    with pytest.raises(EngineError, match="It is bad") as refused:
        explain(Prints(text), "SELECT 1")  # type: ignore[arg-type]
    assert (refused.value.condition, refused.value.outer) == ("BAD_ONE", "QUERY_PLANNING_FAILED")
    with pytest.raises(EngineError, match="It is bad"):
        parsed_plan(Prints(text), "SELECT 1")  # type: ignore[arg-type]


@pytest.mark.parametrize("section", ["Analyzed", "Optimized"])
def test_an_exception_in_place_of_a_plan_is_raised_with_its_place(section: str) -> None:
    failed = "org.apache.spark.sql.AnalysisException: [NO_SUCH] No such; line 1 pos 24;\n'Project"
    begin = WHOLE.index(f"== {section} Logical Plan ==")
    text = f"{WHOLE[:begin]}== {section} Logical Plan ==\n{failed}\n\n== Physical Plan ==\n{failed}"
    with pytest.raises(EngineError) as refused:
        explain(Prints(text), "SELECT nosuch")  # type: ignore[arg-type]
    assert refused.value.condition == "NO_SUCH"
    # it counts from the statement, not from the EXPLAIN before it
    assert (refused.value.line, refused.value.column) == (1, 8)
    assert refused.value.counted_in == "SELECT nosuch"


@pytest.mark.parametrize(
    ("sql", "said", "place"),
    [
        # what stands before the statement is EXPLAIN, on its first line alone
        ("SELECT\n  nosuch", "[NO_SUCH] No such; line 2 pos 2", (2, 3)),
        ("SELECT nosuch", "[NO_SUCH] No such", (None, None)),
        # Spark names the statement where it knows no place inside of it
        ("SELECT nosuch", "[NO_SUCH] No such; line 1 pos 17", (None, None)),
        ("SELECT nosuch", "[NO_SUCH] No such; line 1 pos 0", (None, None)),
        ("WITH q AS (SELECT 1) MERGE INTO t", "[NO_SUCH] No such; line 1 pos 38", (None, None)),
        ("WITH q AS (SELECT 1) MERGE INTO t", "[NO_SUCH] No such; line 1 pos 44", (1, 28)),
        # but a word that is no SQL may be the first one
        ("SELEKT nosuch", "[PARSE_SYNTAX_ERROR] No such; line 1 pos 17", (1, 1)),
    ],
)
def test_a_place_is_one_inside_of_the_statement(sql: str, said: str, place: tuple[int | None, int | None]) -> None:
    text = f"== Analyzed Logical Plan ==\norg.apache.spark.sql.AnalysisException: {said}"
    with pytest.raises(EngineError) as refused:
        explain(Prints(text), sql)  # type: ignore[arg-type]
    assert (refused.value.line, refused.value.column) == place


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("java.lang.StackOverflowError", "STATEMENT_TOO_DEEP"),
        ("gRPC INTERNAL, without a reason", "STATEMENT_TOO_DEEP"),
        ("Something else", "SPARK_ERROR"),
    ],
)
def test_a_statement_at_which_spark_breaks_off_is_nested_too_deeply(said: str, condition: str) -> None:
    class Breaking(Prints):
        def sql(self, text: str) -> Answer:
            if text.startswith("EXPLAIN"):
                raise PySparkException(said)
            return super().sql(text)

    with pytest.raises(EngineError, match=said) as refused:
        explain(Breaking(""), "SELECT 1")  # type: ignore[arg-type]
    assert refused.value.condition == condition


def test_blank_lines_around_a_plan_are_none_of_it() -> None:
    assert tree("\nProject\n+- Range\n") == Node("Project", (Node("Range"),))


def test_a_literal_with_line_breaks_is_on_one_line() -> None:
    sql = "SELECT 'a\n+- b', `c\nd`"
    assert one_line_names("Project [a\n+- b AS x, c\nd]", sql) == "Project [a +- b AS x, c d]"


def test_the_name_of_an_operator_is_its_first_word() -> None:
    names = [Node(text).name for text in ("'Project [a]", "!Join Inner", "*(1) Scan", "View (`v`)", "WithCTE")]
    assert names == ["Project", "Join", "", "View", "WithCTE"]


def test_refusals_of_spark_come_with_their_class_and_place() -> None:
    found = refusals(Recorded("refusals"))
    assert found["column"].condition == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert (found["column"].line, found["column"].column) == (1, 8)
    assert found["table"].condition == "TABLE_OR_VIEW_NOT_FOUND"
    assert found["syntax"].condition == "PARSE_SYNTAX_ERROR"
