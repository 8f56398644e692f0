"""The doctor's checks: each looks at one thing, and says what to do where it is not as it should be."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from console.cli.invocation import Invocation
    from engine.session.connect import Session

Verdict = Literal["ok", "warn", "fail"]

PACKAGES = ("pyspark", "delta-spark", "duckdb", "textual")
LEAST_FREE_BYTES = 2_000_000_000  # a frozen source and a rewritten file have to go somewhere
SMALLEST = (80, 24)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: its name, what was found, and what to do about it."""

    name: str
    verdict: Verdict
    found: str
    hint: str = ""


def check_all(invocation: Invocation) -> list[Check]:
    """All checks, in the order in which things are needed. A check that breaks is a failed one."""
    checks: list[Check] = []
    for name, look in CHECKS.items():
        try:
            checks += [Check(name, *found) for found in look(invocation)]
        except Exception as error:
            from engine.model.errors import EngineError

            hint = error.hint if isinstance(error, EngineError) else ""
            checks.append(Check(name, "fail", " ".join(str(error).split()) or type(error).__name__, hint))
    return checks


@dataclass(frozen=True)
class Place:
    """A folder to look at: its path, or that of a schema. ``writes``: by writing there, too."""

    path: str | None
    schema: str | None
    writes: bool


def check_session(connect: Callable[[], AbstractContextManager[Session]], place: Place | None = None) -> list[Check]:
    """What ``engine.explore`` finds at the Spark that is meant and at ``place``, or why it cannot be asked."""
    from engine.explore.check_spark import check_spark
    from engine.model.errors import EngineError

    try:
        with connect() as session:
            found = check_spark(session.spark)
            of_place = _check_place(session, place) if place else []
    except EngineError as error:
        return [Check("spark", "fail", str(error), error.hint)]
    return [Check(f"spark {one.name}", one.verdict, one.found, one.hint) for one in found] + of_place


def _check_place(session: Session, place: Place) -> list[Check]:
    from engine.explore.check_place import check_place, place_of_schema
    from engine.model.errors import EngineError

    folders = [place.path] if place.path else []
    checks: list[Check] = []
    if place.schema:
        try:
            folders.append(place_of_schema(session.spark, place.schema))
        except EngineError as error:
            checks.append(Check(f"schema {place.schema}", "fail", str(error), error.hint))
    for folder in folders:
        found = check_place(session.spark, folder, writes=place.writes)
        checks += [Check(f"{one.name} {folder}", one.verdict, one.found, one.hint) for one in found]
    return checks


Found = tuple[Verdict, str] | tuple[Verdict, str, str]


def _java(_: Invocation) -> Iterator[Found]:
    from engine.session.java import find_java

    java = find_java()
    yield "ok", f"Java {java.version} from {java.found_in}: {java.path}"


def _packages(_: Invocation) -> Iterator[Found]:
    from importlib.metadata import PackageNotFoundError, version

    for name in PACKAGES:
        try:
            yield "ok", f"{name} {version(name)}"
        except PackageNotFoundError:
            yield "fail", f"{name} is not installed", "Reinstall deltamerge-console in a fresh environment."


def _jars(_: Invocation) -> Iterator[Found]:
    from engine.model.counted import count, verb_of
    from engine.session.home import jars_directory
    from engine.session.jars import cached_jars

    directory = jars_directory()
    jars = cached_jars(directory, {})
    if jars:
        yield "ok", f"{count(len(jars), 'jar')} of Delta {verb_of(len(jars), 'are')} in {directory}"
    else:
        yield "warn", f"Delta's jars are not in {directory}", "The first start downloads them: it needs a network."


def _home(invocation: Invocation) -> Iterator[Found]:
    home, advice = invocation.place, "Name another with --home DIR or DELTAMERGE_CONSOLE_HOME."
    if home.exists() and not home.is_dir():
        yield "fail", f"{home} is no directory", advice
        return
    place = home
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK | os.X_OK):
        yield "fail", f"{place} cannot be written", advice
        return
    if place != home:
        yield "ok", f"{home} is made at the first start"
        return
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o077:
        yield "warn", f"{home} is open to others (mode {mode:03o})", "The next start closes it (700)."
    else:
        yield "ok", f"{home} can be written, by you alone"


def _disk(invocation: Invocation) -> Iterator[Found]:
    from console.words.format import size

    place = invocation.place
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE_BYTES:
        yield "warn", f"{size(free)} are free at {place}", "Frozen sources are kept there: make room."
    else:
        yield "ok", f"{size(free)} are free at {place}"


