"""Why a source is not what was planned."""

from __future__ import annotations

from engine.commit.prepare_again import files_gone
from engine.model.errors import EngineError


def test_freeze_is_no_advice_for_a_source_that_it_kept() -> None:
    error = EngineError("FAILED_READ_FILE.FILE_NOT_EXIST", "a file is gone")
    assert "--freeze" in files_gone("The source", error).hint
    assert files_gone("The source", error, is_kept=True).hint == "Plan again."
