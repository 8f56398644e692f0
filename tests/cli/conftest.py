from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    """The command line on a home of its own."""
    return Shell(capsys, tmp_path / "home")
