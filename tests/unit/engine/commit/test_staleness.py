"""The rules of staleness that need no Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from engine.commit import staleness
from engine.commit.staleness import (
    BEYOND_RETENTION,
    NO_FILE,
    REPLACING,
    Staleness,
    changed_metadata,
    check_staleness,
    commit_line,
    first_match,
    some,
)
from engine.model.errors import EngineError, UnreachableError
from engine.model.plan import Clause, Plan
from engine.table.commits import Commit
from engine.table.log_file import LogFile
from engine.table.logged_schema import LoggedMetadata
from tests.engine.plans import make_plan
from tests.unit.explained import Confs


def test_many_files_are_named_by_the_first_few() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some(["a", "b", "c"]) == "a, b, c"
    assert some(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    assert some(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


METADATA = LoggedMetadata(
    table_id="t",
    description="",
    fields={"id": "long", "v": "string"},
    partition_columns=("id",),
    configuration={"delta.appendOnly": "true"},
    min_reader_version=1,
    min_writer_version=2,
    features=(),
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ()),
        ({"description": "x"}, ()),
        ({"table_id": "other"}, ("it was created again",)),
        ({"fields": {"id": "long"}}, ("column v is gone",)),
        ({"fields": {"id": "long", "v": "string", "w": "date"}}, ("column w is new",)),
        ({"fields": {"id": "integer", "v": "string"}}, ("column id is another",)),
        ({"fields": {"v": "string", "id": "long"}}, ("its columns are in another order",)),
        ({"partition_columns": ("v", "id")}, ("it is partitioned by v, id",)),
        ({"partition_columns": ()}, ("it is partitioned by nothing",)),
        ({"configuration": {}}, ("property delta.appendOnly is gone",)),
        ({"configuration": {"delta.appendOnly": "false"}}, ("property delta.appendOnly is another",)),
        ({"configuration": {"delta.appendOnly": "true", "a": "b"}}, ("property a is another",)),
        ({"min_writer_version": 7, "features": ("x", "y")}, ("its protocol is reader 1, writer 7, x, y",)),
    ],
)
def test_what_changed_in_the_table_beside_its_rows_is_told(change: dict[str, Any], words: tuple[str, ...]) -> None:
    assert changed_metadata(METADATA, replace(METADATA, **change)) == words


def test_all_that_changed_is_told() -> None:
    now = replace(METADATA, table_id="other", fields={"v": "string", "id": "date"}, configuration={})
    assert changed_metadata(METADATA, now) == (
        "it was created again",
        "column id is another",
        "property delta.appendOnly is gone",
    )


def test_a_commit_is_one_line() -> None:
    commit = Commit(
        version=8,
        timestamp="2026-11-21T10:00:00.000Z",
        operation="WRITE",
        metrics={},
        read_version=7,
        user_metadata=None,
    )
    assert commit_line(commit) == "v8 WRITE 2026-11-21T10:00:00Z"
    assert commit_line(replace(commit, timestamp="2026-11-21 10:00:00.257000")) == "v8 WRITE 2026-11-21 10:00:00"


@pytest.mark.parametrize(
    ("operation", "replaces"),
    [
        ("RESTORE", True),
        ("CREATE OR REPLACE TABLE AS SELECT", True),
        ("REPLACE TABLE", True),
        ("CLONE", True),
        ("WRITE", False),
        ("MERGE", False),
        ("CREATE TABLE", False),
    ],
)
def test_what_puts_another_table_in_its_place(operation: str, replaces: bool) -> None:
    assert bool(REPLACING.match(operation)) is replaces


PLAN = make_plan()
(TOUCHED,) = PLAN.find_touched_files.files
OTHER = "day=2026-11-19/other.parquet"


def file(path: str, vector: str = "", file_hash: int = 1) -> LogFile:
    return LogFile(path, 10, {}, 5, 1 if vector else 0, vector, file_hash)


def commit_of(operation: str, version: int = 8) -> Commit:
    return Commit(version=version, timestamp="now", operation=operation, metrics={}, read_version=7, user_metadata=None)


@dataclass
class Table:
    """A table as its log says, before and after the commits since the plan."""

    before: tuple[LogFile, ...] = (file(TOUCHED.path), file(OTHER))
    now: tuple[LogFile, ...] = (file(TOUCHED.path), file(OTHER))
    metadata: LoggedMetadata = METADATA
    matches: Callable[[int], bool] = lambda _: False
    """Whether the last of the files that are asked for matches, at a version."""
    table_id: str = PLAN.target.table_id
    asked: list[tuple[int, list[int]]] = field(default_factory=list)
    prepared: int = 0

    def sql(self, text: str) -> Table:
        assert text == f"DESCRIBE DETAIL {PLAN.target.name}"
        if "gone" in self.table_id:
            raise EngineError("TABLE_OR_VIEW_NOT_FOUND", text)
        return self

    def collect(self) -> list[dict[str, str]]:
        return [{"id": self.table_id}]

    def first_match(self, version: int, files: Sequence[LogFile]) -> LogFile | None:
        self.asked.append((version, [file.file_hash for file in files]))
        return files[-1] if self.matches(version) else None

    def prepare(self) -> None:
        self.prepared += 1


def judged(
    table: Table, monkeypatch: pytest.MonkeyPatch, *commits: Commit, plan: Plan = PLAN, version: int = 8
) -> Staleness:
    def of(version: int, then: Any, now: Any) -> Any:
        return then if version == PLAN.target.version else now

    monkeypatch.setattr(staleness, "list_files", lambda *asked: of(asked[2], table.before, table.now))
    monkeypatch.setattr(staleness, "logged_metadata", lambda *asked: of(asked[2], METADATA, table.metadata))
    monkeypatch.setattr(staleness, "first_match", lambda *asked: table.first_match(asked[2], asked[3]))
    return check_staleness(table, plan, version, commits, table.prepare)  # type: ignore[arg-type]


def test_a_table_at_the_planned_version_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(Table(), monkeypatch, version=7) == Staleness("fresh", 7, (), "")


@pytest.mark.parametrize(("table_id", "version", "why"), [("t-2", 7, "another table"), ("t-1", 6, "begin anew")])
def test_another_table_of_the_same_name_is_stale(
    monkeypatch: pytest.MonkeyPatch, table_id: str, version: int, why: str
) -> None:
    found = judged(Table(table_id=table_id), monkeypatch, version=version)
    assert (found.verdict, found.version) == ("stale", version)
    assert why in found.collides


def test_a_table_that_is_gone_raises_what_spark_says(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError) as caught:
        judged(Table(table_id="gone"), monkeypatch)
    assert caught.value.condition == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize(
    ("table", "operation", "why"),
    [
        (Table(), "RESTORE", "v8 (RESTORE) may have put other rows in its place"),
        (Table(metadata=replace(METADATA, partition_columns=())), "WRITE", "the table itself changed: it is part"),
        (Table(now=(file(OTHER),)), "DELETE", "1 of the files it would touch changed: day=2026-11-20/part-00000"),
        (Table(now=(file(TOUCHED.path, "dv"), file(OTHER))), "DELETE", "1 of the files it would touch changed: day="),
    ],
)
def test_what_could_change_the_outcome_is_stale(
    monkeypatch: pytest.MonkeyPatch, table: Table, operation: str, why: str
) -> None:
    found = judged(table, monkeypatch, commit_of(operation))
    assert (found.verdict, found.moved_by) == ("stale", (f"v8 {operation} now",))
    assert found.collides.startswith(why)
    assert (table.prepared, table.asked) == (0, []), "no row is read for what the log says"


def with_clause(clause: Clause) -> Plan:
    return PLAN.model_copy(update={"statement": PLAN.statement.model_copy(update={"clauses": (clause,)})})


INSERTING = with_clause(Clause(kind="not_matched", condition=None, action="INSERT *", action_kind="insert"))


def test_with_not_matched_by_source_any_commit_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    clause = Clause(kind="not_matched_by_source", condition=None, action="DELETE", action_kind="delete")
    plan = with_clause(clause)
    assert "every row of the table matters" in judged(Table(), monkeypatch, commit_of("WRITE"), plan=plan).collides


def test_new_files_are_asked_whether_they_match(monkeypatch: pytest.MonkeyPatch) -> None:
    new = (file("new.parquet", file_hash=7), file("newer.parquet", file_hash=8))
    table = Table(now=(*Table().now, *new))
    assert judged(table, monkeypatch, commit_of("WRITE")).verdict == "disjoint"
    assert (table.prepared, table.asked) == (1, [(8, [7, 8])])
    table.matches = lambda version: version == 8
    found = judged(table, monkeypatch, commit_of("WRITE"))
    assert (found.verdict, found.collides) == ("stale", "a row of the new file newer.parquet matches the source")


@pytest.mark.parametrize(
    ("now", "came"),
    [
        ((file(TOUCHED.path),), []),
        ((file(TOUCHED.path), file(OTHER, "dv", 3)), [(8, [3])]),
        ((file(TOUCHED.path), file("optimized", file_hash=9)), [(8, [9])]),
    ],
)
def test_what_files_that_the_plan_does_not_touch_held_is_asked_where_it_inserts(
    monkeypatch: pytest.MonkeyPatch, now: tuple[LogFile, ...], came: list[tuple[int, list[int]]]
) -> None:
    table = Table(before=(file(TOUCHED.path), file(OTHER, file_hash=3)), now=now)
    assert judged(table, monkeypatch, commit_of("OPTIMIZE"), plan=INSERTING).verdict == "disjoint"
    assert (table.prepared, table.asked) == (1, [*came, (7, [3])])
    table.matches = lambda version: version == 7
    assert judged(table, monkeypatch, commit_of("OPTIMIZE")).verdict == "disjoint", "nothing is inserted"
    found = judged(table, monkeypatch, commit_of("OPTIMIZE"), plan=INSERTING)
    assert found.collides == f"a row of the file {OTHER}, which went, matches the source"


@pytest.mark.parametrize(
    ("condition", "message", "stale"),
    [
        (BEYOND_RETENTION, "the version is too old", True),
        (NO_FILE, f"no such file: s3a://b/t/{OTHER}", True),
        (NO_FILE, "no such file: s3a://b/source/part-00000.parquet", False),
        ("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", f"s3a://b/t/{OTHER}", False),
    ],
)
def test_files_that_went_and_cannot_be_read_make_a_plan_stale_and_no_other_error_does(
    monkeypatch: pytest.MonkeyPatch, condition: str, message: str, stale: bool
) -> None:
    def fails(_: int) -> bool:
        raise EngineError(condition, message)

    table = Table(now=(file(TOUCHED.path),), matches=fails)
    if stale:
        found = judged(table, monkeypatch, commit_of("OPTIMIZE"), plan=INSERTING)
        assert (found.verdict, found.collides) == ("stale", f"file went that cannot be read any more: {OTHER}")
    else:
        with pytest.raises(EngineError):
            judged(table, monkeypatch, commit_of("OPTIMIZE"), plan=INSERTING)


def test_new_files_that_cannot_be_read_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> bool:
        raise EngineError(NO_FILE, f"no such file: {OTHER}")

    with pytest.raises(EngineError):
        judged(Table(now=(*Table().now, file("new.parquet")), matches=fails), monkeypatch, commit_of("WRITE"))


def test_a_commit_that_moved_nothing_is_disjoint(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table()
    assert judged(table, monkeypatch, commit_of("SET TBLPROPERTIES")).verdict == "disjoint"
    assert table.prepared == 0


class Joined:
    """A session in which files with these hashes have a row in common with the source."""

    def __init__(self, *rows: int) -> None:
        self.rows, self.queries, self.conf = rows, list[str](), Confs({})

    def sql(self, text: str) -> Joined:
        self.queries.append(text)
        if self.rows and self.rows[0] < 0:
            raise OSError("failed to connect")
        return self

    def collect(self) -> tuple[tuple[int], ...]:
        return tuple((row,) for row in self.rows)


def test_new_files_are_joined_with_the_source_on_the_plans_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = SimpleNamespace(target=SimpleNamespace(reference="t"), before_select="", condition="t.key = s.key")
    merge = SimpleNamespace(statement=parsed, source_sql="feed AS s", target_name="orders", file_path="_file")
    monkeypatch.setattr(staleness, "analyze", lambda *_: merge)
    session, files = Joined(7), [file("a", file_hash=-8), file("b", file_hash=7)]
    assert first_match(session, PLAN, 9, files) == files[1]  # type: ignore[arg-type]
    assert "orders VERSION AS OF 9 AS t WHERE xxhash64(_file) IN (-8L, 7L)" in session.queries[-1]
    assert "ON t.key = s.key" in session.queries[-1]
    assert first_match(Joined(), PLAN, 9, files) is None  # type: ignore[arg-type]
    with pytest.raises(UnreachableError):
        first_match(Joined(-1), PLAN, 9, files)  # type: ignore[arg-type]
