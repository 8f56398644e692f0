"""What the analyzer says of a statement while it is typed: cheap, and nothing of it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.create.check_create_reading import check_analysis
from engine.create.survey import check_location, check_provider, foreseen_effect
from engine.merge.analyze import analyze
from engine.merge.plan_values import table_name
from engine.merge.should_materialize_source import should_materialize_source
from engine.model.browse import Validation
from engine.model.errors import EngineError, UnreachableError
from engine.plan_statement import check_statement
from engine.spark.schema import schema_of
from engine.spark.session_state import run_setup
from engine.spark.spark_errors import translate
from engine.sql.as_typed import as_typed
from engine.sql.params import fill
from engine.sql.parse import parse_merge, parse_script
from engine.sql.parse_create import is_create_table, parse_create
from engine.sql.sql_text import parameter_names, tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


STAND_INS = ("", "NULL", "1")
"""What stands in turn in the place of a parameter that has no value yet."""


def validate(spark: SparkSession, text: str, params: Mapping[str, str] | None = None) -> Validation:
    """Analyze the statement of ``text``. A refusal is a value, with its place in the text as typed; only a Spark that
    cannot be reached raises. Setup statements run, but for CACHE: the session should be one kept for validating texts
    of the same :func:`setup_of`.

    A refusal of what stands in for a parameter without a value is none of the statement: it is UNBOUND_SQL_PARAMETER.
    """
    values = dict(params or {})
    unbound = _unbound(text, values)
    refused: list[Validation] = []
    for stand_in in STAND_INS if unbound else ():
        found = _tried(spark, text, values | dict.fromkeys(unbound, stand_in))
        # what is refused alike of two of them is a fault of the statement
        if found.ok or found in refused:
            return found
        refused.append(found)
    return _tried(spark, text, values)


def setup_of(text: str, params: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The statements that :func:`validate` runs before it analyzes; () if it runs none."""
    try:
        values = dict.fromkeys(parameter_names(text), STAND_INS[0]) | dict(params or {})
        return _without_cache(parse_script(fill(text, values)).setup)
    except EngineError:
        return ()


def _without_cache(setup: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in setup if tokenize(one)[0].word != "CACHE")


def _unbound(text: str, values: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return tuple(name for name in parameter_names(text) if name not in values)
    except EngineError:
        return ()


def _tried(spark: SparkSession, text: str, values: Mapping[str, str]) -> Validation:
    try:
        if not tokenize(text):
            return Validation(ok=False, kind="empty")
        script = parse_script(fill(text, values))
        check_statement(script.statement)
        # they ran before, for a text of the same setup
        run_setup(spark, _without_cache(script.setup), again=True)
        return _analyzed(spark, script.statement)
    except UnreachableError:
        raise
    except EngineError as error:
        return _refused(as_typed(error, text, values))
    except Exception as error:
        translated = translate(error)
        if isinstance(translated, UnreachableError):
            raise translated from error
        return _refused(translated)


def _analyzed(spark: SparkSession, statement: str) -> Validation:
    if is_create_table(statement):
        create = parse_create(statement)
        if not create.if_not_exists:
            # of a table that is there already, nothing is made
            check_location(create)
            check_provider(spark, create, "create")
        if create.form == "clone":
            # EXPLAIN takes no CLONE
            schema_of(spark, f"SELECT * FROM {create.source} {create.source_at}")
        else:
            check_analysis(spark, create)
        effect, version = foreseen_effect(spark, create)
        return Validation(ok=True, kind="create", target=create.name, target_version=version, effect=effect)
    merge = analyze(spark, parse_merge(statement))
    return Validation(
        ok=True,
        target=table_name(merge),
        target_version=merge.version,
        decision=should_materialize_source(spark, merge),
    )


def _refused(error: EngineError) -> Validation:
    return Validation(
        ok=False,
        condition=error.condition,
        message=error.message,
        hint=error.hint,
        line=error.line,
        column=error.column,
        kind="other" if error.condition == "NOT_A_MERGE" else "merge",
    )
