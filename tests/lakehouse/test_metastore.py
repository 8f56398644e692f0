"""Several consoles, each with a Spark and a ledger of its own, and one Hive metastore whose tables are on S3."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.cli.exits import DONE, FAILED, STALE
from engine.session.home import jars_directory
from engine.session.jars import package_jars
from engine.session.java import find_java
from engine.session.server import stop_server
from engine.session.stores import store_named
from tests.lakehouse.conftest import ROOT, Shell, keys_of, program_in
from tests.lakehouse.metastore import metastore
from tests.lakehouse.s3 import REGION, Store

PAGE = ROOT / "docs" / "how-to" / "clusters-and-stores.md"
BUCKET = "warehouse"
PROGRAM = "deltamerge-console --profile warehouse"
UPSERT = """
USING (SELECT id, 'sent' AS status FROM range(990, 1010)) AS s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET status = s.status
WHEN NOT MATCHED THEN INSERT *
"""

RUN = """
import sys
from pathlib import Path
from engine.session.connect import connect

confs = {{"spark.hadoop.hive.metastore.uris": sys.argv[2]}}
with connect("local[1]", home=Path(sys.argv[1]) / "servers" / "warehouse", store="s3", confs=confs) as session:
    for statement in {}:
        session.spark.sql(statement).collect()
"""


def created(table: str, folder: str) -> str:
    location = f"s3a://{BUCKET}/{folder}"
    return f"CREATE TABLE {table} USING delta LOCATION '{location}' AS SELECT id, 'open' AS status FROM range(1000)"


def printed_profile(uri: str) -> str:
    """The profile that the page prints, for the metastore at ``uri``, and a Spark of one core."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## A Hive metastore\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    (.*)$", section, re.MULTILINE)
    return "\n".join([*lines, 'master = "local[1]"', ""]).replace("thrift://host:9083", uri)


def hadoop_settings(store: Store) -> dict[str, str]:
    return {
        "fs.s3a.endpoint": store.endpoint,
        "fs.s3a.endpoint.region": REGION,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.access.key": store.key,
        "fs.s3a.secret.key": store.secret,
    }


@dataclass(frozen=True)
class Console:
    """The program with a home of its own, and so with a Spark and a ledger of its own. ``uri`` is the metastore's."""

    shell: Shell
    uri: str

    def apply(self, sql: str) -> str:
        (self.shell.folder / "statement.sql").write_text(sql)
        ran = self.shell.run(f"{PROGRAM} apply statement.sql --yes")
        assert ran.returncode == DONE, ran.stdout + ran.stderr
        return ran.stdout

    def plan(self, target: str, file: Path) -> dict[str, Any]:
        merge = self.shell.folder / "merge.sql"
        merge.write_text(f"MERGE INTO {target} AS t {UPSERT}")
        ran = self.shell.run(f"{PROGRAM} plan merge.sql -o {file}")
        assert ran.returncode == DONE, ran.stdout + ran.stderr
        return dict(json.loads(file.read_text()))

    def sql(self, *statements: str) -> None:
        """Statements that the program does not run, on this console's own Spark."""
        ran = self.shell.run(f"{sys.executable} - {self.shell.home} {self.uri} <<'END'\n{RUN.format(statements)}\nEND")
        assert ran.returncode == DONE, ran.stderr

    def history(self) -> list[dict[str, Any]]:
        return list(json.loads(self.shell.run("deltamerge-console history --json").stdout))


@pytest.fixture(scope="module")
def consoles(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Console, Console]]:
    folder = tmp_path_factory.mktemp("metastore")
    assert store.request("PUT", f"/{BUCKET}")[0] == 200
    (package,) = store_named("s3").packages
    jars = package_jars(find_java(), jars_directory(), [package], {}, log=folder / "jars.log")
    with ExitStack() as stack:
        uri = stack.enter_context(metastore(folder / "hive", hadoop_settings(store), jars))
        pair = []
        for name in ("one", "two"):
            shell = Shell(folder / name / "home", program_in(folder / name), keys_of(store))
            shell.home.mkdir()
            (shell.home / "settings.toml").write_text(printed_profile(uri))
            stack.callback(stop_server, shell.home / "servers" / "warehouse")
            pair.append(Console(shell, uri))
        first, second = pair
        yield first, second


def test_what_one_console_plans_another_applies_and_both_ledgers_know(
    consoles: tuple[Console, Console], tmp_path: Path
) -> None:
    one, two = consoles
    assert "kept its promise" in one.apply(created("orders", "orders"))
    plan = one.plan("spark_catalog.default.orders", tmp_path / "plan.json")
    assert (plan["promise"]["numTargetRowsUpdated"], plan["target"]["version"]) == (10, 0)
    applied = two.shell.run(f"{PROGRAM} apply {tmp_path / 'plan.json'} --yes")
    assert applied.returncode == DONE, applied.stdout + applied.stderr
    assert "kept its promise · made v1" in applied.stdout
    assert [row["status"] for row in two.history()] == ["applied"]
    assert one.history()[0]["status"] == "planned"
    told = one.shell.run(f"{PROGRAM} describe orders")
    assert "was applied by another program: spark_catalog.default.orders has it as v1." in told.stderr
    newest = one.history()[0]
    assert (newest["status"], newest["version"], newest["kept"]) == ("applied", 1, True)
    # and the one that planned it takes it back
    undone = one.shell.run(f"{PROGRAM} undo {newest['op_id']} --yes")
    assert undone.returncode == DONE, undone.stdout + undone.stderr
    assert one.history()[1]["status"] == "undone"


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        (("ALTER TABLE moved RENAME TO gone",), FAILED, "cannot be found"),
        (("DROP TABLE moved", created("moved", "elsewhere")), STALE, "another table"),
    ],
    ids=["renamed", "made anew elsewhere"],
)
def test_a_table_that_another_console_moves_is_not_taken_for_the_one_that_was_planned(
    consoles: tuple[Console, Console], tmp_path: Path, changes: tuple[str, ...], code: int, said: str
) -> None:
    one, two = consoles
    one.apply(created("moved", f"moved-{tmp_path.name}"))
    one.plan("moved", tmp_path / "plan.json")
    two.sql(*changes)
    refused = one.shell.run(f"{PROGRAM} apply {tmp_path / 'plan.json'} --yes")
    print(refused.returncode, refused.stdout, refused.stderr)
    assert (refused.returncode, said in refused.stderr) == (code, True), refused.stderr
    two.sql("DROP TABLE IF EXISTS gone", "DROP TABLE IF EXISTS moved")
