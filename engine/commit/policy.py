"""What a place allows: rules over a plan, checked before anything runs. Pure, but for the error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal

from engine.model.counted import count, percent
from engine.model.errors import RefusedError
from engine.model.instant import instant

if TYPE_CHECKING:
    from engine.model.operation import UndoPlan
    from engine.model.plan import PolicyVerdict
    from engine.model.plans import AnyPlan

HINT = "The rule is in the policy of this profile, in settings.toml."


@dataclass(frozen=True)
class Policy:
    """The rules; the default allows everything. Shares are from 0 to 1, of the table as it was planned.

    ``typed_confirmation`` (the table's name is to be typed, so nobody confirms unseen) and ``typed_above`` (the same,
    where more than that share of the files or rows is rewritten, or of the rows deleted; of an undo, where more than
    that share of the files goes) are asked by whoever talks with a person, before a commit and before an undo.
    ``reviewed_plans``: only a plan that was saved and then looked at with ``show``. ``require_undo``: only a plan whose
    commit can be taken back. ``verify``: what is expected of the table is checked on the committed version, too; it
    refuses no plan.
    """

    read_only: bool = False
    typed_confirmation: bool = False
    typed_above: float | None = None
    max_files_rewritten: float | None = None
    max_rows_rewritten: float | None = None
    max_rows_deleted: float | None = None
    forbid_unconditional_deletes: bool = False
    reviewed_plans: bool = False
    require_undo: bool = False
    verify: bool = False


@dataclass(frozen=True)
class Broken:
    """A rule that a plan breaks, by its name in the settings, and how."""

    rule: str
    how: str


def broken_rules(policy: Policy, plan: AnyPlan, *, reviewed: bool) -> tuple[Broken, ...]:
    """The rules that applying ``plan`` would break, in the order of Policy. What is not known is not allowed."""
    if not plan.changes_something:
        return ()
    rules = [Broken("read_only", "nothing may be written")] if policy.read_only else []
    for share in _shares(plan):
        rule = f"max_{share.what}_{share.done}"
        most: float | None = getattr(policy, rule)
        if most is not None and (how := share.above(most)):
            rules.append(Broken(rule, f"{how}, and at most {percent(most)} may be"))
    if policy.forbid_unconditional_deletes and (how := _deletes_unconditionally(plan)):
        rules.append(Broken("forbid_unconditional_deletes", how))
    if policy.reviewed_plans and not reviewed:
        how = "the plan was not saved and then looked at with `show PLAN.json` under this profile"
        rules.append(Broken("reviewed_plans", how))
    if policy.require_undo and (how := _no_undo(plan)):
        rules.append(Broken("require_undo", how))
    return tuple(rules)


ASKING = ("typed_confirmation", "typed_above", "reviewed_plans")
"""Rules that ask a person for something."""


def with_verdicts(policy: Policy, plan: AnyPlan, *, reviewed: bool = False) -> AnyPlan:
    """``plan`` with what each rule in force says of it, in the order of Policy."""
    return plan.model_copy(update={"policy": tuple(_verdicts(policy, plan, reviewed=reviewed))})


def _verdicts(policy: Policy, plan: AnyPlan, *, reviewed: bool) -> Iterator[PolicyVerdict]:
    # a plan has it loaded; who only has rules does not wait for pydantic
    from engine.model.plan import PolicyVerdict

    said = {one.rule: one.how for one in broken_rules(policy, plan, reviewed=reviewed)}
    if (typed := to_be_typed(policy, plan)) is not None and plan.changes_something:
        said[typed.rule] = typed.how
    shares = {f"max_{share.what}_{share.done}": share.value for share in _shares(plan)}
    known = [value for value in shares.values() if value is not None]
    shares["typed_above"] = max(known) if len(known) == len(shares) else None
    for rule, setting in asdict(policy).items():
        if setting is None or setting is False or rule == "verify":
            continue
        limit = None if setting is True else float(setting)
        verdict: Literal["allowed", "asks", "refused"] = "refused"
        if rule not in said:
            verdict = "allowed"
        elif rule in ASKING:
            verdict = "asks"
        yield PolicyVerdict(rule=rule, limit=limit, value=shares.get(rule), verdict=verdict, how=said.get(rule, ""))


def to_be_typed(policy: Policy, plan: AnyPlan) -> Broken | None:
    """The rule by which the table's name is to be typed before ``plan`` is applied, or None: a yes will do."""
    shares = _shares(plan) if plan.changes_something else ()
    return _to_be_typed(policy, next(filter(None, (share.above(policy.typed_above) for share in shares)), ""))


