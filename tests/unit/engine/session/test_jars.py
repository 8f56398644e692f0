"""The resolver is given up only once it neither says a word nor brings a byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.session import jars


def test_a_large_jar_of_which_the_resolver_says_no_word_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = iter((0, 300, 600, 686, 686))
    monkeypatch.setattr(jars, "_SILENCE", 0.01)
    monkeypatch.setattr(jars, "_bytes_in", lambda _directory: next(sizes))
    with subprocess.Popen(["sleep", "600"]) as resolver:
        watch = jars._kill_when_silent(resolver, tmp_path)
        assert resolver.wait() < 0
        watch.set()
    assert not list(sizes)  # it was ended when no more came, not before


def test_the_bytes_that_came_are_counted_in_all_folders(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "a.jar").write_bytes(b"12")
    before = jars._bytes_in(tmp_path)
    (tmp_path / "cache" / "b.jar.part").write_bytes(b"345")
    assert jars._bytes_in(tmp_path) == before + 3