def _settings(invocation: Invocation) -> Iterator[Found]:
    from console.keymap import checked_keymap
    from console.profiles import faults
    from console.settings import FILE_NAME, load_settings
    from console.themes import load_themes, theme_named

    home = invocation.place
    settings, (themes, complaints) = load_settings(home), load_themes(home)
    unknown = theme_named(settings.theme, themes)[1]
    unusable = checked_keymap(settings.keys)[1] if settings.keys else []
    of_profiles = faults(home) if settings.is_read else list(settings.notices)
    of_settings = [*(settings.notices if settings.is_read else ()), *unknown, *unusable]
    # without rules that can be read, no command runs on Spark
    verdict: Verdict = "fail" if invocation.fault is not None else "warn"
    for path, complaint in complaints.items():
        yield "warn", complaint, f"Correct {path}."
    hint = f"Correct {home / FILE_NAME}."
    for notice in of_settings:
        yield "warn", notice, hint
    for notice in of_profiles:
        yield verdict, notice, hint
    if not complaints and not of_settings and not of_profiles:
        yield "ok", f"{FILE_NAME} is fine" if (home / FILE_NAME).exists() else "no settings: all defaults"


def _history(invocation: Invocation) -> Iterator[Found]:
    from engine.session.home import ledger_path

    path = ledger_path(invocation.place)
    if not path.exists():
        yield "ok", "no history yet: the first plan begins it"
        return
    from console.words.format import count
    from engine.ledger.look import look

    found = look(path, wait_seconds=3)
    if found.fault:
        yield "warn", found.fault, found.next
        return
    yield "ok", f"the history can be read; newest entry: {found.newest.started_at if found.newest else 'none'}"
    if abandoned := found.abandoned:
        yield (
            "warn",
            f"{count(len(abandoned), 'operation')} of a program that is gone: {abandoned[0].op_id} for one",
            "What became of them is found out when the Spark that they ran on is next connected.",
        )


def _server(invocation: Invocation) -> Iterator[Found]:
    from console.profiles import server_owners

    home = invocation.place
    others = sorted(place.parent for place in home.glob("servers/*/server.json"))  # those of profiles and stores
    ends = ", which ends those of profiles and stores too" if others else ""
    yield from _one_server(home, "", f"Run `{invocation.to_stop()}`{ends}; the next start brings a new one.")
    owners = server_owners(home)
    for place in others:
        if (owner := owners.get(place)) is None:
            whose = f" (of {place.name}, a profile that is not in the settings)"
            yield from _one_server(place, whose, f"Run `{invocation.to_stop()}`, which ends all servers of this home.")
            continue
        named = (f"profile {owner.profile}" if owner.profile else "", f"store {owner.store}" if owner.store else "")
        hint = f"Run `{invocation.to_stop(owner.profile, owner.store)}`; the next start brings a new one."
        yield from _one_server(place, f" (of {', '.join(filter(None, named))})", hint)


def _one_server(home: Path, whose: str, how_to_end: str) -> Iterator[Found]:
    from engine.session.server import is_starting, server_status
    from engine.session.state import STATE_FILE

    found = server_status(home)
    if found.answers:
        yield "ok", f"Spark{whose} runs at {found.endpoint} ({found.master}), pid {found.pid}"
    elif is_starting(home):
        yield "ok", f"the Spark server{whose} (pid {found.pid}) is starting"
    elif found.running:
        yield (
            "warn",
            f"the Spark server{whose} (pid {found.pid}) does not answer",
            how_to_end,
        )
    else:
        yield "ok", f"no Spark server{whose} is running: it is started when it is needed"
    state_file = home / STATE_FILE
    if state_file.exists() and stat.S_IMODE(state_file.stat().st_mode) & 0o077:
        yield "fail", f"{state_file} can be read by others: it holds a token", f"Run chmod 600 {state_file}."


def _terminal(_: Invocation) -> Iterator[Found]:
    encoding = sys.stdout.encoding or "?"
    if not sys.stdout.isatty():
        yield "ok", f"output is not a terminal ({encoding})"
        return
    columns, lines = shutil.get_terminal_size()
    colours = _colours()
    found = f"{columns} x {lines}, {colours}, {encoding}"
    if columns < SMALLEST[0] or lines < SMALLEST[1]:
        yield "warn", found, f"Make it {SMALLEST[0]} x {SMALLEST[1]} or larger."
    elif "utf" not in encoding.lower():
        yield "warn", found, "Signs are drawn in ASCII; a UTF-8 locale (LANG=C.UTF-8) shows more."
    else:
        yield "ok", found


def _colours() -> str:
    from console.cli.streams import paper

    system = paper().color_system
    return {"truecolor": "16 M colours", "256": "256 colours", "standard": "16 colours"}.get(system or "", "no colours")


CHECKS: dict[str, Callable[[Invocation], Iterator[Found]]] = {
    "java": _java,
    "packages": _packages,
    "jars": _jars,
    "home": _home,
    "disk": _disk,
    "settings": _settings,
    "history": _history,
    "server": _server,
    "terminal": _terminal,
}
