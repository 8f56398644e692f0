"""Why a source is not what was planned."""

from __future__ import annotations

import pytest

from engine.commit.prepare_again import files_gone, of_another_source
from engine.model.errors import EngineError


def test_freeze_is_no_advice_for_a_source_that_it_kept() -> None:
    error = EngineError("FAILED_READ_FILE.FILE_NOT_EXIST", "a file is gone")
    assert "--freeze" in files_gone("The source", error).hint
    assert files_gone("The source", error, is_kept=True).hint == "Plan again."


@pytest.mark.parametrize(
    ("condition", "stale"),
    [
        ("TABLE_OR_VIEW_NOT_FOUND", "SOURCE_GONE"),
        ("PATH_NOT_FOUND", "SOURCE_GONE"),
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "SOURCE_CHANGED"),
        ("FIELD_NOT_FOUND", "SOURCE_CHANGED"),
        ("STORE_FORBIDDEN", None),
    ],
)
def test_a_statement_that_spark_took_and_takes_no_more_has_another_source(condition: str, stale: str | None) -> None:
    found = of_another_source(EngineError(condition, "It says so."))
    assert (found.condition if found else None) == stale
