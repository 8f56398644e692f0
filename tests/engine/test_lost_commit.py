"""A commit that Delta reports and another driver overwrites before it is read: never applied, but lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.commit.apply_plan import apply
from engine.ledger.history import History
from engine.model.errors import LostCommitError
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.plan_statement import plan as plan_statement
from engine.recovery.undo import plan_undo, undo

MERGE = "MERGE INTO {} t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
OTHER = {
    "commitInfo": {
        "timestamp": 1,
        "operation": "WRITE",
        "operationParameters": {},
        "operationMetrics": {},
        "isBlindAppend": True,
        "txnId": "of-another-driver",
    }
}


def as_of_another(lines: list[str]) -> list[str]:
    """The same entry without what says that it is ours."""
    actions = [json.loads(line) for line in lines]
    for one in actions:
        one.get("commitInfo", {}).pop("userMetadata", None)
    return [json.dumps(one) for one in actions if "txn" not in one]


def overwrite(table: Path, version: int, *, replaces: bool = False) -> Callable[[Progress], None]:
    """Puts another driver's commit there when Delta has reported ours, before the log is read again. ``replaces``: it
    is a REPLACE like ours."""

    def hear(progress: Progress) -> None:
        if progress.stage == "committed":
            entry = table / "_delta_log" / f"{version:020}.json"
            assert entry.is_file()
            lines = entry.read_text().splitlines() if replaces else []
            entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)  # Hadoop's, of the bytes before
            entry.write_text("\n".join(as_of_another(lines) if replaces else [json.dumps(OTHER)]) + "\n")

    return hear


def test_a_commit_that_is_overwritten_is_lost_and_never_applied(spark: Any, schema: str, tmp_path: Path) -> None:
    del schema
    history, table = History(tmp_path / "history.duckdb"), tmp_path / "t"
    spark.sql("CREATE TABLE s USING delta AS SELECT id, 'new' AS v FROM range(8, 12, 1, 1)")
    spark.sql(f"CREATE TABLE delta.`{table}` USING delta AS SELECT id, 'old' AS v FROM range(0, 10, 1, 1)")
    name = f"delta.`{table}`"
    merge = plan(spark, MERGE.format(name), rows=0)
    with pytest.raises(LostCommitError, match=r"commit is LOST.* it has v1 WRITE after v0") as lost:
        apply(spark, merge, history=history, on_progress=overwrite(table, 1))
    assert (lost.value.condition, "plan again" in lost.value.hint) == ("COMMIT_LOST", True)
    (row,) = history.list()
    assert (row.status, row.version, row.error) == ("lost", None, lost.value.message)

    # the same for an undo, after a MERGE that nobody overwrites: it is found and applied
    again = plan(spark, MERGE.format(name), rows=0)
    assert again.promise["numTargetRowsInserted"] == 2, "Delta sees the table without what is lost"
    outcome = apply(spark, again, history=history)
    assert (outcome.kept, outcome.version) == (True, 2)
    restore = plan_undo(spark, history.get(outcome.op_id))
    with pytest.raises(LostCommitError, match="it has v3 WRITE after v2"):
        undo(spark, restore, history=history, on_progress=overwrite(table, 3))
    assert [one.status for one in history.list()] == ["lost", "applied", "lost"]


@pytest.mark.parametrize("query", [" AS SELECT 1L AS id", " (id BIGINT)"])
def test_a_created_table_that_is_overwritten_is_lost(spark: Any, schema: str, tmp_path: Path, query: str) -> None:
    del schema
    history, table = History(tmp_path / "history.duckdb"), tmp_path / "t"
    spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT) USING delta")
    name = f"delta.`{table}`"
    columns, _, select = query.partition(" AS ")
    sql = f"REPLACE TABLE {name}{columns} USING delta{f' AS {select}' if select else ''}"
    replace = plan_statement(spark, sql, rows=0)
    with pytest.raises(LostCommitError, match=r"it has v1 .*REPLACE TABLE.* after v0"):
        apply(spark, replace, history=history, on_progress=overwrite(table, 1, replaces=True))
    assert [one.status for one in history.list()] == ["lost"]
