"""Delta's jars: downloaded once by Spark's own package resolver, used from local files ever after.

``spark.jars.packages`` asks Ivy at every start, and Ivy asks the network for what it is not sure of.
So resolution is a step of its own: SparkSubmit runs with the packages and a main class that returns at
once, into a directory beside the final one, which is renamed into place with a list of its files
(``manifest.json``) only when all of it is there. A server then gets those files as ``spark.jars``: it
starts the same offline, and a download cut off half way is taken up where it stopped. The user's
``spark.jars.repositories``, ``spark.jars.ivySettings``, ``spark.jars.excludes`` and further
``spark.jars.packages`` are honoured. The directory can be copied to a machine without a network.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO

from engine.files import locked, write_private
from engine.model.errors import UnreachableError
from engine.model.secrets import redact
from engine.session.confs import properties
from engine.session.java import Java, spark_environment, spark_submit
from engine.session.truststore import proxy_options, system_certificates, write_truststore
from engine.spark.release import release

_HADOOP = "org.apache.hadoop:*"

#: What Spark itself ships, newer: Spark's class loader prefers its own, so they are 75 MB for nothing.
SHIPPED_BY_SPARK = (
    "com.fasterxml.jackson.core:*",
    "com.github.luben:*",
    "com.google.code.findbugs:*",
    "commons-logging:*",
    "commons-pool:*",
    "io.airlift:*",
    _HADOOP,
    "org.apache.logging.log4j:*",
    "org.apache.parquet:*",
    "org.locationtech.jts:*",
    "org.roaringbitmap:*",
    "org.slf4j:*",
    "org.xerial.snappy:*",
)

_SHIPPED_FOR_CONNECTORS = (
    "commons-codec:*",
    "commons-io:*",
    "org.apache.commons:*",
    "org.apache.hadoop:hadoop-client-*",
    "org.apache.hadoop:hadoop-common",
    "org.apache.httpcomponents:*",
)

_RESOLVER_CONFS = ("spark.jars.repositories", "spark.jars.ivySettings")
_SILENCE = 180.0  # seconds without a line from the resolver, and without a byte, before it is given up

Progress = Callable[[str], None]


def delta_jars(
    java: Java,
    directory: Path,
    confs: Mapping[str, str],
    *,
    log: Path,
    progress: Progress | None = None,
) -> list[Path]:
    """The local jar files for Delta and for the ``spark.jars.packages`` of ``confs``.

    Downloads them into ``directory`` unless they are there; ``progress`` hears each file, ``log``
    keeps the resolver's own words. Empty when ``confs`` bring Delta themselves as ``spark.jars``.
    Raises UnreachableError (``NO_JARS``) when they cannot be downloaded.
    """
    packages = wanted_packages(confs)
    return _packages_jars(java, directory, packages, confs, _Words("Delta's jars", log, progress))


def package_jars(
    java: Java,
    directory: Path,
    packages: Sequence[str],
    confs: Mapping[str, str],
    *,
    log: Path,
    progress: Progress | None = None,
) -> list[Path]:
    """The local jar files of ``packages`` (Maven coordinates) and of what they need beside Spark's own.

    A folder of its own for each set of packages, whatever version of Delta is beside it. As :func:`delta_jars`.
    """
    what = f"the jars of {', '.join(package.split(':')[1] for package in packages)}" if packages else ""
    return _packages_jars(java, directory, packages, confs, _Words(what, log, progress))


@dataclass(frozen=True)
class _Words:
    """What is downloaded, as a sentence names it; where the resolver's own words go; who hears of it."""

    what: str
    log: Path
    progress: Progress | None

    def say(self, text: str) -> None:
        if self.progress is not None:
            self.progress(text)


