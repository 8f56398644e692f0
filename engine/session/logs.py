"""Log files of the Spark JVMs: rotation, log4j's settings, and what a log says of a failed start."""

from __future__ import annotations

import re
from pathlib import Path

from engine.files import write_private
from engine.model.errors import UnreachableError

_KEPT = 3

#: Warnings on stderr, which is the log file. One line of the Connect server says that it is ready. What a
#: client's statement made Spark refuse is left out (the client has it): it may hold data, and an editor
#: that validates as one types would fill the disk.
_LOG4J = """rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %p %c{1}: %m%n%ex
logger.ready.name = org.apache.spark.sql.connect.service.SparkConnectServer
logger.ready.level = info
logger.refused.name = org.apache.spark.sql.connect.utils.ErrorUtils
logger.refused.level = off
logger.hiveconf.name = org.apache.hadoop.hive.conf.HiveConf
logger.hiveconf.level = error
logger.metastore.name = org.apache.hadoop.hive.metastore
logger.metastore.level = error
logger.hivecatalog.name = org.apache.spark.sql.hive.HiveExternalCatalog
logger.hivecatalog.level = error
logger.nativecode.name = org.apache.hadoop.util.NativeCodeLoader
logger.nativecode.level = error
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = error
"""

_KNOWN = (
    (
        r"Another instance of Derby may have already booted",
        "the metastore in this home is in use by another program",
        "Close that one (a notebook?), or name another --home.",
    ),
    (r"Could not parse Master URL", "the master is not one that Spark knows", "Correct --master."),
    (r"No space left on device", "the disk is full", "Free some space, or name another --home."),
    (
        r"Could not reserve enough space|insufficient memory|Invalid maximum heap size",
        "the driver's memory cannot be had",
        "Give it less with --conf spark.driver.memory=1g.",
    ),
)


def prepare_logs(home: Path) -> Path:
    """Write log4j's settings into ``home``; the path of the file."""
    path = home / "log4j2.properties"
    write_private(path, _LOG4J)
    return path


def rotate(log: Path) -> Path:
    """Make ``log`` an empty file of mode 0600; the last few are kept as ``….log.1`` and so on."""
    for number in range(_KEPT - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    write_private(log, "")
    return log


def read_log(log: Path) -> str:
    """All of a log, or "" when there is none."""
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def start_error(log: Path) -> UnreachableError:
    """The error for a JVM that died while starting, from what it wrote."""
    text = read_log(log)
    for pattern, cause, hint in _KNOWN:
        if re.search(pattern, text):
            return UnreachableError("SERVER_FAILED", f"Spark did not start: {cause}.", hint)
    # the JVM's own complaint comes first, Spark's root cause last
    complaint = re.findall(r"^(?:Error occurred during initialization of VM\s*\n|Error: )(.+)$", text, re.MULTILINE)[:1]
    causes = re.findall(r'^(?:Caused by|Exception in thread "main")[: ]\s*(.+)$', text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.strip()]
    cause = (causes or complaint or lines or ["it said nothing"])[-1].strip()
    return UnreachableError("SERVER_FAILED", f"Spark did not start: {cause[:300]}", f"Its log is {log}.")
