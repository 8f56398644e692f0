"""Random merges into random tables keep their promise: ``pytest -m fidelity --merges N`` runs any number of them.

CI runs merges of a fixed seed over Connect. With ``--merges`` the seed is new (``--hypothesis-seed`` repeats one), and
both kinds of session run. The rows that each merge leaves are compared, and over Connect another process applies every
fifth plan.
``--merges-log FILE`` adds a line of JSON for each table, so that many short runs count as one long one.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from engine.spark.confs import confs_set
from tests.conftest import own_schema
from tests.engine.elsewhere import Apply, another_process
from tests.engine.fidelity import check_merge
from tests.engine.random_merges import Story, stories
from tests.engine.random_tables import make_sources

IN_EACH_STORY = 4
IN_CI = 100
GOOD = ("committed", "nothing to do", "must accept")


@pytest.fixture(scope="module")
def connect_shop(spark: Any) -> Iterator[Any]:
    """The Connect session in a schema that has the sources."""
    yield from _shop(spark)


@pytest.fixture(scope="module")
def elsewhere(spark_home: Path, connect_shop: Any) -> Iterator[Apply]:
    schema = connect_shop.sql("SELECT current_database()").collect()[0][0]
    with another_process(spark_home, schema) as applying:
        yield applying


@pytest.fixture(scope="module")
def classic_shop(classic: Any) -> Iterator[Any]:
    yield from _shop(classic)


def _shop(spark: Any) -> Iterator[Any]:
    with own_schema(spark):
        make_sources(spark)
        yield spark


@pytest.mark.fidelity
@pytest.mark.parametrize("kind", ["connect", "classic"])
def test_random_merges_keep_their_promise(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    wanted, log = request.config.getoption("--merges"), request.config.getoption("--merges-log")
    if wanted is None and kind == "classic":
        pytest.skip("the fixed seed runs over Connect; --merges runs both")
    spark = request.getfixturevalue(f"{kind}_shop")
    elsewhere = request.getfixturevalue("elsewhere") if kind == "connect" else None
    applied_by = cycle((elsewhere, None, None, None, None))
    seen: Counter[str] = Counter()
    checked: set[Story] = set()

    @settings(
        max_examples=(wanted or IN_CI) // IN_EACH_STORY + 1,  # hypothesis draws the first one twice
        derandomize=wanted is None,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(stories(IN_EACH_STORY))
    def run(story: Story) -> None:
        if story not in checked:
            results = check_story(spark, story, str(tmp_path), applied_by=applied_by)
            seen.update(results)
            checked.add(story)
            if log:
                with log.open("a") as file:
                    file.write(json.dumps({"at": now(), "session": kind, "merges": results}) + "\n")

    run()
    print(f"{kind}: {seen.total()} merges, {dict(seen)}")
    assert seen["committed"] > seen.total() // 2, "most merges should do something"


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def check_story(spark: Any, story: Story, directory: str, *, applied_by: Iterator[Apply | None]) -> list[str]:
    """Run it; what fails comes with the SQL that repeats it. ``applied_by`` applies one plan after the other."""
    table = f"t_{uuid.uuid4().hex[:10]}"
    ran = story.table.statements(table, directory)
    found: list[str] = []
    for statement in ran:
        try:
            spark.sql(statement)
        except Exception as error:
            if not lacks_a_feature(spark, error):
                raise
            spark.sql(f"DROP TABLE IF EXISTS {table}")
            return found
    for merge in story.merges:
        script = merge.script(table, directory)
        ran.append(script)
        try:
            with confs_set(spark, dict(merge.confs)):
                found.append(check_merge(spark, table, script, values=True, elsewhere=next(applied_by)))
        except Exception as error:
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note("To repeat it:\n" + ";\n".join(ran))
            raise
    spark.sql(f"DROP TABLE {table}")
    return found


def lacks_a_feature(spark: Any, error: Exception) -> bool:
    """Whether an older engine cannot make such a table: with Delta 4.4 on Spark 4.0 and 4.1 a DELETE fails in one with
    row tracking (a MERGE does not), and older Deltas there know no identity or generated columns in SQL."""
    known = "`_metadata` cannot be resolved", "UNSUPPORTED_FEATURE.TABLE_OPERATION"
    return spark.version.startswith(("4.0.", "4.1.")) and any(text in str(error) for text in known)
