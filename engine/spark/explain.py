"""Ask Spark for EXPLAIN EXTENDED and read it: the only way to see its plans on both classic and Connect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.errors import EngineError
from engine.spark.printed_whole import printed_whole
from engine.spark.spark_errors import NO_REASON, SPARK_ERROR, refused_while_planning, translate
from engine.sql.positions import offset_of
from engine.sql.sql_text import quoted_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECTION = re.compile(r"^== (Parsed Logical|Analyzed Logical|Optimized Logical|Physical) Plan ==$", re.MULTILINE)
EXPLAIN = "EXPLAIN EXTENDED "
# Spark prints an exception that is no AnalysisException in place of all plans, one row for each line of its message
PLANNING_FAILED = "Error occurred during query planning: \n"
WHILE_PLANNING = "QUERY_PLANNING_FAILED"
"""Our outer class for such an error, because Spark gives it none."""
# Spark prints an AnalysisException with its Java name where the plan should be; the name of a column has no package
FAILED = re.compile(r"(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error): ")
# a classic session says it, a Connect server only ends the call
STACK_OVERFLOW = ("StackOverflowError", NO_REASON)
REDACTED = "*********(redacted)"
COLUMN_ID = r"#\d+L?"
"""What Spark prints behind the name of a column; a BIGINT has an L."""
NUMBERED = r"\b(?:CTERelation(?:Def|Ref)|UnionLoop(?:Ref)?) "
"""What Spark prints before the number of a WITH and of a recursion, which it counts on with each statement."""
DELTA_AT = re.compile(r"Delta\[version=(\d+), ([^\]]*)\]")
# behind WITH a MERGE begins later than the statement
MERGE = re.compile(r"MERGE\b", re.IGNORECASE)
PARSE_SYNTAX_ERROR = "PARSE_SYNTAX_ERROR"
"""Spark's class for a word that it cannot read, be it the first one."""
# what no text that is printed behind a literal looks like: +- AS v#1
OPERATOR = r"['!*]*(?:\(\d+\) )?(?:[A-Z]\w*[a-z]|CTE\b)"
BRANCH = re.compile(rf"^((?:[:| ] {{2}})*)(?:[:+]- )({OPERATOR}.*)$")
# the columns of a table go on where the name of one has a line break before what looks like a branch
CUT = re.compile(r"Relation [^\]]*$")


@dataclass(frozen=True)
class Explained:
    """The four plans of EXPLAIN EXTENDED, as text."""

    parsed: str
    analyzed: str
    optimized: str
    physical: str


@dataclass(frozen=True)
class Node:
    """One operator of a printed plan: its line, its inputs, and the plans of the subqueries in its expressions."""

    text: str
    children: tuple[Node, ...] = ()
    subqueries: tuple[Node, ...] = ()

    @property
    def name(self) -> str:
        """The operator: the first word of the line. Spark marks what is not resolved by ``'`` or ``!``."""
        return re.split(r"[\s(\[]", self.text, maxsplit=1)[0].lstrip("'*!")

    def walk(self) -> Iterator[Node]:
        """Every node, top down: Delta looks at a plan before it looks at its subqueries."""
        yield self
        for below in (*self.children, *self.subqueries):
            yield from below.walk()


def explain(spark: SparkSession, sql: str) -> Explained:
    """Analyze ``sql`` without running it. What Spark or Delta refuses is raised as an EngineError.

    A parser's refusal is an exception; any other is printed in place of a plan, on classic and Connect alike: inside
    the section where it stopped, or line by line if it is no AnalysisException.
    """
    text = _printed(spark, sql)
    if text.startswith(PLANNING_FAILED):
        refusal = refused_while_planning(text.removeprefix(PLANNING_FAILED), f"{EXPLAIN}{sql}")
        refusal.outer = WHILE_PLANNING
        raise _shifted(refusal, sql)
    if REDACTED in text:
        raise EngineError(
            "PLAN_REDACTED",
            "Spark hides parts of the plan that it prints, which is how a statement is read.",
            "Unset spark.sql.redaction.string.regex in this session, and plan again.",
        )
    sections = _sections(one_line_names(text, sql))
    for section in ("Analyzed Logical", "Optimized Logical"):
        if FAILED.match(sections.get(section, "").lstrip()):
            raise _shifted(refused_while_planning(sections[section].lstrip(), f"{EXPLAIN}{sql}"), sql)
    return Explained(
        parsed=sections.get("Parsed Logical", ""),
        analyzed=sections.get("Analyzed Logical", ""),
        optimized=sections.get("Optimized Logical", ""),
        physical=sections.get("Physical", ""),
    )


