"""A MERGE is put together again from its parts alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.merge.check_reading import alike, check_analyzed, check_parsed, from_parts, read_merge
from engine.model.errors import EngineError
from engine.spark.explain import explain
from engine.spark.not_understood import NOT_UNDERSTOOD
from engine.sql.parse import MergeStatement, parse_merge
from tests.unit.explained import Prints, Recorded
from tests.unit.explained.cases import ONE_KIND, UPSERT, evolving, one_kind, upsert

MERGE = (
    "WITH q AS (SELECT 1 AS id, 2 AS v) MERGE WITH SCHEMA EVOLUTION INTO nowhere.t AS t USING q AS s "
    "ON t.id = s.id AND t.f <> 'x), deleteaction(Some((' "
    "WHEN MATCHED AND s.v > 1 THEN UPDATE SET v = s.v, end = 'a, assignment(b, 1)' WHEN MATCHED THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT (id, end) VALUES (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE"
)


def test_the_statement_is_put_together_from_its_parts_alone() -> None:
    read = parse_merge(MERGE)
    again = parse_merge(from_parts(read))
    assert [c.value() for c in again.clauses] == [
        replace(c, condition=c.condition and f"({c.condition}\n)", action=a.action).value()
        for c, a in zip(read.clauses, again.clauses, strict=True)
    ]
    assert from_parts(replace(read, sql="")) == from_parts(read)


def test_statements_that_are_read_as_spark_reads_them_pass() -> None:
    merge = upsert(Recorded("upsert"))
    assert (merge.version, [key.source.text for key in merge.keys]) == (
        0,
        ["__dm_source.`id`", "__dm_source.`day`"],
    )
    assert evolving(Recorded("evolving")).type_after.names == ["id", "status", "day", "note", "more"]
    assert one_kind(Recorded("one_kind")).statement.only_one_unconditional_delete


def reread(read: MergeStatement) -> str:
    """What is asked of Spark to compare the parts of a statement with its text."""
    return f"EXPLAIN EXTENDED {from_parts(read)}"


def test_a_part_that_was_read_wrongly_is_refused() -> None:
    spark = Recorded("upsert")
    read = parse_merge(UPSERT)
    parsed = explain(spark, UPSERT).parsed  # type: ignore[arg-type]
    check_parsed(spark, read, parsed)  # type: ignore[arg-type]
    wrong = replace(read, clauses=(replace(read.clauses[0], condition="s.status <> 'x'"), *read.clauses[1:]))
    # Spark parses these parts to something else
    spark.answers[reread(wrong)] = {
        **spark.answers[reread(read)],
        "rows": [[row[0].replace("x), deleteaction(Some((", "x")] for row in spark.answers[reread(read)]["rows"]],
    }
    with pytest.raises(EngineError) as refused:
        check_parsed(spark, wrong, parsed)  # type: ignore[arg-type]
    assert refused.value.condition == NOT_UNDERSTOOD


def test_a_clause_of_the_other_kind_is_refused_though_it_prints_alike() -> None:
    spark = Recorded("one_kind")
    known = "\nWHEN NOT MATCHED BY SOURCE AND FALSE THEN DELETE"
    read = parse_merge(ONE_KIND)
    answer = spark.answers[reread(read) + known]
    spark.answers[reread(read) + known] = {**answer, "rows": [["== Parsed Logical Plan ==\nanother"]]}
    with pytest.raises(EngineError):
        check_parsed(spark, read, explain(spark, ONE_KIND).parsed)  # type: ignore[arg-type]


def test_prints_are_alike_but_for_ids_and_seeds() -> None:
    assert alike("a#7, b#9, a#7 rand(-123456789012)") == alike(" a#1, b#2, a#1 rand(987654321)\n")
    assert alike("a#7, b#9") != alike("a#7, b#7")
    assert alike("limit 12345678") != alike("limit 12345679")


def test_prints_are_alike_but_for_the_numbers_of_a_with_and_a_recursion() -> None:
    def printed(number: int, read: int) -> str:
        loop = f"UnionLoop {number} UnionLoopRef {number}, [a#1]"
        return f"CTERelationDef {number}, false {loop} CTERelationRef {read}, true"

    assert alike(printed(367, 367)) == alike(printed(369, 369))
    assert alike(printed(7, 7)) != alike(printed(7, 8))


def test_names_in_double_quotes_are_refused() -> None:
    spark = Prints("")
    spark.conf.values["spark.sql.ansi.doubleQuotedIdentifiers"] = "true"
    with pytest.raises(EngineError, match="double quotes"):
        read_merge(spark, 'MERGE INTO "t" USING s ON a WHEN MATCHED THEN DELETE')  # type: ignore[arg-type]
    assert read_merge(spark, ONE_KIND).target.text == "orders"  # type: ignore[arg-type]


AS_TYPED = "`status` = upper(status#1316)"


def check_print(replaced: dict[str, str]) -> None:
    """Hold the recorded print of a MERGE to that of our parts, in which something is ``replaced``."""
    spark = Recorded("upsert")
    merge = upsert(spark)
    rows = spark.answers[of_our_parts(spark)]["rows"]
    for this, other in replaced.items():
        assert this in rows[0][0]
        rows = [[row[0].replace(this, other)] for row in rows]
    spark.answers[of_our_parts(spark)]["rows"] = rows
    check_analyzed(spark, merge)  # type: ignore[arg-type]


def of_our_parts(spark: Recorded) -> str:
    """What is asked of Spark to compare our qualified parts, over the used columns of the source, with the text."""
    return next(asked for asked in spark.answers if "(SELECT `id`, `status`, `day` FROM feed\n" in asked)


@pytest.mark.parametrize(
    "replaced",
    [
        {},
        # other ids, though in another order
        {"id#1315L": "id#77L", "status#1316": "status#76", "day#1317": "day#75"},
        # a commit of another meanwhile
        {"Delta[version=0,": "Delta[version=12,"},
        {"SubqueryAlias __dm_source,": "SubqueryAlias __dm_source, `x`,"},
    ],
)
def test_our_parts_may_print_other_ids_and_stand_behind_another_version(replaced: dict[str, str]) -> None:
    check_print(replaced)


@pytest.mark.parametrize(
    "other",
    [
        "`status` = upper(current_user())",
        "`status` = upper(status#1313)",
        "`status` = upper(other#1316)",
        "`status` = upper(cast(status#1316 as string))",
    ],
)
def test_parts_that_make_something_else_of_the_merge_are_refused(other: str) -> None:
    with pytest.raises(EngineError) as refused:
        check_print({AS_TYPED: other})
    assert refused.value.condition == NOT_UNDERSTOOD


def test_parts_for_which_spark_refuses_the_merge_are_refused() -> None:
    spark = Recorded("upsert")
    merge = upsert(spark)
    asked = of_our_parts(spark)
    spark.answers[asked] = {"sql": asked, "error": ["UNRESOLVED_COLUMN", "There is no s.status."]}
    with pytest.raises(EngineError) as refused:
        check_analyzed(spark, merge)  # type: ignore[arg-type]
    assert refused.value.condition == NOT_UNDERSTOOD
