"""Tables whose versions were committed long ago."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


def directory(spark: Any, table: str) -> Path:
    return Path(str(spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]).removeprefix("file:"))


def make_old(spark: Any, table: str, days: float) -> None:
    """All commits of ``table`` so far become ``days`` old: without in-commit timestamps a commit is as old as its
    file."""
    for file in sorted((directory(spark, table) / "_delta_log").glob("*.json")):
        at = time.time() - days * 86_400 + int(file.stem)
        os.utime(file, (at, at))
