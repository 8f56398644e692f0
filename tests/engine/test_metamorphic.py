"""Relations that hold between plans of random merges: ``pytest -m fidelity --metamorphic N`` asks them of N merges.

CI asks a few merges of a fixed seed, until each relation was asked often enough. With ``--metamorphic`` the
seed is new (``--hypothesis-seed`` repeats one). Hypothesis shrinks the merge that fails, and asks it of nothing but the
relation that it breaks.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from engine.model.errors import EngineError
from engine.plan_merge import plan
from engine.spark.confs import confs_set
from tests.conftest import own_schema
from tests.engine.metamorphic import RELATIONS, Drawn, Planned, Relation
from tests.engine.random_merges import Merge, merges, of_source, of_target
from tests.engine.random_tables import Table, make_sources, tables

IN_CI = 3
OFTEN_ENOUGH = 2
"""Of how many merges CI asks each relation."""


@st.composite
def cases(draw: st.DrawFn) -> tuple[Table, Merge, Drawn]:
    table = draw(tables)
    drawn = st.builds(
        Drawn,
        clause=st.integers(0, 5),
        of_target=st.sampled_from(of_target(table)),
        of_source=st.sampled_from(of_source(table)),
        key=st.integers(0, 64),
    )
    return table, draw(merges(table)), draw(drawn)


@pytest.fixture(scope="module")
def shop(spark: Any) -> Iterator[Any]:
    """The session in a schema that has the sources."""
    with own_schema(spark):
        make_sources(spark)
        yield spark


@pytest.mark.fidelity
def test_the_relations_hold(shop: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    wanted = request.config.getoption("--metamorphic")
    asked: Counter[str] = Counter()
    broken: list[str] = []

    @settings(
        max_examples=wanted or IN_CI,
        derandomize=wanted is None,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def run(case: tuple[Table, Merge, Drawn]) -> None:
        asked["merges"] += 1
        relations = [one for one in RELATIONS if wanted or asked[one.__name__] < OFTEN_ENOUGH]
        if broken:
            relations = [one for one in RELATIONS if one.__name__ in broken]
        if relations:
            ask(shop, str(tmp_path), case, relations=relations, asked=asked, broken=broken)

    run()
    print(dict(asked))
    assert all(asked[relation.__name__] for relation in RELATIONS), asked


def ask(
    spark: Any,
    directory: str,
    case: tuple[Table, Merge, Drawn],
    *,
    relations: Sequence[Relation],
    asked: Counter[str],
    broken: list[str],
) -> None:
    """Ask ``relations``; the one that fails is in ``broken`` then, and comes with the SQL that repeats it."""
    table, merge, drawn = case
    name = f"t_{uuid.uuid4().hex[:10]}"
    ran = [*table.statements(name, directory), merge.script(name, directory)]
    for statement in ran[:-1]:
        spark.sql(statement)
    with confs_set(spark, dict(merge.confs)):
        try:
            found = plan(spark, ran[-1], rows=0)
        except EngineError:
            return
        if found.refused:
            return
        planned = Planned(spark, name, directory, table, merge, drawn, found)
        for relation in relations:
            try:
                asked[relation.__name__] += relation(planned)
            except Exception as error:
                broken[:] = [relation.__name__]
                if hasattr(error, "add_note"):  # Python 3.11
                    error.add_note(f"{relation.__name__} of {drawn}. To repeat it:\n" + ";\n".join(ran))
                raise
    spark.sql(f"DROP TABLE {name}")
