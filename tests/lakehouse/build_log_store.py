"""Build the log store's jar: ``python -m tests.lakehouse.build_log_store``, after each change of its Java source.

Always the same bytes of class files: one compiler, one target, the pinned versions of what it is built against.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.session.home import jars_directory
from engine.session.jars import delta_jars
from engine.session.java import find_java, spark_home
from engine.session.stores import LOG_STORE_JAR

SOURCE = LOG_STORE_JAR.parent / "java"
JDK = "17"
"""The compiler, too: others may write other bytes for the same source."""
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can hold."""


def compiler() -> Path:
    """The path of javac. Without one of the version JDK the test is skipped; in CI it fails."""
    javac = shutil.which("javac")
    said = subprocess.run([javac, "-version"], capture_output=True, text=True, check=True) if javac else None
    if javac and said and re.match(rf"javac {JDK}\b", said.stdout + said.stderr):
        return Path(javac)
    missing = f"javac {JDK} compiles the log store; it is not here."
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def built_against(log: Path) -> list[Path]:
    """The jars that the source needs: Delta's storage, and Hadoop's client and slf4j as Spark ships them."""
    delta = [jar for jar in delta_jars(find_java(), jars_directory(), {}, log=log) if "delta-storage" in jar.name]
    shipped = spark_home() / "jars"
    return [*delta, *shipped.glob("hadoop-client-api-*.jar"), *shipped.glob("slf4j-api-*.jar")]


def compiled(sources: Sequence[Path], class_path: Sequence[Path], folder: Path) -> dict[str, bytes]:
    """The class files by their names in a jar; they are in ``folder`` then. Raises CalledProcessError."""
    options = ["--release", JDK, "-proc:none", "-Xlint:all", "-Werror", "-encoding", "UTF-8"]
    places = ["-cp", os.pathsep.join(map(str, class_path)), "-d", str(folder)]
    subprocess.run([compiler(), *options, *places, *map(str, sources)], check=True)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.class"))}


def log_store_classes(folder: Path) -> dict[str, bytes]:
    """The class files of the log store, compiled into ``folder``."""
    return compiled(sorted(SOURCE.rglob("*.java")), built_against(folder / "jars.log"), folder)


def write_jar(jar: Path, classes: dict[str, bytes]) -> None:
    manifest = {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n"}
    with zipfile.ZipFile(jar, "w") as archive:
        for name, content in {**manifest, **classes}.items():
            archive.writestr(zipfile.ZipInfo(name, BEGINNING), content, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        write_jar(LOG_STORE_JAR, log_store_classes(Path(scratch)))
    print(f"{LOG_STORE_JAR}: {LOG_STORE_JAR.stat().st_size} bytes")
