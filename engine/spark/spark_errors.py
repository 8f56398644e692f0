"""What Spark and Delta say when they refuse, as an EngineError: their class and sentence kept, and what to do."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.errors import ENDS_ALL, CancelledError, EngineError, UnreachableError
from engine.spark.metastore_error import metastore_error
from engine.spark.store_errors import STORE_CODES, store_error
from engine.sql.names import without_ours
from engine.sql.positions import place_in

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

CONDITION = re.compile(r"\[([A-Z_][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
# Java's name of an exception, as a stack trace and EXPLAIN print it before the message
JAVA = re.compile(r"(?:\w[\w$]*\.)+[\w$]*(?:Exception|Error|Failure|Throwable)(?=:|\s|$)")
# what stands before the first exception: py4j's words, a Connect client's reason, the scheduler's report of a task
BEFORE = re.compile(
    r"\s*(?:An error occurred while calling [^\n]*\n: )?"
    r"(?:\((?:[\w$]+\.)+[\w$]+\) )?"
    r"(?:Job aborted due to stage failure: [^\n]*?\(TID \d+\) \([^()\n]*\): )?"
)
# a cause follows the frames of the exception that it caused; text of a message does not
CAUSE = "Caused by: "
CAUSED_BY = re.compile(rf"(?<=\n){CAUSE}")
FRAME = re.compile(r"\n\s*at [\w.$/]+\([^\n]*|\n\s*\.\.\. \d+ more")
TRACE = re.compile(r"\n\s*(?:JVM stacktrace:|Driver stacktrace:)")
TRACEBACK = "Traceback (most recent call last):"
FROM_PYTHON = "An exception was thrown from the Python worker"
GRPC = re.compile(r'status = StatusCode\.(\w+)\s+details = "(.*?)"\s+debug_error_string', re.DOTALL)
PLACE = re.compile(r"\(line \d+, pos \d+\)|; line \d+ pos \d+(?=;|\s*$|\n)")
STATE = re.compile(r"\s*SQLSTATE: \w+")
# the SQL, or the plan, whose root may be a name alone
TAIL = re.compile(r"(?:;\n[^\n]*(?=\n[+:]- ))?\n\s*(?:== SQL|'[A-Z]\w+ |[+:]- ).*", re.DOTALL)
# what Spark advises where a name is not found: it is long, and HINTS say what to do here
ADVICE = re.compile(
    r"\s+Verify the spelling and correctness of the .*?To tolerate the error on drop use [^\n]*", re.DOTALL
)
# a path is not so long; a literal, or a name that was pasted, can have no end
GIANT = re.compile(r"'[^']{300,}'|\S{300,}")
NO_REASON = "without a reason"
UNREACHABLE = (
    "UNAVAILABLE",
    "failed to connect",
    "Connection refused",
    "Socket closed",
    "StatusCode.UNAUTHENTICATED",
)
STOPPED = re.compile(
    "Cannot call methods on a stopped SparkContext|because SparkContext was shut down|SparkContext has been shutdown|"
    r"RpcEnv already stopped|\"org\.apache\.spark\.Spark(?:Context|Env)\.\w+\(\)\" is null"
)
"""What a server says that is being stopped: at first in words, then it misses what it has let go of."""
CANCELLED = (
    "OPERATION_CANCELED",
    "SPARK_JOB_CANCELLED",
    "INVALID_HANDLE.OPERATION_ABANDONED",
    "JOB_CANCELLED",
)

SPARK_ERROR = "SPARK_ERROR"
"""What Spark raised without a class: a Java exception, a channel's."""
UNKNOWN_ERROR = "UNKNOWN_ERROR"
"""Not from Spark: most likely a fault of ours."""
WITHOUT_CLASS = (SPARK_ERROR, UNKNOWN_ERROR, *STORE_CODES)
EXPRESSION_FAILED = "EXPRESSION_FAILED"
"""A Java exception without a class that computing a value raises: that of a row, not of the machinery."""
OF_VALUES = re.compile(
    r"(?:IllegalArgument|Arithmetic|NumberFormat|DateTime|DateTimeParse|\w*IndexOutOfBounds|PatternSyntax|SAXParse|"
    # those of format_string
    r"(?:Duplicate|Illegal|Missing|Unknown)Format\w*|FormatFlagsConversionMismatch)Exception"
)
PYTHON_EXCEPTION = "PYTHON_EXCEPTION"
# classes that say what Spark was doing when something failed: the failure is the cause, which may have no class
WRITE_FAILED = "TASK_WRITE_FAILED"
WRAPPERS = (WRITE_FAILED, "FAILED_", "INTERNAL_ERROR", "CANNOT_", "_LEGACY_ERROR_TEMP_")

