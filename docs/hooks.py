"""What the docs take from the rest of the repository: the pictures that the tests draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "tests" / "console" / "__snapshots__" / "test_snapshots"
SHOWN = {
    "preview.svg": "test_picture[preview-120x36].svg",
    "tables.svg": "test_picture[tables-120x36].svg",
    "form.svg": "test_picture[merge_form-120x36].svg",
    "commit.svg": "test_picture[commit-80x24].svg",
    "history.svg": "test_picture[history-120x36].svg",
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pictures under ``pictures/``."""
    for name, drawn in SHOWN.items():
        files.append(File.generated(config, f"pictures/{name}", content=(PICTURES / drawn).read_bytes()))
    return files
