"""The confs of Delta that plans are not tested with: most of DeltaSQLConf is internal."""

from __future__ import annotations

from typing import Final

from engine.model.plan import PlanningState, Remark

DELTA: Final = "spark.databricks.delta."
TESTED_CONFS: Final = tuple(
    f"{DELTA}{name}"
    for name in (
        *("allowArbitraryProperties.", "autoCompact.", "checkpoint.", "columnMapping.allowRemoval", "commitLock."),
        *("constraints.allowUnenforcedNotNull.", "createDataFrame.dropNullColumns", "delete.deletionVectors."),
        *("dynamicPartitionOverwrite.", "formatCheck.", "generatedColumn.partitionFilterOptimization."),
        *("legacy.storeOptionsAsProperties", "optimize.", "optimizeWrite.", "properties.defaults."),
        *("replace.protocolDowngradeAllowed", "restore.protocolDowngradeAllowed", "schema.typeCheck."),
        *("table.parquetV2.timestampOutputType", "typeWidening.allowAutomaticWidening"),
    )
)
"""The confs of Delta, or their beginnings, that plans are tested with beside KEPT_CONFS."""


def untested_confs(state: PlanningState | None) -> tuple[Remark, ...]:
    """A warning that names those that are set."""
    confs = state.confs if state is not None else {}
    found = [key for key in confs if key.startswith(DELTA) and not key.startswith(TESTED_CONFS)]
    if not found:
        return ()
    is_, it_changes = ("is", "it changes") if len(found) == 1 else ("are", "they change")
    return (
        Remark(
            code="UNTESTED_CONF",
            sentence=f"{', '.join(found)} {is_} set, and not tested: what {it_changes} is not foreseen.",
            evidence="A rehearsal shows what Delta does under the confs of now.",
            fix=";\n".join(f"RESET {key}" for key in found),
        ),
    )
