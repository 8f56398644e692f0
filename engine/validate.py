"""What the analyzer says of a statement while it is typed: cheap, and nothing of it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.analyze import analyze, schema_of
from engine.check_create_reading import check_analysis
from engine.errors import EngineError, UnreachableError
from engine.params import fill
from engine.parse import parse_merge, parse_script
from engine.parse_create import is_create_table, parse_create
from engine.plan_statement import check_statement
from engine.should_materialize_source import should_materialize_source
from engine.spark_errors import translate
from engine.sql_text import tokenize
from engine.values import Validation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def validate(spark: SparkSession, text: str, params: Mapping[str, str] | None = None) -> Validation:
    """Analyze the statement of ``text``. A refusal is a value, with its place in the text as typed; only a Spark that
    cannot be reached raises. Setup statements run, but for CACHE: the session should be one kept for validating."""
    try:
        if not tokenize(text):
            return Validation(ok=False, kind="empty")
    except EngineError as error:
        return _refused(error, text, 0)
    offset = 0
    try:
        script = parse_script(fill(text, params or {}))
        offset = max(0, text.rfind(script.statement))
        check_statement(script.statement)
        for one in script.setup:
            if tokenize(one)[0].word != "CACHE":
                spark.sql(one).collect()
        return _analyzed(spark, script.statement)
    except UnreachableError:
        raise
    except EngineError as error:
        return _refused(error, text, offset)
    except Exception as error:
        translated = translate(error)
        if isinstance(translated, UnreachableError):
            raise translated from error
        return _refused(translated, text, offset)


def _analyzed(spark: SparkSession, statement: str) -> Validation:
    if is_create_table(statement):
        create = parse_create(statement)
        if create.form == "clone":
            # EXPLAIN takes no CLONE
            schema_of(spark, f"SELECT * FROM {create.source} {create.source_at}")
        else:
            check_analysis(spark, create)
        return Validation(ok=True, kind="create", target=create.name)
    merge = analyze(spark, parse_merge(statement))
    return Validation(
        ok=True,
        target=merge.statement.target.text,
        target_version=merge.version,
        decision=should_materialize_source(spark, merge),
    )


def _refused(error: EngineError, text: str, offset: int) -> Validation:
    line, column = in_script(text, offset, error.line, error.column)
    return Validation(
        ok=False,
        condition=error.condition,
        message=error.message,
        hint=error.hint,
        line=line,
        column=column,
        kind="other" if error.condition == "NOT_A_MERGE" else "merge",
    )


def in_script(text: str, offset: int, line: int | None, column: int | None) -> tuple[int | None, int | None]:
    """A place in a statement as a place in the script that holds it at ``offset``. Lines and columns from 1."""
    if line is None or column is None:
        return line, column
    before = text[:offset]
    if line == 1:
        column += len(before) - (before.rfind("\n") + 1)
    return line + before.count("\n"), column
