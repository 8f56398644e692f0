"""``engine.processes``: a process named for good."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engine import processes


def test_a_process_without_proc_started_at_the_same_time_in_every_time_zone_and_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "Path", lambda _: tmp_path / "no proc here")
    told = set()
    for zone, language in (("UTC", "C"), ("Asia/Tokyo", "de_DE.UTF-8"), ("XYZ+5", "C.UTF-8")):
        monkeypatch.setenv("TZ", zone)
        monkeypatch.setenv("LC_ALL", language)
        told.add(processes.start_time(os.getpid()))
    assert len(told) == 1
    assert "" not in told


def test_a_process_that_nobody_can_look_at_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is taken for dead has its work interrupted."""
    started = processes.start_time(os.getpid())

    def no_more_files(*_: object, **__: object) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "read_text", no_more_files)
    assert processes.is_running(os.getpid(), started)
