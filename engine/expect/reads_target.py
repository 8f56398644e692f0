"""Does the SQL of an expectation read the target by a name of its own? A plan has it as it was, the commit as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.expect.target_name import is_table_at
from engine.merge.source_plan import delta_tables, query_plan
from engine.model.errors import EngineError
from engine.sql.names import quote
from engine.table.table_state import MISSING
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RELATIONS: Final = ("before", "after", "changes", "source")
"""The names that an expectation's SQL reads the rows of a MERGE by."""
NAMED: Final = re.compile(r"'UnresolvedRelation \[([^\]]*)\]")
WITH: Final = re.compile(r"CTE \[([^\]]*)\]")
AT_A_VERSION: Final = "RelationTimeTravel"


def read_by(spark: SparkSession, parsed: str, path: str) -> str | None:
    """The name by which a query, as Spark has ``parsed`` it, reads the table at ``path``, be it through a view; None if
    by none. One that says the version means that one."""
    return next((name for name in _names(parsed) if _reads(spark, name, path)), None)


def _names(parsed: str) -> Iterator[str]:
    known = {*RELATIONS, *(name.lower() for found in WITH.findall(parsed) for name in found.split(", "))}
    for line in parsed.splitlines():
        found = NAMED.search(line)
        if found and AT_A_VERSION not in line and found[1].lower() not in known:
            yield ".".join(map(quote, found[1].split(", ")))


def _reads(spark: SparkSession, name: str, path: str) -> bool:
    try:
        tables = delta_tables(spark, query_plan(spark, "", name))
    except EngineError as error:
        if error.condition in MISSING:
            return False  # its query says so
        raise
    return any(is_table_at(spark, name_parts(one), path) for one in tables)
