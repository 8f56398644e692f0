"""What the MERGE writes, and the schema that it leaves."""

from __future__ import annotations

from engine.model.value import Value


class ColumnAfter(Value):
    """One column of the target after the MERGE. ``type_before`` is None if schema evolution adds the column; it
    differs from ``type`` if evolution adds fields."""

    name: str
    type: str
    type_before: str | None


class WritePlan(Value):
    """How the changes are written (ClassicMergeExecutor.writeAllChanges, InsertOnlyMergeExecutor)."""

    extra_op_type: str
    join_type: str | None
    deletion_vectors: bool
    change_data_feed: bool
    unmodified_rows_written: bool
    schema_after: tuple[ColumnAfter, ...] = ()
    """Empty if the schema does not change."""
