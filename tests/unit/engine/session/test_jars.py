"""The resolver: when it is given up, and what it is told in secret."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.session import jars
from engine.session.java import Java

PASSWORD = "hunter2hunter2"
MIRROR = f"https://user:{PASSWORD}@mirror.example/maven"


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


def test_the_password_of_a_mirror_is_in_no_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []

    def run(command: list[str], *_: Any) -> tuple[int, str]:
        assert PASSWORD not in " ".join(command)
        file = Path(command[command.index("--properties-file") + 1])
        told.append((file.read_text(), file.stat().st_mode & 0o777))
        return 0, ""

    monkeypatch.setattr(jars, "_run", run)
    confs = {"spark.jars.packages": "g:a:1", "spark.jars.repositories": MIRROR}
    words = jars._Words("jars", tmp_path / "log", None)
    jars._resolve(Java(Path("/no/bin/java"), 21, "here"), tmp_path, confs, words)
    ((text, mode),) = told
    assert {"spark.jars.packages=g:a:1", f"spark.jars.repositories={MIRROR}"} <= {*text.splitlines()}
    assert mode == 0o600
    assert not [*tmp_path.iterdir()], "nothing of it stays"


def test_the_password_of_a_mirror_is_in_no_log(tmp_path: Path) -> None:
    words = jars._Words("jars", tmp_path / "log", None)
    said = f"print({f'{MIRROR} added as a remote repository'!r})"
    code, output = jars._run([sys.executable, "-c", said], {}, tmp_path, words)
    assert (code, output) == (0, "https://user:***@mirror.example/maven added as a remote repository\n")
    assert words.log.read_text() == output
