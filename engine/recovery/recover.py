"""Settle operations whose process is gone: end their work on the server, then read the table's log.

A killed console or CI job leaves a row "running" in the ledger, and Spark may go on with its MERGE and commit it
seconds later. So this attaches to the dead client's session and interrupts what runs there under the plan's id; once
that has ended, the log shows for good whether there is a commit.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from engine.commit.commit_identity import own_commit
from engine.commit.exactly_once import why_undone
from engine.commit.promise_check import outcome_of, outcome_of_commit
from engine.commit.rehearsal_clone import drop_left_over
from engine.commit.staleness import Staleness, commit_line
from engine.ledger.abandoned import Abandoned
from engine.merge.prepare_source import free_source
from engine.merge.should_materialize_source import MODE
from engine.merge.stage_source import drop_own
from engine.model.errors import ENDS_ALL, EngineError
from engine.model.operation import Outcome, UndoPlan
from engine.model.plan import Plan
from engine.model.plans import AnyPlan
from engine.recovery.rebuild_ledger import rebuild
from engine.recovery.undo import put_back
from engine.session.leases import place_of_session
from engine.session.server import answers
from engine.spark.confs import AT_ANY_AGE
from engine.spark.session_state import whereabouts
from engine.spark.spark_errors import is_missing, translate
from engine.spark.store_errors import STORE_CODES
from engine.sql.names import quote
from engine.table.commits import Commit, commits_since
from engine.table.table_state import catalog_entry, has_log_directory
from engine.table.tables import table_versions
from engine.table.transaction import RUN_CONFS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.ledger.history import History
    from engine.session.connect import Session

PATIENCE_SECONDS = 120.0
"""How long interrupted work may take to end: it may be deleting what it wrote."""
POLL_SECONDS = 0.1
BLIND_SECONDS = 10.0
"""How long interrupted work gets to end where Spark cannot tell whether it has ended."""
EMBEDDED_HOST: Final = "127.0.0.1"
"""Where the embedded servers listen. By another name this machine may be the end of a tunnel: that nothing answers
there does not say that the server has ended."""
NOT_COMMITTED: Final = "The program that ran it, or its Spark, is gone, and the table's log has no commit of it."


@dataclass(frozen=True)
class Recovered:
    """What became of one operation; "running" if that is unknown. ``why`` that is, or what else was done.
    ``elsewhere``: it began under another host name. ``by_another``: another program applied the plan."""

    op_id: str
    table: str
    status: Literal["applied", "not_committed", "running"]
    version: int | None = None
    why: str = ""
    elsewhere: bool = False
    by_another: bool = False


def recover(session: Session, history: History, say: Callable[[str], None] = lambda _: None) -> tuple[Recovered, ...]:
    """Settle the operations whose process is gone, and the saved plans that another program has applied, and close the
    sessions and the clones that were left.

    A damaged ledger is rebuilt first. What is still unknown stays as it is for the next call. Reads the ledger three
    times if there is nothing to do.
    """
    rebuild(session.spark, history, say)
    recovered = []
    unsettled = history.unsettled()
    for one in (one for one in unsettled if not one.is_saved):
        if one.elsewhere:
            # its process may commit yet: only a commit settles it
            with contextlib.suppress(EngineError):
                committed = _if_committed(session.spark, history, one, history.get(one.op_id).plan)
                recovered += [committed] if committed else []
            continue
        if not history.take_over(one.op_id):
            continue  # another process settles it
        say(f"finding out what became of operation {one.op_id}, which was left unfinished")
        try:
            recovered.append(_settle(session, history, one))
        except Exception as error:
            history.give_back(one)
            recovered.append(Recovered(one.op_id, one.table, "running", why=translate(error).message))
    recovered += _applied_by_others(session.spark, history, [one for one in unsettled if one.is_saved])
    # another process may be settling what ran in one of them
    session.close_left_behind(history.running_sessions())
    drop_left_over(session.spark)
    return tuple(recovered)


def _applied_by_others(spark: SparkSession, history: History, saved: Sequence[Abandoned]) -> Iterator[Recovered]:
    """Those of the saved plans that are committed, each written into the ledger. Each table is asked once."""
    for path in dict.fromkeys(one.table_path for one in saved):
        planned = {one: -1 if one.checked is None else one.checked for one in saved if one.table_path == path}
        try:
            every = commits_of(spark, next(iter(planned)), min(planned.values()))
            for one, version in planned.items():
                since = tuple(commit for commit in every if commit.version > version)
                commit = own_commit(spark, path, since, one.kind, plan_id=one.plan_id)
                if commit is not None:
                    # read by now alone: it may be long, and most of them are not applied
                    yield _recorded(spark, history, one, history.get(one.op_id).plan, commit, since)
        except EngineError as error:
            if error.condition in (*ENDS_ALL, *STORE_CODES):
                return  # each of the others would be waited for as long


def sentence(recovered: Recovered) -> str:
    """What became of it, as a sentence."""
    if recovered.by_another:
        told = f"The plan of operation {recovered.op_id} was applied by another program"
        return (
            f"{told}. {recovered.why}"
            if recovered.why
            else f"{told}: {recovered.table} has it as v{recovered.version}."
        )
    by = "under another host name" if recovered.elsewhere else "by a program that is gone, or lost Spark"
    begun = f"Operation {recovered.op_id} on {recovered.table} was begun {by}"
    if recovered.status == "applied":
        return f"{begun}: it is {'done' if recovered.version is None else f'committed, as v{recovered.version}'}."
    if recovered.status == "not_committed":
        return f"{begun}: it is not committed, and will not be. {recovered.why}".strip()
    return f"{begun}, and what became of it cannot be found out yet: {recovered.why}"


def _settle(session: Session, history: History, one: Abandoned) -> Recovered:
    plan = history.get(one.op_id).plan
    client = _session_of(session, history.path.parent, one)
    if client is None:
        return _read_log(session.spark, history, one, plan)
    is_applied = False
    try:
        # not under an apply that somebody has begun anew
        with client.turn(_raise_busy):
            ended = end_work(client, one.plan_id, interrupts=not one.given_up)
            recovered = _read_log(session.spark, history, one, plan, ended=ended)
            is_applied = recovered.status == "applied"
            if plan is not None and not one.given_up:
                _tidy(client.spark, plan, is_applied)
        return recovered
    finally:
        # the frozen source of a saved plan may be merged yet; any other session of a dead client is closed after all
        client.close(keep=one.given_up or not is_applied)


def _raise_busy() -> NoReturn:
    message = "Another program works in the session that it ran in."
    raise EngineError("STILL_RUNNING", message, "Run the command again when that has ended.")


def _session_of(session: Session, home: Path, one: Abandoned) -> Session | None:
    """The session that the operation ran in; None if it ended with its server or its process. Raises EngineError
    if it was on another server of ``home``, or may be alive on another."""
    where = one.where
    if where.endpoint is None or where.session_id is None:
        return None
    place = place_of_session(home, where.session_id)
    here = Path(session.server.log).parents[1].resolve() if session.server else None
    if place is not None and place.resolve() != here:
        # It has a catalog and a store of its own: what is not found here may be there.
        raise EngineError(
            "RUNS_ELSEWHERE",
            f"It ran on the embedded server in {place}, and only that can tell.",
            "Run any command with the --profile or --store that it had.",
        )
    if where.endpoint == whereabouts(session.spark).endpoint:
        return session.attach(where.session_id, where.user_id)
    host, _, port = where.endpoint.rpartition(":")
    if host == EMBEDDED_HOST and not answers(int(port)):
        return None
    raise EngineError(
        "RUNS_ELSEWHERE",
        f"It ran on the Spark at {where.endpoint}, and only that can tell.",
        f"Run any command with --remote sc://{where.endpoint}.",
    )


def end_work(client: Session, tag: str, *, interrupts: bool = True) -> bool:
    """Interrupt what runs under ``tag`` in a session whose client is gone, and wait until nothing runs there; only wait
    where the client may live, and may have begun it again.

    Whether it is known to have ended. Before 4.2 Spark tells only whether there was something to interrupt: what this
    call interrupted gets some time, and may go on.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    quiet, blind = 0, False
    # twice: what the client sent in its last moment may begin only now
    while quiet < 2:
        interrupted = interrupts and client.interrupt_tag(tag)
        busy = client.is_busy()
        if busy is None:
            busy = interrupted
            blind = blind or interrupted or not interrupts
        quiet = 0 if busy else quiet + 1
        if time.monotonic() > deadline:
            raise EngineError(
                "STILL_RUNNING",
                f"Spark was asked to stop it {PATIENCE_SECONDS:.0f} s ago and still runs it.",
                "Try again later, or restart Spark.",
            )
        time.sleep(POLL_SECONDS)
    if blind:
        time.sleep(BLIND_SECONDS)
    return not blind


