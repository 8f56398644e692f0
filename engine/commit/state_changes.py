"""PlanningState → what has changed when the plan is applied, by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.merge.planning_state import current_user, session_confs, surroundings
from engine.merge.session_definitions import DIGEST, digest, function_definition, variables_now, view_definition
from engine.model.errors import CancelledError, SessionChangedError, UnreachableError
from engine.model.plan import Engines, PlanningState
from engine.model.secrets import MASK, is_secret_name
from engine.spark.engine_versions import UNKNOWN, engine_versions
from engine.spark.release import release
from engine.spark.session_state import KEPT_CONFS
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.model.create_values import CreatePlan
    from engine.model.plan import Plan

NAMED = 3
"""How many differences an error names."""


def plan_changes(spark: SparkSession, plan: Plan | CreatePlan) -> tuple[str, ...]:
    """What has changed since ``plan`` of Spark, of Delta and of the state that it recorded, a clause for each."""
    return engine_changes(plan.engines, engine_versions(spark)) + changes(spark, plan.state, KEPT_CONFS)


def changes(spark: SparkSession, planned: PlanningState | None, kept: Iterable[str]) -> tuple[str, ...]:
    """What has changed of the recorded state, a clause for each. What was not recorded is not compared."""
    if planned is None:
        return ()
    now = surroundings(spark, session_confs(spark, kept))
    differences = []
    for what, then, current in (
        ("the current catalog", planned.catalog, now.catalog),
        ("the current schema", planned.schema_name, now.schema),
    ):
        if then not in (None, current):
            differences.append(f"{what} was {then} when planned and is {current} now")
    if planned.user is not None and (user := current_user(spark)) != planned.user:
        differences.append(f"the current user was {planned.user} when planned and is {user} now")
    differences += _conf_changes(spark, planned.confs, now.confs)
    differences += _variable_changes(spark, planned.variables)
    differences += _definition_changes("view", planned.views, lambda name: view_definition(spark, name))
    differences += _definition_changes("function", planned.functions, lambda name: function_definition(spark, name))
    for name in planned.names:
        if name in now.temporary and name not in planned.temporary:
            differences.append(f"{name} is a temporary view now and was none when planned")
        elif name in planned.temporary and name not in now.temporary:
            differences.append(f"the temporary view {name} is gone")
    return tuple(dict.fromkeys(differences))


def engine_changes(planned: Engines, now: Engines) -> tuple[str, ...]:
    """Spark and Delta, where they are of another minor release than when planned. An unknown one is not compared."""
    return tuple(
        f"{name} was {then} when planned and is {current} now"
        for name, then, current in (("Spark", planned.spark, now.spark), ("Delta", planned.delta, now.delta))
        if UNKNOWN not in (then, current) and release(then) != release(current)
    )


def first_of(clauses: Sequence[str], limit: int) -> str:
    """The first ``limit`` clauses, and how many more there are."""
    more = len(clauses) - limit
    return "; ".join((*clauses[:limit], f"and {more} more") if more > 0 else clauses)


def session_changed(table: str, changed: Sequence[str]) -> SessionChangedError:
    return SessionChangedError(
        "SESSION_CHANGED",
        f"The plan for {table} was made in another state of the session: {first_of(changed, NAMED)}.",
        "Put that back and apply the plan again, or plan again.",
    )


def _conf_changes(spark: SparkSession, planned: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    changes = []
    for key in sorted({*planned, *now}):
        then, current = planned.get(key), now.get(key)
        if then == current or MASK in (then, current):
            continue
        if (then is None or current is None) and _default(spark, key, current) in (then, current):
            continue
        if is_secret_name(key):
            changes.append(f"the conf {key} is another than when planned")
        else:
            changes.append(f"the conf {key} was {_set_to(then)} when planned and is {_set_to(current)} now")
    return changes


def _set_to(value: str | None) -> str:
    return "not set" if value is None else value or "empty"


def _default(spark: SparkSession, key: str, current: str | None) -> str | None:
    """A conf's default, "" if unknown. ``current``: what it is set to, before and after."""
    try:
        if current is not None:
            spark.conf.unset(key)
        return str(spark.conf.get(key))
    except Exception as error:
        if isinstance(translate(error), (CancelledError, UnreachableError)):
            raise
        return ""
    finally:
        if current is not None:
            with contextlib.suppress(Exception):
                spark.conf.set(key, current)


def _variable_changes(spark: SparkSession, planned: Mapping[str, str]) -> list[str]:
    now = variables_now(spark, tuple(planned))
    changes = []
    for name, then in planned.items():
        current = now.get(name)
        if current is None:
            changes.append(f"the session variable {name} is not declared any more")
        elif then.startswith(DIGEST):
            if digest(current) != then:
                changes.append(f"the session variable {name} is another than when planned")
        elif current != then:
            changes.append(f"the session variable {name} was {then} when planned and is {current} now")
    return changes


def _definition_changes(kind: str, planned: Mapping[str, str], definition: Callable[[str], str | None]) -> list[str]:
    changes: dict[tuple[str, str, str], str] = {}
    for name, then in planned.items():
        now = definition(name)
        if now is not None and digest(now) == then:
            continue
        became = "is gone" if now is None else "was redefined"
        # f and s.f may be one, which is told once
        changes.setdefault((name.rpartition(".")[2], then, became), f"the {kind} {name} {became}")
    return list(changes.values())
