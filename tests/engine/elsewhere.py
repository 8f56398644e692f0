"""Another process, in which plans are applied, each in a session of its own on the same server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from engine.model.operation import Outcome

Apply = Callable[[str], Outcome]


@contextmanager
def another_process(home: Path, schema: str) -> Iterator[Apply]:
    """What applies the JSON of a plan there, with ``schema`` current."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield lambda text: pool.submit(_apply, home, schema, text).result()


def _apply(home: Path, schema: str, text: str) -> Outcome:
    from engine.commit.apply_plan import apply
    from engine.model.plan import Plan
    from engine.session.connect import connect
    from tests.conftest import SERVER_CONFS

    with connect("local[2]", home=home, confs=SERVER_CONFS) as session:
        session.spark.sql(f"USE {schema}")
        return apply(session.spark, Plan.from_json(text))
