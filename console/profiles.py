"""Profiles: a Spark and its settings under a name, ``[profiles.NAME]`` in ``<home>/settings.toml``.

[profiles.prod]
remote = "sc://spark.example.org:15002"
private = true                       # no value of a row is kept in a plan
conf."spark.sql.session.timeZone" = "UTC"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from console.settings import FILE_NAME

KNOWN = ("master", "remote", "conf", "private")


@dataclass(frozen=True)
class Profile:
    """``target``: a master or an ``sc://`` address, None where the profile names neither."""

    target: str | None = None
    confs: Mapping[str, str] = field(default_factory=dict)
    private: bool = False


def load_profile(home: Path, name: str) -> Profile:
    """The profile of that name. Raises UsageError for one that is not there or cannot be used: unlike a theme,
    a Spark that was asked for by name must not be replaced by another."""
    profiles = _read(home).get("profiles", {})
    if not isinstance(profiles, dict) or name not in profiles:
        known = ", ".join(sorted(profiles)) if isinstance(profiles, dict) and profiles else "none"
        raise _unusable(f"There is no profile {name!r} in {home / FILE_NAME} (known: {known}).")
    return _checked(name, profiles[name])


def _checked(name: str, values: Any) -> Profile:
    if not isinstance(values, dict):
        raise _unusable(f"The profile {name!r} is no table of settings.")
    for key in values:
        if key not in KNOWN:
            raise _unusable(f"The profile {name!r} has an unknown setting {key!r} (known: {', '.join(KNOWN)}).")
    master, remote = values.get("master"), values.get("remote")
    private, confs = values.get("private", False), values.get("conf", {})
    if master and remote:
        raise _unusable(f"The profile {name!r} names both a master and a remote.")
    if not all(one is None or isinstance(one, str) for one in (master, remote)):
        raise _unusable(f"In the profile {name!r}, master and remote are texts in quotes.")
    if remote and not remote.startswith("sc://"):
        raise _unusable(f"In the profile {name!r}, remote is sc://HOST:PORT.")
    if not isinstance(private, bool):
        raise _unusable(f"In the profile {name!r}, private is true or false.")
    if not isinstance(confs, dict):
        raise _unusable(f"In the profile {name!r}, conf is a table of Spark settings.")
    return Profile(master or remote, dict(_flat(confs)), private)


def _flat(confs: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    # a dotted key without quotes is a table within a table to TOML
    for key, value in confs.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value).lower() if isinstance(value, bool) else str(value)


def _read(home: Path) -> dict[str, Any]:
    try:
        toml: Any = import_module("tomllib")
        values: dict[str, Any] = toml.loads((home / FILE_NAME).read_text(encoding="utf-8"))
    except ModuleNotFoundError as error:
        raise _unusable(f"{FILE_NAME} needs Python 3.11 or newer.") from error
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unusable(f"{home / FILE_NAME} cannot be read: {error}.") from error
    return values


def _unusable(message: str) -> Exception:
    from engine.errors import UsageError

    return UsageError("BAD_PROFILE", message, "Name one with --profile, or leave it out.")