def undo_to_be_typed(policy: Policy, undo_plan: UndoPlan) -> Broken | None:
    """The same before an operation is taken back."""
    promise = undo_plan.promise
    if not promise:
        # a DROP promises no numbers
        return _to_be_typed(policy, "every file would be removed")
    gone = promise["numRemovedFiles"]
    now = promise["numOfFilesAfterRestore"] - promise["numRestoredFiles"] + gone
    return _to_be_typed(policy, _Share("files", "removed", gone, now).above(policy.typed_above))


def _to_be_typed(policy: Policy, how: str) -> Broken | None:
    """``how`` more goes than may without it, "" if it does not."""
    if policy.typed_confirmation:
        return Broken("typed_confirmation", "the table's name is to be typed")
    if policy.typed_above is not None and how:
        return Broken("typed_above", f"{how}: the table's name is to be typed")
    return None


def check_policy(policy: Policy, plan: AnyPlan, *, reviewed: bool) -> None:
    """Raise RefusedError ``POLICY_<RULE>`` for the first rule that applying ``plan`` would break."""
    for broken in broken_rules(policy, plan, reviewed=reviewed):
        raise refusal(broken)


def why_not_writable(policy: Policy) -> RefusedError | None:
    """The refusal of every write, None where some may be."""
    return refusal(Broken("read_only", "nothing may be written")) if policy.read_only else None


def check_writable(policy: Policy) -> None:
    """Raise RefusedError where nothing may be written at all."""
    if (refused := why_not_writable(policy)) is not None:
        raise refused


def refusal(broken: Broken) -> RefusedError:
    return RefusedError(f"POLICY_{broken.rule.upper()}", f"The policy forbids it ({broken.rule}): {broken.how}.", HINT)


@dataclass(frozen=True)
class _Share:
    """``part`` of the ``whole`` table, None where it is not known; ``unknown`` says why."""

    what: str
    done: str
    part: int | None
    whole: int | None
    unknown: str = ""

    @property
    def value(self) -> float | None:
        """The share, from 0 to 1."""
        if self.part == 0:
            return 0.0
        return None if self.part is None or not self.whole else min(self.part / self.whole, 1.0)

    def above(self, most: float | None) -> str:
        """How it is more than ``most``, or "" where it is not, or no limit is set."""
        if most is None or self.part == 0:
            return ""
        if self.part is None or self.whole is None:
            return f"the share of {self.what} {self.done} is not known ({self.unknown})"
        if self.part <= most * self.whole:
            return ""
        return f"{self.part:,} of {count(self.whole, self.what.removesuffix('s'))} would be {self.done}"


def _shares(plan: AnyPlan) -> tuple[_Share, ...]:
    files, rewritten, deleted = _changed(plan)
    rows = plan.target.num_rows
    unknown = "the log does not count the rows of each file" if rows is None else "the plan does not promise it"
    return (
        _Share("files", "rewritten", files, plan.target.num_files, unknown),
        _Share("rows", "rewritten", rewritten, rows, unknown),
        _Share("rows", "deleted", deleted, rows, unknown),
    )


def _changed(plan: AnyPlan) -> tuple[int, int | None, int | None]:
    """(files rewritten, rows rewritten, rows deleted), None for what is not known. REPLACE removes what was there."""
    if plan.kind == "create_table":
        rows = plan.target.num_rows if plan.files_removed else 0
        return plan.files_removed, rows, rows
    names = ("numTargetRowsUpdated", "numTargetRowsCopied", "numTargetRowsDeleted")
    rows_of = [plan.promise.get(name) for name in names]
    known = [rows for rows in rows_of if rows is not None]
    return len(plan.changed_files), sum(known) if len(known) == len(names) else None, rows_of[-1]


def _deletes_unconditionally(plan: AnyPlan) -> str:
    if plan.kind == "create_table":
        return "REPLACE removes every row" if plan.files_removed else ""
    deletes = [clause.condition for clause in plan.statement.clauses if clause.action_kind == "delete"]
    if None in deletes:
        return "a DELETE clause has no condition"
    bare = next((one for one in deletes if one and not _looks_at_a_row(one)), None)
    return f"a DELETE clause has the condition {bare}, which looks at no column" if bare else ""


def _looks_at_a_row(condition: str) -> bool:
    # the grammar takes longer to import than the command line to start
    from engine.sql.expressions import read_expression

    return any(node.kind in ("name", "star", "subquery") for node in read_expression(condition)[1].walk())


def _no_undo(plan: AnyPlan) -> str:
    """Why the commit of ``plan`` cannot be taken back, or ""."""
    if plan.undo is None:
        return "whether its commit can be taken back is not known: plan again"
    if plan.undo.possible is None:
        return f"whether its commit can be taken back is not known: {plan.undo.why}"
    if not plan.undo.possible:
        return f"its commit cannot be taken back: {plan.undo.why}"
    # what was judged of the table's age then says nothing after that time
    until = plan.undo.until
    if until is not None and instant(until) <= datetime.now(timezone.utc):
        return f"that its commit can be taken back was judged until {until}: plan again"
    return ""
