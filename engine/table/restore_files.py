"""Whether the files that a RESTORE brings back are still there.

RESTORE looks for the data files itself (checkSnapshotFilesAvailability), but not under
``spark.sql.files.ignoreMissingFiles``, and never for deletion vectors: it restores a file whose vector VACUUM deleted,
and the table cannot be read afterwards.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.spark.input_files import files_of_query
from engine.spark.spark_errors import translate
from engine.sql.names import quote
from engine.table.delta_log import escaped
from engine.table.log_file import LogFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IGNORE_MISSING = "spark.sql.files.ignoreMissingFiles"
AT_ONCE = 500
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
ENCODED_UUID = 20
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")


def restored(here: Iterable[LogFile], there: Iterable[LogFile]) -> tuple[LogFile, ...]:
    """The files ``there`` that are not ``here``: those that a RESTORE adds."""
    now = {file.key for file in here}
    return tuple(file for file in there if file.key not in now)


def missing_files(spark: SparkSession, table_path: str, files: Sequence[LogFile]) -> tuple[str, ...]:
    """The paths, data files and deletion vectors, of ``files`` that the file system does not have."""
    root = table_path.rstrip("/")
    paths_needed = {_absolute(root, unquote(file.path)) for file in files}
    paths_needed |= {_absolute(root, name) for file in files if (name := vector_file(file.vector))}
    missing: list[str] = []
    for folder, paths in groupby(sorted(paths_needed), key=lambda path: _folder(root, path)):
        names = [path[len(folder) + 1 :] for path in paths]
        for at in range(0, len(names), AT_ONCE):
            missing += _missing(spark, folder, names[at : at + AT_ONCE])
    return tuple(missing)


def vector_file(vector: str) -> str | None:
    """The path of the file that holds a deletion vector, from its unique id: relative to the table, or absolute. None
    if there is none or if it is inline in the log."""
    where = re.sub(r"@\d*$", "", vector[1:])
    if vector.startswith("p"):
        return unquote(where)
    if not vector.startswith("u") or len(where) < ENCODED_UUID:
        return None
    prefix, encoded = where[:-ENCODED_UUID], where[-ENCODED_UUID:]
    name = f"deletion_vector_{_decoded(encoded)}.bin"
    return f"{prefix}/{name}" if prefix else name


def _decoded(encoded: str) -> uuid.UUID:
    """Z85: five characters for four bytes."""
    data = b""
    for at in range(0, len(encoded), 5):
        number = 0
        for character in encoded[at : at + 5]:
            number = number * 85 + Z85.index(character)
        data += number.to_bytes(4, "big")
    return uuid.UUID(bytes=data)


def _absolute(root: str, path: str) -> str:
    return path if _SCHEME.match(path) or path.startswith("/") else f"{root}/{path}"


def _folder(root: str, path: str) -> str:
    return root if path.startswith(f"{root}/") else path.rpartition("/")[0]


def _missing(spark: SparkSession, folder: str, names: Sequence[str]) -> list[str]:
    # a pattern gives the files that exist; a list of paths gives none if one of them is missing
    pattern = f"{escaped(folder)}/{{{','.join(map(escaped, names))}}}"
    try:
        paths = files_of_query(spark, f"SELECT path FROM binaryFile.{quote(pattern)}")
    except Exception as error:
        failure = translate(error)
        if failure.condition != "PATH_NOT_FOUND":
            raise failure from error
        paths = []
    # two partitions may have files of one name
    depths = {name.count("/") + 1 for name in names}
    there = {"/".join(unquote(path).split("/")[-depth:]) for path in paths for depth in depths}
    return [f"{folder}/{name}" for name in names if name not in there]