CORRECT = "Correct the value, or use try_cast to have NULL instead."
HINTS = {
    "TABLE_OR_VIEW_NOT_FOUND": "Check the name and its schema; `deltamerge-console tables` lists what there is.",
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": "Check the column's name and its alias.",
    "DELTA_MERGE_UNRESOLVED_EXPRESSION": "Check the column's name and its alias (target or source).",
    "AMBIGUOUS_REFERENCE": "Qualify the column with the target's or the source's alias.",
    "PARSE_SYNTAX_ERROR": "Correct the statement at that place.",
    "DELTA_TABLE_NOT_FOUND": "Check the name or the path.",
    "DELTA_TABLE_ONLY_OPERATION": "Check the name or the path: the table may have been renamed, moved or dropped.",
    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE": "Deduplicate the source on the keys of ON.",
    "DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT": "A CHAR column in ON or a condition: "
    "set spark.sql.readSideCharPadding=false, or use VARCHAR or STRING.",
    "DELTA_MERGE_MATERIALIZE_SOURCE_FAILED_REPEATEDLY": "Executors with source blocks were lost: use stable nodes.",
    "CAST_INVALID_INPUT": CORRECT,
    "CAST_OVERFLOW": CORRECT,
    "INVALID_TYPED_LITERAL": "Correct the literal.",
    "DIVIDE_BY_ZERO": "Use try_divide to have NULL instead, or leave those rows out.",
    "REMAINDER_BY_ZERO": "Use try_mod to have NULL instead, or leave those rows out.",
    "UNSUPPORTED_FEATURE.TABLE_OPERATION": "Only Delta tables are planned here: a CREATE or REPLACE needs "
    "USING delta, and takes no constraint, which ALTER TABLE … ADD CONSTRAINT adds.",
    "MERGE_INSERT_VALUE_COUNT_MISMATCH": "Give each column that INSERT names one value.",
    "DATATYPE_MISMATCH": "Cast one of the two to the other's type.",
    "UNRESOLVED_ROUTINE": "Check the function's name.",
    "UNRESOLVED_VARIABLE": "DECLARE it before the statement.",
    "SCHEMA_NOT_FOUND": "Check the schema's name.",
    "PATH_NOT_FOUND": "Check the path.",
    "DATA_SOURCE_NOT_FOUND": "Check the name after USING, and that Spark has the jar for it.",
    "FAILED_READ_FILE": "Look at that file: it may be of another format, cut short, or gone.",
    "INVALID_CONF_VALUE": "Correct the value that is set.",
    "CANNOT_MODIFY_STATIC_CONFIG": "Spark takes it only when it starts: give it with --conf, and restart the server.",
    "CANNOT_MODIFY_CONFIG": "It cannot be set from here: leave it out.",
    PYTHON_EXCEPTION: "Look at the Python function that the statement calls.",
    EXPRESSION_FAILED: "Look at the functions that the statement calls, and at the values that they get.",
    SPARK_ERROR: "Spark gave this error no class; the server's log has its stack trace.",
    UNKNOWN_ERROR: "This may be a fault of ours: please report it, with the statement.",
}


# PySpark 4.2 loses an error of Delta's on a classic session: it asks Spark for its message, Spark knows none of Delta's
# classes, and the error from that is raised while the first one is handled.
LOST = "Cannot find main error class"
LOST_CLASS = re.compile(rf"{LOST} '(\w+)'")
"""Over Connect nothing but the class is left."""


@dataclass(frozen=True)
class ChainLink:
    """One exception of a chain: its class, "" where it has none, and what it says, with its Java name in front."""

    condition: str
    text: str

    @property
    def java(self) -> str:
        """The Java name without its package; "" if there is none."""
        java = JAVA.match(self.text)
        return java[0].rpartition(".")[2] if java else ""

    @property
    def sentence(self) -> str:
        """The text without the class, and without the Java name if there is a class."""
        text = self.text.strip()
        java = JAVA.match(text)
        rest = text[java.end() :].lstrip(": ") if java else text
        condition = CONDITION.match(rest)
        if condition or self.condition:
            return one_line(rest[condition.end() :] if condition else rest)
        return one_line(f"{java[0].rpartition('.')[2]}: {rest}" if java and rest else text)


