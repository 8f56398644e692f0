"""The state of the session that a plan means something in, beside the confs that apply puts back.

Recorded when a statement is planned and compared when it is applied: the catalog and the schema that names are found
in, the confs that change what a statement does, session variables, views and functions. Nothing is run for it: the
plans that Spark printed show which variables, views and functions are read; Spark is asked for the definition of each.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engine.confs import is_connect
from engine.errors import CancelledError, EngineError, SessionChangedError, UnreachableError
from engine.explain import Explained, explain, tree
from engine.secrets import MASK, is_secret_name
from engine.source_plan import explain_view
from engine.spark_errors import translate
from engine.state_confs import has_meaning
from engine.values import PlanningState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer")
NAME = r"(?:`(?:[^`$]|``|\$(?!\{))+`|\w+)"
NAMES = rf"{NAME}(?:\.{NAME})*"
"""A name that is safe in a statement of ours: without ${…}, for which Spark puts the value of a conf."""
VARIABLE = re.compile(rf"variablereference\(system\.session\.({NAME})=")
VIEW = re.compile(rf"\bView \(({NAMES}), \[")
RELATION = re.compile(r"\bUnresolvedRelation \[([^\]]*)\]")
CALL = re.compile(rf"({NAMES})\s*\(|\bSQLFunctionNode ({NAMES})")
WORD = re.compile(r"`(?:[^`$]|``|\$(?!\{))+`|(?<![\w.])[A-Za-z_]\w*")
COLUMN_ID = re.compile(r"#\d+L?")
COLUMNS_OF_RELATION = re.compile(r"\b(Relation [^\[\s]*)\[[^\]]*\]")
CTE_NUMBER = re.compile(r"\b(CTERelation(?:Def|Ref)) \d+")
GENERATED_CLASS = re.compile(r"\$\$Lambda\b\S*")
"""Java gives the class of a registered function of Python another name in each process."""
DEFINING = ("view_text", "view_catalog_and_namespace", "view_query_output_columns", "type")
CREATION_CONFS = "view_creation_spark_configuration"
GLOBAL_VIEWS = "SHOW VIEWS IN spark_catalog.global_temp"
"""Lists the temporary views of the session as well, and asks no metastore."""
NAMED = 3
"""How many differences an error names."""


@dataclass(frozen=True)
class Surroundings:
    """What names mean in a session now: ``temporary`` views by their names, functions that are not Spark's own."""

    catalog: str
    schema: str
    confs: Mapping[str, str]
    temporary: frozenset[str]
    functions: tuple[str, ...]


def session_confs(spark: SparkSession, kept: Iterable[str]) -> dict[str, str]:
    """The confs that are set and change what a statement does, without ``kept``: those apply puts back itself.

    The values of secrets are not kept, only that they are the same.
    """
    # getAll of a classic session is a call for each conf
    every = dict(spark.conf.getAll if is_connect(spark) else ((row[0], row[1]) for row in _rows(spark, "SET")))
    kept = frozenset(kept)
    return {
        key: _digest(value) if is_secret_name(key) else str(value)
        for key, value in sorted(every.items())
        if has_meaning(key) and key not in kept
    }


def surroundings(spark: SparkSession, confs: Mapping[str, str]) -> Surroundings:
    """Ask for what names mean in the session now. ``confs``: see :func:`session_confs`."""
    catalog, schema = _rows(spark, "SHOW CURRENT NAMESPACE")[0]
    views = _found(lambda: _rows(spark, GLOBAL_VIEWS)) or []
    functions = _found(lambda: _rows(spark, "SHOW USER FUNCTIONS")) or []
    return Surroundings(
        catalog=str(catalog or ""),
        schema=str(schema or ""),
        confs=confs,
        # a global one is never found by its name alone
        temporary=frozenset(str(view[1]).casefold() for view in views if not view[0]),
        functions=tuple(str(row[0]) for row in functions),
    )


@dataclass(frozen=True)
class Read:
    """Where it shows what a statement reads: its ``plan``, the print of the plan of its ``source``, and its text.

    ``source`` is None where the source is kept in a table: whatever it was made of may be gone when that is merged.
    """

    plan: Explained
    source: str | None
    text: str

    @property
    def analyzed(self) -> str:
        return f"{self.plan.analyzed}\n{self.source or ''}"

    @property
    def names(self) -> tuple[str, ...]:
        """The relations that are named by one name: a temporary view of that name comes first."""
        parsed = self.plan.parsed
        if self.source is None:
            root = tree(parsed)
            merge = next((node for node in root.walk() if node.name == "MergeIntoTable"), None) if root else None
            # the target, and what subqueries read
            kept = (*merge.children[:-1], *merge.subqueries) if merge else ()
            parsed = "\n".join(below.text for node in kept for below in node.walk())
        found = (match[1] for match in RELATION.finditer(parsed))
        return tuple(dict.fromkeys(name.casefold() for name in found if name and ", " not in name))


