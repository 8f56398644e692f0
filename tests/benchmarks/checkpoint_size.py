"""What freezing a source takes on disk: ``python -m tests.benchmarks.checkpoint_size [--rows N]``.

The blocks of the checkpoint, by Spark's own account of them, to the bytes of the values of the columns that the MERGE
refers to: those that a column has by its type, and the octets of a text. The goal is 1.5, 1.1 is wished for.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

BYTES = {"bigint": "8", "int": "4", "decimal(9,2)": "8", "string": "octet_length({})"}
SOURCES = {
    "a key and three columns": "SELECT id, 1 AS quantity, 'merged' AS note, CAST(1 AS DECIMAL(9,2)) AS p FROM {ids}",
    "a key and a text of 36 letters": "SELECT id, uuid() AS note FROM {ids}",
    "a key and twenty numbers": "SELECT id, {numbers} FROM {ids}",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    options = parser.parse_args()
    from engine.merge.analyze import analyze
    from engine.merge.prepare_source import free_source, prepare_source
    from engine.merge.should_materialize_source import should_materialize_source
    from engine.merge.source_plan import source_plan
    from engine.session.classic import classic_session
    from engine.sql.parse import parse_merge

    home = Path(tempfile.mkdtemp(prefix="deltamerge-benchmark-"))
    spark: Any = classic_session(home, {})
    numbers = ", ".join(f"abs(xxhash64(id, {n})) % 100000 AS n{n}" for n in range(20))
    try:
        for name, made in SOURCES.items():
            query = made.format(ids=f"range({options.rows})", numbers=numbers)
            spark.sql(f"CREATE OR REPLACE TABLE target USING delta AS {query} LIMIT 0")
            spark.sql(f"CREATE OR REPLACE TABLE source USING delta AS {query}")
            text = "MERGE INTO target t USING source s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
            merge = analyze(spark, parse_merge(text))
            planned = source_plan(spark, merge)
            before = _blocks(spark)
            source = prepare_source(spark, merge, should_materialize_source(spark, merge, planned), planned)
            taken = sum(size for rdd, size in _blocks(spark).items() if rdd not in before)
            each = " + ".join(BYTES[one.type].format(one.name) for one in source.columns)
            ((held,),) = spark.sql(f"SELECT sum({each}) FROM source").collect()
            print(f"{name}: {taken:,} of {held:,} bytes, {taken / held:.2f}", flush=True)
            free_source(spark, source.view)
    finally:
        spark.stop()
        shutil.rmtree(home, ignore_errors=True)


def _blocks(spark: Any) -> dict[int, int]:
    """Bytes by RDD; those of a checkpoint that nobody refers to go at any moment."""
    kept = spark.sparkContext._jsc.sc().getRDDStorageInfo()
    return {int(one.id()): int(one.diskSize()) + int(one.memSize()) for one in kept}


if __name__ == "__main__":
    main()
