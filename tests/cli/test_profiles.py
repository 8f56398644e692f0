"""Profiles of settings.toml, and how they and the options become one invocation."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.cli.group import resolve
from console.profiles import load_profile
from console.settings import load_settings
from engine.errors import UsageError

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


def test_the_next_command_repeats_options_but_no_token(home: Path) -> None:
    found = resolve(None, "sc://spark:15002/;token=hunter2", (), None, home)
    assert found.target == "sc://spark:15002/;token=hunter2"
    assert found.command("apply", "my plan.json") == (
        f"deltamerge-console --remote sc://spark:15002 --home {home} apply 'my plan.json'"
    )
