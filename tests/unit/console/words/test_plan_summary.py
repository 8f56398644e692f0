"""The summary of a plan: what a person reads first."""

from __future__ import annotations

from typing import Any

import pytest

from console.words import plan_summary as words
from console.words.glyphs import ASCII, UNICODE
from engine.commit.policy import Policy, with_verdicts
from engine.model.conflicts import ConflictKey, Conflicts, Dedupe
from engine.model.plan import Plan, PolicyVerdict, Refused, Remark
from engine.model.progress import Progress
from engine.model.scan import DerivedConjunct
from tests.engine.plans import make_create_plan, make_plan

NAME = "demo.orders"
REFUSED = Refused(condition="X", message="not\x1b so", hint="")


def promising(**changes: int | None) -> Plan:
    plan = make_plan()
    promise = {**plan.promise, **changes}
    return make_plan(promise={name: value for name, value in promise.items() if value is not None})


def test_a_headline_fits_its_width() -> None:
    assert words.headline(make_plan(), UNICODE) == f"MERGE into {NAME} @ v7 ← feed"
    source = make_plan().source.model_copy(update={"sql": "(SELECT\n  * FROM feed)"})
    assert words.headline(make_plan(source=source), ASCII, 10).endswith("<- (SELECT *...")
    assert words.headline(make_create_plan(), UNICODE, 20) == "REPLACE TABLE demo.…"


def test_true_is_no_reason_to_skip_files() -> None:
    scan = make_plan().scan.model_copy(update={"predicates": ("true", "(TRUE\n)", "t.v > 1", "false")})
    assert words.skipping_by(scan) == ["t.v > 1", "false"]


def test_only_a_known_0_goes_without_saying() -> None:
    assert words.counts(make_plan()) == "updates 900"
    assert words.counts(promising(numTargetRowsDeleted=3)) == "updates 900 · deletes 3"
    assert words.counts(promising(numTargetRowsInserted=None)) == "updates 900 · inserts ?"
    assert words.counts(promising(numTargetRowsUpdated=0)) == "changes no row"


def test_what_is_rewritten() -> None:
    plan = make_plan()
    assert words.rewrite(plan) == "rewrites 1 of 40 files: 2 MB of 80 MB, copying 49,100 rows"
    vectors = plan.write.model_copy(update={"deletion_vectors": True})
    marked = promising(numTargetRowsCopied=0, numTargetFilesRemoved=0).model_copy(update={"write": vectors})
    assert words.rewrite(marked) == "marks rows in 1 of 40 files (2 MB of 80 MB), copying none: deletion vectors"
    (file,) = plan.find_touched_files.files
    read = plan.find_touched_files.model_copy(update={"files": (file, file.model_copy(update={"updated": 0}))})
    only_read = marked.model_copy(update={"find_touched_files": read})
    assert words.rewrite(only_read) == "marks rows in 1 of 40 files (2 MB of 80 MB), copying none: deletion vectors"
    two = plan.find_touched_files.model_copy(update={"files": (file, file)})
    removed = {gone: promising(numTargetRowsCopied=0, numTargetFilesRemoved=gone) for gone in (1, 2)}
    removed = {
        gone: one.model_copy(update={"write": vectors, "find_touched_files": two}) for gone, one in removed.items()
    }
    assert words.rewrite(removed[1]).startswith("marks rows in 1 and removes 1 of 40 files (4 MB of 80 MB), copying")
    assert words.rewrite(removed[2]).startswith("removes 2 of 40 files (4 MB of 80 MB), copying none")
    assert [words.done_to_files(one) for one in (plan, marked, removed[1])] == [
        "rewritten",
        "marked",
        "marked or removed",
    ]
    read = read.model_copy(update={"files": read.files[1:]})
    only_inserts = promising(numTargetRowsUpdated=0, numTargetRowsInserted=9, numTargetRowsCopied=0)
    only_inserts = only_inserts.model_copy(update={"find_touched_files": read, "write": vectors})
    assert words.rewrite(only_inserts) == "rewrites no file"
    none = plan.find_touched_files.model_copy(update={"files": ()})
    assert words.rewrite(plan.model_copy(update={"find_touched_files": none})) == "rewrites no file"
    nothing = promising(numTargetRowsUpdated=0, numTargetFilesRemoved=0).model_copy(update={"find_touched_files": none})
    assert words.rewrite(nothing) == "nothing would be committed"