def _packages_jars(
    java: Java, directory: Path, packages: Sequence[str], confs: Mapping[str, str], words: _Words
) -> list[Path]:
    if not packages:
        return []
    final, resolver_confs = _wanted(directory, packages, confs)
    files = _complete(final)
    if files is not None:
        return files
    with _locked(directory, words):
        files = _complete(final)  # another process may have downloaded them meanwhile
        if files is not None:
            return files
        partial = final.with_name(final.name + ".part")
        partial.mkdir(mode=0o755, exist_ok=True)
        _resolve(java, partial, resolver_confs, words)
        files = sorted((partial / "jars").glob("*.jar"))
        manifest = {file.name: file.stat().st_size for file in files}
        (partial / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        shutil.rmtree(partial / "cache", ignore_errors=True)  # Ivy's own copies
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
    files = _complete(final)
    if not files:
        raise UnreachableError(
            "NO_JARS",
            f"The resolver brought no jars for {', '.join(packages)}.",
            f"Read {words.log}.",
        )
    return files


def cached_jars(directory: Path, confs: Mapping[str, str]) -> list[Path]:
    """The jars that :func:`delta_jars` would give without a network; empty when it would have to download."""
    return _complete(_wanted(directory, wanted_packages(confs), confs)[0]) or []


def _wanted(directory: Path, packages: Sequence[str], confs: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """Where the jars for ``packages`` belong, and what the resolver is asked for."""
    shipped: tuple[str, ...] = SHIPPED_BY_SPARK
    if any(package.startswith("org.apache.hadoop:") for package in packages):
        # A connector of Hadoop's is not shipped, though what it is built on is.
        shipped = (*(one for one in shipped if one != _HADOOP), *_SHIPPED_FOR_CONNECTORS)
    excludes = [*shipped, *_split(confs.get("spark.jars.excludes", ""))]
    resolver_confs = {
        "spark.jars.packages": ",".join(packages),
        "spark.jars.excludes": ",".join(excludes),
        **{name: confs[name] for name in _RESOLVER_CONFS if confs.get(name)},
    }
    return directory / _key(packages, resolver_confs), resolver_confs


def delta_package(spark: str) -> str:
    """The Maven coordinates of Delta for Spark ``spark`` (``4.2.0``); it has a jar for each minor release."""
    return f"io.delta:delta-spark_{release(spark)}_2.13:{version('delta-spark')}"


def wanted_packages(confs: Mapping[str, str]) -> list[str]:
    """Delta's package and those of ``spark.jars.packages``; the user's own version of Delta wins.

    Empty when ``spark.jars`` holds a Delta jar and nothing else is asked for.
    """
    packages = _split(confs.get("spark.jars.packages", ""))
    own_jar = any(Path(jar).name.startswith("delta-spark_") for jar in _split(confs.get("spark.jars", "")))
    if own_jar or any(package.startswith("io.delta:delta-spark_") for package in packages):
        return packages
    return [delta_package(version("pyspark")), *packages]


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _key(packages: Sequence[str], resolver_confs: Mapping[str, str]) -> str:
    text = json.dumps(resolver_confs, sort_keys=True)
    return f"{packages[0].rpartition(':')[2]}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _complete(directory: Path) -> list[Path] | None:
    """The jars of a finished directory; None when one is missing or is not as long as it was."""
    try:
        manifest: dict[str, int] = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        files = [directory / "jars" / name for name in manifest]
        whole = all(file.stat().st_size == size for file, size in zip(files, manifest.values(), strict=True))
    except (OSError, ValueError):
        return None
    return files if whole and files else None


@contextmanager
def _locked(directory: Path, words: _Words) -> Iterator[None]:
    waiting = f"waiting for another process that downloads {words.what}"
    with ExitStack() as stack:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(directory / ".lock", on_wait=lambda: words.say(waiting)))
        except OSError as error:
            raise UnreachableError(
                "NO_JARS",
                f"The directory for {words.what}, {directory}, cannot be written: {error.strerror or error}.",
                "Name another one with DELTAMERGE_CONSOLE_JARS.",
            ) from error
        yield


def _resolve(java: Java, target: Path, confs: Mapping[str, str], words: _Words) -> None:
    """Run the resolver; once more with the system's certificates when Java's own did not do."""
    network = [
        # A network that swallows packets must not hang the first launch for ever.
        "-Dsun.net.client.defaultConnectTimeout=15000",
        "-Dsun.net.client.defaultReadTimeout=60000",
        *proxy_options(),
    ]
    words.say(f"downloading {words.what} (once; they are kept in {target.parent})")
    output = ""
    for attempt in ("java", "system"):
        trust: list[str] = []
        if attempt == "system":
            certificates = system_certificates()
            if "PKIX" not in output or not certificates:
                break
            store = target / "truststore.jks"
            write_truststore(store, certificates)
            trust = [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS"]
        with _settings_file(target, confs) as file:
            command = spark_submit(
                java,
                resource="spark-internal",
                memory="512m",
                jvm_options=[*network, *trust],
                # Any class of Spark's class path whose main returns at once does: the packages are
                # resolved before it is called.
                options=["--properties-file", str(file), "--class", "org.apache.ivy.Main"],
                arguments=["-version"],
            )
            code, output = _run(command, spark_environment(java), target, words)
        if code == 0:
            return
    raise UnreachableError(
        "NO_JARS",
        f"{words.what[0].upper()}{words.what[1:]} could not be downloaded: {_cause(output)}.",
        "Connect once to the network (or set https_proxy, or --conf spark.jars.repositories=URL of your"
        f" company's mirror) and try again; details are in {words.log}.",
    )


@contextmanager
def _settings_file(target: Path, confs: Mapping[str, str]) -> Iterator[Path]:
    """The resolver's settings in a file: the address of a mirror may hold a password, and every user of the machine
    can read a command line."""
    file = target / "resolver.conf"
    write_private(file, properties({"spark.master": "local", **confs, "spark.jars.ivy": str(target)}))
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def _run(command: list[str], env: Mapping[str, str], target: Path, words: _Words) -> tuple[int, str]:
    """Run the resolver to its end: its exit code and all it said. Killed when it falls silent, and nothing in
    ``target`` grows any more."""
    lines: list[str] = []
    with (
        words.log.open("a", encoding="utf-8") as out,
        subprocess.Popen(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # ctrl-c is ours to handle
        ) as process,
    ):
        assert process.stdout is not None
        watch = _kill_when_silent(process, target)
        try:
            for line in map(redact, _lines(process.stdout, watch)):
                out.write(line)
                lines.append(line)
                match = re.match(r"downloading \S*/(\S+) \.\.\.", line)
                if match:
                    words.say(f"downloading {match.group(1)}")
        except BaseException:  # ctrl-c, a progress callback that fails, a full disk
            process.kill()
            raise
        finally:
            watch.set()
        return process.wait(), "".join(lines)


def _lines(stream: IO[str], watch: _Heard) -> Iterator[str]:
    for line in stream:
        watch.hear()
        yield line


class _Heard(threading.Event):
    """Set when the run is over; remembers that something was heard since it last asked."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = 0

    def hear(self) -> None:
        self.lines += 1


def _kill_when_silent(process: subprocess.Popen[str], target: Path) -> _Heard:
    silence = _Heard()

    def watch() -> None:
        before = (-1, -1)
        while not silence.wait(_SILENCE):
            # Amazon's client has 686 MB, of which the resolver says no word while it comes
            now = (silence.lines, _bytes_in(target))
            if now == before:
                process.kill()
                return
            before = now

    threading.Thread(target=watch, name="jars-watch", daemon=True).start()
    return silence


def _bytes_in(directory: Path) -> int:
    total = 0
    for file in directory.rglob("*"):
        with suppress(OSError):  # a part that is renamed meanwhile
            total += file.stat().st_size
    return total


def _cause(output: str) -> str:
    """The line of the resolver's output that says best what went wrong."""
    for pattern, meaning in (
        (r"PKIX path building failed", "the server's TLS certificate is not trusted here"),
        (r"No space left on device", "the disk is full"),
        (r"Host (\S+) not found", "the host {0} is not found (no network?)"),
        (r"UnknownHostException: (\S+)", "the host {0} is not found (no network?)"),
        (r"(Connection refused|Connection timed out|connect timed out|Read timed out)", "{0}"),
        (r"unresolved dependency: ([^\],]+)", "{0}"),
    ):
        match = re.search(pattern, output, re.IGNORECASE)
        if match:
            return meaning.format(*match.groups())
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "the resolver said nothing"
