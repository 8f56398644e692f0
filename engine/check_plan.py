"""Does a plan run what it says? A plan file may come from a stranger: what it holds beside its MERGE is checked.

Its statement is shown, and confirmed, by a person; whatever else of it reaches Spark must follow from that statement,
or be what only this program writes.
"""

from __future__ import annotations

import re

from engine.errors import EngineError
from engine.parse import MergeStatement, parse_merge, parse_script
from engine.session_state import KEPT_CONFS
from engine.values import Plan

PLAN_ID = re.compile(r"[0-9a-f]{32}")
SOURCE_VIEW = re.compile(r"deltamerge_source_[0-9a-f]{12}")


def check_plan(plan: Plan) -> None:
    """Raise EngineError ``PLAN_FILE_INVALID`` where applying ``plan`` would run anything but its statement, the setup
    statements that may stand before a MERGE, and this program's own splice of the source."""
    if not PLAN_ID.fullmatch(plan.plan_id):
        raise _invalid("its plan_id is none")
    view = plan.session.source_view
    if view is not None and not SOURCE_VIEW.fullmatch(view):
        raise _invalid("its frozen source has a name that this program does not give")
    foreign = [key for key in plan.confs if key not in KEPT_CONFS]
    if foreign:
        raise _invalid(f"it sets {foreign[0]}, which no plan keeps")
    script = parse_script(";\n".join((*plan.statement.setup, plan.statement.sql)))
    if len(script.setup) != len(plan.statement.setup):
        raise _invalid("a statement before the MERGE is more than one")
    merge = parse_merge(plan.statement.sql)
    if merge.target.text != plan.target.name:
        raise _invalid(f"its MERGE is into {merge.target.text}, and its target is {plan.target.name}")
    if not _is_own_splice(plan, merge):
        raise _invalid("it changes its statement in a way that this program does not")


def _is_own_splice(plan: Plan, merge: MergeStatement) -> bool:
    """Whether the text is changed as ``engine.splice.source_splice`` changes it, or not at all."""
    if not plan.splices:
        return True
    source, view = merge.source, plan.session.source_view
    alias = re.escape(f" AS {source.reference}" if source.reference else "")
    frozen = [rf"\(SELECT \* FROM {re.escape(source.text)} VERSION AS OF \d+\)"]
    if view is not None:
        frozen += [view, rf"\(SELECT /\*\+ \w+\({view}\) \*/ \* FROM {view}\)"]
    (splice, *others) = plan.splices
    return (
        not others
        and (splice.start, splice.end) == (source.start, source.end_alias)
        and any(re.fullmatch(f"{one}{alias}", splice.text) for one in frozen)
    )


def _invalid(what: str) -> EngineError:
    return EngineError(
        "PLAN_FILE_INVALID",
        f"The plan is not what this program makes: {what}. Nothing ran.",
        "Do not trust where it comes from; plan the statement anew.",
    )
