"""Does a plan run what it says? A plan file may come from a stranger: what it holds beside its MERGE is checked.

A person sees and confirms its statement. All else that reaches Spark must follow from that statement, or be what only
this program writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import overload

from engine.create.metadata_after import DOWNGRADE
from engine.create.survey import ARBITRARY, DEFAULT_SOURCE
from engine.create.table_properties import DEFAULTS
from engine.merge.planning_state import names_are_safe
from engine.merge.running_statement import ROWS
from engine.merge.stage_source import staged_of, version_of
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError
from engine.model.plan import Plan, PlanningState, Splice
from engine.model.plans import AnyPlan
from engine.model.scan import DerivedConjunct
from engine.spark.session_state import KEPT_CONFS
from engine.sql.names import quote
from engine.sql.parse import MergeStatement, parse_merge, parse_script
from engine.sql.parse_create import ParsedCreate, parse_create
from engine.table.tables import name_parts

PLAN_ID = re.compile(r"[0-9a-f]{32}")
SOURCE_VIEW = re.compile(r"deltamerge_source_[0-9a-f]{12}")
SCHEMA = r"(?:`(?:[^`$]|``|\$(?!\{))+`\.)+"
"""Quoted, and without ${…}, for which Spark puts the value of a conf."""
CREATE_CONFS = (DOWNGRADE, ARBITRARY, DEFAULT_SOURCE)
COLUMN = re.compile(r"(?:`(?:[^`]|``)+`|\w+)(?:\.(?:`(?:[^`]|``)+`|\w+))*")
LITERAL = (
    r"(?:-?\d+[YSL]?|timestamp_micros\(-?\d+L\)|DATE'[\d-]+'|'(?:[^'\"\\$]|\$(?!\{))*'"
    r"|CAST\('[^'\"\\$]*' AS [A-Z]+(?:\(\d+,\d+\))?\))"
)
"""What engine.merge.derive_conjuncts writes of the source's keys."""


@overload
def check_plan(plan: Plan) -> MergeStatement: ...
@overload
def check_plan(plan: CreatePlan) -> ParsedCreate: ...
def check_plan(plan: AnyPlan) -> MergeStatement | ParsedCreate:
    """The parsed statement of ``plan``. Raises EngineError ``PLAN_FILE_INVALID`` if applying it would run anything but
    its statement, the setup statements that may stand before it, and this program's own splices."""
    if not PLAN_ID.fullmatch(plan.plan_id):
        raise invalid("its plan_id is none")
    script = parse_script(plan.statement.script)
    if len(script.setup) != len(plan.statement.setup):
        raise invalid("a statement before the last is more than one")
    if isinstance(plan, CreatePlan):
        kept: tuple[str, ...] = (*KEPT_CONFS, *CREATE_CONFS)
        statement: MergeStatement | ParsedCreate = parse_create(plan.statement.sql)
    else:
        kept = KEPT_CONFS
        statement = parse_merge(plan.statement.sql)
        _check_merge(plan, statement)
    if plan.state is not None and not names_are_safe(plan.state):
        raise invalid("its recorded state names something by what is no name")
    foreign = [key for key in plan.confs if key not in kept and not (kept != KEPT_CONFS and key.startswith(DEFAULTS))]
    if foreign:
        raise invalid(f"it sets {foreign[0]}, which no plan keeps")
    return statement


def _check_merge(plan: Plan, merge: MergeStatement) -> None:
    view = plan.session.source_view
    if view is not None and not SOURCE_VIEW.fullmatch(view):
        raise invalid("its frozen source has a name that this program does not give")
    staged = plan.session.staged
    # it is dropped in the end
    if staged is not None and not (view and re.fullmatch(f"{SCHEMA}`{staged_of(view)}`", staged)):
        raise invalid("its source is kept in a table that this program does not make")
    if staged is not None and (
        plan.source.pinned_id is None or not any(splice.part == "source" for splice in plan.splices)
    ):
        raise invalid("it keeps its source in a table, and does not merge that")
    is_behind = plan.target.name.startswith("`") or not merge.target.parts
    # the table behind a view or IDENTIFIER(…) is known once the statement is analyzed: engine.merge.check_reading
    if not is_behind and not _is_named(plan, merge.target.parts):
        raise invalid(f"its MERGE is into {merge.target.text}, and its target is {plan.target.name}")
    parts = [splice.part for splice in plan.splices]
    if len(set(parts)) < len(parts) or not all(_is_own(splice, plan, merge) for splice in plan.splices):
        raise invalid("it changes its statement in a way that this program does not")


def _is_named(plan: Plan, typed: Sequence[str]) -> bool:
    """Whether the target's name is the one typed, behind the catalog and the schema of planning or without them."""
    named, state = _lower(name_parts(plan.target.name)), plan.state or PlanningState()
    before = len(named) - len(typed)
    if before < 0 or named[before:] != _lower(typed):
        return False
    # current_schema() says it as USE had it
    current = _lower(one or "" for one in (state.catalog, state.schema_name))
    return before == 0 or named[:before] == current[-len(named) + 1 :][:before]


def _lower(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(one.lower() for one in parts)


def _is_own(splice: Splice, plan: Plan, merge: MergeStatement) -> bool:
    """Whether the text is changed as ``source_splice`` or ``condition_splice`` changes it."""
    source, view = merge.source, plan.session.source_view
    if splice.part == "condition":
        derived = [one for one in plan.scan.derived if one.text]
        return (
            splice.start == splice.end == merge.condition_end
            and splice.text == "".join(f" AND {one.text}" for one in derived)
            and all(_is_bound(one, plan, merge) for one in derived)
        )
    alias = re.escape(f" AS {source.reference}" if source.reference else "")
    if plan.session.staged is not None:
        rows = rf"{re.escape(plan.session.staged)} VERSION AS OF {version_of(plan.source.num_rows)}"
        frozen = [rf"\(SELECT \* FROM {rows}\)", rf"\(SELECT /\*\+ \w+\({ROWS}\) \*/ \* FROM {rows} AS {ROWS}\)"]
    else:
        frozen = [f"{view}", rf"\(SELECT /\*\+ \w+\({view}\) \*/ \* FROM {view}\)"] if view else []
        version = plan.source.pinned_versions.get(source.text)
        if not plan.decision.materialize and version is not None:
            frozen.append(rf"\(SELECT \* FROM {re.escape(source.text)} VERSION AS OF {version}\)")
    return (splice.start, splice.end) == (source.start, source.end_alias) and any(
        re.fullmatch(f"{one}{alias}", splice.text) for one in frozen
    )


def _is_bound(one: DerivedConjunct, plan: Plan, merge: MergeStatement) -> bool:
    # a key of ON, or a partition column, which may be generated from one
    partitions = {f"{merge.target.reference}.{quote(name)}" for name in plan.target.partition_columns}
    column = re.escape(one.column)
    within = rf"(?:{column} = {LITERAL}|{column} >= {LITERAL} AND {column} <= {LITERAL})"
    shapes = (
        within,
        rf"\({within}(?: OR {within})+\)",
        rf"{column} IN \({LITERAL}(?:, {LITERAL})*\)",
    )
    return (
        COLUMN.fullmatch(one.column) is not None
        and (one.column in merge.condition or one.column in partitions)
        and any(re.fullmatch(shape, one.text) for shape in shapes)
    )


def invalid(what: str) -> EngineError:
    return EngineError(
        "PLAN_FILE_INVALID",
        f"The plan is not what this program makes: {what}. Nothing ran.",
        "Do not trust where it comes from; plan the statement anew.",
    )
