"""The SHALLOW CLONE that a rehearsal merges into: a managed table of ours, dropped again, after a crash too.

Never by path: DROP would leave that folder. A property of the clone, and the comment of a schema of ours, name the
process that made it, so that what a dead one left is known from what another one uses.
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
from engine.table.tables import current_catalog, name_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA: Final = re.compile(r"deltamerge_rehearsal_[0-9a-f]{32}_[0-9a-f]{6}")
"""A schema of ours, made for one rehearsal: two at once would drop each other's."""
NAME: Final = re.compile(r"deltamerge_clone_[0-9a-f]{32}_[0-9a-f]{6}")
OWNER: Final = "deltamerge.rehearsal"
"""The table property with the host, pid and start time of the process that made the clone, and when (seconds)."""
ELSEWHERE_SECONDS: Final = 24 * 3600
"""How long a clone of another host is left alone: whether its process still runs cannot be seen from here."""


@contextlib.contextmanager
def cloned(spark: SparkSession, plan: Plan, schema: str | None) -> Iterator[str]:
    """SQL text of the name of a clone of the planned version, which is dropped behind the body.

    Raises EngineError with Spark's class if it cannot be made; then nothing is left of it.
    """
    number = f"{plan.plan_id}_{uuid.uuid4().hex[:6]}"
    ours = quote(f"deltamerge_rehearsal_{number}")
    place = schema_named(schema) if schema is not None else f"{catalog_of(spark, plan)}.{ours}"
    name = f"{place}.{quote(f'deltamerge_clone_{number}')}"
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
            comment = f"A rehearsal of deltamerge-console, dropped at its end: {_owner()}"
            collected(spark, f"CREATE SCHEMA {schema} COMMENT {string(comment)}")
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


def schema_named(schema: str) -> str:
    """SQL text of a schema, a dotted name as typed."""
    return ".".join(quote(part) for part in name_parts(schema))


def catalog_of(spark: SparkSession, plan: Plan | None = None) -> str:
    """SQL text of the catalog of the plan's target, the current one unless its name begins with another."""
    names = [token.name for token in tokenize(plan.target.name)[::2]] if plan else []
    return quote(names[0] if len(names) > 2 else current_catalog(spark))


def drop_left_over(spark: SparkSession, plan: Plan | None = None, schema: str | None = None) -> tuple[str, ...]:
    """Drop the clones of processes that are gone, and the schemas of ours that they left. The names of the clones.

    They are looked for in ``schema``, a dotted name, and in the schemas of ours in the catalog of ``plan``. It never
    fails: the next rehearsal tries again.
    """
    dropped: list[str] = []
    with contextlib.suppress(Exception), untagged(spark):
        if schema is not None:
            dropped += _drop_clones(spark, schema_named(schema))
        catalog = catalog_of(spark, plan)
        for (name,) in collected(spark, f"SHOW SCHEMAS IN {catalog} LIKE 'deltamerge_rehearsal_*'"):
            if SCHEMA.fullmatch(name):
                dropped += _drop_schema(spark, f"{catalog}.{quote(name)}")
    return tuple(dropped)


def _drop_schema(spark: SparkSession, place: str) -> list[str]:
    """Drop what a process that is gone left in a schema of ours, and the schema if that was all."""
    with contextlib.suppress(EngineError):  # its rehearsal has ended since
        clones = _drop_clones(spark, place)
        if clones or _is_left(_comment(spark, place)):
            drop_if_empty(spark, place)
        return clones
    return []


def _drop_clones(spark: SparkSession, place: str) -> list[str]:
    """Drop the clones in a schema whose processes are gone. A table that only has such a name is none."""
    dropped = []
    for row in collected(spark, f"SHOW TABLES IN {place} LIKE 'deltamerge_clone_*'"):
        name = f"{place}.{quote(str(row['tableName']))}"
        if not row["isTemporary"] and NAME.fullmatch(row["tableName"]) and _is_left(_property(spark, name)):
            drop_staged(spark, name)
            dropped.append(name)
    return dropped


def _property(spark: SparkSession, table: str) -> str:
    try:
        rows = collected(spark, f"SHOW TBLPROPERTIES {table} ({string(OWNER)})")
    except EngineError:  # its rehearsal has ended since
        return ""
    return str(rows[0]["value"]) if rows else ""


def _comment(spark: SparkSession, schema: str) -> str:
    rows = collected(spark, f"DESCRIBE SCHEMA {schema}")
    return next((str(row[1]).partition(": ")[2] for row in rows if row[0] == "Comment"), "")


def _is_left(owner: str) -> bool:
    """Whether ``owner``, as :func:`_owner` writes it, is a process that is gone. What is none is not."""
    try:
        host, pid, started, created = json.loads(owner)
        if host != socket.gethostname():
            return bool(time.time() - int(created) > ELSEWHERE_SECONDS)
        return not is_running(int(pid), str(started))
    except (ValueError, TypeError):
        return False


def drop_if_empty(spark: SparkSession, schema: str) -> None:
    """Drop a schema of ours unless a table is left in it. It never fails."""
    with contextlib.suppress(Exception), untagged(spark):
        # RESTRICT is the default: Spark refuses it if a table is left
        spark.sql(f"DROP SCHEMA IF EXISTS {schema}").collect()
