"""The target's name replaced by its clone's, longer qualifiers cut, and nothing else changed."""

from __future__ import annotations

import pytest

from engine.merge.cloned_target import retargeted
from engine.sql.parse import parse_merge
from engine.sql.resolve import sides_of

CLONE = "`c`.`x`"


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (
            "MERGE INTO db.t AS x USING s ON x.id = s.id WHEN MATCHED THEN DELETE",
            "MERGE INTO `c`.`x` AS x USING s ON x.id = s.id WHEN MATCHED THEN DELETE",
        ),
        (
            "MERGE INTO db.t USING s ON db.t.id = s.id AND t.v > 'db.t.id' /* db.t.id */ "
            "WHEN MATCHED AND cat.db.t.v IS NULL THEN UPDATE SET db.t.v = concat(s.v, db.t.v.f), `id` = `db`.`t`.id "
            "WHEN NOT MATCHED AND s.v > 1 THEN INSERT (db.t.id, v) VALUES (s.id, db.t.id) "
            "WHEN NOT MATCHED BY SOURCE AND DB.T.id < 3 THEN DELETE",
            "MERGE INTO `c`.`x` AS `t` USING s ON t.id = s.id AND t.v > 'db.t.id' /* db.t.id */ "
            "WHEN MATCHED AND t.v IS NULL THEN UPDATE SET t.v = concat(s.v, t.v.f), `id` = `t`.id "
            "WHEN NOT MATCHED AND s.v > 1 THEN INSERT (t.id, v) VALUES (s.id, db.t.id) "
            "WHEN NOT MATCHED BY SOURCE AND T.id < 3 THEN DELETE",
        ),
        (
            "WITH q AS (SELECT 1 AS id) MERGE WITH SCHEMA EVOLUTION INTO delta.`/a/b` USING q ON `/a/b`.id = q.id "
            "WHEN MATCHED THEN UPDATE SET *",
            "WITH q AS (SELECT 1 AS id) MERGE WITH SCHEMA EVOLUTION INTO `c`.`x` AS `/a/b` USING q ON `/a/b`.id = q.id "
            "WHEN MATCHED THEN UPDATE SET *",
        ),
        (
            "MERGE INTO`db`.t USING s ON NOT`db`.t.v WHEN MATCHED THEN DELETE",
            "MERGE INTO`c`.`x` AS `t` USING s ON NOT t.v WHEN MATCHED THEN DELETE",
        ),
        (
            "MERGE INTO IDENTIFIER('db.t') USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
            "MERGE INTO `c`.`x` AS `t` USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
        ),
    ],
)
def test_only_the_target_and_its_long_qualifiers_change(sql: str, wanted: str) -> None:
    statement = parse_merge(sql)
    _, target = sides_of(statement, ["id", "v"], ["id", "v"], case_sensitive=False)
    assert retargeted(statement, target, "`spark_catalog`.`db`.`t`", CLONE) == wanted
