"""Which of many alike cases run by default; the rest are ``thorough``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def some(names: Iterable[str], always: Collection[str]) -> list[Any]:
    """The names as parameters; those that are not among ``always`` are thorough."""
    every = list(names)
    assert set(always) <= set(every), set(always) - set(every)
    return [pytest.param(name, id=name, marks=[] if name in always else [pytest.mark.thorough]) for name in every]


def every_nth(cases: dict[str, Any], step: int) -> list[Any]:
    """The cases as parameters; only every ``step``-th is not thorough. A tuple gives several arguments."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            id=name,
            marks=[pytest.mark.thorough] if at % step else [],
        )
        for at, (name, case) in enumerate(cases.items())
    ]
