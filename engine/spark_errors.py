"""What Spark and Delta say when they refuse, as an EngineError: their class kept, one line, what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.errors import CancelledError, EngineError, UnreachableError

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]\s*(.*)", re.DOTALL)
POSITION = re.compile(r"\(?line (\d+), ?pos(?:ition)? (\d+)\)?|line (\d+) pos (\d+)")
STATE = re.compile(r"\s*SQLSTATE: \w+")
TAIL = re.compile(r"\n\s*(JVM stacktrace:|== SQL|at (?:org|java|scala)\.|'[A-Z]\w+ |\+- ).*", re.DOTALL)
UNREACHABLE = (
    "UNAVAILABLE",
    "failed to connect",
    "Connection refused",
    "Socket closed",
    "StatusCode.UNAUTHENTICATED",
)
CANCELLED = (
    "OPERATION_CANCELED",
    "SPARK_JOB_CANCELLED",
    "INVALID_HANDLE.OPERATION_ABANDONED",
    "JOB_CANCELLED",
)

HINTS = {
    "TABLE_OR_VIEW_NOT_FOUND": "Check the name and its schema; `deltamerge-console tables` lists what there is.",
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": "Check the column's name and its alias.",
    "DELTA_MERGE_UNRESOLVED_EXPRESSION": "Check the column's name and its alias (target or source).",
    "AMBIGUOUS_REFERENCE": "Qualify the column with the target's or the source's alias.",
    "PARSE_SYNTAX_ERROR": "Correct the statement at that place.",
    "DELTA_TABLE_NOT_FOUND": "Check the name or the path.",
    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE": "Deduplicate the source on the keys of ON.",
    "DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT": "A CHAR column in ON or a condition: "
    "set spark.sql.readSideCharPadding=false, or use VARCHAR or STRING.",
    "DELTA_MERGE_MATERIALIZE_SOURCE_FAILED_REPEATEDLY": "Executors with source blocks were lost: use stable nodes.",
}


# Spark's word for any failure of a task that writes; what failed is its cause.
WRITE_FAILED = "TASK_WRITE_FAILED"
CAUSE = re.compile(r"^Caused by: [\w.$]+: (\[[A-Z].*)", re.MULTILINE)
# PySpark 4.2 loses an error of Delta's on a classic session: it asks Spark, which knows none of Delta's classes, for
# the words of it, and raises what comes of that while it handles the error itself.
LOST = "Cannot find main error class"


def translate(error: BaseException) -> EngineError:
    """Any failure of a Spark call as an EngineError. Never raises."""
    if isinstance(error, EngineError):
        return error
    text = _text(error)
    if LOST in text and error.__context__ is not None:
        error = error.__context__
        text = _text(error)
    condition, message = _condition_of(error), ""
    if WRITE_FAILED in text and (causes := CAUSE.findall(text)):
        text, condition = causes[-1], ""
    found = CONDITION.search(text)
    if found:
        condition = condition or found.group(1)
        message = found.group(2)
    message = one_line(message or text)
    if condition in CANCELLED or any(word in text for word in CANCELLED):
        return CancelledError("CANCELLED", "The work was cancelled.", "Nothing of it goes on in Spark.")
    if _driver_is_gone(error, text):
        return UnreachableError(
            "SPARK_UNREACHABLE",
            "Spark does not answer any more.",
            "Restart it: `deltamerge-console server start`; nothing typed is lost.",
        )
    line, column = position(text)
    return EngineError(condition or type(error).__name__, message, HINTS.get(condition, ""), line=line, column=column)


def collected(spark: SparkSession, query: str) -> list[Row]:
    """The rows of ``query``. Raises EngineError."""
    try:
        return list(spark.sql(query).collect())
    except Exception as error:
        raise translate(error) from error


def one_line(text: str) -> str:
    """The sentence of a Spark message: no stack, no plan, no SQLSTATE, no line breaks."""
    text = TAIL.sub("", text)
    text = STATE.sub("", text)
    text = POSITION.sub("", text)
    return re.sub(r"\s+", " ", text).strip(" ;,")


def position(text: str) -> tuple[int | None, int | None]:
    """(line, column), both from 1, where the message names a place in the statement."""
    found = POSITION.search(text)
    if not found:
        return None, None
    line, offset = (g for g in found.groups() if g is not None)
    return int(line), int(offset) + 1


def _text(error: BaseException) -> str:
    getter = getattr(error, "getMessage", None)
    try:
        return str(getter() if callable(getter) else error) or repr(error)
    except Exception:  # the JVM may be gone by now
        return repr(error)


def _condition_of(error: BaseException) -> str:
    for name in ("getCondition", "getErrorClass"):
        getter = getattr(error, name, None)
        if callable(getter):
            try:
                value = getter()
            except Exception:
                return ""
            if isinstance(value, str) and value:
                return value
    return ""


def _driver_is_gone(error: BaseException, text: str) -> bool:
    module = type(error).__module__
    if module.startswith("py4j") and type(error).__name__ in ("Py4JNetworkError", "Py4JError"):
        return "Answer from Java side is empty" in text or type(error).__name__ == "Py4JNetworkError"
    if not (module.startswith(("grpc", "pyspark.errors.exceptions.connect")) or isinstance(error, OSError)):
        return False
    return any(word in text for word in UNREACHABLE) or "SESSION_NOT_FOUND" in text or "SESSION_CLOSED" in text


def is_missing(error: EngineError) -> bool:
    """Whether Spark says that a table, a path or a schema is not there."""
    return any(word in error.condition for word in ("NOT_FOUND", "MISSING", "NOT_EXIST"))
