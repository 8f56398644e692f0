"""What is read from the texts of errors, recorded from Spark 4.2 and Delta 4.4 on both kinds of session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.spark.spark_errors import collected, hint_of, is_missing, refused_while_planning, translate
from engine.sql.as_typed import as_typed
from engine.sql.params import fill
from engine.sql.parse import parse_script
from engine.sql.positions import Edit, before_edits, edited, offset_of, place_in, place_of

CAST = """[CAST_INVALID_INPUT] The value 'x' of the type "STRING" cannot be cast to "INT". SQLSTATE: 22018
== SQL (line 1, position 8) ==
SELECT CAST('x' AS INT)
       ^^^^^^^^^^^^^^^^
"""
WRITE = """An error occurred while calling o45.sql.
: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/w/t. SQLSTATE: 58030
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(QueryExecutionErrors.scala:843)
\tat org.apache.spark.scheduler.Task.run(Task.scala:147)
Caused by: org.apache.spark.sql.delta.DeltaArithmeticException: [DELTA_CAST_OVERFLOW_IN_TABLE_WRITE] Failed to write.
Use `try_cast` on the input value.
\tat org.apache.spark.sql.delta.DeltaErrors.castingCauseOverflowErrorInTableWrite(DeltaErrors.scala:1)
\t... 21 more
Caused by: org.apache.spark.SparkArithmeticException: [CAST_OVERFLOW] The value does not fit. SQLSTATE: 22003
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.castingCauseOverflowError(QueryExecutionErrors.scala:1)
"""
FOOTER = """[FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY] Failed to create plan for direct query on files: parquet