def test_a_table_is_rewritten_whole_where_each_of_several_files_is() -> None:
    plan = make_plan()
    (file,) = plan.find_touched_files.files
    two = plan.model_copy(
        update={
            "find_touched_files": plan.find_touched_files.model_copy(update={"files": (file, file)}),
            "target": plan.target.model_copy(update={"num_files": 2}),
        }
    )
    assert words.rewrites_all(two)
    assert not words.rewrites_all(plan)
    vectors = two.write.model_copy(update={"deletion_vectors": True})
    assert not words.rewrites_all(two.model_copy(update={"write": vectors}))


def scanned(**changes: Any) -> str:
    plan = make_plan()
    return words.scan(plan.model_copy(update={"scan": plan.scan.model_copy(update=changes)}))


@pytest.mark.parametrize(
    ("scan", "told"),
    [
        ({}, ""),
        ({"partitions_before": 1}, ""),
        ({"partitions_before": 30}, "2 of 30 partitions"),
        ({"files_after_as_typed": 9}, "as typed it would keep 9 files: the keys of the source imply the rest"),
        ({"files_after_as_typed": 2}, ""),
        ({"files_after_of_a_read": 1}, "a read would keep 1 file: it derives filters that a MERGE does not"),
        ({"files_after_of_a_read": 2}, ""),
        (
            {
                "derived": (
                    DerivedConjunct(column="t.x", text="", why_not="too wide"),
                    DerivedConjunct(column="t.y", text="1"),
                )
            },
            "nothing is derived for t.x: too wide",
        ),
        ({"derived": (DerivedConjunct(column="t.x", text="", why_not="w"),), "files_after": 1}, ""),
    ],
)
def test_what_there_is_to_say_of_the_scan(scan: dict[str, Any], told: str) -> None:
    assert scanned(**scan) == told


def test_the_partitions_that_files_leave_are_counted() -> None:
    plan = make_plan()
    found = plan.find_touched_files.model_copy(update={"partitions_removed_from": 1})
    scan = plan.scan.model_copy(update={"partitions_before": 30})
    leaving = plan.model_copy(update={"find_touched_files": found, "scan": scan})
    assert words.scan(leaving) == "2 of 30 partitions, files removed from 1"
    refused = leaving.model_copy(update={"refused": Refused(condition="X", message="No.")})
    assert words.scan(refused) == "2 of 30 partitions", "nothing is written"


def test_what_an_unfinished_plan_says_already() -> None:
    plan = make_plan()
    assert words.so_far(Progress(phase="x")) == []
    decision, scan = words.so_far(Progress(phase="x", decision=plan.decision, scan=plan.scan))
    assert (
        decision.startswith("source is materialized: The Source".replace("Source", "source"))
        or "materialized" in decision
    )
    assert scan == "data skipping leaves 2 of 40 files (4 MB of 80 MB), before the keys of the source are known"


def test_a_decision_says_why_and_whether_it_is_inferred() -> None:
    decided = make_plan().decision
    told = "source is materialized: The source reads a Parquet scan (NON_DETERMINISTIC_SOURCE_NON_DELTA)"
    assert words.decision(decided) == told
    other = decided.model_copy(update={"materialize": False, "certainty": "inferred"})
    assert words.decision(other).startswith("source is not materialized (inferred): ")


