"""``--store s3`` against a real S3 server: the docs' recipe as printed, secrets that stay where they are, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from console.cli.exits import DONE, FAILED, UNREACHABLE, USAGE
from engine import processes
from engine.session.home import jars_directory
from engine.session.jars import cached_jars
from engine.session.state import ServerInfo, read_state
from tests.lakehouse.conftest import ROOT, Shell
from tests.lakehouse.s3 import Store

PAGE = ROOT / "docs" / "how-to" / "clusters-and-stores.md"
BUCKET = "lake"
SERVER = ("servers", "s3")


def recipe() -> str:
    """The commands that the page prints for S3, without the lines that set the keys of the reader's own store."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## S3\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    (.*)$", section, re.MULTILINE)
    return "\n".join(line for line in lines if not line.startswith("export "))


def server_of(shell: Shell) -> ServerInfo:
    info = read_state(shell.home.joinpath(*SERVER))
    assert info is not None
    return info


def test_the_recipe_of_the_docs_runs_as_printed_from_an_empty_home(shell: Shell, store: Store) -> None:
    assert store.request("PUT", f"/{BUCKET}")[0] == 200
    before, undo, after = recipe().partition("deltamerge-console --store s3 undo OP")
    ran = shell.run(before)
    assert ran.returncode == DONE, ran.stdout + ran.stderr
    assert "updates 10 · inserts 10" in ran.stdout
    assert ran.stdout.count("kept its promise") == 2
    server = server_of(shell)
    merge, create = json.loads(shell.run("deltamerge-console history --json").stdout)
    assert (merge["kind"], merge["status"], merge["version"]) == ("merge", "applied", 1)
    assert (create["kind"], create["status"]) == ("create_table", "applied")
    undone = shell.run(undo.replace("OP", merge["op_id"]) + after)
    assert undone.returncode == DONE, undone.stdout + undone.stderr
    assert "undone, as promised" in undone.stdout
    assert server_of(shell) == server  # each command used the first one's
    for version in range(3):
        assert store.request("GET", f"/{BUCKET}/orders/_delta_log/{version:020}.json")[0] == 200


def test_the_secret_is_in_no_file_and_no_command_line(shell: Shell, store: Store) -> None:
    server = server_of(shell)
    assert server.is_running()
    holding = [
        path for path in shell.folder.rglob("*") if path.is_file() and store.secret.encode() in path.read_bytes()
    ]
    assert not holding
    assert not [*shell.home.rglob("server.conf")]
    proc = Path("/proc") / str(server.pid)
    if proc.is_dir():
        assert store.secret.encode() not in (proc / "cmdline").read_bytes()
    # The jars of the store are used where they are, not copied to each start's scratch folder.
    assert not [*shell.home.rglob("*bundle*.jar")]


def test_the_doctor_tries_a_bucket_and_leaves_nothing_there(shell: Shell, store: Store) -> None:
    store.request("PUT", f"/{BUCKET}")  # it may be there
    ran = shell.run(f"deltamerge-console --store s3 doctor --path s3a://{BUCKET} --write --json")
    found = {one["name"]: (one["verdict"], one["found"]) for one in json.loads(ran.stdout)}
    place = f"s3a://{BUCKET}"
    looks = {name: found[f"{name} {place}"] for name in ("list", "read", "log store", "write")}
    assert {name: look for name, look in looks.items() if look[0] != "ok"} == {}
    listed = shell.run(f"deltamerge-console --store s3 doctor --path s3a://{BUCKET}-other --json || true")
    assert "STORE_NO_BUCKET" in listed.stdout


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("s3a://no-such-bucket/t", FAILED, "[STORE_NO_BUCKET] The store has no bucket"),
        ("s3a://AKIAKEY:a-typed-secret@lake/orders", USAGE, "[CREDENTIALS_IN_URL]"),
    ],
)
def test_a_path_that_cannot_be_used_is_one_sentence(shell: Shell, path: str, code: int, said: str) -> None:
    merge = f"MERGE INTO delta.`{path}` AS t USING orders AS s ON t.id = s.id WHEN MATCHED THEN DELETE"
    for command in (
        f"deltamerge-console --store s3 describe {path}",
        f"deltamerge-console --store s3 plan - <<< '{merge}'",
    ):
        ran = shell.run(command)
        assert ran.returncode == code, ran.stderr
        assert said in ran.stderr
        assert "a-typed-secret" not in ran.stdout + ran.stderr
        assert "SDK Attempt" not in ran.stderr


def test_a_bucket_may_hold_dots(shell: Shell, store: Store) -> None:
    assert store.request("PUT", "/a.dotted.lake")[0] == 200
    create = "CREATE TABLE delta.`s3a://a.dotted.lake/t` USING delta AS SELECT 1 AS id"
    ran = shell.run(f"deltamerge-console --store s3 apply - --yes <<< '{create}'")
    assert ran.returncode == DONE, ran.stderr
    assert store.request("GET", f"/a.dotted.lake/t/_delta_log/{0:020}.json")[0] == 200


def test_other_static_settings_are_refused_and_another_profile_has_a_server_beside(shell: Shell) -> None:
    first = server_of(shell)
    refused = shell.run("deltamerge-console --store s3 --conf spark.executor.heartbeatInterval=21s describe orders")
    assert refused.returncode == FAILED
    assert "spark.executor.heartbeatInterval can only be set when Spark starts" in refused.stderr
    (shell.home / "settings.toml").write_text(
        '[profiles.lake]\nmaster = "local[1]"\nstore = "s3"\nconf = { "spark.executor.heartbeatInterval" = "21s" }\n'
    )
    ran = shell.run(f"deltamerge-console --profile lake describe s3a://{BUCKET}/orders")
    assert ran.returncode == DONE, ran.stderr
    second = read_state(shell.home / "servers" / "lake-s3")
    assert second is not None
    assert first.is_running()
    assert second.is_running()
    assert shell.run("deltamerge-console --profile lake server stop").returncode == DONE
    assert not second.is_running()
    assert first.is_running()


def test_with_a_wrong_secret_the_server_starts_anew_and_the_store_refuses(shell: Shell) -> None:
    first = server_of(shell)
    ran = shell.run(f"deltamerge-console --store s3 describe s3a://{BUCKET}/orders", AWS_SECRET_ACCESS_KEY="wrong")
    assert ran.returncode == FAILED
    assert "[STORE_DENIED] The store refuses" in ran.stderr
    assert "AWS_SECRET_ACCESS_KEY" in ran.stderr
    assert processes.wait_gone(first.pid, first.process_started, 10)
    assert shell.run("deltamerge-console server stop").returncode == DONE
    assert not [*shell.home.rglob("server.json")]


def test_without_its_jars_and_a_network_a_store_is_refused_in_one_sentence(shell: Shell, tmp_path: Path) -> None:
    jars = tmp_path / "jars"
    jars.mkdir()
    folder = cached_jars(jars_directory(), {})[0].parents[1]  # Delta's are there
    (jars / folder.name).symlink_to(folder)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text('[profiles.lake]\nstore = "s3"\n')
    nowhere = "http://127.0.0.1:9"
    ran = shell.run(
        "deltamerge-console --profile lake describe s3a://lake/orders",
        DELTAMERGE_CONSOLE_HOME=str(home),
        DELTAMERGE_CONSOLE_JARS=str(jars),
        https_proxy=nowhere,
        http_proxy=nowhere,
        no_proxy="",
    )
    assert ran.returncode == UNREACHABLE
    assert "[NO_JARS] The jars of hadoop-aws could not be downloaded: Connection refused." in ran.stderr
    assert "Connect once to the network" in ran.stderr