def parsed_plan(spark: SparkSession, sql: str) -> str:
    """How Spark parses ``sql``, whether or not it can be analyzed. Raises EngineError for what is no SQL."""
    text = _printed(spark, sql)
    sections = _sections(one_line_names(text, sql))
    if "Parsed Logical" not in sections:
        raise _shifted(refused_while_planning(text.removeprefix(PLANNING_FAILED), f"{EXPLAIN}{sql}"), sql)
    return sections["Parsed Logical"]


def _printed(spark: SparkSession, sql: str) -> str:
    """All that EXPLAIN prints. Raises EngineError."""
    try:
        with printed_whole(spark):
            rows = spark.sql(f"{EXPLAIN}{sql}").collect()
    except Exception as error:
        refusal = translate(error, f"{EXPLAIN}{sql}")
        if refusal.condition == SPARK_ERROR and any(word in refusal.message for word in STACK_OVERFLOW):
            refusal = EngineError(
                "STATEMENT_TOO_DEEP",
                f"Spark broke off, as it does if a statement is nested too deeply: {refusal.message}",
                "Write it with fewer brackets.",
            )
        raise _shifted(refusal, sql) from error
    return "\n".join(str(row[0]) for row in rows)


def one_line_names(text: str, sql: str) -> str:
    """``text`` with the line breaks taken out of the literals and names of ``sql``, which plans print as they are.

    Those at the ends of a literal stay, for "\\n" alone is also what stands between the lines of a plan: the line that
    goes on behind it is no branch. A literal that looks like a part of a plan has none left.
    """
    values = {value if _forges(value) else value.strip() for value in quoted_values(sql) if "\n" in value}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, value.replace("\n", " "))
    return text


def _forges(value: str) -> bool:
    """Whether a literal that is printed as it is begins a branch or a section of a plan."""
    lines = value.split("\n")[1:]
    return any(SECTION.search(line) or BRANCH.match(line) for line in lines)


def _shifted(error: EngineError, sql: str) -> EngineError:
    """Positions count from the statement, not from the EXPLAIN before it."""
    if error.line == 1 and error.column is not None:
        error.column = max(1, error.column - len(EXPLAIN))
    error.counted_in = sql
    if error.condition != PARSE_SYNTAX_ERROR and _is_whole(sql, error.line, error.column):
        error.line = error.column = None
    return error


def _is_whole(sql: str, line: int | None, column: int | None) -> bool:
    """Whether the place is that of the statement itself, which Spark tells where it knows none inside of it: of a
    column that SET or INSERT names, and of a cast that the analyzer puts in."""
    at = None if line is None or column is None else offset_of(sql, line, column)
    return at == 0 or (at is not None and MERGE.match(sql, at) is not None)


def _sections(text: str) -> dict[str, str]:
    marks = list(SECTION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    return {mark.group(1): text[mark.end() : end].strip("\n") for mark, end in zip(marks, ends, strict=True)}


def tree(plan: str) -> Node | None:
    """The tree of a printed plan; None if the text is not one, or the name of a column in it looks like a line.

    Inputs stand one step to the right of their operator, plans of subqueries two steps. A line that is no branch
    continues the one before it.
    """
    lines: list[tuple[int, str]] = []
    for line in plan.strip("\n").split("\n"):
        branch = BRANCH.match(line)
        if branch:
            lines.append((len(branch.group(1)) // 3 + 1, branch.group(2)))
        elif lines:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]}\n{line}")
        else:
            lines.append((0, line))
    root, end = _subtree(lines, 0)
    return root if end == len(lines) and not any(CUT.match(text) for _, text in lines) else None


def _subtree(lines: Sequence[tuple[int, str]], start: int) -> tuple[Node, int]:
    depth, text = lines[start]
    below: dict[int, list[Node]] = {1: [], 2: []}
    at = start + 1
    while at < len(lines) and lines[at][0] - depth in below:
        node, after = _subtree(lines, at)
        below[lines[at][0] - depth].append(node)
        at = after
    return Node(text, tuple(below[1]), tuple(below[2])), at
