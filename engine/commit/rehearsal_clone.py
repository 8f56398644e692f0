"""The SHALLOW CLONE that a rehearsal merges into: a managed table of ours, dropped again, after a crash too.

Never by path: DROP would leave that folder. A property of the clone names the process that made it, so that what a dead
one left is known from what another one uses.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.merge.stage_source import drop_staged
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.model.plan import Plan
from engine.processes import is_running, start_time
from engine.spark.session_state import untagged
from engine.spark.spark_errors import collected
from engine.sql.lexer import tokenize
from engine.sql.names import quote, string
from engine.table.table_state import qualified_name
from engine.table.tables import name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA: Final = "deltamerge_rehearsal"
"""The schema of ours, made for a rehearsal and dropped when nothing is in it."""
NAME: Final = re.compile(r"deltamerge_clone_[0-9a-f]{32}_[0-9a-f]{6}")
OWNER: Final = "deltamerge.rehearsal"
"""The table property with the host, pid and start time of the process that made the clone, and when (seconds)."""
ELSEWHERE_SECONDS: Final = 24 * 3600
"""How long a clone of another host is left alone: whether its process still runs cannot be seen from here."""


def place_of_clone(spark: SparkSession, plan: Plan, schema: str | None) -> str:
    """SQL text of the schema for the clone: ``schema``, a dotted name, else ours in the target's catalog."""
    if schema is not None:
        return ".".join(quote(part) for part in name_parts(schema))
    return ours_in(spark, tuple(token.name for token in tokenize(plan.target.name)[::2]))


def ours_in(spark: SparkSession, table: tuple[str, ...] = ()) -> str:
    """SQL text of our schema in the catalog of ``table``, the current one unless its name begins with another."""
    catalog = table[0] if len(table) > 2 else qualified_name(spark, (SCHEMA, ""))[0]
    return f"{quote(catalog)}.{quote(SCHEMA)}"


@contextlib.contextmanager
def cloned(spark: SparkSession, plan: Plan, schema: str | None) -> Iterator[str]:
    """SQL text of the name of a clone of the planned version, which is dropped behind the body.

    Raises EngineError with Spark's class if it cannot be made; then nothing is left of it.
    """
    place = place_of_clone(spark, plan, schema)
    name = f"{place}.{quote(f'deltamerge_clone_{plan.plan_id}_{uuid.uuid4().hex[:6]}')}"
    try:
        _make(spark, plan, place, name, own=schema is None)
        yield name
    except BaseException as error:
        drop_staged(spark, name, error)
        raise
    else:
        drop_staged(spark, name)
    finally:
        if schema is None:
            drop_if_empty(spark, place)


def _make(spark: SparkSession, plan: Plan, schema: str, name: str, *, own: bool) -> None:
    table = f"{plan.target.name} VERSION AS OF {plan.target.version}"
    try:
        if own:
            comment = "Clones of deltamerge-console's rehearsals, each dropped at its end"
            collected(spark, f"CREATE SCHEMA IF NOT EXISTS {schema} COMMENT {string(comment)}")
        properties = f"TBLPROPERTIES ({string(OWNER)} = {string(_owner())})"
        collected(spark, f"CREATE TABLE {name} SHALLOW CLONE {table} {properties}")
    except (CancelledError, UnreachableError):
        raise
    except EngineError as error:
        raise EngineError(
            error.condition,
            f"No clone for the rehearsal can be made in {schema}: {error.message} Nothing ran.",
            "Name a schema in which you may create tables with --clone-schema; some tables cannot be cloned.",
        ) from error


def _owner() -> str:
    pid = os.getpid()
    return json.dumps([socket.gethostname(), pid, start_time(pid), int(time.time())])


def drop_left_over(spark: SparkSession, schema: str | None = None) -> tuple[str, ...]:
    """Drop the clones of processes that are gone, and our schema if nothing is left in it. The names of the dropped.

    ``schema`` is SQL text; None is ours in the current catalog. It never fails: the next rehearsal tries again.
    """
    dropped: list[str] = []
    with contextlib.suppress(Exception), untagged(spark):
        place = schema or ours_in(spark)
        for row in collected(spark, f"SHOW TABLES IN {place} LIKE 'deltamerge_clone_*'"):
            name = f"{place}.{quote(str(row['tableName']))}"
            if not row["isTemporary"] and NAME.fullmatch(row["tableName"]) and _is_left_over(spark, name):
                drop_staged(spark, name)
                dropped.append(name)
        if dropped and schema is None:
            drop_if_empty(spark, place)
    return tuple(dropped)


def _is_left_over(spark: SparkSession, name: str) -> bool:
    """Whether a table is a clone of ours whose process is gone. A table that only has such a name is none."""
    try:
        rows = collected(spark, f"SHOW TBLPROPERTIES {name} ({string(OWNER)})")
        host, pid, started, created = json.loads(rows[0]["value"])
        if host != socket.gethostname():
            return bool(time.time() - int(created) > ELSEWHERE_SECONDS)
        return not is_running(int(pid), str(started))
    except (EngineError, ValueError, TypeError, IndexError):
        return False


def drop_if_empty(spark: SparkSession, schema: str) -> None:
    """Drop our schema unless another rehearsal has a clone in it. It never fails."""
    with contextlib.suppress(Exception), untagged(spark):
        # RESTRICT is the default: Spark refuses it if a table is left
        spark.sql(f"DROP SCHEMA IF EXISTS {schema}").collect()
