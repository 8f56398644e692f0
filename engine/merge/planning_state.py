"""The state of the session that a plan means something in, beside the confs that apply puts back.

Recorded when a statement is planned and compared when it is applied: the catalog and the schema that names are found
in, the confs that change what a statement does, session variables, views and functions. Nothing is run for it: the
plans that Spark printed show which variables, views and functions are read; Spark is asked for the definition of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.merge.read_two_ways import refuse_two_ways
from engine.merge.session_definitions import (
    NAME,
    NAMES,
    ask_rows,
    body_of,
    digest,
    function_definition,
    if_found,
    names_by,
    query_in,
    variables_in,
    variables_now,
    view_definition,
)
from engine.merge.state_confs import has_meaning
from engine.model.plan import PlanningState
from engine.model.secrets import is_secret_name
from engine.spark.confs import every_conf, is_connect
from engine.spark.explain import Explained, tree
from engine.sql.names import names_path, quote, unquoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = re.compile(rf"\bView \(({NAMES}), \[")
RELATION = re.compile(r"\bUnresolved(?:Relation|Identifier|Table|TableOrView) \[([^\]]*)\]")
WITH = re.compile(r"\bCTE \[([^\]]*)\]")
COMPUTED_NAME = re.compile(r"\bIDENTIFIER\s*\(", re.IGNORECASE)
ASKED_SCHEMA = re.compile(r"\bcurrent_(?:schema|database)\b", re.IGNORECASE)
ASKED_CATALOG = re.compile(r"\bcurrent_catalog\b", re.IGNORECASE)
ASKED_USER = re.compile(r"\b(?:current_user|session_user|user)\(\)", re.IGNORECASE)
"""The functions that tell them: in a text and in a plan, where views and functions are unfolded."""
GLOBAL = "global_temp"
"""What begins the name of a temporary view that is the same in every catalog, as a path is."""
CALL = re.compile(rf"({NAME}(?:\s*\.\s*{NAME})*)\s*\(|\bSQLFunctionNode ({NAMES})")
"""In a text, and in a plan. Delta keeps a CHECK with its words apart: ``o . dbl ( v )``."""
WORD = re.compile(r"`(?:[^`$]|``|\$(?!\{))+`|(?<![\w.])[A-Za-z_]\w*")
GLOBAL_VIEWS = "SHOW VIEWS IN spark_catalog.global_temp"
"""Lists the temporary views of the session as well, and asks no metastore."""


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
    every = dict(every_conf(spark) if is_connect(spark) else ((row[0], row[1]) for row in ask_rows(spark, "SET")))
    kept = frozenset(kept)
    return {
        key: digest(value) if is_secret_name(key) else str(value)
        for key, value in sorted(every.items())
        if has_meaning(key) and key not in kept
    }


def surroundings(spark: SparkSession, confs: Mapping[str, str]) -> Surroundings:
    """Ask for what names mean in the session now. ``confs``: see :func:`session_confs`."""
    catalog, schema = ask_rows(spark, "SHOW CURRENT NAMESPACE")[0]
    views = if_found(lambda: ask_rows(spark, GLOBAL_VIEWS)) or []
    return Surroundings(
        catalog=str(catalog or ""),
        schema=str(schema or ""),
        confs=confs,
        # a global one is never found by its name alone
        temporary=frozenset(str(view[1]).casefold() for view in views if not view[0]),
        functions=user_functions(spark),
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
    def relations(self) -> tuple[tuple[str, ...], ...]:
        """The names of what is read and written, in parts, as the statement has them."""
        parsed = self.plan.parsed
        if self.source is None:
            root = tree(parsed)
            merge = next((node for node in root.walk() if node.name == "MergeIntoTable"), None) if root else None
            # the target, and what subqueries read
            kept = (*merge.children[:-1], *merge.subqueries) if merge else ()
            parsed = "\n".join(below.text for node in kept for below in node.walk())
        defined = {name for match in WITH.finditer(self.plan.parsed) for name in match[1].split(", ")}
        names = dict.fromkeys(match[1] for match in RELATION.finditer(parsed))
        return tuple(tuple(name.casefold().split(", ")) for name in names if name and name not in defined)

    @property
    def hides_names(self) -> bool:
        """Whether it may read what ``relations`` does not have: an EXPLAIN does not show the names of each command."""
        return not self.relations or COMPUTED_NAME.search(self.text) is not None


def planning_state(spark: SparkSession, around: Surroundings, read: Read, *, private: bool = False) -> PlanningState:
    """What a statement refers to. ``private`` keeps the values of variables out. Raises EngineError: see
    :func:`refuse_two_ways`."""
    names = tuple(parts[0] for parts in read.relations if len(parts) == 1)
    temporary = tuple(name for name in names if name in around.temporary)
    functions = function_definitions(spark, around.functions, (read.text, read.analyzed))
    texts = (read.text, read.analyzed, *functions.values())
    by_schema = read.hides_names or len(names) > len(temporary) or any(map(ASKED_SCHEMA.search, texts))
    by_catalog = (
        by_schema
        or any(len(parts) == 2 and parts[0] != GLOBAL and not names_path(parts) for parts in read.relations)
        or any(map(ASKED_CATALOG.search, texts))
    )
    temporary_functions = [text for name, text in functions.items() if "." not in name]
    variables = {**variables_in(read.analyzed), **_variables_of(spark, temporary_functions)}
    views = {view: view_definition(spark, view) for view in names_by(VIEW, (read.analyzed,))}
    here = f"{quote(around.catalog)}.{quote(around.schema)}"
    bodies = [query_in(view) for view in views.values() if view is not None]
    bodies += [(body_of(function), here) for function in functions.values()]
    refuse_two_ways(spark, read.plan.parsed, here, [(text, schema or here) for text, schema in bodies if text])
    return PlanningState(
        catalog=around.catalog if by_catalog else None,
        schema_name=around.schema if by_schema else None,
        confs=dict(around.confs),
        variables={
            name: digest(value) if private or is_secret_name(name) else value for name, value in variables.items()
        },
        views={name: digest(text) for name, text in views.items() if text is not None},
        functions={name: digest(text) for name, text in functions.items()},
        names=names,
        temporary=temporary,
        # of a source that is kept, the text says nothing
        user=current_user(spark) if any(map(ASKED_USER.search, (read.analyzed, *functions.values()))) else None,
    )


def current_user(spark: SparkSession) -> str:
    return str(ask_rows(spark, "SELECT current_user()")[0][0])


def names_are_safe(state: PlanningState) -> bool:
    """Whether every name of ``state`` that is put into a statement is a name, and nothing more."""
    return all(re.fullmatch(NAME, name) for name in state.variables) and all(
        re.fullmatch(NAMES, name) for name in (*state.views, *state.functions)
    )


def _last(name: str) -> str:
    parts: list[str] = re.findall(NAME, name)
    return unquoted(parts[-1]).casefold()


def user_functions(spark: SparkSession) -> tuple[str, ...]:
    """The names of the functions that are not Spark's own; those of other schemas are not listed."""
    return tuple(str(row[0]) for row in if_found(lambda: ask_rows(spark, "SHOW USER FUNCTIONS")) or [])