JVM stacktrace:
org.apache.spark.sql.AnalysisException
\tat org.apache.spark.sql.errors.QueryCompilationErrors$.failedToCreatePlan(QueryCompilationErrors.scala:1872)
Caused by: org.apache.spark.SparkException: [FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] Could not read footer.
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFooterForFileError(QueryExecutionErrors.scala:1)
Caused by: java.lang.RuntimeException: bad.parquet is not a Parquet file.
\tat org.apache.parquet.hadoop.ParquetFileReader.readFooter(ParquetFileReader.java:1)
"""
SEQUENCE = (
    "Job aborted due to stage failure: Task 0 in stage 72.0 failed 1 times, most recent failure: Lost task 0.0 in "
    "stage 72.0 (TID 49) (host executor driver): java.lang.IllegalArgumentException: requirement failed: Illegal "
    "sequence boundaries: 1 to 5 by 0\n\tat scala.Predef$.require(Predef.scala:337)\n\nDriver stacktrace:\n\tat x.Y(Z)"
)
PYTHON = (
    "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n"
    'Traceback (most recent call last):\n  File "x.py", line 14, in boom\n    def boom(x): return 1//0\n'
    "                        ~^^~\nZeroDivisionError: integer division or modulo by zero\n SQLSTATE: 38000"
)
CHANNEL = (
    "<_MultiThreadedRendezvous of RPC that terminated with:\n\tstatus = StatusCode.RESOURCE_EXHAUSTED\n"
    '\tdetails = "Received message larger than max"\n\tdebug_error_string = "INTERNAL:x"\n>'
)
SILENT = (
    "<_MultiThreadedRendezvous of RPC that terminated with:\n\tstatus = StatusCode.UNKNOWN\n"
    '\tdetails = ""\n\tdebug_error_string = "UNKNOWN"\n>'
)
CHECK = (
    "(org.apache.spark.sql.delta.schema.DeltaInvariantViolationException) [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK "
    "constraint c (v > 0) violated by row with values:\n - v : 0"
)


def of_spark(name: str, text: str, condition: str | None = None) -> Exception:
    """An exception as PySpark raises it."""
    members = {
        "__module__": "pyspark.errors.exceptions.captured",
        "getCondition": lambda _: condition,
        "__str__": lambda _: text,
    }
    return type(name, (Exception,), members)()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("text", "condition", "message", "outer"),
    [
        (CAST, "CAST_INVALID_INPUT", 'The value \'x\' of the type "STRING" cannot be cast to "INT".', ""),
        (
            WRITE,
            "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
            "Failed to write. Use `try_cast` on the input value.",
            "TASK_WRITE_FAILED",
        ),
        (
            FOOTER,
            "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
            "Could not read footer. Cause: RuntimeException: bad.parquet is not a Parquet file.",
            "FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY",
        ),
        (
            SEQUENCE,
            "EXPRESSION_FAILED",
            "IllegalArgumentException: requirement failed: Illegal sequence boundaries: 1 to 5 by 0",
            "",
        ),
        (
            "java.util.regex.PatternSyntaxException: Unclosed group near index 1\n(",
            "EXPRESSION_FAILED",
            "PatternSyntaxException: Unclosed group near index 1 (",
            "",
        ),
        (
            "java.util.UnknownFormatConversionException: Conversion = 'q'",
            "EXPRESSION_FAILED",
            "UnknownFormatConversionException: Conversion = 'q'",
            "",
        ),
        (
            PYTHON,
            "PYTHON_EXCEPTION",
            "A Python function failed: ZeroDivisionError: integer division or modulo by zero",
            "",
        ),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] No table `x`.; line 1 pos 9;\n'DescribeDetail\n+- 'Unresolved [x]",
            "TABLE_OR_VIEW_NOT_FOUND",
            "No table `x`.",
            "",
        ),
        (CHANNEL, "SPARK_ERROR", "gRPC RESOURCE_EXHAUSTED: Received message larger than max", ""),
        (SILENT, "SPARK_ERROR", "gRPC UNKNOWN, without a reason", ""),
        (
            CHECK,
            "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
            "CHECK constraint c (v > 0) violated by row with values: - v : 0",
            "",
        ),
        ("requirement failed: of [ID], not [NULL]", "SPARK_ERROR", "requirement failed: of [ID], not [NULL]", ""),
        (
            "java.lang.reflect.InvocationTargetException",
            "SPARK_ERROR",
            "java.lang.reflect.InvocationTargetException",
            "",
        ),
    ],
)
def test_the_innermost_class_is_kept_with_its_sentence(text: str, condition: str, message: str, outer: str) -> None:
    found = translate(of_spark("SparkException", text))
    assert (found.condition, found.message, found.outer) == (condition, message, outer)
    assert bool(found.hint) == (not condition.startswith("DELTA_")), "what is known helps"


def test_lines_of_a_persons_own_text_are_kept() -> None:
    raised = translate(of_spark("SparkException", "[USER_RAISED_EXCEPTION] Look:\nfirst\n- a\nb; c"))
    assert raised.message == "Look: first - a b; c"


def test_what_spark_advises_where_a_name_is_not_found_is_left_out() -> None:
    said = (
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b` cannot be found. Verify the spelling and correctness of "
        "the schema and catalog. Search path: [`system`.`builtin`].\nIf you did not qualify the name with a schema, "
        "verify the current_schema() output.\nTo tolerate the error on drop use DROP VIEW IF EXISTS or DROP TABLE "
        "IF EXISTS. SQLSTATE: 42P01; line 1 pos 11;\n'Project [*]"
    )
    assert translate(of_spark("AnalysisException", said)).message == "The table or view `a`.`b` cannot be found."


def test_a_class_that_stands_inside_a_value_is_none() -> None:
    """A value of the data could otherwise pass for a class, and for a cancelled work."""
    text = "[CAST_INVALID_INPUT] The '\nCaused by: java.lang.X: [DELTA_CONCURRENT_APPEND] SPARK_JOB_CANCELLED'"
    found = translate(of_spark("NumberFormatException", text, "CAST_INVALID_INPUT"))
    assert (found.condition, isinstance(found, CancelledError)) == ("CAST_INVALID_INPUT", False)


def test_a_cancelled_job_is_cancelled_wherever_it_says_so() -> None:
    java = "An error occurred while calling o1.sql.\n: org.apache.spark.SparkException: "
    assert isinstance(translate(of_spark("Py4JJavaError", f"{java}[SPARK_JOB_CANCELLED] Job 1.")), CancelledError)
    assert isinstance(translate(of_spark("X", "Interrupted: [OPERATION_CANCELED] by a tag.")), CancelledError)


def test_the_chain_of_pyspark_is_followed_to_its_innermost_class() -> None:
    outer = of_spark("AnalysisException", "[FAILED_TO_PLAN] It failed.", "FAILED_TO_PLAN")
    middle = of_spark("UnknownException", "org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Not read.")
    middle._cause = of_spark("UnknownException", "java.io.IOException: gone")  # type: ignore[attr-defined]
    outer._cause = middle  # type: ignore[attr-defined]
    found = translate(outer)
    assert (found.condition, found.outer) == ("FAILED_READ_FILE.NO_HINT", "FAILED_TO_PLAN")
    assert found.message == "Not read. Cause: IOException: gone"


def test_javas_own_exceptions_have_a_class_of_ours_and_their_name() -> None:
    found = translate(of_spark("NumberFormatException", 'For input string: "x"'))
    assert (found.condition, found.message) == ("EXPRESSION_FAILED", 'NumberFormatException: For input string: "x"')


def test_an_error_without_words_and_one_of_our_own_say_what_they_are() -> None:
    assert translate(of_spark("UnknownException", "")).message == "UnknownException"
    found = translate(KeyError("qty"))
    assert (found.condition, found.message) == ("UNKNOWN_ERROR", "KeyError: 'qty'")
    assert "report" in found.hint


@given(st.text(), st.sampled_from(["SparkException", "Py4JJavaError", "NumberFormatException"]))
def test_no_text_makes_an_error_without_a_class(text: str, name: str) -> None:
    found = translate(of_spark(name, text), text)
    assert found.condition.replace(".", "_").isupper()
    assert found.message
    assert "\n" not in found.message


# positions


@pytest.mark.parametrize(
    ("said", "sql", "place"),
    [
        (CAST, "SELECT CAST('x' AS INT)", (1, 8)),
        ("[X] not there.; line 2 pos 3", "SELECT\n   nope", (2, 4)),
        ("[X] not there.; line 2 pos 3;\n'Project ['nope]\n+- OneRowRelation", "SELECT\n   nope", (2, 4)),
        ("[X] SQLSTATE: 42601 (line 1, pos 7)\n\n== SQL ==\nSELECT FROM\n-------^^^\n", "SELECT FROM", (1, 7 + 1)),
        ("[X] of a type (line 1, pos 3)\n\n== SQL ==\nzz zz\n---^^^\n", "SELECT from_json(a, 'zz zz')", (None, None)),
        (
            "[X] y\n== SQL of VIEW v (line 1, position 8) ==\n1/0\n",
            "SELECT * FROM v",
            (None, None),
        ),
        ("[X] y; line 9 pos 1", "SELECT 1", (None, None)),
        ("[X] the value 'line 1 pos 2' (line 1, pos 3) is none", "SELECT 1", (None, None)),
    ],
)
def test_a_place_is_read_as_spark_counts(said: str, sql: str, place: tuple[int | None, int | None]) -> None:
    assert place_in(said, sql) == place


def test_explain_failing_line_by_line_is_one_error_with_its_place() -> None:
    found = refused_while_planning(CAST, "SELECT CAST('x' AS INT)")
    assert (found.condition, found.line, found.column) == ("CAST_INVALID_INPUT", 1, 8)
    found = refused_while_planning("requirement failed: no", "SELECT 1")
    assert (found.condition, found.message) == ("SPARK_ERROR", "requirement failed: no")


TYPED = "SET a.b = 1;\n  -- :not a marker\n MERGE INTO t USING s\nON t.k > :low AND t.k < :high_ AND t.nope = 1"


def test_a_place_is_one_of_the_text_as_typed() -> None:
    params = {"low": "-12345.678", "high_": "a string with\na line"}
    statement = parse_script(fill(TYPED, params)).statement
    found = as_typed(at(statement, "nope"), TYPED, params)
    assert (found.line, found.column) == place_of(TYPED, TYPED.index("nope"))
    assert as_typed(found, TYPED, params).column == found.column, "a second time changes nothing"
    within = as_typed(at(statement, "45.678"), TYPED, params)
    assert (within.line, within.column) == place_of(TYPED, TYPED.index(":low"))
    setup = as_typed(at("SET a.b = 1", "b = 1"), TYPED, params)
    assert (setup.line, setup.column) == (1, 7)


def test_a_place_in_a_query_of_ours_is_none_of_the_text() -> None:
    found = as_typed(at("SELECT count(*) FROM t", "t"), TYPED, {"low": "1", "high_": "2"})
    assert (found.line, found.column) == (None, None)


def at(sql: str, word: str) -> EngineError:
    line, column = place_of(sql, sql.index(word))
    return EngineError("X", "y", line=line, column=column, counted_in=sql)


@given(st.text(alphabet="ab\n", max_size=40), st.data())
def test_offsets_and_places_are_one_another(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    assert offset_of(text, *place_of(text, offset)) == offset


@given(
    st.lists(
        st.tuples(st.text("(\n", min_size=1, max_size=5), st.text("cd\n", max_size=5), st.text("xyz\n", max_size=5))
    )
)
def test_what_no_edit_touched_is_found_again(parts: list[tuple[str, str, str]]) -> None:
    """Each part is left as it is, then an old piece, then what replaces it."""
    text, edits, kept, at = "", [], [], 0
    for keep, old, new in parts:
        kept += [(at + i, len(text) + i) for i in range(len(keep))]
        text += keep
        edits.append(Edit(len(text), len(text) + len(old), new))
        text += old
        at += len(keep) + len(new)
    after = edited(text, edits)
    for new_offset, old_offset in kept:
        assert before_edits(text, edits, new_offset) == old_offset
        assert after[new_offset] == text[old_offset]


def of(module: str, name: str, text: str, **methods: object) -> Exception:
    """An error of another library, with the methods that it has."""
    made = type(name, (Exception,), {"__module__": module, **{key: staticmethod(one) for key, one in methods.items()}})
    return made(text)  # type: ignore[no-any-return]


def failing() -> str:
    raise OSError("the JVM is gone")


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (of("py4j.protocol", "Py4JNetworkError", "x"), True),
        (of("py4j.protocol", "Py4JError", "Answer from Java side is empty"), True),
        (of("py4j.protocol", "Py4JError", "another"), False),
        (of("grpc._channel", "_InactiveRpcError", "StatusCode.UNAVAILABLE"), True),
        (
            of(
                "pyspark.errors.exceptions.connect", "SparkConnectGrpcException", "[INVALID_HANDLE.SESSION_NOT_FOUND] x"
            ),
            True,
        ),
        (of("pyspark.errors.exceptions.connect", "SparkConnectGrpcException", "another"), False),
        (of("pyspark.errors.exceptions.base", "PySparkRuntimeError", "[NO_ACTIVE_SESSION] No active session."), True),
        (
            of(
                "pyspark.errors.exceptions.connect",
                "IllegalStateException",
                "Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was created at:\n…",
            ),
            True,
        ),
        (
            of(
                "pyspark.errors.exceptions.captured",
                "Py4JJavaError",
                "Job 5 cancelled because SparkContext was shut down",
            ),
            True,
        ),
        (
            of(
                "pyspark.errors.exceptions.connect",
                "SparkConnectGrpcException",
                "[INTERNAL_ERROR] The Spark SQL phase optimization failed with an internal error.\n"
                "\tat org.apache.spark.SparkException$.internalError(SparkException.scala:107)\n"
                'Caused by: java.lang.NullPointerException: Cannot invoke "org.apache.spark.scheduler.DAGScheduler.'
                'cleanupQueryJobs(long)" because the return value of "org.apache.spark.SparkContext.dagScheduler()" '
                "is null\n\tat org.apache.spark.SparkContext.cancelJobs(SparkContext.scala:1)",
            ),
            True,
        ),
        (
            of(
                "pyspark.errors.exceptions.connect",
                "SparkRuntimeException",
                "[USER_RAISED_EXCEPTION] SparkContext has been shutdown",
            ),
            False,
        ),
        (ValueError("Cannot call methods on a stopped SparkContext."), False),
        (ConnectionRefusedError("Connection refused"), True),
        (ValueError("Connection refused"), False),
    ],
)
def test_a_driver_that_is_gone_is_known_by_who_says_so(error: Exception, gone: bool) -> None:
    found = translate(error)
    assert (found.condition == "SPARK_UNREACHABLE") is gone
    assert isinstance(found, UnreachableError) is gone


def test_an_error_of_the_engine_stays() -> None:
    error = EngineError("X", "x")
    assert translate(error) is error


def test_delta_error_of_which_spark_has_no_words_keeps_its_class() -> None:
    lost = of(
        "pyspark.errors.exceptions.connect",
        "SparkConnectGrpcException",
        'status = StatusCode.INTERNAL details = "[INTERNAL_ERROR] Cannot find main error class '
        "'DELTA_PARSING_ILLEGAL_TABLE_NAME' SQLSTATE: XX000\" debug_error_string = x",
    )
    found = translate(lost)
    assert found.condition == "DELTA_PARSING_ILLEGAL_TABLE_NAME"
    assert found.message == "Delta refuses it, and Spark has no words for the class of its error."


def test_delta_error_that_pyspark_loses_is_what_it_was_handling() -> None:
    lost = of("py4j.protocol", "Py4JJavaError", "Cannot find main error class 'DELTA_X'")
    lost.__context__ = of("pyspark.errors", "AnalysisException", "[DELTA_X] Theirs.")
    assert (translate(lost).condition, translate(lost).message) == ("DELTA_X", "Theirs.")


def test_an_error_whose_getters_fail_is_told_all_the_same() -> None:
    assert translate(of("pyspark.errors", "SparkException", "[X_Y] z", getCondition=failing)).condition == "X_Y"
    silent = of("pyspark.errors", "SparkException", "", getMessage=failing)
    assert "SparkException" in translate(silent).message


def test_the_causes_are_in_the_trace_that_is_asked_for() -> None:
    trace = "x.Y: outer\n\tat a.B(C)\nCaused by: org.apache.spark.SparkException: [CAST_OVERFLOW] Too big.\n\tat d.E(F)"
    error = of("pyspark.errors", "SparkException", "[FAILED_EXECUTE_UDF] outer", getStackTrace=lambda: trace)
    found = translate(error)
    assert (found.condition, found.outer) == ("CAST_OVERFLOW", "FAILED_EXECUTE_UDF")


class Answering:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def sql(self, _: str) -> Answering:
        return self

    def collect(self) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_rows_are_collected_or_the_error_is_ours() -> None:
    assert collected(Answering([1, 2]), "q") == [1, 2]  # type: ignore[arg-type, comparison-overlap]
    with pytest.raises(EngineError, match="z"):
        collected(Answering(of("pyspark.errors", "SparkException", "[X_Y] z")), "q")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "missing"),
    [("TABLE_OR_VIEW_NOT_FOUND", True), ("DELTA_MISSING_DELTA_TABLE", True), ("CAST_OVERFLOW", False)],
)
def test_what_is_not_there(condition: str, missing: bool) -> None:
    assert is_missing(EngineError(condition, "x")) is missing


@pytest.mark.parametrize(
    ("condition", "part"),
    [("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "Cast one"), ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "alias"), ("X", "")],
)
def test_a_hint_is_of_the_class_or_of_the_one_it_is_a_part_of(condition: str, part: str) -> None:
    assert part in hint_of(condition)
    assert bool(hint_of(condition)) is bool(part)