def conflicting(plan: Plan, **changes: Any) -> Plan:
    found = plan.find_touched_files.model_copy(update={"conflicts": Conflicts(**changes)})
    return plan.model_copy(update={"find_touched_files": found})


def test_what_would_stop_the_merge() -> None:
    plan = make_plan()
    assert words.conflict(plan) == "no row matched twice, no constraint broken"
    assert words.conflict(make_plan(refused=REFUSED)) == "cannot be committed: not\\x1b so"
    twice = conflicting(make_plan(refused=REFUSED), count=2, true_count=2)
    assert words.conflict(twice) == "cannot be committed: 2 target rows are matched by more than one source row"
    allowed = conflicting(plan, count=1, true_count=1)
    assert words.conflict(allowed) == "1 target row is matched by more than one source row, which Delta allows here"
    unseen = conflicting(plan, count=0, true_count=1)
    assert words.conflict(unseen).endswith("which Delta does not notice")


def test_why_a_plan_cannot_be_committed() -> None:
    assert words.why_not_committable(make_plan()) is None
    assert words.why_not_committable(make_plan(refused=REFUSED)) == "It would be refused: [X] not\x1b so"
    twice = conflicting(make_plan(refused=REFUSED), count=2, true_count=2)
    short = "It would be refused: [X] 2 target rows are matched by more than one source row"
    assert words.why_not_committable(twice) == short
    none = make_plan().find_touched_files.model_copy(update={"files": ()})
    nothing = promising(numTargetRowsUpdated=0, numTargetFilesRemoved=0).model_copy(update={"find_touched_files": none})
    assert words.why_not_committable(nothing) == "It changes nothing, so there is nothing to commit."


def test_a_plan_that_the_policy_refuses_cannot_be_committed() -> None:
    policy = Policy(read_only=True, typed_confirmation=True)
    assert words.why_not_committable(with_verdicts(policy, make_plan())) == (
        "The policy refuses it (read_only): nothing may be written. "
        "Change the statement, or use a profile whose policy allows it."
    )
    asks = Policy(typed_confirmation=True, reviewed_plans=True)
    assert words.why_not_committable(with_verdicts(asks, make_plan())) is None


def test_a_summary_is_one_line() -> None:
    plan = make_plan()
    assert words.summary(plan) == f"updates 900; {words.rewrite(plan)}"
    assert words.summary(make_plan(refused=REFUSED)) == "refused, X"
    assert words.summary(make_create_plan()) == "replaces the table; history will say REPLACE TABLE"


def test_what_the_policy_says_against_a_plan() -> None:
    verdicts = tuple(
        PolicyVerdict(rule=f"r{at}", limit=None, value=None, verdict=verdict, how="h")
        for at, verdict in enumerate(("allowed", "asks", "refused"))
    )
    assert words.policy(make_plan(policy=verdicts)) == [
        (False, "the policy asks for more (r1): h"),
        (True, "the policy refuses it (r2): h"),
    ]


def test_a_source_that_is_kept_is_not_materialized() -> None:
    plan = make_plan()
    assert (words.source(plan), words.is_materialized(plan)) == (words.decision(plan.decision), True)
    kept = plan.model_copy(update={"session": plan.session.model_copy(update={"staged": "db.t"})})
    assert not words.is_materialized(kept)
    assert words.source(kept) == (
        "source is kept in a Delta table, which the merge reads; as typed it would be materialized "
        f"({plan.decision.reason})"
    )


def test_where_a_source_is_kept() -> None:
    assert (
        words.staged("db.t")
        == "its source is kept in db.t until the plan is applied or found stale; where it never is, drop that table"
    )


KEY = ConflictKey(
    key={"k": "1"},
    source_rows=2,
    rivals=({"k": "1", "same": "x", "v": None}, {"k": "1", "same": "x", "v": "b\x1b"}),
    differing=("v",),
)


