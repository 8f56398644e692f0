"""A file of settings that is wrong is named in a notice, and the rest of it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.settings import FILE_NAME, Settings, load_settings, parse_toml


def loaded(home: Path, text: str) -> Settings:
    (home / FILE_NAME).write_text(text, encoding="utf-8")
    return load_settings(home)


def test_without_a_file_there_are_defaults_and_no_notice(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings()


def test_all_settings_are_read(tmp_path: Path) -> None:
    found = loaded(
        tmp_path, 'theme = "dark"\nascii = true\n[keys]\n"plan.run" = "f5"\ncommit.run = "f6"\n[profiles.p]\n'
    )
    assert found == Settings("dark", True, {"plan.run": "f5", "commit.run": "f6"})


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("theme = ", "is not valid TOML"),
        ("colour = 1", "unknown setting 'colour' is ignored"),
        ("theme = 3", "theme must be a name in quotes, not 3"),
        ('ascii = "yes"', "ascii must be true or false, not 'yes'"),
        ("keys = 3", "keys must be a table"),
        ("[keys]\nplan = 5", "keys: plan must be a key in quotes, not 5"),
    ],
)
def test_what_cannot_be_used_is_told_and_left_at_its_default(tmp_path: Path, text: str, notice: str) -> None:
    found = loaded(tmp_path, text)
    (told,) = found.notices
    assert notice in told
    assert (found.theme, found.ascii, dict(found.keys)) == (None, None, {})


def test_a_key_that_can_be_used_stays_beside_one_that_cannot(tmp_path: Path) -> None:
    assert loaded(tmp_path, '[keys]\na = "f1"\nb = 2').keys == {"a": "f1"}


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in load_settings(tmp_path).notices[0]
    (tmp_path / FILE_NAME).unlink()
    (tmp_path / FILE_NAME).mkdir()
    assert "cannot be read" in load_settings(tmp_path).notices[0]


def test_what_is_no_toml_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="line 1"):
        parse_toml("a = ]")
