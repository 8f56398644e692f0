"""``engine.processes``: a process named for good."""

from __future__ import annotations

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
