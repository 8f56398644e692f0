"""What Spark read is held to the table's log."""

from __future__ import annotations

import pytest

from engine.merge.find_touched_files import hold_to_log
from engine.model.errors import EngineError
from engine.table.log_file import LogFile

FILE = LogFile("a.parquet", 10, {}, 1, 0, "", 77, 0, None)


def test_rows_of_a_file_that_the_log_does_not_list_are_no_promise() -> None:
    hold_to_log([77], [FILE])
    with pytest.raises(EngineError) as raised:
        hold_to_log([77, 78], [FILE])
    assert raised.value.condition == "FILES_NOT_UNDERSTOOD"
