"""What the benchmarks share: a server of their own, a stopwatch, clones of tables, and tables made by their log."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

Done = TypeVar("Done")
MADE_AT = 1767225600000  # the start of 2026, in milliseconds


class Stopwatch(defaultdict[str, list[float]]):
    """Seconds of every time that something was done, by its name."""

    def __init__(self) -> None:
        super().__init__(list)

    def time(self, what: str, work: Callable[[], Done]) -> Done:
        began = time.monotonic()
        done = work()
        self[what].append(time.monotonic() - began)
        return done


@contextmanager
def own_server(confs: Mapping[str, str] | None = None, store: str = "") -> Iterator[tuple[Any, Path]]:
    """A Session on a server that is started for it with ``confs`` and ``store``, and its home; both go at the end."""
    from engine import connect
    from engine.session.server import stop_server

    home = Path(tempfile.mkdtemp(prefix="deltamerge-benchmark-"))
    try:
        with connect("local[*]", home=home, confs=confs or {}, progress=print, store=store) as session:
            yield session, home
    finally:
        stop_server(home)
        shutil.rmtree(home, ignore_errors=True)


def cloned(spark: Any, table: str, name: str) -> str:
    """``name``, a new shallow clone of ``table``."""
    spark.sql(f"DROP TABLE IF EXISTS {name}").collect()
    spark.sql(f"CREATE TABLE {name} SHALLOW CLONE {table}").collect()
    return name


def write_log(table: Path, columns: Mapping[str, str], partition: str, adds: Iterable[Mapping[str, object]]) -> None:
    """Version 0 of a Delta table of ``columns`` (types as the log has them), one of which partitions it."""
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns.items()]
    metadata = {
        "id": table.name,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [partition],
        "configuration": {},
        "createdTime": MADE_AT,
    }
    actions: list[Mapping[str, object]] = [
        {"commitInfo": {"timestamp": MADE_AT, "operation": "WRITE", "operationParameters": {}}},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": metadata},
        *({"add": {"modificationTime": MADE_AT, "dataChange": True, **add}} for add in adds),
    ]
    log = table / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))
