"""What a CLONE commits (CreateDeltaTableCommand.handleClone). Its schema, properties and protocol are those of
engine.create.metadata_after."""

from __future__ import annotations

from engine.create.committed_files import CommittedFiles
from engine.create.provided_metadata import Provided


def handle_clone(provided: Provided) -> CommittedFiles:
    """The source's own files: a shallow clone copies and removes none."""
    zeros = dict.fromkeys(("numRemovedFiles", "removedFilesSize", "numCopiedFiles", "copiedFilesSize"), 0)
    source = {"sourceTableSize": provided.num_bytes, "sourceNumOfFiles": provided.num_files}
    known = {name: number for name, number in source.items() if number is not None}
    return CommittedFiles(provided.num_files, provided.num_bytes, {**known, **zeros})
