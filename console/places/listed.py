"""What the tree of tables held the last time, in ``<home>/listed.json`` by endpoint: shown until Spark has answered.

A file that cannot be read is an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from console.drafts import write_atomically
from console.widgets.table_tree import Group

ENDPOINTS, TABLES_OF_A_GROUP = 8, 2_000


def load_listed(home: Path, endpoint: str) -> list[Group]:
    """The groups that were listed of ``endpoint``, with the tables of those that were open."""
    from engine.values import TableRef

    try:
        return [
            Group(
                name=str(one["name"]),
                is_directory=bool(one["is_directory"]),
                tables=None if one["tables"] is None else [TableRef.model_validate(table) for table in one["tables"]],
                expanded=bool(one["expanded"]),
            )
            for one in _read(home).get(endpoint, ())
        ]
    except (ValueError, KeyError, TypeError):
        return []


def save_listed(home: Path, endpoint: str, groups: Iterable[Group]) -> None:
    """Remember ``groups``; the endpoints that were not used for longest are forgotten. Raises OSError."""
    listed = [
        {
            "name": group.name,
            "is_directory": group.is_directory,
            "expanded": group.expanded,
            "tables": [table.model_dump(exclude_none=True) for table in group.tables[:TABLES_OF_A_GROUP]]
            if group.expanded and group.tables is not None
            else None,
        }
        for group in groups
    ]
    others = [(name, groups) for name, groups in _read(home).items() if name != endpoint]
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(home / "listed.json", json.dumps(dict([*others[1 - ENDPOINTS :], (endpoint, listed)])))


def _read(home: Path) -> dict[str, Any]:
    try:
        found = json.loads((home / "listed.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
