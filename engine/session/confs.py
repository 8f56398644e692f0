"""Spark's settings: what the embedded server starts with, and which of the user's need its restart."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from engine.files import write_private
from engine.model.errors import UsageError
from engine.session.java import driver_memory

EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

#: Set on every session that the engine opens, on any server: the engine reads plans as text, and Spark
#: cuts them at 25 fields otherwise.
SESSION_DEFAULTS: Mapping[str, str] = {"spark.sql.debug.maxToStringFields": "10000"}

#: org.apache.spark.sql.internal.StaticSQLConf of Spark 4.2. Every other ``spark.sql.…`` can be set on a
#: session.
_STATIC_SQL = frozenset(
    f"spark.sql.{name}"
    for name in (
        "broadcastExchange.maxThreadThreshold",
        "cache.serializer",
        "catalogImplementation",
        "codegen.cache.maxEntries",
        "codegen.comments",
        "debug",
        "defaultUrlStreamHandlerFactory.enabled",
        "event.truncate.length",
        "extensions",
        "extensions.test.loadFromCp",
        "filesourceTableRelationCacheSize",
        "globalTempDatabase",
        "hive.thriftServer.singleSession",
        "legacy.sessionInitWithConfigDefaults",
        "metadataCacheTTLSeconds",
        "queryExecutionListeners",
        "resultQueryStage.maxThreadThreshold",
        "shuffleExchange.maxThreadThreshold",
        "sources.disabledJdbcConnProviderList",
        "sources.schemaStringLengthThreshold",
        "streaming.streamingQueryListeners",
        "streaming.ui.enabled",
        "streaming.ui.enabledCustomMetricList",
        "streaming.ui.retainedProgressUpdates",
        "streaming.ui.retainedQueries",
        "subquery.maxThreadThreshold",
        "ui.retainedExecutions",
        "warehouse.dir",
    )
)
_STATIC_PREFIXES = ("spark.sql.connect.ui.", "spark.sql.hive.metastore.", "spark.delta.logStore.")
_RUNTIME_PREFIXES = ("spark.sql.", "spark.databricks.", "spark.delta.")

#: What only the engine decides about its own server: its address, its authentication.
_OURS = (
    "spark.connect.grpc.binding.address",
    "spark.connect.grpc.binding.port",
    "spark.connect.grpc.port.maxRetries",
    "spark.connect.authenticate.token",
)


_FAIR_POOLS = """<?xml version="1.0"?>
<allocations>
  <pool name="default"><schedulingMode>FAIR</schedulingMode><weight>1</weight><minShare>0</minShare></pool>
