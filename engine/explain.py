"""EXPLAIN EXTENDED, asked of Spark and read: the only window into its plans on classic and Connect alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError
from engine.spark_errors import translate

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
    """One node of a printed plan: its whole line(s), and its depth in the tree (root 0)."""

    text: str
    depth: int

    @property
    def name(self) -> str:
        """The operator: the first word of the line."""
        return re.split(r"[\s(\[]", self.text, maxsplit=1)[0].lstrip("'*")


def explain(spark: SparkSession, sql: str, params: Mapping[str, Any] | None = None) -> Explained:
    """Analyze ``sql`` without running it. What Spark or Delta refuses is raised as an EngineError.

    A classic session gives a refusal as a row of text, a Connect session as an exception: both are read.
    """
    statement = f"EXPLAIN EXTENDED {sql}"
    try:
        frame = spark.sql(statement, args=dict(params)) if params else spark.sql(statement)
        text = str(frame.collect()[0][0])
    except Exception as error:
        raise _shifted(translate(error), sql) from error
    sections = _sections(text)
    if FAILED.match(sections.get("Analyzed Logical", text).lstrip()):
        raise _shifted(translate(RuntimeError(sections.get("Analyzed Logical", text))), sql)
    return Explained(
        parsed=sections.get("Parsed Logical", ""),
        analyzed=sections.get("Analyzed Logical", ""),
        optimized=sections.get("Optimized Logical", ""),
        physical=sections.get("Physical", ""),
    )


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


def nodes(plan: str) -> Iterator[Node]:
    """The nodes of a printed plan, top down.

    A line that is no branch continues the one before it (a literal with a line break).
    """
    lines = plan.split("\n")
    current: list[str] = []
    depth = 0
    for line in lines:
        branch = BRANCH.match(line)
        if branch is None and current:
            current.append(line)
            continue
        if current:
            yield Node("\n".join(current), depth)
        if branch is None:
            current, depth = [line], 0
        else:
            current, depth = [branch.group(2)], len(branch.group(1)) // 3 + 1
    if current:
        yield Node("\n".join(current), depth)
