"""What a CLONE commits."""

from __future__ import annotations

from engine.create.handle_clone import handle_clone
from engine.create.provided_metadata import Provided


def test_a_clone_commits_the_files_of_its_source() -> None:
    committed = handle_clone(Provided((), (), num_files=3, num_bytes=30))
    assert (committed.num_files, committed.num_bytes) == (3, 30)
    assert (committed.metrics["sourceNumOfFiles"], committed.metrics["numCopiedFiles"]) == (3, 0)


def test_of_files_that_the_catalog_keeps_nothing_is_promised() -> None:
    committed = handle_clone(Provided((), (), num_files=None, num_bytes=None))
    assert (committed.num_files, committed.num_bytes) == (None, None)
    assert "sourceNumOfFiles" not in committed.metrics
    assert committed.metrics["numCopiedFiles"] == 0
