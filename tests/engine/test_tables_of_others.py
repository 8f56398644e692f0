"""Tables that other writers and older versions left: ``pytest -m thorough --tables-of-others FOLDER`` merges each.

FOLDER is one that holds Delta tables at any depth, Delta's own golden tables and test resources above all
(``connectors/golden-tables`` and ``spark/src/test/resources/delta`` of its repository); none is copied into this one.
Each table is merged in three ways: planned and applied on one copy, plain on another; rows and errors agree.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.plan_merge import plan
from engine.sql.names import quote
from tests.engine.fidelity import check_merge, refused_by_delta

KEYS = ("bigint", "int", "smallint", "tinyint", "string", "date", "decimal", "timestamp", "boolean", "double", "float")
"""Types that a key may have, the best first."""
PREFIX = "test%dv%prefix-"
WAYS = {
    "upsert": "t.{key} = s.{key} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "delete": "t.{key} = s.{key} WHEN MATCHED THEN DELETE",
    "by source": "t.{key} <=> s.{key} AND pmod(hash(t.{key}), 3) = 0 WHEN NOT MATCHED THEN INSERT * "
    "WHEN NOT MATCHED BY SOURCE AND pmod(hash(t.{key}), 5) = 0 THEN DELETE",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each table below the folder, named by its path there."""
    folder = metafunc.config.getoption("--tables-of-others")
    logs = sorted(Path(folder).rglob("_delta_log")) if folder else []
    found = [pytest.param(log.parent, id=str(log.parent.relative_to(folder))) for log in logs]
    metafunc.parametrize(
        "table", found or [pytest.param(None, marks=pytest.mark.skip(reason="--tables-of-others names no folder"))]
    )


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_a_table_of_others_is_merged_as_the_plain_merge_does(
    spark: Any, schema: str, tmp_path: Path, table: Path, way: str
) -> None:
    planned, plain = (copied(table, tmp_path / name) for name in ("planned", "plain"))
    merge = f"MERGE INTO delta.`{{}}` AS t USING {{}} AS s ON {WAYS[way]}"
    using, key = source_of(spark, plain)
    ours = what_became(spark, planned, merge.format(planned, using, key=key))
    theirs = refused_by_delta(spark, merge.format(plain, using, key=key))
    print(f"{table.name}, {way}: {ours}")
    assert ours == theirs or (not theirs and ours in ("committed", "nothing to do")), (ours, theirs)
    if not theirs:
        assert rows_of(spark, planned) == rows_of(spark, plain)


def copied(table: Path, to: Path) -> Path:
    """Delta's own tests write deletion vectors under a prefix that the log leaves out, and Delta elsewhere has not."""
    shutil.copytree(table, to)
    for file in to.rglob(f"{PREFIX}*"):
        file.rename(file.with_name(file.name.removeprefix(PREFIX)))
    return to


def source_of(spark: Any, table: Path) -> tuple[str, str]:
    """A new table of half of the rows, one for each key, and the key: the column of the type that stands first in KEYS.

    Of a table that cannot be read, or has no column to tell rows by, any source is as good.
    """
    key = "id"
    try:
        frame = spark.sql(f"SELECT * FROM delta.`{table}`")
        types = {name: written.split("(")[0] for name, written in frame.dtypes}
        key = min(types, key=lambda name: KEYS.index(types[name]) if types[name] in KEYS else len(KEYS))
        half = frame.dropDuplicates([key]).where(f"pmod(hash({quote(key)}), 2) = 0")
        half.write.format("delta").option("delta.columnMapping.mode", "name").saveAsTable("src")
    except Exception:
        return "(SELECT 1 AS id)", quote(key)
    return "src", quote(key)


def what_became(spark: Any, table: Path, merge: str) -> str:
    """What :func:`check_merge` says, or the error's class of a table that cannot be described at all."""
    try:
        spark.sql(f"DESCRIBE DETAIL delta.`{table}`").collect()
    except Exception:
        with pytest.raises(EngineError) as raised:
            plan(spark, merge, rows=0)
        return raised.value.condition
    return check_merge(spark, f"delta.`{table}`", merge)


def rows_of(spark: Any, table: Path) -> Counter[str]:
    # as text: Python has no map whose keys are lists
    return Counter(row[0] for row in spark.sql(f"SELECT CAST(struct(*) AS STRING) FROM delta.`{table}`").collect())
