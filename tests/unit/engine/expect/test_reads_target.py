"""The tables that an expectation's SQL names, as Spark prints them."""

from __future__ import annotations

import pytest

from engine.expect.reads_target import COMPUTED, RELATIONS, _names
from engine.spark.explain import tree

WITHIN = """'Project [*]
+- CTE [t, w]
   :  :- 'SubqueryAlias t
   :  :  +- 'UnresolvedRelation [db, t], [], false
   :  +- 'SubqueryAlias w
   :     +- 'UnresolvedRelation [T], [], false
   +- 'Filter 'id IN (list#1 [])
      :  +- 'Project ['id]
      :     +- 'UnresolvedRelation [u], [], false
      +- 'UnresolvedRelation [after], [], false"""


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        ("'UnresolvedRelation [db, t], [], false", ["`db`.`t`"]),
        ("'UnresolvedRelation [delta, /lake/a, b]/t], [], false", ["`delta`.`/lake/a, b]/t`"]),
        ("'UnresolvedRelation [delta, s3a://bucket/t], [x=1], false", ["`delta`.`s3a://bucket/t`"]),
        ("'RelationTimeTravel 'UnresolvedRelation [t], [], false, 3", []),
        ("'UnresolvedRelation [Before], [], false", []),
        ("'PlanWithUnresolvedIdentifier concat(a, b), f", [COMPUTED]),
        (WITHIN, ["`db`.`t`", "`u`"]),
    ],
)
def test_the_tables_that_are_named(printed: str, names: list[str]) -> None:
    root = tree(printed)
    assert root is not None
    assert sorted(_names(root, RELATIONS)) == sorted(names)
