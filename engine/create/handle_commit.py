"""What a CREATE or REPLACE TABLE commits, and does after it: CreateDeltaTableCommand.handleCommit and its handlers."""

from __future__ import annotations

from collections.abc import Mapping

from engine.create.committed_files import CommittedFiles
from engine.create.handle_clone import handle_clone
from engine.create.provided_metadata import Provided
from engine.model.create_values import Handler, TableState
from engine.sql.parse_create import ParsedCreate

OPERATIONS = {
    ("Create", "empty"): "CREATE TABLE",
    ("Create", "like"): "CREATE TABLE",
    ("Create", "as_select"): "CREATE TABLE AS SELECT",
    ("CreateOrReplace", "empty"): "CREATE OR REPLACE TABLE",
    ("CreateOrReplace", "as_select"): "CREATE OR REPLACE TABLE AS SELECT",
    ("Replace", "empty"): "REPLACE TABLE",
    ("Replace", "as_select"): "REPLACE TABLE AS SELECT",
}


def handler_of(create: ParsedCreate) -> Handler:
    """The handler that Delta chooses by the optional logical query plan."""
    handlers: dict[str, Handler] = {"as_select": "handleCreateTableAsSelect", "clone": "handleClone"}
    return handlers.get(create.form, "handleCreateTable")


def handle_commit(create: ParsedCreate, provided: Provided, before: TableState | None) -> CommittedFiles:
    """What the statement commits; ``before`` is the Delta table at the location, if there is one."""
    if create.form == "clone":
        return handle_clone(provided)
    if create.form == "as_select":
        return handle_create_table_as_select(create, provided, before)
    return handle_create_table()


def handle_create_table() -> CommittedFiles:
    """Metadata alone: no files, and Delta writes no metrics."""
    return CommittedFiles()


def handle_create_table_as_select(
    create: ParsedCreate, provided: Provided, before: TableState | None
) -> CommittedFiles:
    """The rows of the query, and the files that a replaced table had. How many files are written is Spark's choice."""
    source = provided.source
    if source is None or source.num_rows is None:
        return CommittedFiles(None, None)
    # what a volatile query gave once says nothing of the next time
    metrics = {} if source.volatile else {"numOutputRows": source.num_rows}
    if create.mode != "Create":
        metrics["numRemovedFiles"] = (before.num_files or 0) if before else 0
        metrics["numRemovedBytes"] = (before.num_bytes or 0) if before else 0
    return CommittedFiles(None, None, metrics)


def get_operation(create: ParsedCreate) -> str:
    """The operation that DESCRIBE HISTORY names."""
    return "CLONE" if create.form == "clone" else OPERATIONS[create.mode, create.form]


def run_post_commit_updates(
    create: ParsedCreate, exists: bool, properties: Mapping[str, str | None]
) -> tuple[str, ...]:
    """What happens after the commit. ``exists``: the catalog has the table; ``properties`` are those after it."""
    steps = [update_catalog(create, exists)]
    if "iceberg" in (properties.get("delta.universalFormat.enabledFormats") or "").split(","):
        steps.append("the table is converted to Iceberg (UniForm)")
    return tuple(steps)


def update_catalog(create: ParsedCreate, exists: bool) -> str:
    """What happens to the catalog entry."""
    if create.path is not None:
        return "nothing in the catalog: the table is by path"
    return "the catalog entry is altered" if exists else "the catalog entry is created"
