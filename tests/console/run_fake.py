"""The console on the fake backend, to be looked at: ``python -m tests.console.run_fake [--home DIR] …``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--place")
    parser.add_argument("--ascii", action="store_true")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds that connect, plan and apply take")
    parser.add_argument("--plan", choices=("clean", "warned", "refused"), default="clean")
    options = parser.parse_args()

    from console.app import DeltaMergeApp
    from tests.console.lazy import LazyFake

    home = options.home or Path(tempfile.mkdtemp(prefix="deltamerge-fake-"))
    backend = LazyFake(home, slow=options.slow, plan=options.plan)
    DeltaMergeApp(backend, home=home, initial=options.place, ascii=options.ascii).run()


if __name__ == "__main__":
    main()
