"""Where the console keeps its things: the home directory and the shared cache of jars."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from engine.model.errors import EngineError
from engine.processes import start_time

APP = "deltamerge-console"

#: Directories inside a home, made by :func:`prepare_home`.
SUBDIRECTORIES = ("logs", "leases", "scratch")

_CLASSIC = "classic-"


def default_home() -> Path:
    """The home directory: ``DELTAMERGE_CONSOLE_HOME``, or the platform's user data directory.

    Only names it, creates nothing.
    """
    folder = os.environ.get("DELTAMERGE_CONSOLE_HOME")
    if folder:
        return Path(folder).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def jars_directory() -> Path:
    """Where downloaded jars live: ``DELTAMERGE_CONSOLE_JARS``, or the platform's user cache directory.

    It is shared by all homes, so that a second home (or a test) never downloads again.
    """
    folder = os.environ.get("DELTAMERGE_CONSOLE_JARS")
    if folder:
        return Path(folder).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir(APP, appauthor=False)) / "jars"


def ledger_path(home: Path) -> Path:
    """The file of the history in ``home``."""
    return home / "history.duckdb"


def prepare_home(home: Path) -> Path:
    """Create ``home`` and its sub-directories, private to this user (0700), and return it absolute.

    Raises EngineError (``HOME_NOT_WRITABLE``) when that cannot be done: a read-only place, a full disk,
    a file in the way.
    """
    home = home.expanduser().absolute()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A home made by hand may be open to others; what lies in it (tokens, data samples) must not be.
        if stat.S_IMODE(home.stat().st_mode) != 0o700:
            home.chmod(0o700)
        for name in SUBDIRECTORIES:
            (home / name).mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as probe:
            probe.write(b"x")
    except OSError as error:
        raise EngineError(
            "HOME_NOT_WRITABLE",
            f"The home directory {home} cannot be used: {error.strerror or error}.",
            "Name a writable one with --home DIR or DELTAMERGE_CONSOLE_HOME.",
        ) from error
    return home


def classic_scratch(home: Path) -> Path:
    """A new directory for the temporary files of this process's own Spark; the name tells whose it is."""
    return Path(tempfile.mkdtemp(prefix=f"{_CLASSIC}{os.getpid()}-", dir=home / "scratch"))


def clear_scratch(home: Path) -> None:
    """Remove the temporary files that Sparks left in ``home``, but no :func:`classic_scratch` whose process lives."""
    for left in (home / "scratch").iterdir():
        pid = left.name.removeprefix(_CLASSIC).partition("-")[0]
        if not (pid.isdigit() and start_time(int(pid))):
            shutil.rmtree(left, ignore_errors=True)
