"""Profiles: a Spark and its settings under a name, ``[profiles.NAME]`` in ``<home>/settings.toml``.

[profiles.prod]
remote = "sc://spark.example.org:15002"
production = true                    # the console says so on every place, in words
private = true                       # no value of a row is kept in a plan
conf."spark.sql.session.timeZone" = "UTC"
# store = "s3"                       # with a master: jars and settings for s3a://, keys from the environment
policy.typed_confirmation = true     # the table's name is to be typed to commit and to undo; --yes will not do
policy.max_files_rewritten = 0.2     # of the table's files; see engine.commit.policy for all the rules
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from console.settings import FILE_NAME, parse_toml
from engine.commit.policy import Policy
from engine.model.checks import SILENT_FAULTS, Checks

STORES = ("s3", "abfs", "gcs")  # as engine.session.stores
DEFAULT_PORT = 15002  # Spark Connect's
RULES = ("policy", "production", "checks", "private")
KNOWN = ("master", "remote", "store", "conf", "private", "production", "policy", "checks")


WANTED = {
    **dict.fromkeys(("off", "errors", "ignore_columns"), "a list of texts"),
    "version_column": "a text",
    "deletes_share": "a share from 0 to 1",
    **dict.fromkeys(("max_bytes", "compare_max_bytes"), "a whole number of bytes"),
    "history": "true or false",
}


@dataclass(frozen=True)
class Profile:
    """``target``: a master or an ``sc://`` address, None if the profile names neither. ``store``: "" without one."""

    target: str | None = None
    confs: Mapping[str, str] = field(default_factory=dict)
    private: bool = False
    policy: Policy = field(default_factory=Policy)
    name: str = ""
    production: bool = False
    checks: Checks = field(default_factory=Checks)
    store: str = ""


def profile_of(home: Path, target: str) -> Profile | None:
    """The profile that is for this ``target``, where one with rules is: who types the address instead of the name, or
    nothing where that is the Spark of this machine, is held to the same rules. One without an address is chosen by its
    name alone."""
    profiles, place = _read(home).get("profiles", {}), _place(target)
    for name, values in profiles.items() if isinstance(profiles, dict) else ():
        if isinstance(values, dict) and not values.keys().isdisjoint(RULES):
            address = values.get("master") or values.get("remote")
            if isinstance(address, str) and _place(address) == place:
                return _checked(name, values)
    return None


def _place(target: str) -> str:
    """An address without what follows the port: a token makes it no other place. The port is told even if left out.
    A Spark of this machine is the same with any number of threads."""
    place = target.partition("/;")[0].rstrip("/").lower()
    if re.fullmatch(r"local(\[.*\])?", place):
        return "local"
    host = place.removeprefix("sc://")
    return place if host == place or re.search(r":\d+$", host) else f"{place}:{DEFAULT_PORT}"


def load_profile(home: Path, name: str) -> Profile:
    """The profile of that name. Raises UsageError for one that is not there or cannot be used: unlike a theme,
    a Spark that was asked for by name must not be replaced by another."""
    profiles = _read(home).get("profiles", {})
    if not isinstance(profiles, dict) or name not in profiles:
        known = ", ".join(sorted(profiles)) if isinstance(profiles, dict) and profiles else "none"
        raise _unusable(
            f"There is no profile {name!r} in {home / FILE_NAME} (known: {known}).",
            "Name one with --profile, or leave it out.",
        )
    return _checked(name, profiles[name])


def _checked(name: str, values: Any) -> Profile:
    if not isinstance(values, dict):
        raise _unusable(f"The profile {name!r} is no table of settings.")
    for key in values:
        if key not in KNOWN:
            raise _unusable(f"The profile {name!r} has an unknown setting {key!r} (known: {', '.join(KNOWN)}).")
    master, remote = values.get("master"), values.get("remote")
    confs, store = values.get("conf", {}), values.get("store", "")
    private, production = values.get("private", False), values.get("production", False)
    if master and remote:
        raise _unusable(f"The profile {name!r} names both a master and a remote.")
    if not all(one is None or isinstance(one, str) for one in (master, remote)):
        raise _unusable(f"In the profile {name!r}, master and remote are texts in quotes.")
    if remote and not remote.startswith("sc://"):
        raise _unusable(f"In the profile {name!r}, remote is sc://HOST:PORT.")
    if not (isinstance(private, bool) and isinstance(production, bool)):
        raise _unusable(f"In the profile {name!r}, private and production are true or false.")
    if store not in ("", *STORES):
        raise _unusable(f"In the profile {name!r}, store is one of {', '.join(STORES)}, in quotes.")
    if store and remote:
        raise _unusable(f"The profile {name!r} names both a remote and a store: a remote has the jars of its own.")
    if not isinstance(confs, dict):
        raise _unusable(f"In the profile {name!r}, conf is a table of Spark settings.")
    policy = _policy(name, values.get("policy", {}))
    checks = _checks(name, values.get("checks", {}))
    return Profile(master or remote, dict(_flat(confs)), private, policy, name, production, checks, store)