def planning_state(spark: SparkSession, around: Surroundings, read: Read, *, private: bool = False) -> PlanningState:
    """What a statement refers to. ``private`` keeps the values of variables out."""
    names = read.names
    functions = _functions(spark, around, (read.text, read.analyzed))
    bodies = [text for name, text in functions.items() if "." not in name]
    variables = {**variables_in(read.analyzed), **_variables_of(spark, bodies)}
    views = {view: _view_definition(spark, view) for view in _found_names(VIEW, (read.analyzed,))}
    return PlanningState(
        catalog=around.catalog,
        schema_name=around.schema,
        confs=dict(around.confs),
        variables={
            name: _digest(value) if private or is_secret_name(name) else value for name, value in variables.items()
        },
        views={name: _digest(text) for name, text in views.items() if text is not None},
        functions={name: _digest(text) for name, text in functions.items()},
        names=names,
        temporary=tuple(name for name in names if name in around.temporary),
    )


def session_changed(table: str, changed: Sequence[str]) -> SessionChangedError:
    more = f"; and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return SessionChangedError(
        "SESSION_CHANGED",
        f"The plan for {table} was made in another state of the session: {'; '.join(changed[:NAMED])}{more}.",
        "Put that back and apply the plan again, or plan again.",
    )


def changes(spark: SparkSession, planned: PlanningState | None, kept: Iterable[str]) -> tuple[str, ...]:
    """What of the recorded state is another now, a clause for each. What was not recorded is not compared."""
    if planned is None:
        return ()
    now = surroundings(spark, session_confs(spark, kept))
    found = []
    for what, then, current in (
        ("the current catalog", planned.catalog, now.catalog),
        ("the current schema", planned.schema_name, now.schema),
    ):
        if then != current:
            found.append(f"{what} was {then} when planned and is {current} now")
    found += _conf_changes(spark, planned.confs, now.confs)
    found += _variable_changes(spark, planned.variables)
    found += _definition_changes("view", planned.views, lambda name: _view_definition(spark, name))
    found += _definition_changes("function", planned.functions, lambda name: _function_definition(spark, name))
    for name in planned.names:
        if name in now.temporary and name not in planned.temporary:
            found.append(f"{name} is a temporary view now and was none when planned")
        elif name in planned.temporary and name not in now.temporary:
            found.append(f"the temporary view {name} is gone")
    return tuple(dict.fromkeys(found))


def variables_in(text: str) -> dict[str, str]:
    """The session variables that a printed plan refers to, and their values as literals of SQL."""
    found: dict[str, list[str]] = {}
    for match in VARIABLE.finditer(text):
        values = found.setdefault(match[1], [])
        value = _literal(text, match.end())
        if value not in values:
            values.append(value)  # a string that looks like a reference prints as one
    return {name: " or ".join(values) for name, values in found.items()}


def names_are_safe(state: PlanningState) -> bool:
    """Whether every name of ``state`` that is put into a statement is a name, and nothing more."""
    return all(re.fullmatch(NAME, name) for name in state.variables) and all(
        re.fullmatch(NAMES, name) for name in (*state.views, *state.functions)
    )


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