def _read_log(
    spark: SparkSession, history: History, one: Abandoned, plan: AnyPlan | None, *, ended: bool = True
) -> Recovered:
    """Write into the ledger what the log shows. Unless the operation has ``ended`` only a commit is final."""
    if committed := _if_committed(spark, history, one, plan):
        return committed
    if not ended:
        raise EngineError(
            "STILL_RUNNING",
            f"It was interrupted just now, and Spark {spark.version} does not tell when it ends.",
            "Run the command again.",
        )
    why = _retention_back(spark, history.begun_undo(one.op_id), one.op_id)
    history.failed(one.op_id, f"{NOT_COMMITTED} {why}".strip(), "not_committed", just_now=False)
    return Recovered(one.op_id, one.table, "not_committed", why=why)


def _retention_back(spark: SparkSession, undo: UndoPlan | None, op_id: str) -> str:
    """Put back what an undo had raised before it died, and tell it."""
    if undo is None or not undo.raise_retention:
        return ""
    try:
        # by its path, as in commits_of
        is_changed = put_back(spark, undo.model_copy(update={"table": f"delta.{quote(undo.path)}"}), op_id)
    except EngineError as error:
        if error.condition in (*ENDS_ALL, *STORE_CODES):
            raise  # asked again by the next command
        return "" if is_missing(error) else f"The retention that it may have raised is not put back: {error.message}"
    return "The retention that it had raised is put back." if is_changed else ""