</allocations>
"""


def is_static(key: str) -> bool:
    """Whether ``key`` can only be set when a driver starts (Spark's core settings, static SQL ones).

    What does not begin with ``spark.`` (a Hadoop setting) is set on the session.
    """
    if key in _STATIC_SQL or key.startswith(_STATIC_PREFIXES):
        return True
    return key.startswith("spark.") and not key.startswith(_RUNTIME_PREFIXES)


def split_confs(confs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """``confs`` as (static, runtime). Raises UsageError for one that the engine keeps to itself."""
    for key in confs:
        if key in _OURS or key in ("spark.master", "spark.remote"):
            raise UsageError(
                "CONF_NOT_ALLOWED",
                f"{key} cannot be given as a setting.",
                "Use --master or --remote; the embedded server chooses its own address and token.",
            )
    static = {key: str(value) for key, value in confs.items() if is_static(key)}
    return static, {key: str(value) for key, value in confs.items() if key not in static}


def is_local(master: str) -> bool:
    """Whether ``master`` runs everything inside the driver (``local``, ``local[2]``, ``local[*]``)."""
    return master == "local" or master.startswith("local[")


def local_cores(master: str) -> int:
    """The number of task threads of a local master; 0 for another one."""
    if not is_local(master):
        return 0
    match = re.match(r"local\[(\d+)", master)
    if match:
        return max(1, int(match.group(1)))
    return 1 if master == "local" else os.cpu_count() or 1


def default_confs(home: Path, master: str) -> dict[str, str]:
    """The settings that the embedded server starts with, before the site's and the user's own.

    Every master gets Delta, quiet logs, the FAIR scheduler and long Connect sessions. A local one also
    gets loopback addresses, partitions that fit a small machine, and a metastore and a warehouse under
    ``home``. A cluster keeps its own metastore when it has a ``hive-site.xml``.
    """
    confs = {
        "spark.app.name": "deltamerge-console",
        "spark.sql.extensions": EXTENSION,
        "spark.sql.catalog.spark_catalog": CATALOG,
        "spark.driver.memory": driver_memory(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # each query's plan is printed for that UI, by default with all its details
        "spark.sql.ui.explainMode": "simple",
        # Browsing must not queue behind a merge. FAIR alone shares between pools only: inside the
        # default pool jobs would still be first come, first served, hence the file.
        "spark.scheduler.mode": "FAIR",
        # Spark takes it for a path of Hadoop's: %20 would be three characters of a name.
        "spark.scheduler.allocation.file": f"file:{home / 'fairscheduler.xml'}",
        "spark.connect.progress.reportInterval": "500ms",
        # Temporary views and frozen sources live in a Connect session. A console left open over lunch,
        # or a plan saved in the morning, should still find them.
        "spark.connect.session.manager.defaultSessionTimeout": "8h",
        # Spark keeps the code of 100 stages, fewer than one plan and one MERGE have: each would be generated, compiled
        # and interpreted anew at every turn.
        "spark.sql.codegen.cache.maxEntries": "1000",
        # Each look into a log leaves the names of its files in this cache, where nobody finds them again.
        "spark.sql.hive.filesourcePartitionFileCacheSize": str(16 << 20),
        **SESSION_DEFAULTS,
    }
    if is_local(master):
        cores = local_cores(master)
        confs |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            # Delta reads its log in 50 tasks otherwise, most of them empty.
            "spark.databricks.delta.snapshotPartitions": str(min(cores, 8)),
            "spark.sql.shuffle.partitions": str(max(8, 4 * cores)),
        }
    if is_local(master) or not site_file("hive-site.xml"):
        confs |= metastore_confs(home)
    return confs


def metastore_confs(home: Path) -> dict[str, str]:
    """A Hive metastore on embedded Derby under ``home``: tables by name survive a restart."""
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (f"jdbc:derby:;databaseName={home / 'metastore'};create=true"),
    }


def jvm_options(home: Path, scratch: Path, log4j: Path) -> list[str]:
    """Java options that keep temporary files, Derby's and log4j's things inside ``home``."""
    return [
        f"-Djava.io.tmpdir={scratch}",
        f"-Dderby.system.home={home}",
        f"-Dderby.stream.error.file={home / 'logs' / 'derby.log'}",
        f"-Dlog4j2.configurationFile={log4j.as_uri()}",
        # A driver that is out of memory must die, so that it can be seen and started again.
        "-XX:+ExitOnOutOfMemoryError",
    ]


def site_directories() -> list[Path]:
    """The directories of a site's own settings: SPARK_CONF_DIR, HADOOP_CONF_DIR, YARN_CONF_DIR."""
    names = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
    folders = [Path(os.environ[name]) for name in names if os.environ.get(name)]
    return [path for path in dict.fromkeys(folders) if path.is_dir()]


def site_file(name: str) -> Path | None:
    """The first file of that name in the site's directories, or None."""
    return next((path / name for path in site_directories() if (path / name).is_file()), None)


def site_defaults() -> dict[str, str]:
    """The settings of a ``spark-defaults.conf`` in SPARK_CONF_DIR; they win over ours."""
    path = site_file("spark-defaults.conf")
    if path is None:
        return {}
    confs: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        match = re.match(r"\s*(spark\.[^\s=:]+)\s*[=:\s]\s*(.*?)\s*$", line)
        if match:
            confs[match.group(1)] = match.group(2)
    return confs


def join_extensions(*values: str) -> str:
    """``spark.sql.extensions`` of several sources as one list without repeats."""
    parts = [part.strip() for value in values for part in value.split(",") if part.strip()]
    return ",".join(dict.fromkeys(parts))


def classpath(confs: Mapping[str, str], master: str, jars: Sequence[Path]) -> list[str]:
    """What Spark's launcher would put before Spark's jars, and for a local driver ``jars`` (Delta's)."""
    extra = [part for part in confs.get("spark.driver.extraClassPath", "").split(os.pathsep) if part]
    extra += [str(path) for path in site_directories()]
    return extra + ([str(jar) for jar in jars] if is_local(master) else [])


def server_confs(
    home: Path, master: str, static: Mapping[str, str], jars: Sequence[Path], scratch: Path
) -> dict[str, str]:
    """All settings of a new embedded server: defaults, then the site's, then the user's static ones.

    ``jars`` (Delta's) go into ``spark.jars`` for a cluster; a local driver has them on its class path.
    Writes the scheduler's file and makes the warehouse directory.
    """
    user_confs = {**site_defaults(), **static}
    defaults = default_confs(home, master)
    # Hive's own default, /tmp/hive, belongs to whoever used it first on this machine.
    defaults["spark.hadoop.hive.exec.scratchdir"] = str(scratch / "hive")
    if is_local(master):
        # Likewise Hadoop's, /tmp/hadoop-USER, where S3A keeps the blocks of what it uploads.
        defaults["spark.hadoop.fs.s3a.buffer.dir"] = str(scratch / "s3a")
    confs = {**defaults, **user_confs}
    # Delta's extension must stay when the user adds one of theirs.
    confs["spark.sql.extensions"] = join_extensions(
        defaults["spark.sql.extensions"], user_confs.get("spark.sql.extensions", "")
    )
    write_private(home / "fairscheduler.xml", _FAIR_POOLS)
    (home / "warehouse").mkdir(mode=0o700, exist_ok=True)
    # Resolved already: Spark must not ask the network again.
    for key in ("spark.jars.packages", "spark.jars.excludes"):
        confs.pop(key, None)
    if jars and not is_local(master):
        own = [jar for jar in user_confs.get("spark.jars", "").split(",") if jar]
        confs["spark.jars"] = ",".join([*map(str, jars), *own])
    return confs


def properties(confs: Mapping[str, str]) -> str:
    """``confs`` as a Java properties file: a file of mode 0600, unlike a command line, keeps secrets."""

    def escaped(text: str, special: Iterable[str]) -> str:
        text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        for char in special:
            text = text.replace(char, "\\" + char)
        return "\\" + text if text.startswith(" ") else text

    return "".join(f"{escaped(key, ' :=#!')}={escaped(value, '')}\n" for key, value in confs.items())
