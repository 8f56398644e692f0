"""What Hive's client says when its metastore cannot be reached, as one sentence: Spark gives it no class."""

from __future__ import annotations

import re

from engine.model.errors import EngineError

METASTORE_UNREACHABLE = "METASTORE_UNREACHABLE"
# HiveMetaStoreClient.open, which Spark tries anew each time, and a connection that was open and broke
_WORDS = re.compile(
    r"Unable to instantiate org\.apache\.hadoop\.hive\.\S*MetaStoreClient|Could not connect to meta store"
    r"|org\.apache\.hadoop\.hive\S*: org\.apache\.thrift\.transport\.TTransportException"
)


def metastore_error(text: str) -> EngineError | None:
    """The error that ``text`` (an exception's and its causes') is, None if it is another's."""
    if not _WORDS.search(text):
        return None
    return EngineError(
        METASTORE_UNREACHABLE,
        "The Hive metastore does not answer, or cannot be opened.",
        "Start it, or correct spark.hadoop.hive.metastore.uris; the log of Spark's server has the reason.",
    )
