"""Two Sparks, each with a home of its own, MERGE into one table on S3 at the same time."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.model.errors import EngineError
from engine.plan_merge import plan
from engine.preflight.log_store_warning import CODE
from engine.session.connect import connect
from engine.session.server import stop_server
from engine.session.session import Session
from engine.spark.spark_errors import translate
from tests.lakehouse.conftest import keys_of
from tests.lakehouse.faults import FAULTS, faulty
from tests.lakehouse.s3 import Store

TABLE = "delta.`s3a://merges/t`"
MERGE = f"MERGE INTO {TABLE} t USING (SELECT {{}} AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
ROUNDS = 6


def merged(session: Session, number: int) -> str:
    """Empty if Delta reported the commit, else the class of its error."""
    try:
        session.spark.sql(MERGE.format(number)).collect()
    except Exception as error:
        reason: EngineError = translate(error)
        return reason.condition or reason.message[:60]
    return ""


@pytest.mark.thorough
def test_every_merge_that_is_reported_is_in_the_table_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.request("PUT", "/merges")[0] == 200
    with ExitStack() as stack:
        proxy = stack.enter_context(faulty(store, seed=2))
        for name, value in {**keys_of(store), "AWS_ENDPOINT_URL_S3": proxy.endpoint}.items():
            monkeypatch.setenv(name, value)
        homes = [tmp_path / "one", tmp_path / "two"]
        for home in homes:
            stack.callback(stop_server, home)
        one, two = (stack.enter_context(connect("local[1]", home=home, store="s3")) for home in homes)
        one.spark.sql(f"CREATE TABLE {TABLE} USING delta AS SELECT -1 AS id").collect()
        assert CODE not in [warning.code for warning in plan(one.spark, MERGE.format(0), rows=0).warnings]
        proxy.faults = FAULTS
        answers: dict[int, str] = {}
        with ThreadPoolExecutor(2) as threads:
            for turn in range(ROUNDS):
                numbers = (2 * turn, 2 * turn + 1)
                ended = [threads.submit(merged, *pair) for pair in zip((one, two), numbers, strict=True)]
                answers |= dict(zip(numbers, (future.result() for future in ended), strict=True))
        proxy.faults = {"none": 1}
        rows = Counter(row[0] for row in two.spark.sql(f"SELECT id FROM {TABLE}").collect())
    print(f"\n{answers}, {dict(proxy.met)}")
    reported = {number for number, error in answers.items() if not error}
    assert reported
    assert {number: rows[number] for number in reported} == dict.fromkeys(reported, 1)
    assert max(rows.values()) == 1
