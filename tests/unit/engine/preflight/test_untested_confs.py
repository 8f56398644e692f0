"""Confs of Delta that plans are not tested with are named."""

from __future__ import annotations

from engine.model.plan import PlanningState
from engine.preflight.untested_confs import untested_confs


def test_the_confs_of_delta_that_are_not_tested_are_named() -> None:
    known = {"spark.sql.legacy.sizeOfNull": "true", "spark.databricks.delta.properties.defaults.appendOnly": "false"}
    assert untested_confs(None) == untested_confs(PlanningState(confs=known)) == ()
    internal = "spark.databricks.delta.schemaEvolution.merge.fixNestedStructAlignment"
    (warning,) = untested_confs(PlanningState(confs={**known, internal: "false"}))
    assert warning.sentence.startswith(f"{internal} is set, and not tested: what it changes")
    assert (warning.code, warning.severity, warning.fix) == ("UNTESTED_CONF", "warning", f"RESET {internal}")
