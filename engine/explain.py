"""EXPLAIN EXTENDED, asked of Spark and read: the only window into its plans on classic and Connect alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.spark_errors import translate
from engine.sql_text import quoted_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECTION = re.compile(r"^== (Parsed Logical|Analyzed Logical|Optimized Logical|Physical) Plan ==$", re.MULTILINE)
FAILED = re.compile(r"^(?:Error occurred during query planning: *|[\w.$]*(?:Exception|Error): )", re.MULTILINE)
DELTA_AT = re.compile(r"Delta\[version=(\d+), ([^\]]*)\]")
BRANCH = re.compile(r"^((?:[:| ] {2})*)(?:[:+]- )(.*)$")


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

    A classic session gives a refusal as a row of text, a Connect session as an exception: both are read.
    """
    try:
        text = str(spark.sql(f"EXPLAIN EXTENDED {sql}").collect()[0][0])
    except Exception as error:
        raise _shifted(translate(error), sql) from error
    sections = _sections(one_line_names(text, sql))
    if FAILED.match(sections.get("Analyzed Logical", text).lstrip()):
        raise _shifted(translate(RuntimeError(sections.get("Analyzed Logical", text))), sql)
    return Explained(
        parsed=sections.get("Parsed Logical", ""),
        analyzed=sections.get("Analyzed Logical", ""),
        optimized=sections.get("Optimized Logical", ""),
        physical=sections.get("Physical", ""),
    )


def parsed_plan(spark: SparkSession, sql: str) -> str:
    """How Spark parses ``sql``, whether or not it can be analyzed. What is no SQL is raised as an EngineError."""
    try:
        text = str(spark.sql(f"EXPLAIN EXTENDED {sql}").collect()[0][0])
    except Exception as error:
        raise _shifted(translate(error), sql) from error
    sections = _sections(one_line_names(text, sql))
    if "Parsed Logical" not in sections:
        raise _shifted(translate(RuntimeError(text)), sql)
    return sections["Parsed Logical"]


def one_line_names(text: str, sql: str) -> str:
    """``text`` with the line breaks taken out of the literals and names of ``sql``, which plans print as they are."""
    broken = {value for value in quoted_values(sql) if "\n" in value}
    for value in sorted(broken, key=len, reverse=True):
        text = text.replace(value, value.replace("\n", " "))
    return text


def _shifted(error: EngineError, sql: str) -> EngineError:
    """Positions count from the statement, not from the EXPLAIN before it."""
    prefix = len("EXPLAIN EXTENDED ")
    if error.line == 1 and error.column is not None and error.column > prefix:
        error.column -= prefix
    if error.line is not None and error.line > sql.count("\n") + 1:
        error.line = error.column = None
    return error


def _sections(text: str) -> dict[str, str]:
    marks = list(SECTION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    return {mark.group(1): text[mark.end() : end].strip("\n") for mark, end in zip(marks, ends, strict=True)}


def tree(plan: str) -> Node | None:
    """The tree of a printed plan, None where the print is not one.

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
    found, end = _subtree(lines, 0)
    return found if end == len(lines) else None


def _subtree(lines: Sequence[tuple[int, str]], start: int) -> tuple[Node, int]:
    depth, text = lines[start]
    below: dict[int, list[Node]] = {1: [], 2: []}
    at = start + 1
    while at < len(lines) and lines[at][0] - depth in below:
        node, after = _subtree(lines, at)
        below[lines[at][0] - depth].append(node)
        at = after
    return Node(text, tuple(below[1]), tuple(below[2])), at