def _if_committed(spark: SparkSession, history: History, one: Abandoned, plan: AnyPlan | None) -> Recovered | None:
    """Write the operation's commit into the ledger; None if the log has none."""
    if one.kind == "drop":
        return _if_dropped(spark, history, one)
    planned = plan.target.version if plan else one.checked
    since = commits_of(spark, one, -1 if planned is None else planned)
    commit = own_commit(spark, one.table_path, since, one.kind, plan_id=one.plan_id, op_id=one.op_id)
    return None if commit is None else _recorded(spark, history, one, plan, commit, since)


def _recorded(
    spark: SparkSession,
    history: History,
    one: Abandoned,
    plan: AnyPlan | None,
    commit: Commit,
    since: tuple[Commit, ...],
) -> Recovered:
    """Write ``commit``, which is the operation's, into the ledger. ``since`` are the commits since the plan."""
    outcome = _outcome(one, plan, commit, since)
    if isinstance(plan, Plan):
        drop_own(spark, plan)
    at = _committed_at(spark, one, commit.version, since[0].version)
    if at is not None:
        at = max(at, history.get(one.op_id).operation.started_at)  # the clock of a store may be behind
    taken_back = why_undone(commit, [later for later in since if later.version > commit.version])
    if one.undoes is None:
        history.applied(one.op_id, outcome, at, undone=bool(taken_back))
    else:
        history.undone(one.op_id, outcome, at)
    return Recovered(
        one.op_id,
        one.table,
        "applied",
        commit.version,
        why=taken_back if one.is_saved else "",
        elsewhere=one.elsewhere,
        by_another=one.is_saved,
    )


def _committed_at(spark: SparkSession, one: Abandoned, version: int, newest: int) -> str | None:
    """When that version was committed, as ISO 8601 UTC; None if the table does not tell it."""
    try:
        found = table_versions(spark, f"delta.{quote(one.table_path)}", newest - version + 1)
    except EngineError:
        return None
    return next((entry.timestamp or None for entry in found if entry.version == version), None)


def _if_dropped(spark: SparkSession, history: History, one: Abandoned) -> Recovered | None:
    """Write into the ledger that an undo by DROP is done; None if the table is still there, or may be: this catalog may
    be another than the one in which it was dropped."""
    undo = history.begun_undo(one.op_id)
    if one.elsewhere or catalog_entry(spark, one.table) is not None:
        return None
    if undo is not None and not undo.files_stay and has_log_directory(spark, undo.path):
        return None
    outcome = Outcome(
        plan_id=one.plan_id, op_id=one.op_id, table=one.table, verdict="fresh", version=None, read_version=None
    )
    history.undone(one.op_id, outcome)
    return Recovered(one.op_id, one.table, "applied", elsewhere=one.elsewhere)


def commits_of(spark: SparkSession, one: Abandoned, version: int) -> tuple[Commit, ...]:
    """The commits of the operation's table after ``version``, newest first; none if the table is gone.

    By its path: under the dead client's USE the name may have meant another table. By its name if the catalog hides
    the path.
    """
    path = f"delta.{quote(one.table_path)}"
    try:
        try:
            return commits_since(spark, path, version)[1]
        except EngineError as error:
            if error.condition in STORE_CODES:
                raise  # a store that cannot be reached from here says nothing of its tables
            return commits_since(spark, one.table, version)[1]
    except EngineError as error:
        if is_missing(error):
            return ()
        raise


def _outcome(one: Abandoned, plan: AnyPlan | None, commit: Commit, since: tuple[Commit, ...]) -> Outcome:
    if not isinstance(plan, Plan):
        return outcome_of_commit(commit, one.plan_id, one.op_id, one.table)
    checked = commit.read_version if one.is_saved or one.checked is None else one.checked
    newer = tuple(commit_line(c) for c in since if checked is not None and c.version <= checked)
    version = plan.target.version if checked is None else checked
    return outcome_of(plan, one.op_id, Staleness("disjoint" if newer else "fresh", version, newer), commit)


def _tidy(spark: SparkSession, plan: AnyPlan, is_applied: bool) -> None:
    """Undo in the session what its client had set for the statement: left set, Delta would skip its later writes."""
    with contextlib.suppress(Exception):
        for key in (*RUN_CONFS, *AT_ANY_AGE):
            spark.conf.unset(key)
        if MODE in plan.confs:
            spark.conf.set(MODE, plan.confs[MODE])
        else:
            spark.conf.unset(MODE)
    if is_applied and isinstance(plan, Plan):
        free_source(spark, plan.session.source_view)
