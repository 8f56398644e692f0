"""Profiles of settings.toml, and how they and the options become one invocation."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from console.cli.group import resolve
from console.cli.invocation import Invocation
from console.profiles import load_profile
from console.settings import load_settings
from console.spark_backend import SparkBackend
from engine.commit.policy import Policy
from engine.ledger.history import LEFT_OUT
from engine.model.checks import Checks
from engine.model.errors import EngineError, UsageError
from engine.session.home import prepare_home
from tests.cli.running import Shell
from tests.engine.plans import make_plan

TEXT = """
theme = "night"
[profiles.prod]
remote = "sc://spark:15002/;token=t"
private = true
conf."spark.sql.session.timeZone" = "UTC"
[profiles.prod.conf.spark.sql]
shuffle.partitions = 8
ansi.enabled = true
[profiles.bad]
remot = "x"
[profiles.both]
master = "local"
remote = "sc://x"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "settings.toml").write_text(TEXT)
    return tmp_path


def test_profile(home: Path) -> None:
    assert load_settings(home).notices == ()
    profile = load_profile(home, "prod")
    assert profile.target == "sc://spark:15002/;token=t"
    assert profile.private
    assert profile.confs == {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.ansi.enabled": "true",
    }


POLICY = """
[profiles.prod]
remote = "sc://spark:15002/;token=t"
policy.typed_confirmation = true
policy.max_files_rewritten = 0.2
"""