def function_definitions(spark: SparkSession, user: Iterable[str], texts: Sequence[str]) -> dict[str, str]:
    """The definitions of the functions that ``texts`` call and that are not Spark's own, by the name that they are
    called by; those that their bodies call as well. ``user``: see :func:`user_functions`."""
    own = {_last(name) for name in user}
    definitions: dict[str, str] = {}
    tried: set[str] = set()
    waiting = _called(texts)
    while waiting:
        name = waiting.pop()
        # one of another schema is not listed
        if name in tried or not (_last(name) in own or len(re.findall(NAME, name)) in (2, 3)):
            continue
        tried.add(name)
        text = function_definition(spark, name)
        if text is not None:
            definitions[name] = text
            waiting += _called((text,))
    return dict(sorted(definitions.items()))


def _called(texts: Iterable[str]) -> list[str]:
    return [".".join(re.findall(NAME, name)) for name in names_by(CALL, texts)]


def _variables_of(spark: SparkSession, bodies: Iterable[str]) -> dict[str, str]:
    """The session variables that temporary functions refer to, whose bodies no plan prints."""
    words = {word for text in bodies for word in WORD.findall(body_of(text))}
    variables: dict[str, str] = {}
    for word in sorted(words):
        variables |= variables_now(spark, (word,))
    return variables


DIGEST = "sha256:"