def translate(error: BaseException, sql: str = "") -> EngineError:
    """Any failure of a Spark call as an EngineError, with the class of the innermost cause that has one. Never raises.

    ``sql`` is the text that Spark was given, if it is the operator's: positions count in it.
    """
    if isinstance(error, EngineError):
        return error
    text = _text(error)
    if LOST in text and error.__context__ is not None:
        error = error.__context__
        text = _text(error)
    chain = [*chain_of(error, text)]
    if any(is_cancelled(one) for one in chain):
        return CancelledError("CANCELLED", "The work was cancelled.", "Nothing of it goes on in Spark.")
    if is_of_spark(error) and (of_client := _of_client(chain)):
        return of_client
    if _driver_is_gone(error, text, chain):
        return UnreachableError(
            "SPARK_UNREACHABLE",
            "Spark does not answer any more.",
            "Restart it: `deltamerge-console server start`; nothing typed is lost.",
        )
    unnamed = SPARK_ERROR if is_of_spark(error) else UNKNOWN_ERROR
    if unnamed is UNKNOWN_ERROR:
        chain = [ChainLink("", f"{type(error).__name__}: {text}")]
    return as_error(chain, sql, unnamed)


def raise_if_all_ends(error: BaseException) -> None:
    """Raise ``error`` if it is one after which nothing else is asked of Spark."""
    translated = translate(error)
    if translated.condition in ENDS_ALL:
        raise translated from error


def refused_while_planning(text: str, sql: str) -> EngineError:
    """What EXPLAIN prints in place of a plan: an exception's text, with its Java name in front or without it."""
    chain = [link("", _once(text.strip()))]
    return _of_client(chain) or as_error(chain, sql, SPARK_ERROR)


