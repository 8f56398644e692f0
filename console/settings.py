"""What the operator prefers, from ``<home>/settings.toml``. A bad file is told of, never fatal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE_NAME = "settings.toml"
_KNOWN = ("theme", "ascii", "keys", "profiles")  # profiles: see console/profiles.py


@dataclass(frozen=True)
class Settings:
    """``theme``: its name, or None for the default. ``ascii``: None means by the locale. ``keys``: by binding id."""

    theme: str | None = None
    ascii: bool | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    """What was wrong with the file, one sentence each."""
    is_read: bool = True
    """False for a file that cannot be read: its profiles are not known, so nothing may run on Spark."""


def load_settings(home: Path) -> Settings:
    """Read the settings under ``home``. Whatever cannot be used becomes a notice."""
    path = home / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        return _not_read(f"cannot be read ({error})")
    try:
        values = parse_toml(text)
    except ValueError as error:
        return _not_read(f"is not valid TOML ({error})")
    return _checked(values)


def _not_read(why: str) -> Settings:
    notice = f"{FILE_NAME} {why}: theme and keys are the defaults, and nothing runs on Spark until it is correct."
    return Settings(notices=(notice,), is_read=False)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError if it is no TOML.

    The import is late: most homes have no settings file, and it costs a part of the first frame.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    values: dict[str, Any] = tomllib.loads(text)
    return values


def _checked(values: dict[str, Any]) -> Settings:
    notices = [
        f"{FILE_NAME}: unknown setting {name!r} is ignored (known: {', '.join(_KNOWN)})."
        for name in values
        if name not in _KNOWN
    ]
    theme = values.get("theme")
    if theme is not None and not isinstance(theme, str):
        notices.append(f"{FILE_NAME}: theme must be a name in quotes, not {theme!r}.")
        theme = None
    plain = values.get("ascii")
    if plain is not None and not isinstance(plain, bool):
        notices.append(f"{FILE_NAME}: ascii must be true or false, not {plain!r}.")
        plain = None
    keys = values.get("keys", {})
    if not isinstance(keys, dict):
        notices.append(f"{FILE_NAME}: keys must be a table, [keys], of key names by action.")
        keys = {}
    chosen = dict(_flat(keys))
    for name, key in chosen.items():
        if not isinstance(key, str):
            notices.append(f"{FILE_NAME}, keys: {name} must be a key in quotes, not {key!r}.")
    keymap = {name: key for name, key in chosen.items() if isinstance(key, str)}
    return Settings(theme=theme, ascii=plain, keys=keymap, notices=tuple(notices))


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    # a dotted key without quotes is a table within a table to TOML
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
