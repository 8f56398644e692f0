"""A backend that is only made when it is first asked, as the real one must be: the first frame comes before."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class LazyFake:
    """Knows its endpoint and its home at once; everything else comes with the first call."""

    def __init__(self, home: Path, *, slow: float = 0.0, plan: str = "clean") -> None:
        self.endpoint = "local[*]"
        self.home = home
        self._slow = slow
        self._plan = plan
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            from tests.console import samples
            from tests.console.fake_backend import FakeBackend

            delays = dict.fromkeys(("connect", "restart", "plan", "apply"), self._slow)
            self._made = FakeBackend(self.home, delays=delays)
            plans = {"warned": samples.a_warned_plan, "refused": samples.a_refused_plan}
            if self._plan in plans:
                self._made.plans = [plans[self._plan]()]
        return getattr(self._made, name)
