"""A CHECK or generated column over a CHAR: Delta checks a value as it is given, and filled up when it was read."""

from __future__ import annotations

from typing import Any

import pytest

from engine import plan
from engine.spark.confs import confs_set
from tests.engine.some import some

BOTH = "(SELECT explode(array(1, 2)) AS id) s"
ONE = "(SELECT 1 AS id) s"
UPDATE, GIVE = "WHEN MATCHED THEN UPDATE SET v = 9", "WHEN MATCHED THEN UPDATE SET h = 'q'"
INSERT = "WHEN NOT MATCHED THEN INSERT (id, h) VALUES (s.id, 'x')"
SHORT, NOT_BAD = "CHECK (length(h) < 4)", "CHECK (h <> 'bad ')"
# the column, the CHECK, and whether the merge of a source by a clause fails where a read fills CHAR up, and where not
CASES = {
    "kept in an updated row": ("h CHAR(4)", SHORT, BOTH, UPDATE, (True, False)),
    "kept in a copied row": ("h CHAR(4)", SHORT, ONE, GIVE, (True, False)),
    "copied beside a deleted row": ("h CHAR(4)", SHORT, ONE, "WHEN MATCHED THEN DELETE", (True, False)),
    "given in each row": ("h CHAR(4)", SHORT, BOTH, GIVE, (False, False)),
    "inserted": ("h CHAR(4)", SHORT, "(SELECT 3 AS id) s", INSERT, (False, False)),
    "compared, which Spark does as if it were filled up": ("h CHAR(4)", NOT_BAD, ONE, UPDATE, (True, True)),
    "compared, and given": ("h CHAR(4)", NOT_BAD, BOTH, "WHEN MATCHED THEN UPDATE SET h = 'bad'", (False, False)),
    "in a struct": ("h STRUCT<c: CHAR(4)>", "CHECK (length(h.c) < 4)", ONE, UPDATE, (True, False)),
    "a VARCHAR": ("h VARCHAR(4)", SHORT, ONE, UPDATE, (False, False)),
    "generated, copied": ("h CHAR(4), g STRING GENERATED ALWAYS AS (concat(h, '|'))", "", ONE, UPDATE, (True, False)),
    "generated again": ("h CHAR(4), g STRING GENERATED ALWAYS AS (concat(h, '|'))", "", BOTH, UPDATE, (False, False)),
}


@pytest.fixture(params=some(("spark", "classic"), ("spark",)))
def shop(request: pytest.FixtureRequest) -> Any:
    spark = request.getfixturevalue(request.param)
    request.getfixturevalue("schema" if request.param == "spark" else "classic_schema")
    return spark


@pytest.mark.parametrize("fills_up", [True, False], ids=["filled up", "as it is"])
@pytest.mark.parametrize("name", CASES)
def test_a_char_that_is_written_again_fails_as_delta_fails(shop: Any, name: str, fills_up: bool) -> None:
    column, check, source, clause, fails = CASES[name]
    given = "named_struct('c', {})" if "STRUCT" in column else "{}"
    shop.sql(f"CREATE TABLE t (id INT, v INT, {column}) USING delta")
    if check:
        shop.sql(f"ALTER TABLE t ADD CONSTRAINT c {check}")
    a, bad = given.format("'a'"), given.format("'bad'")
    shop.sql(f"INSERT INTO t (id, v, h) SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1, {a}), (2, 2, {bad})")
    merge = f"MERGE INTO t USING {source} ON t.id = s.id {clause}"
    with confs_set(shop, {"spark.sql.readSideCharPadding": str(fills_up).lower()}):
        refused = plan(shop, merge).refused
        assert (refused is not None) is fails[0 if fills_up else 1]
        if refused is None:
            shop.sql(merge).collect()
            return
        assert refused.condition == "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
        with pytest.raises(Exception, match="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"):
            shop.sql(merge).collect()
