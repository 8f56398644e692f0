"""A store that refuses, fails, hangs or is cut off: one sentence each, in time, and no commit twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.cli.interruptible import Interruptible
from engine.commit.apply_plan import apply
from engine.ledger.history import History
from engine.model.errors import EngineError
from engine.model.progress import Progress
from engine.plan_merge import plan
from engine.recovery.recover import recover
from engine.recovery.undo import plan_undo, undo
from engine.session.connect import connect
from engine.session.server import stop_server
from engine.session.session import Session
from engine.spark.store_errors import STORE_CODES
from tests.cli.lines import Lines
from tests.conftest import SERVER_CONFS
from tests.lakehouse.conftest import keys_of
from tests.lakehouse.faults import NO_FAULTS, FaultyProxy, faulty
from tests.lakehouse.s3 import Store

BUCKET = "outages"
MERGE = "MERGE INTO {} t USING (SELECT {} AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"


@dataclass(frozen=True)
class Lake:
    """A Spark that reaches the store by the proxy, and the ledger of its home."""

    session: Session
    proxy: FaultyProxy
    history: History

    def table(self, name: str) -> str:
        table = f"delta.`s3a://{BUCKET}/{name}`"
        self.session.spark.sql(f"CREATE TABLE {table} USING delta AS SELECT -1L AS id").collect()
        return table

    def ids(self, table: str) -> list[int]:
        return sorted(row.id for row in self.session.spark.sql(f"SELECT id FROM {table}").collect())

    def cut(self, fault: str, seconds: float) -> None:
        """The store is cut off from now on for so long."""
        self.proxy.faults = {fault: 1}
        threading.Timer(seconds, self.mend).start()

    def mend(self) -> None:
        self.proxy.faults = NO_FAULTS


@pytest.fixture(scope="module")
def lake(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    home = tmp_path_factory.mktemp("outages")
    assert store.request("PUT", f"/{BUCKET}")[0] == 200
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        proxy = stack.enter_context(faulty(store, seed=3))
        for name, value in {**keys_of(store), "AWS_ENDPOINT_URL_S3": proxy.endpoint}.items():
            environment.setenv(name, value)
        stack.callback(stop_server, home)
        session = stack.enter_context(connect("local[2]", home=home, store="s3", confs=SERVER_CONFS))
        yield Lake(session, proxy, History(Path(home / "ledger.duckdb")))


@pytest.fixture(scope="module")
def table(lake: Lake) -> str:
    return lake.table("refused")


@pytest.fixture(autouse=True)
def _mended(lake: Lake) -> Iterator[None]:
    yield
    lake.mend()


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("403 SignatureDoesNotMatch", "STORE_DENIED", "the secret key is not that of the access key"),
        ("403 InvalidAccessKeyId", "STORE_DENIED", "does not know the access key"),
        ("400 ExpiredToken", "STORE_DENIED", "session token"),
        ("403 RequestTimeTooSkewed", "STORE_DENIED", "clock"),
        ("403 AccessDenied", "STORE_DENIED", f"refuses access to the bucket {BUCKET}"),
        ("404 NoSuchBucket", "STORE_NO_BUCKET", f"no bucket {BUCKET}"),
        pytest.param("503 SlowDown", "STORE_FAILED", "503", marks=pytest.mark.thorough),
        pytest.param("500 before", "STORE_FAILED", "500", marks=pytest.mark.thorough),
        pytest.param("request lost", "STORE_UNREACHABLE", "does not answer", marks=pytest.mark.thorough),
        pytest.param("hangs", "STORE_UNREACHABLE", "takes too long", marks=pytest.mark.thorough),
        pytest.param("ends", "STORE_UNREACHABLE", "break off", marks=pytest.mark.thorough),
        pytest.param("stalls", "STORE_UNREACHABLE", "stall", marks=pytest.mark.thorough),
    ],
)
def test_a_plan_on_a_store_that_refuses_or_fails_is_one_sentence(
    lake: Lake, table: str, fault: str, code: str, said: str
) -> None:
    lake.proxy.faults = {fault: 1}
    began = time.monotonic()
    with pytest.raises(EngineError) as refused:
        plan(lake.session.spark, MERGE.format(table, 1), rows=0)
    print(f"\n{fault}: {time.monotonic() - began:.0f} s, {refused.value} {refused.value.hint}")
    assert refused.value.condition == code
    assert said in refused.value.message
    assert refused.value.hint
    assert "Request ID" not in refused.value.message


def test_without_the_right_to_write_apply_says_so_and_writes_nothing(lake: Lake, table: str) -> None:
    planned = plan(lake.session.spark, MERGE.format(table, 2), rows=0)
    lake.proxy.faults = {"PUT 403 AccessDenied": 1}
    with pytest.raises(EngineError) as refused:
        apply(lake.session.spark, planned, history=lake.history)
    assert refused.value.condition == "STORE_DENIED"
    assert f"refuses to write into the bucket {BUCKET}" in refused.value.message
    lake.mend()
    assert lake.ids(table) == [-1]


def test_a_cut_of_some_seconds_is_told_and_waited_for(lake: Lake, table: str) -> None:
    narrator = Lines()
    # the store is asked every two seconds: it must be silent for so much longer than the five that are told
    lake.cut("hangs", 9)
    Interruptible(
        lake.session,
        narrator,
        lambda tag, say: plan(lake.session.spark, MERGE.format(table, 3), rows=0, tag=tag, on_progress=say),
    ).run()
    host = lake.proxy.endpoint.removeprefix("http://")
    assert [line for line in narrator.lines if line.startswith(f"the store at {host} has not answered for 5 s")]


def at(moment: str, cut: Callable[[], None]) -> Callable[[Progress], None]:
    """Cut when the work says that it is in that phase, or when it begins to write."""
    done = False

    def say(progress: Progress) -> None:
        nonlocal done
        if not done and moment in (progress.phase, progress.stage):
            done = True
            cut()

    return say


PHASES = ("plan", "apply: check that nothing moved", "apply: writing", "apply: committed", "undo: writing")


@pytest.mark.thorough
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("fault", ["hangs", "request lost"])
@pytest.mark.parametrize("seconds", [1, 10, 60])
def test_after_a_cut_the_ledger_is_what_the_log_is(lake: Lake, phase: str, fault: str, seconds: int) -> None:
    """Either it is waited for, or the error is the store's; the next command knows what became of it."""
    name = "".join(letter for letter in f"{phase}-{fault}-{seconds}" if letter.isalnum())
    spark, table = lake.session.spark, lake.table(name)
    step, _, moment = phase.partition(": ")
    began = time.monotonic()
    failed: list[EngineError] = []

    def cut() -> None:
        lake.cut(fault, seconds)

    def attempted(work: Callable[[], Any]) -> Any:
        try:
            return work()
        except EngineError as error:
            failed.append(error)
            return None

    def when(this: str) -> Callable[[Progress], None]:
        return at(moment, cut) if this == step else lambda _: None

    if step == "plan":
        cut()
    planned = attempted(lambda: plan(spark, MERGE.format(table, 7), rows=0))
    ended = threading.Event()
    outcome = planned and attempted(lambda: apply(spark, planned, history=lake.history, on_progress=when("apply")))
    if outcome is not None and step == "undo":
        undo_plan = plan_undo(spark, lake.history.get(outcome.op_id))
        attempted(lambda: undo(spark, undo_plan, history=lake.history, on_progress=when("undo")))
    while lake.proxy.faults != NO_FAULTS:
        ended.wait(0.1)
    for error in failed:
        print(f"\n{name}: {time.monotonic() - began:.0f} s, {error} {error.hint}")
        assert error.condition in STORE_CODES
    recover(lake.session, lake.history)
    rows = lake.ids(table)
    assert rows.count(7) <= 1, "a commit was made twice"
    states = {one.status for one in lake.history.list() if name in one.table and one.kind == "merge"}
    assert (7 in rows) == ("applied" in states), (rows, states)
    if seconds == 1:
        assert not failed
