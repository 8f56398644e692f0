"""Tables as other writers leave them: written by delta-rs, or with a log that is edited by hand."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.commit.apply_plan import apply
from engine.model.plan import Plan
from engine.plan_merge import plan

Stats = dict[str, Any]
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"


def write_delta_rs(path: Path, types: Mapping[str, Any], files: Sequence[Mapping[str, Sequence[Any]]]) -> None:
    """A table of delta-rs with Arrow ``types``, one commit for each of ``files``."""
    import pyarrow
    from deltalake import write_deltalake

    for values in files:
        arrays = {name: pyarrow.array(values[name], type=type_) for name, type_ in types.items()}
        write_deltalake(str(path), pyarrow.table(arrays), mode="append")


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the table whose ``add`` actions ``change`` has edited in place."""
    copied = copy_of(path)
    log = copied / "_delta_log"
    for checksum in log.glob("*.crc"):
        checksum.unlink()
    for commit in log.glob("*.json"):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if "add" in action:
                change(action["add"])
        commit.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    return copied


def with_stats(path: Path, change: Callable[[Stats], Stats | str | None]) -> Path:
    """A copy of the table whose statistics ``change`` gave: a text as it stands, None for none."""

    def put(add: dict[str, Any]) -> None:
        stats = change(json.loads(add["stats"]))
        add["stats"] = stats if stats is None or isinstance(stats, str) else json.dumps(stats)

    return edited(path, put)


def copy_of(path: Path) -> Path:
    # the server knows a path's log: each table is read under a new one
    return Path(shutil.copytree(path, path.with_name(f"{path.name}_{uuid.uuid4().hex[:8]}")))


def rows(spark: Any, path: Path) -> list[str]:
    return sorted(row[0] for row in spark.sql(f"SELECT to_json(struct(*)) FROM {name_of(path)}").collect())


def name_of(path: Path) -> str:
    return f"delta.`{path}`"


def same_as_typed(spark: Any, path: Path, on: str, source: str, clauses: str = UPSERT, *, sampled: int = 0) -> Plan:
    """Hold plan and apply to the plain MERGE, each on a copy of the table: same rows, every promise kept."""
    typed, planned = copy_of(path), copy_of(path)
    spark.sql(f"MERGE INTO {name_of(typed)} t USING {source} s ON {on} {clauses}").collect()
    looked = plan(spark, f"MERGE INTO {name_of(planned)} t USING {source} s ON {on} {clauses}", rows=sampled)
    assert looked.refused is None
    outcome = apply(spark, looked)
    assert outcome.kept, outcome.deviations
    assert rows(spark, planned) == rows(spark, typed)
    return looked


def derived(looked: Plan) -> list[str]:
    return [one.text or one.why_not for one in looked.scan.derived]