def _found_names(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[str, ...]:
    matches = (match for text in texts for match in pattern.finditer(text))
    return tuple(dict.fromkeys(next(group for group in match.groups() if group) for match in matches))


def _last(name: str) -> str:
    parts: list[str] = re.findall(NAME, name)
    return parts[-1].strip("`").replace("``", "`").casefold()


def _functions(spark: SparkSession, around: Surroundings, texts: Sequence[str]) -> dict[str, str]:
    """The definitions of the functions that are called and are not Spark's own, by the name that they are called by;
    those that their bodies call as well."""
    own = {_last(name) for name in around.functions}
    found: dict[str, str] = {}
    asked: set[str] = set()
    waiting = list(_found_names(CALL, texts))
    while waiting:
        name = waiting.pop()
        # one of another schema is not listed
        if name in asked or not (_last(name) in own or len(re.findall(NAME, name)) in (2, 3)):
            continue
        asked.add(name)
        text = _function_definition(spark, name)
        if text is not None:
            found[name] = text
            waiting += _found_names(CALL, (text,))
    return dict(sorted(found.items()))


def _function_definition(spark: SparkSession, name: str) -> str | None:
    """What Spark tells of a function, None where there is none. The code of one in Python or Java is not told."""
    rows = _found(lambda: _rows(spark, f"DESCRIBE FUNCTION EXTENDED {name}"))
    if not rows or str(rows[0][0]).endswith("not found."):
        return None
    lines, in_confs = [], False
    for line in "\n".join(str(row[0]) for row in rows).splitlines():
        in_confs = line.startswith("Configs:") or (in_confs and line[:1].isspace())
        key = line.removeprefix("Configs:").strip().partition("=")[0]
        if line.startswith("Create Time:") or (in_confs and not has_meaning(key)):
            continue
        lines.append(GENERATED_CLASS.sub("$$Lambda", line.removeprefix("Configs:").strip() if in_confs else line))
    return "\n".join(lines)


def _variables_of(spark: SparkSession, bodies: Iterable[str]) -> dict[str, str]:
    """The session variables that temporary functions refer to, whose bodies no plan prints."""
    words = {word for text in bodies if "\nBody:" in text for word in WORD.findall(text.partition("\nBody:")[2])}
    found: dict[str, str] = {}
    for word in sorted(words):
        found |= _variables_now(spark, (word,))
    return found


def _variables_now(spark: SparkSession, names: Sequence[str]) -> dict[str, str]:
    """The values of variables now; without those that are not declared."""
    if not names:
        return {}
    query = f"SELECT {', '.join(f'system.session.{name}' for name in names)}"
    plan = _found(lambda: explain(spark, query))
    if plan is not None:
        return variables_in(plan.analyzed)
    if len(names) == 1:
        return {}
    found: dict[str, str] = {}
    for name in names:
        found |= _variables_now(spark, (name,))
    return found


def _view_definition(spark: SparkSession, name: str) -> str | None:
    """The text of a view and what it is read by; of one that a DataFrame made, its plan. None where there is none."""
    rows = _found(lambda: _rows(spark, f"DESCRIBE TABLE EXTENDED {name} AS JSON"))
    told: dict[str, Any] = json.loads(str(rows[0][0])) if rows else {}
    if told.get("type") != "VIEW":
        return None
    if not told.get("view_text"):
        plan = _found(lambda: explain_view(spark, f"SELECT * FROM {name}"))
        return None if plan is None else _as_printed(plan.analyzed)
    confs = {key: value for key, value in (told.get(CREATION_CONFS) or {}).items() if has_meaning(key)}
    return json.dumps([*(told.get(key) for key in DEFINING), confs], sort_keys=True)


def _as_printed(plan: str) -> str:
    """A printed plan without what differs from one print to the next, and without the values of variables."""
    for match in reversed(list(VARIABLE.finditer(plan))):
        end = match.end() + len(_literal(plan, match.end()))
        plan = plan[: match.end()] + plan[end:]
    plan = COLUMNS_OF_RELATION.sub(r"\1", COLUMN_ID.sub("", plan))
    return GENERATED_CLASS.sub("$$Lambda", CTE_NUMBER.sub(r"\1", plan))


def _conf_changes(spark: SparkSession, planned: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    found = []
    for key in sorted({*planned, *now}):
        then, current = planned.get(key), now.get(key)
        if then == current or MASK in (then, current):
            continue
        if (then is None or current is None) and _default(spark, key, current) in (then, current):
            continue
        if is_secret_name(key):
            found.append(f"the conf {key} is another than when planned")
        else:
            found.append(f"the conf {key} was {_set_to(then)} when planned and is {_set_to(current)} now")
    return found


def _set_to(value: str | None) -> str:
    return "not set" if value is None else value or "empty"


def _default(spark: SparkSession, key: str, current: str | None) -> str | None:
    """What a conf is where it is not set, "" where that is unknown. ``current``: what it is set to, and stays."""
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
    now = _variables_now(spark, tuple(planned))
    found = []
    for name, then in planned.items():
        current = now.get(name)
        if current is None:
            found.append(f"the session variable {name} is not declared any more")
        elif then.startswith(DIGEST):
            if _digest(current) != then:
                found.append(f"the session variable {name} is another than when planned")
        elif current != then:
            found.append(f"the session variable {name} was {then} when planned and is {current} now")
    return found


def _definition_changes(kind: str, planned: Mapping[str, str], definition: Callable[[str], str | None]) -> list[str]:
    found = []
    for name, then in planned.items():
        now = definition(name)
        if now is None:
            found.append(f"the {kind} {name} is gone")
        elif _digest(now) != then:
            found.append(f"the {kind} {name} was redefined")
    return found


DIGEST = "sha256:"


def _digest(text: str) -> str:
    return DIGEST + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _rows(spark: SparkSession, sql: str) -> list[Any]:
    try:
        return list(spark.sql(sql).collect())
    except Exception as error:
        raise translate(error) from error


def _found(ask: Callable[[], Answer]) -> Answer | None:
    """What ``ask`` gives, None where Spark refuses: what is asked for is not there."""
    try:
        return ask()
    except (CancelledError, UnreachableError):
        raise
    except EngineError:
        return None
