"""The statements of an undo."""

from __future__ import annotations

from typing import Any

from engine.model.operation import UndoPlan
from engine.model.plan import RaisedProperty
from engine.sql.undo_statements import undo_statements


def undo(**changes: Any) -> UndoPlan:
    given = {"undo_id": "u", "op_id": "o", "table": "a.b", "path": "/p", "table_id": "t", "version": 8, "to_version": 7}
    return UndoPlan(**given | changes)


def test_a_restore_is_one_statement() -> None:
    assert undo_statements(undo()) == ("RESTORE TABLE a.b TO VERSION AS OF 7",)


def test_a_table_that_was_made_is_dropped() -> None:
    assert undo_statements(undo(kind="drop", to_version=-1)) == ("DROP TABLE a.b",)


def test_properties_are_raised_first() -> None:
    raised = tuple(RaisedProperty(name=name, before=None, after="interval 9 days") for name in ("p.one", "p.two"))
    assert undo_statements(undo(raise_retention=raised)) == (
        "ALTER TABLE a.b SET TBLPROPERTIES ('p.one' = 'interval 9 days', 'p.two' = 'interval 9 days')",
        "RESTORE TABLE a.b TO VERSION AS OF 7",
    )