def test_a_profile_brings_its_policy(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(POLICY)
    rules = Policy(typed_confirmation=True, max_files_rewritten=0.2)
    assert load_profile(tmp_path, "prod").policy == rules
    assert resolve(None, None, (), "prod", tmp_path).policy == rules


def test_who_types_the_address_is_held_to_the_policy_of_its_profile(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(POLICY)
    assert resolve(None, "sc://SPARK:15002/;token=other", (), None, tmp_path).policy.typed_confirmation
    assert not resolve(None, "sc://elsewhere:15002", (), None, tmp_path).policy.typed_confirmation
    assert not resolve(None, None, (), None, tmp_path).policy.typed_confirmation


def test_the_address_of_a_profile_is_not_used_under_the_name_of_another(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(POLICY + "[profiles.dev]\n")
    with pytest.raises(click.UsageError, match="is the Spark of the profile prod"):
        resolve(None, "sc://spark:15002", (), "dev", tmp_path)
    assert resolve(None, "sc://spark:15002", (), "prod", tmp_path).policy.typed_confirmation
    assert resolve(None, "sc://elsewhere:15002", (), "dev", tmp_path).profile == "dev"


def test_production_is_known_by_the_profile_and_by_its_address(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[profiles.prod]\nremote = "sc://spark:15002"\nproduction = true\n')
    for target, profile in ((None, "prod"), ("sc://spark:15002", None)):
        asked = resolve(None, target, (), profile, tmp_path)
        assert (asked.profile, asked.production) == ("prod", True)
    assert not resolve(None, None, (), None, tmp_path).production


@pytest.mark.parametrize(
    "rule", ["read_onli = true", "read_only = 1", "max_rows_deleted = 2", "max_rows_deleted = true", "x = 'y'"]
)
def test_a_rule_that_cannot_be_read_is_told(tmp_path: Path, rule: str) -> None:
    (tmp_path / "settings.toml").write_text(f"[profiles.prod.policy]\n{rule}\n")
    with pytest.raises(UsageError) as caught:
        load_profile(tmp_path, "prod")
    assert caught.value.condition == "BAD_PROFILE"


@pytest.mark.parametrize("name", ["bad", "both", "nope"])
def test_profile_that_cannot_be_used(home: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_profile(home, name)
    assert caught.value.condition == "BAD_PROFILE"


def test_no_settings_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="known: none"):
        load_profile(tmp_path, "prod")


def test_what_is_typed_wins(home: Path) -> None:
    found = resolve("local[2]", None, ("spark.sql.ansi.enabled=false", "a=b=c"), "prod", home)
    assert found.target == "local[2]"
    assert found.confs["spark.sql.ansi.enabled"] == "false"
    assert found.confs["a"] == "b=c"
    assert found.private


STORES = """
[profiles.lake]
store = "s3"
[profiles."lake/2"]
store = "s3"
[profiles.big]
conf."spark.driver.memory" = "8g"
[profiles.plain]
conf."spark.sql.ansi.enabled" = true
[profiles.odd]
store = "ftp"
[profiles.far]
remote = "sc://x"
store = "s3"
"""


@pytest.mark.parametrize(
    ("profile", "store", "place"),
    [
        (None, None, ""),
        (None, "s3", "servers/s3"),
        ("lake", None, "servers/lake-s3"),
        ("lake", "gcs", "servers/lake-gcs"),
        ("lake/2", None, "servers/lake_2-s3-"),
        ("big", None, "servers/big"),
        ("plain", None, ""),
    ],
)
def test_a_store_and_static_settings_have_a_server_of_their_own(
    tmp_path: Path, profile: str | None, store: str | None, place: str
) -> None:
    (tmp_path / "settings.toml").write_text(STORES)
    found = resolve(None, None, (), profile, tmp_path, store)
    assert found.server_place.relative_to(tmp_path).as_posix().startswith(place or ".")
    assert found.place == tmp_path
    assert found.store == (store or ("s3" if profile and "lake" in profile else ""))
    assert ("--store" in found.options) == (store is not None)


@pytest.mark.parametrize("name", ["odd", "far"])
def test_a_store_that_cannot_be_had(tmp_path: Path, name: str) -> None:
    (tmp_path / "settings.toml").write_text(STORES)
    with pytest.raises(UsageError) as caught:
        load_profile(tmp_path, name)
    assert caught.value.condition == "BAD_PROFILE"
    with pytest.raises(click.UsageError, match="--store is for the embedded server"):
        resolve(None, "sc://x", (), None, tmp_path, "s3")


def test_the_next_command_repeats_options_but_no_token(home: Path) -> None:
    found = resolve(None, "sc://spark:15002/;token=hunter2", (), None, home)
    assert found.target == "sc://spark:15002/;token=hunter2"
    assert found.command("apply", "my plan.json") == (
        f"deltamerge-console --remote sc://spark:15002 --home {home} apply 'my plan.json'"
    )


@pytest.mark.parametrize("typed", ["sc://spark", "sc://Spark/", "sc://spark/;token=t", "sc://spark:15002"])
@pytest.mark.parametrize("named", ["sc://spark", "sc://spark:15002/"])
def test_an_address_without_a_port_is_the_one_with_the_default_port(tmp_path: Path, named: str, typed: str) -> None:
    (tmp_path / "settings.toml").write_text(f'[profiles.prod]\nremote = "{named}"\nproduction = true\n')
    assert resolve(None, typed, (), None, tmp_path).production
    assert not resolve(None, "sc://spark:15003", (), None, tmp_path).production


def test_the_demo_writes_nothing_where_the_policy_is_read_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.session.connect.connect", lambda *_, **__: pytest.fail("it connected"))
    (tmp_path / "settings.toml").write_text('[profiles.look]\nmaster = "local[2]"\npolicy.read_only = true\n')
    ran = Shell(capsys, tmp_path, "--profile", "look")("demo", "--headless")
    assert ran.code != 0
    assert "read_only" in ran.err


def test_a_profile_says_which_silent_faults_count(tmp_path: Path) -> None:
    settings = (
        '[profiles.x.checks]\noff = ["SOURCE_EMPTY"]\nerrors = ["NULL_KEYS_INSERTED"]\nignore_columns = ["loaded_at"]\n'
        'version_column = "seq"\ndeletes_share = 0.5\nmax_bytes = 1000\ncompare_max_bytes = 2000\nhistory = true\n'
    )
    (tmp_path / "settings.toml").write_text(settings, encoding="utf-8")
    assert load_profile(tmp_path, "x").checks == Checks(
        off=("SOURCE_EMPTY",),
        errors=("NULL_KEYS_INSERTED",),
        ignore_columns=("loaded_at",),
        version_column="seq",
        deletes_share=0.5,
        max_bytes=1000,
        compare_max_bytes=2000,
        history=True,
    )


@pytest.mark.parametrize(
    "line",
    [
        'off = ["NULL_KEY_INSERTED"]',
        'off = "SOURCE_EMPTY"',
        "errors = [1]",
        "version_column = true",
        "deletes_share = 2",
        "deletes_share = true",
        "max_bytes = 0.5",
        "history = 1",
        "of = []",
    ],
)
def test_checks_that_are_misspelt_are_an_error(tmp_path: Path, line: str) -> None:
    """A fault must not pass for one that is not there."""
    (tmp_path / "settings.toml").write_text(f"[profiles.x.checks]\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"profile 'x'"):
        load_profile(tmp_path, "x")


def test_a_private_profile_keeps_no_message_of_spark_in_the_ledger(tmp_path: Path) -> None:
    home = prepare_home(tmp_path / "home")
    ledgers = (
        Invocation("local", home, private=True).history(),
        SparkBackend("local", home, private=True)._ledger(),
    )
    for ledger in ledgers:
        op_id = ledger.begin(make_plan())
        ledger.failed_by(op_id, EngineError("CAST_INVALID_INPUT", "The value 'secret' cannot be cast."))
        assert ledger.get(op_id).operation.error == f"[CAST_INVALID_INPUT] {LEFT_OUT}"
