"""``--remote sc://…``: a Connect server that somebody else started, in another process, with its own token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.cli.exits import DONE, FAILED, UNREACHABLE
from engine.session.connect import connect
from engine.session.home import ledger_path
from tests.cluster.connect_server import DELTA, connect_server
from tests.conftest import TEST_CONFS

pytestmark = pytest.mark.thorough
TOKEN = "an-operators-own-token"
MERGE = (
    "MERGE INTO t USING pq s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
)


@dataclass(frozen=True)
class Remote:
    """``run("plan", file)`` is the program in a process of its own, on the server at ``endpoint``."""

    endpoint: str
    home: Path

    def run(self, *words: str, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
        options = ("--home", str(self.home), "--remote", self.endpoint)
        return subprocess.run(  # noqa: PLW1510 - its code is looked at
            [sys.executable, "-c", "from console.cli import main; main()", *options, *words],
            env={**os.environ, "SPARK_CONNECT_AUTHENTICATE_TOKEN": token},
            capture_output=True,
            text=True,
            timeout=300,
        )


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    folder = tmp_path_factory.mktemp("remote")
    with connect_server(folder, TOKEN, {**DELTA, **TEST_CONFS}) as endpoint:
        yield Remote(endpoint, folder / "home")


def test_a_merge_is_planned_and_applied_there_and_found_in_the_history(remote: Remote, tmp_path: Path) -> None:
    with connect(f"{remote.endpoint}/;token={TOKEN}", home=remote.home) as session:
        session.spark.sql("CREATE TABLE t USING delta AS SELECT id, 0 AS v FROM range(0, 40, 1, 4)")
        session.spark.sql("CREATE TABLE pq USING parquet AS SELECT id, 7 AS v FROM range(30, 50, 1, 4)")
    merge, saved = tmp_path / "merge.sql", tmp_path / "plan.json"
    merge.write_text(MERGE)
    looked = remote.run("plan", str(merge), "-o", str(saved))
    assert looked.returncode == DONE, looked.stderr
    assert json.loads(saved.read_text())["decision"]["materialize"]
    assert "updates 10 · inserts 10" in looked.stdout
    applied = remote.run("apply", str(saved), "--yes")
    assert applied.returncode == DONE, applied.stderr
    (row,) = json.loads(remote.run("history", "--json").stdout)
    assert (row["status"], row["kept"], row["version"]) == ("applied", True, 1)
    again = remote.run("apply", str(saved), "--yes")
    assert again.returncode == DONE
    assert "already" in again.stdout + again.stderr
    with connect(f"{remote.endpoint}/;token={TOKEN}", home=remote.home) as session:
        found = {row.id: row.v for row in session.spark.sql("SELECT id, v FROM t").collect()}
    assert found == {id: (7 if id >= 30 else 0) for id in range(50)}


def test_the_doctor_finds_nothing_wrong_with_it(remote: Remote) -> None:
    ran = remote.run("doctor", "--spark", "--json")
    found = {one["name"]: one for one in json.loads(ran.stdout)}
    assert {one["verdict"] for name, one in found.items() if name.startswith("spark ")} == {"ok"}, found
    assert ran.returncode == DONE


def test_another_token_is_refused_and_none_is_shown_or_kept(remote: Remote) -> None:
    ran = remote.run("describe", "t", token="somebody-elses")
    assert ran.returncode == UNREACHABLE
    assert "token" in ran.stderr.lower()
    assert len(ran.stderr.splitlines()) <= 3, ran.stderr
    for one in (TOKEN, "somebody-elses"):
        assert one not in ran.stdout + ran.stderr
        assert not [path for path in remote.home.rglob("*") if path.is_file() and one.encode() in path.read_bytes()]
    assert ledger_path(remote.home).exists()


@pytest.mark.parametrize(
    ("jars", "said"),
    [
        (False, ("jars are not there", "--packages io.delta:delta-spark")),
        (True, ("jars are there", "its extension and its catalog")),
    ],
    ids=["no jars", "jars alone"],
)
def test_the_doctor_says_what_a_server_lacks(tmp_path: Path, jars: bool, said: tuple[str, str]) -> None:
    with connect_server(tmp_path, TOKEN, {}, jars=jars) as endpoint:
        ran = Remote(endpoint, tmp_path / "home").run("doctor", "--spark", "--json")
    assert ran.returncode == FAILED
    found = {one["name"].removeprefix("spark "): one for one in json.loads(ran.stdout)}
    assert {name for name, one in found.items() if one["verdict"] == "fail"} == {"extension", "catalog", "delta"}
    assert "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension" in found["extension"]["hint"]
    assert "spark.sql.catalog.spark_catalog=" in found["catalog"]["hint"]
    assert said[0] in found["delta"]["found"]
    assert said[1] in found["delta"]["hint"]
