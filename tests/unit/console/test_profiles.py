"""A profile names a Spark and its rules. One that is misspelt is refused, never taken for one that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.cli.group import LOCAL
from console.profiles import Profile, load_profile, profile_of
from console.settings import FILE_NAME
from engine.commit.policy import Policy
from engine.model.errors import UsageError


def home(place: Path, text: str) -> Path:
    (place / FILE_NAME).write_text(text, encoding="utf-8")
    return place


def test_a_profile_is_read_whole(tmp_path: Path) -> None:
    place = home(
        tmp_path,
        '[profiles.prod]\nremote = "sc://spark:15002"\nproduction = true\nprivate = true\n'
        'conf."a.b" = "UTC"\nconf.c.d = 3\nconf.e = true\npolicy.read_only = true\npolicy.max_files_rewritten = 0.2\n',
    )
    assert load_profile(place, "prod") == Profile(
        target="sc://spark:15002",
        confs={"a.b": "UTC", "c.d": "3", "e": "true"},
        private=True,
        policy=Policy(read_only=True, max_files_rewritten=0.2),
        name="prod",
        production=True,
    )


def test_a_master_is_a_target_too(tmp_path: Path) -> None:
    assert load_profile(home(tmp_path, '[profiles.p]\nmaster = "local[2]"'), "p").target == "local[2]"
    assert load_profile(home(tmp_path, "[profiles.p]"), "p").target is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "There is no profile 'p'.*known: none"),
        ("profiles = 3", "known: none"),
        ("[profiles.b]\n[profiles.a]", "known: a, b"),
        ("profiles.p = 3", "is no table of settings"),
        ('[profiles.p]\nmastre = "x"', "unknown setting 'mastre'"),
        ('[profiles.p]\nmaster = "local"\nremote = "sc://h"', "both a master and a remote"),
        ("[profiles.p]\nmaster = 3", "texts in quotes"),
        ('[profiles.p]\nremote = "spark://h"', "remote is sc://HOST:PORT"),
        ('[profiles.p]\nprivate = "yes"', "private and production are true or false"),
        ("[profiles.p]\nproduction = 1", "private and production are true or false"),
        ("[profiles.p]\nconf = 3", "conf is a table"),
        ("[profiles.p]\npolicy = 3", "policy is a table of rules"),
        ("[profiles.p]\npolicy.readonly = true", "unknown rule 'readonly'"),
        ("[profiles.p]\npolicy.read_only = 1", "read_only is true or false"),
        ("[profiles.p]\npolicy.max_rows_deleted = true", "is a share from 0 to 1"),
        ("[profiles.p]\npolicy.max_rows_deleted = 20", "is a share from 0 to 1"),
        ('[profiles.p]\npolicy.max_rows_deleted = "0.2"', "is a share from 0 to 1"),
        ("[profiles.p", "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_profile_is_told(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        load_profile(home(tmp_path, text), "p")
    assert refused.value.condition == "BAD_PROFILE"


def test_without_a_file_no_profile_is_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="known: none"):
        load_profile(tmp_path, "p")
    assert profile_of(tmp_path, "local") is None


@pytest.mark.parametrize(
    ("typed", "same"),
    [
        ("sc://db.example.org:15002", True),
        ("sc://DB.example.org", True),
        ("sc://db.example.org:15002/;token=x", True),
        ("sc://db.example.org/", True),
        ("sc://db.example.org:1500", False),
        ("sc://other.example.org", False),
        ("local[2]", False),
    ],
)
@pytest.mark.parametrize("rule", ["policy.read_only = true", "production = true", "private = true"])
def test_the_address_of_a_place_with_rules_is_held_to_them(tmp_path: Path, typed: str, same: bool, rule: str) -> None:
    place = home(tmp_path, f'[profiles.other]\nstore = "s3"\n[profiles.prod]\nremote = "sc://db.example.org"\n{rule}')
    found = profile_of(place, typed)
    assert (found.name if found else None) == ("prod" if same else None)


@pytest.mark.parametrize("of_profile", ['master = "local[4]"\n', 'master = "local"\n'])
def test_the_spark_of_this_machine_is_held_to_the_rules_of_its_profile(tmp_path: Path, of_profile: str) -> None:
    place = home(tmp_path, f"[profiles.mine]\n{of_profile}policy.read_only = true")
    for target in (LOCAL, "local[2]"):
        found = profile_of(place, target)
        assert found is not None
        assert found.policy.read_only
    assert profile_of(place, "spark://h:7077") is None
    assert profile_of(home(tmp_path, "[profiles.careful]\npolicy.read_only = true"), LOCAL) is None


def test_a_profile_without_rules_says_nothing_of_an_address(tmp_path: Path) -> None:
    place = home(tmp_path, '[profiles.p]\nremote = "sc://h"\nconf = {a = "b"}')
    assert profile_of(place, "sc://h") is None
    assert profile_of(home(tmp_path, "profiles = 3"), "sc://h") is None
    assert profile_of(home(tmp_path, '[profiles.bad]\nmaster = "spark://x"\npolicy.nothing = 1'), LOCAL) is None


def test_a_file_that_cannot_be_read_may_hold_rules(tmp_path: Path) -> None:
    place = home(tmp_path, "theme = ")
    with pytest.raises(UsageError, match="cannot be read"):
        profile_of(place, "sc://h")
