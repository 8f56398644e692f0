"""The tables and versions that were browsed, for the time before Spark is up: rows of the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from engine.ledger.history_rows import read
from engine.ledger.history_store import now
from engine.model.browse import TableRef, TableVersion

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_VERSIONS = 5_000
"""Versions of one table that are remembered."""


def replace_versions(db: DuckDBPyConnection, table_key: str, bodies: Mapping[int, str]) -> None:
    """Store JSON texts by version, in place of those that are there; the oldest ones above MAX_VERSIONS go."""
    numbers = list(bodies)
    db.execute(
        "DELETE FROM table_version WHERE table_key = ? AND list_contains(?, version)",
        [table_key, numbers],
    )
    db.execute(
        "INSERT INTO table_version SELECT ?, unnest(?::BIGINT[]), unnest(?::VARCHAR[])",
        [table_key, numbers, list(bodies.values())],
    )
    db.execute(
        "DELETE FROM table_version WHERE table_key = ? AND version <= (SELECT max(version) FROM"
        " table_version WHERE table_key = ?) - ?",
        [table_key, table_key, MAX_VERSIONS],
    )


def versions(db: DuckDBPyConnection, table_key: str) -> list[TableVersion]:
    """The versions of a table, newest first."""
    query = "SELECT body FROM table_version WHERE table_key = ? ORDER BY version DESC"
    all_versions = (read(TableVersion, body) for (body,) in db.execute(query, [table_key]).fetchall())
    return [version for version in all_versions if version is not None]


def replace_tables(db: DuckDBPyConnection, endpoint: str, tables: Sequence[TableRef]) -> None:
    body = json.dumps([one.model_dump(mode="json") for one in tables], ensure_ascii=False)
    db.execute("DELETE FROM table_list WHERE endpoint = ?", [endpoint])
    db.execute("INSERT INTO table_list VALUES (?, ?, ?)", [endpoint, now(), body])


def tables(db: DuckDBPyConnection, endpoint: str) -> list[TableRef]:
    row = db.execute("SELECT body FROM table_list WHERE endpoint = ?", [endpoint]).fetchone()
    try:
        return [TableRef.model_validate(one) for one in json.loads(row[0])] if row else []
    except (ValueError, ValidationError):
        return []
