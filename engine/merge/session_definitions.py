"""The definitions of a session's variables, views and functions, as text that is equal if they are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from engine.merge.source_plan import explain_view
from engine.merge.state_confs import has_meaning
from engine.model.errors import CancelledError, EngineError, UnreachableError
from engine.spark.described_function import described_function
from engine.spark.explain import COLUMN_ID, NUMBERED, explain
from engine.spark.spark_errors import translate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer")
NAME = r"(?:`(?:[^`$]|``|\$(?!\{))+`|\w+)"
NAMES = rf"{NAME}(?:\.{NAME})*"
"""A name that is safe in a statement of ours: without ${…}, for which Spark puts the value of a conf."""
VARIABLE = re.compile(rf"variablereference\(system\.session\.({NAME})=")
COLUMNS_OF_RELATION = re.compile(r"\b(Relation [^\[\s]*)\[[^\]]*\]")
WITH_NUMBER = re.compile(rf"({NUMBERED})\d+")
NUMBER = re.compile(r"(-?\d+)")
GENERATED_CLASS = re.compile(r"\$\$Lambda\b\S*")
"""Java gives the class of a registered function of Python another name in each process."""
DEFINING = ("view_text", "view_catalog_and_namespace", "view_query_output_columns")
CREATION_CONFS = "view_creation_spark_configuration"
DIGEST = "sha256:"


def variables_in(text: str) -> dict[str, str]:
    """The session variables that a printed plan refers to, and their values as literals of SQL."""
    variables: dict[str, list[str]] = {}
    for match in VARIABLE.finditer(text):
        values = variables.setdefault(match[1], [])
        value = _literal(text, match.end())
        if value not in values:
            values.append(value)  # a string that looks like a reference prints as one
    return {name: " or ".join(values) for name, values in variables.items()}


def variables_now(spark: SparkSession, names: Sequence[str]) -> dict[str, str]:
    """The values of variables now; without those that are not declared."""
    if not names:
        return {}
    query = f"SELECT {', '.join(f'system.session.{name}' for name in names)}"
    plan = if_found(lambda: explain(spark, query))
    if plan is not None:
        return variables_in(plan.analyzed)
    if len(names) == 1:
        return {}
    values: dict[str, str] = {}
    for name in names:
        values |= variables_now(spark, (name,))
    return values


def _literal(text: str, start: int) -> str:
    """The literal at ``start`` of ``text``, up to the bracket that closes the reference before it."""
    depth, at, quoted = 0, start, False
    while at < len(text):
        char = text[at]
        if quoted and char == "\\":
            at += 1
        elif char == "'":
            quoted = not quoted
        elif not quoted and char == "(":
            depth += 1
        elif not quoted and char == ")":
            if not depth:
                break
            depth -= 1
        at += 1
    return text[start:at]


def function_definition(spark: SparkSession, name: str) -> str | None:
    """The definition of a function, None if there is none. Spark does not show the code of one in Python or Java."""
    rows = if_found(lambda: ask_rows(spark, f"DESCRIBE FUNCTION EXTENDED {name}"))
    if not rows or str(rows[0][0]).endswith("not found."):
        return None
    lines, in_confs = [], False
    for line in described_function(rows).splitlines():
        in_confs = line.startswith("Configs:") or (in_confs and line[:1].isspace())
        key = line.removeprefix("Configs:").strip().partition("=")[0]
        if line.startswith("Create Time:") or (in_confs and not has_meaning(key)):
            continue
        lines.append(GENERATED_CLASS.sub("$$Lambda", line.removeprefix("Configs:").strip() if in_confs else line))
    return "\n".join(lines)


def body_of(definition: str) -> str:
    """What stands in the body of an SQL function; "" for any other function."""
    return definition.partition("\nBody:")[2]


def view_definition(spark: SparkSession, name: str) -> str | None:
    """The text of a view and where its names are found; of a temporary one, which may have no text, its plan as well.
    None where there is none."""
    described = _described_view(spark, name)
    if not described:
        return None
    confs = {key: value for key, value in (described.get(CREATION_CONFS) or {}).items() if has_meaning(key)}
    parts = {key: described.get(key) for key in DEFINING}
    if described.get("catalog_name") in (None, "system"):
        # one that a script makes again in another schema may read the same tables
        del parts["view_catalog_and_namespace"]
        parts["plan"] = _plan_of(spark, name)
    return json.dumps([parts, confs], sort_keys=True)


def query_in(definition: str) -> tuple[str, str]:
    """(The query in what :func:`view_definition` gives, "" where it has none; the schema in which its names are found,
    "" where that is the session's)."""
    parts = json.loads(definition)[0]
    return str(parts.get("view_text") or ""), str(parts.get("view_catalog_and_namespace") or "")


def view_text(spark: SparkSession, name: str) -> str:
    """The query that a view was made of. "" where there is none: a DataFrame makes a view without a text."""
    return str(_described_view(spark, name).get("view_text") or "")


def _described_view(spark: SparkSession, name: str) -> dict[str, Any]:
    rows = if_found(lambda: ask_rows(spark, f"DESCRIBE TABLE EXTENDED {name} AS JSON"))
    described: dict[str, Any] = json.loads(str(rows[0][0])) if rows else {}
    return described if described.get("type") == "VIEW" else {}


def _plan_of(spark: SparkSession, view: str) -> str | None:
    """The plan of a temporary view. Spark analyzes its text anew for each query, and then draws the seeds that nobody
    typed: two prints tell them from those that are the view's."""
    prints = [if_found(lambda: explain_view(spark, f"SELECT * FROM {view}")) for _ in range(2)]
    one, other = (_as_printed(plan.analyzed) if plan else None for plan in prints)
    return one if one is None or other is None else without_drawn(one, other)


def without_drawn(one: str, other: str) -> str:
    """``one`` without the numbers that ``other``, a print of the same, has otherwise."""
    pieces, others = NUMBER.split(one), NUMBER.split(other)
    if pieces[::2] != others[::2]:
        return one
    return "".join(piece if piece == as_well else "?" for piece, as_well in zip(pieces, others, strict=True))


def _as_printed(plan: str) -> str:
    """A printed plan without what differs from one print to the next, and without the values of variables."""
    for match in reversed(list(VARIABLE.finditer(plan))):
        end = match.end() + len(_literal(plan, match.end()))
        plan = plan[: match.end()] + plan[end:]
    plan = COLUMNS_OF_RELATION.sub(r"\1", re.sub(COLUMN_ID, "", plan))
    return GENERATED_CLASS.sub("$$Lambda", WITH_NUMBER.sub(r"\1", plan))


def names_by(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[str, ...]:
    matches = (match for text in texts for match in pattern.finditer(text))
    return tuple(dict.fromkeys(next(group for group in match.groups() if group) for match in matches))


def digest(text: str) -> str:
    return DIGEST + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def ask_rows(spark: SparkSession, sql: str) -> list[Any]:
    try:
        return list(spark.sql(sql).collect())
    except Exception as error:
        raise translate(error) from error


def if_found(ask: Callable[[], Answer]) -> Answer | None:
    """What ``ask`` gives, None if Spark does not find it."""
    try:
        return ask()
    except (CancelledError, UnreachableError):
        raise
    except EngineError:
        return None