def _policy(name: str, values: Any) -> Policy:
    """The rules. One that is misspelt or of the wrong kind is told: it must not pass for one that is not there."""
    if not isinstance(values, dict):
        raise _unusable(f"In the profile {name!r}, policy is a table of rules.")
    rules = {field.name: field.default for field in fields(Policy)}
    for key, value in values.items():
        if key not in rules:
            raise _unusable(
                f"The policy of the profile {name!r} has an unknown rule {key!r} (known: {', '.join(rules)})."
            )
        if isinstance(rules[key], bool):
            if not isinstance(value, bool):
                raise _unusable(f"In the policy of the profile {name!r}, {key} is true or false.")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise _unusable(f"In the policy of the profile {name!r}, {key} is a share from 0 to 1.")
    return Policy(**values)


def _checks(name: str, values: Any) -> Checks:
    """Which silent faults count. A code that is misspelt is told: its fault would go on being an error, or none."""
    known = {field.name: field.default for field in fields(Checks)}
    if not isinstance(values, dict):
        raise _unusable(f"In the profile {name!r}, checks is a table of settings.")
    for key, value in values.items():
        if key not in known:
            raise _unusable(f"The checks of the profile {name!r} have no {key!r} (known: {', '.join(known)}).")
        if not _is_wanted(WANTED[key], value):
            raise _unusable(f"In the checks of the profile {name!r}, {key} is {WANTED[key]}.")
    settings: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in values.items()}
    checks = Checks(**settings)
    for code in (*checks.off, *checks.errors):
        if code not in SILENT_FAULTS:
            raise _unusable(f"The checks of the profile {name!r} name {code!r} (known: {', '.join(SILENT_FAULTS)}).")
    return checks


def _is_wanted(wanted: str, value: Any) -> bool:
    if wanted == "a list of texts":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if wanted in ("a text", "true or false"):
        return isinstance(value, str if wanted == "a text" else bool)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (0 <= value <= 1 if wanted == "a share from 0 to 1" else isinstance(value, int) and value >= 0)


def _flat(confs: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    # a dotted key without quotes is a table within a table to TOML
    for key, value in confs.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value).lower() if isinstance(value, bool) else str(value)


def _read(home: Path) -> dict[str, Any]:
    try:
        text = (home / FILE_NAME).read_text(encoding="utf-8")
        return parse_toml(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unusable(f"{home / FILE_NAME} cannot be read: {error}.") from error


def faults(home: Path) -> list[str]:
    """What is wrong with the profiles, a sentence for each that cannot be used."""
    from engine.model.errors import UsageError

    found = []
    try:
        profiles = _read(home).get("profiles", {})
    except UsageError:
        return []  # load_settings says why the file cannot be read
    if not isinstance(profiles, dict):
        return [f"{FILE_NAME}: profiles must be tables, [profiles.NAME]."]
    for name, values in profiles.items():
        try:
            _checked(name, values)
        except UsageError as error:
            found.append(error.message)
    return found


def server_place(home: Path, profile: str, store: str, confs: Mapping[str, str]) -> Path:
    """The folder of the embedded server: that of ``home``, or one of its own for a store, and for a profile that has a
    store or static settings. Each has a catalog of its own: Derby, which keeps it, opens for one server at a time."""
    from engine.session.confs import split_confs

    if not store and not (profile and split_confs(confs)[0]):
        return home
    name = f"{profile}-{store}".strip("-")
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    # names that differ in odd characters only are two
    unique = safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return home / "servers" / unique


@dataclass(frozen=True)
class ServerOwner:
    """Whose an embedded server is: a profile's, a store's, or that of both."""

    profile: str
    store: str


def server_owners(home: Path) -> dict[Path, ServerOwner]:
    """The folders that servers of the profiles and stores have, if they run. Of profiles that cannot be used none."""
    from engine.model.errors import UsageError

    owners = {server_place(home, "", store, {}): ServerOwner("", store) for store in STORES}
    try:
        profiles = _read(home).get("profiles", {})
    except UsageError:
        return owners
    for name in profiles if isinstance(profiles, dict) else ():
        try:
            profile = load_profile(home, name)
        except UsageError:
            continue
        for store in dict.fromkeys((profile.store, *STORES)):
            owners[server_place(home, name, store, profile.confs)] = ServerOwner(name, store)
    owners.pop(home, None)
    return owners


def _unusable(message: str, hint: str = f"Correct {FILE_NAME}; doctor checks every profile.") -> Exception:
    from engine.model.errors import UsageError

    return UsageError("BAD_PROFILE", message, hint)