def _once(text: str) -> str:
    """The physical plan is made twice for one print, and fails twice."""
    half = text[: len(text) // 2]
    return half if text == half * 2 else text


def _of_client(chain: Sequence[ChainLink]) -> EngineError | None:
    """What the client of a store or a metastore said, which has no class: a word of a classified error may be the name
    of a column."""
    texts = [one.text for one in chain if not one.condition or one.condition.startswith(WRAPPERS)]
    return metastore_error("\n".join(texts)) or store_error("\n".join(texts))


def as_error(chain: Sequence[ChainLink], sql: str, unnamed: str) -> EngineError:
    """``chain`` is outermost first. Delta's own class says more than that of an inner cause."""
    classified = [one for one in chain if one.condition]
    if [one.condition for one in classified] == [WRITE_FAILED] and OF_VALUES.fullmatch(chain[-1].java):
        main = chain[-1]
    else:
        main = ([one for one in classified if one.condition.startswith("DELTA_")] or classified or chain)[-1]
    message, deepest = main.sentence or "It gave no reason.", chain[-1].sentence
    if deepest not in message and (not classified or main.condition.startswith(WRAPPERS)):
        message = f"{message} Cause: {deepest}"
    condition = main.condition or (EXPRESSION_FAILED if OF_VALUES.fullmatch(main.java) else unnamed)
    line, column = place_in(main.text, sql) if sql else (None, None)
    return EngineError(
        condition,
        message,
        hint_of(condition),
        line=line,
        column=column,
        counted_in=sql,
        outer=next((one.condition for one in classified if one.condition != condition), ""),
    )


def hint_of(condition: str) -> str:
    """What to do about it: the hint of the class, or of its parent class."""
    return HINTS.get(condition) or HINTS.get(condition.partition(".")[0], "")


def chain_of(error: BaseException, text: str) -> Iterator[ChainLink]:
    """The exception and its causes, outermost first: PySpark's own chain on a classic session, else the Java trace."""
    head, *causes = exceptions_in(text)
    first = link(_condition_of(error), head)
    # PySpark's own names for Java's exceptions: their texts come without
    is_of_values = OF_VALUES.fullmatch(type(error).__name__)
    needs_java_name = is_of_values and not (first.condition or first.java)
    yield ChainLink("", f"java.lang.{type(error).__name__}: {first.text.strip()}") if needs_java_name else first
    cause: object = getattr(error, "_cause", None)
    if isinstance(cause, BaseException):
        yield from chain_of(cause, _text(cause))
        return
    trace = getattr(error, "getStackTrace", None)
    if not causes and callable(trace):
        causes = exceptions_in(str(trace() or ""))[1:]
    for one in causes:
        yield link("", one)


def exceptions_in(trace: str) -> list[str]:
    """The texts of the exceptions in a Java stack trace, outermost first, without their frames."""
    ends = [0, *(at.end() for at in CAUSED_BY.finditer(trace) if FRAME.search(trace, 0, at.start())), len(trace)]
    texts = [trace[start : end - len(CAUSE) * (end < len(trace))] for start, end in itertools.pairwise(ends)]
    return [TRACE.split(FRAME.split(text, 1)[0], 1)[0] for text in texts]


def link(condition: str, text: str) -> ChainLink:
    """``text`` as one exception; its class is read from where it stands, never from the middle of a sentence."""
    if details := GRPC.search(text):
        text = f"gRPC {details[1]}: {details[2]}" if details[2] else f"gRPC {details[1]}, {NO_REASON}"
    text = text[BEFORE.match(text).end() :]  # type: ignore[union-attr] # it matches the empty text too
    if FROM_PYTHON in text[:200]:
        return ChainLink(condition or PYTHON_EXCEPTION, python_words(text))
    if lost := LOST_CLASS.search(text):
        return ChainLink(lost[1], "Delta refuses it, and Spark has no words for the class of its error.")
    java = JAVA.match(text)
    match = CONDITION.match(text[java.end() :].lstrip(": ") if java else text)
    return ChainLink(condition or (match[1] if match else ""), text)


def python_words(text: str) -> str:
    """What a Python function raised, without the traceback."""
    _, _, traceback = text.partition(TRACEBACK)
    lines = [line for line in STATE.sub("", traceback).splitlines() if line and not line.startswith(" ")]
    return f"A Python function failed: {lines[-1] if lines else text}"


def collected(spark: SparkSession, query: str) -> list[Row]:
    """The rows of ``query``. Raises EngineError."""
    try:
        return list(spark.sql(query).collect())
    except Exception as error:
        raise translate(error) from error


def ran(spark: SparkSession, command: str) -> None:
    """Run a command whose rows nobody reads: to collect them is one more call. Raises EngineError."""
    try:
        spark.sql(command)
    except Exception as error:
        raise translate(error) from error


def one_line(text: str) -> str:
    """The sentence of a Spark message: no plan, no place, no SQLSTATE, no line breaks."""
    text = TAIL.sub("", text)
    text = ADVICE.sub("", text)
    text = STATE.sub("", text)
    text = PLACE.sub("", text)
    text = without_ours(re.sub(r"\s+", " ", text).strip(" ;,"))
    return GIANT.sub(lambda found: f"{found[0][:100]}…{found[0][-20:]}", text)


def is_cancelled(link: ChainLink) -> bool:
    return link.condition in CANCELLED or (not link.condition and any(f"[{word}]" in link.text for word in CANCELLED))


def is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.startswith(("pyspark", "py4j", "grpc"))


def _text(error: BaseException) -> str:
    """All that it says. On a classic session the getter leaves out where in the text it is, and Java's own words."""
    getter = getattr(error, "getMessage", None)
    for words in (lambda: str(error), getter):
        try:
            text = str(words() if callable(words) else "")
        except Exception:  # the JVM may be gone by now
            continue
        if text.strip():
            return text
    return type(error).__name__


def _condition_of(error: BaseException) -> str:
    getter = getattr(error, "getCondition", None)
    try:
        value = getter() if callable(getter) else None
    except Exception:  # the JVM may be gone by now
        return ""
    return value if isinstance(value, str) else ""


def _driver_is_gone(error: BaseException, text: str, chain: Iterable[ChainLink]) -> bool:
    module = type(error).__module__
    # what the operator raises has a class
    stopped = any(one.condition in ("", "INTERNAL_ERROR") and STOPPED.search(one.text) for one in chain)
    if is_of_spark(error) and ("[NO_ACTIVE_SESSION]" in text or stopped):
        return True
    if module.startswith("py4j") and type(error).__name__ in ("Py4JNetworkError", "Py4JError"):
        return "Answer from Java side is empty" in text or type(error).__name__ == "Py4JNetworkError"
    if not (module.startswith(("grpc", "pyspark.errors.exceptions.connect")) or isinstance(error, OSError)):
        return False
    return any(word in text for word in UNREACHABLE) or "SESSION_NOT_FOUND" in text or "SESSION_CLOSED" in text


def is_missing(error: EngineError) -> bool:
    """Whether Spark says that a table, a path or a schema is not there."""
    return any(word in error.condition for word in ("NOT_FOUND", "MISSING", "NOT_EXIST"))
