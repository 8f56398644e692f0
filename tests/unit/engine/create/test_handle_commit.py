"""What a CREATE or a REPLACE commits, and what happens after it."""

from __future__ import annotations

import pytest

from engine.create.committed_files import CommittedFiles
from engine.create.handle_commit import get_operation, handle_commit, handler_of, run_post_commit_updates
from engine.create.provided_metadata import Provided
from engine.model.create_values import CreateSource
from engine.sql.parse_create import parse_create
from tests.unit.engine.create.test_metadata_after import BEFORE

QUERY = "USING delta AS SELECT 1 AS id"


def provided(num_rows: int | None = 7, volatile: tuple[str, ...] = ()) -> Provided:
    source = CreateSource(sql="SELECT 1 AS id", num_rows=num_rows, volatile=volatile)
    return Provided((), (), source=source, num_files=3, num_bytes=30)


@pytest.mark.parametrize(
    ("sql", "handler", "operation"),
    [
        ("CREATE TABLE t (id INT) USING delta", "handleCreateTable", "CREATE TABLE"),
        ("CREATE TABLE t LIKE s USING delta", "handleCreateTable", "CREATE TABLE"),
        (f"CREATE TABLE t {QUERY}", "handleCreateTableAsSelect", "CREATE TABLE AS SELECT"),
        ("CREATE OR REPLACE TABLE t (id INT) USING delta", "handleCreateTable", "CREATE OR REPLACE TABLE"),
        (f"CREATE OR REPLACE TABLE t {QUERY}", "handleCreateTableAsSelect", "CREATE OR REPLACE TABLE AS SELECT"),
        ("REPLACE TABLE t (id INT) USING delta", "handleCreateTable", "REPLACE TABLE"),
        (f"REPLACE TABLE t {QUERY}", "handleCreateTableAsSelect", "REPLACE TABLE AS SELECT"),
        ("CREATE TABLE t SHALLOW CLONE s", "handleClone", "CLONE"),
    ],
)
def test_each_form_has_its_handler_and_its_operation(sql: str, handler: str, operation: str) -> None:
    create = parse_create(sql)
    assert (handler_of(create), get_operation(create)) == (handler, operation)


def test_a_definition_commits_metadata_alone() -> None:
    assert handle_commit(parse_create("CREATE TABLE t (id INT) USING delta"), provided(), None) == CommittedFiles()


def test_a_query_promises_its_rows_and_never_its_files() -> None:
    create = parse_create(f"CREATE TABLE t {QUERY}")
    assert handle_commit(create, provided(), None) == CommittedFiles(None, None, {"numOutputRows": 7})
    assert handle_commit(create, provided(None), None) == CommittedFiles(None, None), "its rows were not counted"
    assert handle_commit(create, provided(volatile=("rand()",)), None).metrics == {}, "another time it has others"


def test_a_replaced_table_loses_the_files_that_it_had() -> None:
    create = parse_create(f"CREATE OR REPLACE TABLE t {QUERY}")
    before = BEFORE.model_copy(update={"num_files": 5, "num_bytes": 50})
    metrics = {"numOutputRows": 7, "numRemovedFiles": 5, "numRemovedBytes": 50}
    assert handle_commit(create, provided(), before).metrics == metrics
    # there may be none, or one whose files are not counted
    for nothing in (None, BEFORE):
        metrics = handle_commit(create, provided(), nothing).metrics
        assert (metrics["numRemovedFiles"], metrics["numRemovedBytes"]) == (0, 0)


def test_what_happens_to_the_catalog_and_to_iceberg() -> None:
    named, by_path = (parse_create(f"CREATE TABLE {name} (id INT) USING delta") for name in ("t", "delta.`/d`"))
    assert run_post_commit_updates(named, False, {}) == ("the catalog entry is created",)
    assert run_post_commit_updates(named, True, {}) == ("the catalog entry is altered",)
    assert run_post_commit_updates(by_path, False, {}) == ("nothing in the catalog: the table is by path",)
    uniform = {"delta.universalFormat.enabledFormats": "hudi,iceberg"}
    assert run_post_commit_updates(named, True, uniform)[1:] == ("the table is converted to Iceberg (UniForm)",)
