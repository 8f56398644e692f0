"""Which confs of a session change what a MERGE or a CREATE does, and which do not.

A conf that is not listed here counts: a plan is stale if it differs.
"""

from __future__ import annotations

MEANINGFUL = ("spark.sql.", "spark.databricks.")
"""Only confs under these names are looked at: the others are Spark's own at its start."""
WITHOUT_MEANING = frozenset(
    (
        # where tables are kept: each table is known by its id
        "spark.sql.warehouse.dir",
        "spark.sql.catalogImplementation",
        "spark.sql.globalTempDatabase",
        # Delta sets them itself
        "spark.databricks.delta.lastCommitVersionInSession",
        "spark.sql.parquet.fieldId.read.enabled",
        "spark.sql.parquet.fieldId.write.enabled",
        # a statement that it would change is refused: VARIABLE_SUBSTITUTION
        "spark.sql.variable.substitute",
        # what apply sets for its commit
        "spark.databricks.delta.commitInfo.userMetadata",
        "spark.databricks.delta.write.txnAppId",
        "spark.databricks.delta.write.txnVersion",
        "spark.databricks.delta.write.txnVersion.autoReset.enabled",
        # of commands that are neither a MERGE nor a CREATE
        "spark.databricks.delta.retentionDurationCheck.enabled",
        "spark.databricks.delta.alterLocation.bypassSchemaCheck",
        # how fast, in how many tasks, and in how much memory
        "spark.databricks.delta.snapshotPartitions",
        "spark.databricks.delta.merge.materializeSource.maxAttempts",
        "spark.databricks.delta.commitMetrics.enabled",
        "spark.databricks.delta.history.metricsEnabled",
        "spark.databricks.delta.writeChecksumFile.enabled",
        "spark.databricks.delta.stalenessLimit",
        "spark.sql.autoBroadcastJoinThreshold",
        "spark.sql.broadcastTimeout",
        "spark.sql.cache.serializer",
        "spark.sql.defaultCacheStorageLevel",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.files.maxPartitionNum",
        "spark.sql.files.minPartitionNum",
        "spark.sql.files.openCostInBytes",
        "spark.sql.hive.filesourcePartitionFileCacheSize",
        "spark.sql.hive.metastorePartitionPruning",
        "spark.sql.leafNodeDefaultParallelism",
        "spark.sql.maxBroadcastTableSize",
        "spark.sql.maxSinglePartitionBytes",
        "spark.sql.metadataCacheTTLSeconds",
        "spark.sql.shuffledHashJoinFactor",
        # how plans and errors print
        "spark.sql.debug",
        "spark.sql.error.messageFormat",
        "spark.sql.maxMetadataStringLength",
        "spark.sql.maxPlanStringLength",
        "spark.sql.stackTracesInDataFrameContext",
    )
)
FAMILIES_WITHOUT_MEANING = tuple(
    f"spark.{name}."
    for name in (
        *("databricks.delta.vacuum", "databricks.delta.convert"),
        *("sql.adaptive", "sql.artifact", "sql.bucketing", "sql.cbo", "sql.classic", "sql.cli", "sql.codegen"),
        *("sql.connect", "sql.debug", "sql.event", "sql.execution.arrow", "sql.execution.pyspark"),
        *("sql.execution.python.udf", "sql.inMemoryColumnarStorage", "sql.join", "sql.limit", "sql.maven"),
        *("sql.optimizer", "sql.planner", "sql.pyspark", "sql.redaction", "sql.repl", "sql.session.localRelation"),
        *("sql.shuffle", "sql.shuffleDependency", "sql.sources.parallelPartitionDiscovery", "sql.statistics"),
        *("sql.streaming", "sql.thriftServer"),
        *("sql.thriftserver", "sql.ui", "sql.window"),
    )
)
WITH_MEANING = frozenset(
    f"spark.sql.optimizer.decorrelate{kind}SubqueryLegacyIncorrectCountHandling.enabled" for kind in ("", "Exists")
)
"""Those of a family without meaning that have one: a count(*) of no rows is NULL or 0 by them."""


def has_meaning(key: str) -> bool:
    """Whether a conf, where it is set, may change what a statement does."""
    if key in WITH_MEANING:
        return True
    return key.startswith(MEANINGFUL) and key not in WITHOUT_MEANING and not key.startswith(FAMILIES_WITHOUT_MEANING)
