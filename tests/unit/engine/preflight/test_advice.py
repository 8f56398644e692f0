"""The warnings and the advice of a plan, from what was found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructField, StructType, TimestampNTZType

from engine.merge.plan_writes import PERSISTENT_VECTORS
from engine.model.conflicts import Conflicts
from engine.model.plan import Estimate
from engine.preflight.advice import FAIL_IF_SOURCE_CHANGED, MUST_ACCEPT, advice_of, warnings_of
from engine.sql.parse import parse_merge

DELETE = "WHEN MATCHED THEN DELETE"
UPDATE = "WHEN MATCHED AND s.v > 0 THEN UPDATE SET *"
INSERT = "WHEN NOT MATCHED THEN INSERT *"
METRICS = ("Inserted", "Updated", "Deleted", "Copied")


def findings(clauses: str = UPDATE, **changes: Any) -> Any:
    """What a plan found: ``changes`` name what is special."""
    wanted = {
        "conflicts": Conflicts(),
        "null_conflicts": 0,
        "vectors": False,
        "feed": False,
        "copies": True,
        "metrics": {},
        "rows": 0,
        "volatile": (),
        "staged": None,
        "condition": "t.id = s.id",
        "assigned": {},
        "checks": {},
        "fills": (),
        "source_rows": 3,
        "not_compared": "",
        "avoid": "",
        "properties": {},
        "confs": {},
        "left_out": (),
        "printed": "",
        **changes,
    }
    metrics = {f"numTargetRows{name}": 0 for name in METRICS} | {
        f"numTargetRows{name}": value for name, value in wanted["metrics"].items()
    }
    columns = [
        SimpleNamespace(column=SimpleNamespace(name=name), unknown=why, value=None if why == IDENTITY else "1")
        for name, why in wanted["assigned"].items()
    ]
    return SimpleNamespace(
        basis=SimpleNamespace(
            merge=SimpleNamespace(
                statement=parse_merge(f"MERGE INTO t USING s ON {wanted['condition']} {clauses}"),
                plan=SimpleNamespace(analyzed=f"'MergeIntoTable (now() = at){wanted['printed']}"),
                source_type=StructType([StructField(name, LongType()) for name in ("id", "v", *wanted["left_out"])]),
                target_type=StructType([StructField("at", TimestampNTZType())]),
                columns_used=("id", "v"),
            ),
            target=SimpleNamespace(
                assigned=[SimpleNamespace(columns=columns)],
                properties=wanted["properties"],
                rules=SimpleNamespace(
                    checks=wanted["checks"],
                    columns=[SimpleNamespace(name="g", generated_as="A % 16")],
                    fills_old_rows=[SimpleNamespace(name=name, exists_default="7") for name in wanted["fills"]],
                ),
            ),
            decision=SimpleNamespace(
                materialize=bool(wanted["avoid"]), avoid=wanted["avoid"], reason="WHY", because="…"
            ),
            confs=wanted["confs"],
        ),
        source=SimpleNamespace(volatile=wanted["volatile"], staged=wanted["staged"]),
        matches=SimpleNamespace(touched=[SimpleNamespace(null_conflicts=wanted["null_conflicts"])]),
        conflicts=wanted["conflicts"],
        promise=SimpleNamespace(
            metrics=metrics,
            estimates={"numSourceRows": wanted["source_rows"]},
            files=[SimpleNamespace(rows=wanted["rows"])],
            write=SimpleNamespace(
                deletion_vectors=wanted["vectors"],
                change_data_feed=wanted["feed"],
                unmodified_rows_written=wanted["copies"],
            ),
        ),
        not_compared=wanted["not_compared"],
    )


def warned(clauses: str = UPDATE, **changes: Any) -> list[str]:
    return [one.code for one in warnings_of(findings(clauses, **changes))]


def advised(clauses: str = UPDATE, **changes: Any) -> list[str]:
    return [one.code for one in advice_of(findings(clauses, **changes))]


def test_a_plain_merge_has_none() -> None:
    assert (warned(), advised()) == ([], [])


@pytest.mark.parametrize(
    ("clauses", "vectors", "found"),
    [(UPDATE, False, True), (UPDATE, True, False), (f"{UPDATE} {INSERT}", False, False)],
)
def test_a_condition_that_is_null_hides_a_second_match(clauses: str, vectors: bool, found: bool) -> None:
    assert warned(clauses, null_conflicts=2, vectors=vectors) == ["NULL_CONDITION_WRONG_RESULT"] * found


IDENTITY = "an identity value"
TWO = Estimate(low=3, high=6)
TWICE = Conflicts(count=2, true_count=2)


@pytest.mark.parametrize(
    ("clauses", "feed", "copies", "inserted", "lost"),
    [
        (f"{DELETE} {INSERT}", True, True, 3, "the 3 inserted rows and of the 5 rows copied as they are"),
        (f"{DELETE} {INSERT}", True, True, 0, "the 5 rows copied as they are"),
        (f"{DELETE} {INSERT}", True, False, 3, "the 3 inserted rows,"),
        (f"{DELETE} {INSERT}", False, True, 3, ""),
        (DELETE, True, True, 0, ""),
    ],
)
def test_a_feed_may_lose_rows_beside_duplicate_deletes(
    clauses: str, feed: bool, copies: bool, inserted: int, lost: str
) -> None:
    remarks = list(
        warnings_of(
            findings(clauses, conflicts=TWICE, feed=feed, copies=copies, metrics={"Inserted": inserted, "Copied": 5})
        )
    )
    assert [one.code for one in remarks] == ["FEED_LOSES_INSERTED_ROWS"] * bool(lost) + [
        "SEVERAL_SOURCE_ROWS_DELETE_ONE"
    ]
    assert lost in remarks[0].sentence


def test_several_matches_are_an_error_of_their_own_for_other_clauses() -> None:
    assert warned(UPDATE, conflicts=TWICE, feed=True, metrics={"Inserted": 3}) == []


def test_what_only_the_commit_knows_is_told() -> None:
    assert warned(volatile=("rand()",)) == ["VOLATILE_SOURCE"]
    assert warned(condition="t.id = s.id AND t.at < now()") == ["CLOCK_IN_CONDITION"]
    assert warned("WHEN MATCHED AND t.at < now() THEN DELETE") == ["CLOCK_IN_CONDITION"]
    (remark,) = warnings_of(findings(assigned={"a": "rand()", "b": ""}))
    assert (remark.code, remark.evidence) == ("VALUES_UNKNOWN", "a: rand()")
    assert remark.sentence.endswith("samples leave them out.")
    (remark,) = warnings_of(findings(assigned={"a": "rand()"}, checks={"c": "A > 0", "d": "b > 0"}))
    assert remark.sentence.endswith("Whether they keep to the rules of the table is not known: c (A > 0).")
    (remark,) = warnings_of(findings(assigned={"a": IDENTITY}))
    assert remark.sentence.endswith("is not known: g (A % 16).")


def test_old_rows_that_a_default_fills_are_told() -> None:
    assert warned(fills=("x",)) == ["DEFAULT_FILLS_OLD_ROWS"]


@pytest.mark.parametrize(("fails", "rows", "found"), [("true", TWO, True), ("true", 3, False), ("false", TWO, False)])
def test_a_source_that_may_be_counted_otherwise_is_told_where_that_fails(
    fails: str, rows: int | Estimate, found: bool
) -> None:
    confs = {FAIL_IF_SOURCE_CHANGED: fails}
    assert warned(confs=confs, source_rows=rows) == ["COMMIT_UNKNOWN"] * found


def test_what_must_be_accepted_are_results_that_are_wrong() -> None:
    assert {"NULL_CONDITION_WRONG_RESULT", "FEED_LOSES_INSERTED_ROWS"} == MUST_ACCEPT
    wrong = findings(UPDATE, null_conflicts=2)
    lost = findings(f"{DELETE} {INSERT}", conflicts=TWICE, feed=True, metrics={"Inserted": 3})
    remarks = [one for found in (wrong, lost) for one in warnings_of(found)]
    assert {one.code for one in remarks if one.severity == "error"} == MUST_ACCEPT


@pytest.mark.parametrize(
    ("rows", "copied", "found"), [(10_000, 9_001, True), (10_000, 9_000, False), (1_100, 1_000, False), (0, 0, False)]
)
def test_much_that_is_written_again_for_little_is_told(rows: int, copied: int, found: bool) -> None:
    assert advised(rows=rows, metrics={"Copied": copied, "Updated": 1}) == ["REWRITE_AMPLIFICATION"] * found


def test_a_table_that_has_deletion_vectors_is_not_told_to_enable_them() -> None:
    much = {"rows": 10_000, "metrics": {"Copied": 9_999, "Updated": 1}}
    off = {"confs": {PERSISTENT_VECTORS: "false"}, "properties": {"delta.enableDeletionVectors": "true"}}
    (plain,), (has_them,) = advice_of(findings(**much)), advice_of(findings(**much, **off))
    assert "ALTER TABLE" in plain.evidence
    assert has_them.evidence == f"Deletion vectors avoid it, which the table has: {PERSISTENT_VECTORS} is false."


def test_what_makes_a_merge_dear_is_told() -> None:
    by_source = f"{UPDATE} WHEN NOT MATCHED BY SOURCE THEN DELETE"
    assert advised(by_source) == ["NOT_MATCHED_BY_SOURCE_READS_EVERYTHING"]
    assert advised(avoid="Write it to a table.") == ["WHY"]
    assert advised(avoid="Write it to a table.", staged="db.t") == [], "it is in one already"


def test_columns_that_no_star_writes_are_told() -> None:
    assert advised(left_out=("x",)) == ["STAR_LEAVES_OUT_COLUMNS"]
    assert advised("WHEN MATCHED THEN UPDATE SET v = s.v", left_out=("x",)) == []


def test_updates_that_are_not_compared_are_told_if_there_are_any() -> None:
    assert advised(not_compared="too large", metrics={"Updated": 1}) == ["UPDATES_NOT_COMPARED"]
    assert advised(not_compared="too large") == []


@pytest.mark.parametrize("name", ["optimizeWrite", "autoCompact"])
def test_how_many_files_are_added_is_unknown_where_delta_joins_them(name: str) -> None:
    assert advised(properties={f"delta.autoOptimize.{name}": "true"}) == ["FILES_ADDED_UNKNOWN"]
    assert advised(confs={f"spark.databricks.delta.{name}.enabled": "true"}) == ["FILES_ADDED_UNKNOWN"]
    assert advised(confs={f"spark.databricks.delta.{name}.enabled": "false"}) == []


@pytest.mark.parametrize(
    ("printed", "zone", "found"),
    [
        ("(cast(at#7 as timestamp) = at#9)", "Europe/Paris", True),
        ("(at#9 <=> cast(at#7 as timestamp))", "Europe/Paris", True),
        ("(cast(at#7 as timestamp) = at#9)", "UTC", False),
        ("(cast(at#7 as timestamp) = at#9)", "+05:30", False),
        ("UPDATE SET cast(at#7 as timestamp)", "Europe/Paris", False),
        ("(cast(id#7 as timestamp) = at#9)", "Europe/Paris", False),
    ],
)
def test_a_time_without_a_zone_that_is_compared_with_a_moment_is_told(printed: str, zone: str, found: bool) -> None:
    confs = {"spark.sql.session.timeZone": zone}
    assert warned(printed=printed, confs=confs) == ["TIME_WITHOUT_ZONE_COMPARED"] * found
