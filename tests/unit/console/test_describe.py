"""What ``describe`` prints of a table."""

from __future__ import annotations

import pytest

from console.cli.browse import _detail
from console.cli.streams import show
from tests.console import samples


def test_properties_stand_apart_from_the_facts_that_they_may_be_called_like(capsys: pytest.CaptureFixture[str]) -> None:
    properties = {"id": "42", "path": "/else", "files": "none"}
    show(*_detail(samples.a_detail("sales.orders").model_copy(update={"properties": properties}), []))
    facts, _, below = capsys.readouterr().out.partition("Properties\n")
    assert "/warehouse/sales.db/orders" in facts
    assert "a9f1c3d2" in facts
    assert "40, 934 MB" in facts
    assert below.splitlines()[:3] == ["  id     42", "  path   /else", "  files  none"]