def test_the_rows_that_fight_for_a_target_row_stand_one_below_the_other() -> None:
    bare = ConflictKey(key={"k": "2"}, source_rows=3)
    plan = conflicting(make_plan(), true_count=2, keys=(KEY, bare))
    assert words.rivals(plan, UNICODE, all_columns=True) == (
        ["k", "source rows", "same", "v"],
        [["1", "2", "x", "▸ NULL"], ["1", "", "x", "▸ b\\x1b"], ["2", "3", None, None]],
    )
    columns, rows = words.rivals(plan, UNICODE, all_columns=False)
    assert columns == ["k", "source rows", "v"]
    assert [len(row) for row in rows] == [3, 3, 3]


@pytest.mark.parametrize(
    ("left", "lost", "told"),
    [
        (0, 0, []),
        (1, 0, ["1 target row would still be matched twice."]),
        (0, 2, ["2 target rows would be matched by no source row any more, or by none that a clause takes."]),
    ],
)
def test_what_the_source_without_duplicates_would_do(left: int, lost: int, told: list[str]) -> None:
    dedupe = Dedupe(
        sql="(SELECT 1)",
        keys=("k",),
        order_by="",
        choice="Any.",
        rows_dropped=3,
        conflicts_left=left,
        matches_lost=lost,
    )
    plan = conflicting(make_plan(), true_count=1, keys=(KEY,), dedupe=dedupe)
    assert words.dedupe(plan) == ["Any.", "Put this after USING: it drops 3 source rows.", *told]
    assert words.dedupe(make_plan()) == []
    text = words.as_text(plan, UNICODE)
    assert "-- Any.\n" in text
    assert "\n(SELECT 1)\n" in text


def test_a_plan_as_text_holds_all_of_it() -> None:
    text = words.as_text(make_plan(), UNICODE)
    assert "numTargetRowsUpdated: 900 (exact)" in text
    assert "warning [SOURCE_MOVES] The source may change." in text
    assert text.endswith(make_plan().statement.sql)
    assert words.as_text(make_create_plan(), UNICODE).startswith("REPLACE TABLE")


def test_a_refused_plan_as_text_counts_nothing() -> None:
    lines = words.as_text(make_plan(refused=REFUSED), UNICODE).splitlines()
    assert lines[1:3] == ["plan plan-1: refused, X", words.NOTHING_WRITTEN]
    assert not [line for line in lines if "numTarget" in line or "rewrites" in line]


@pytest.mark.parametrize(
    ("severities", "told"),
    [
        ((), ""),
        (("warning",), "1 warning"),
        (("error",), "1 error to be accepted"),
        (("warning", "warning"), "2 warnings"),
        (("warning", "error"), "1 error to be accepted, 1 warning"),
        (("error", "error"), "2 errors to be accepted"),
    ],
)
def test_warnings_are_counted_by_severity(severities: tuple[Any, ...], told: str) -> None:
    remarks = [Remark(code="CODE", sentence="It is so.", severity=one) for one in severities]
    assert words.warnings_counted(remarks) == told


def test_a_plan_as_text_says_first_what_must_be_accepted() -> None:
    warnings = (
        Remark(code="MILD", sentence="Some rows."),
        Remark(code="BAD", sentence="Other rows.", severity="error"),
    )
    lines = words.as_text(make_plan(warnings=warnings), UNICODE).splitlines()
    assert lines.index("error [BAD] Other rows.") < lines.index("warning [MILD] Some rows.")


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("( -- newest first\n SELECT *\n FROM a) ", "( SELECT * FROM a)"),
        ("/* why */ a.b /* /* both */ */ c", "a.b c"),
        ("SELECT 'two  blanks -- no comment'", "SELECT 'two  blanks -- no comment'"),
        ("a.b", "a.b"),
        ("'not  closed", "'not closed"),
    ],
)
def test_sql_on_one_line_has_no_comments_and_keeps_its_strings(sql: str, line: str) -> None:
    assert words.sql_line(sql) == line
