"""What the operator prefers, from ``<home>/settings.toml``. A bad file is told of, never fatal."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

FILE_NAME = "settings.toml"


@dataclass(frozen=True)
class Settings:
    """``theme``: its name, or None for the default. ``ascii``: None means by the locale."""

    theme: str | None = None
    ascii: bool | None = None
    notices: tuple[str, ...] = ()
    """What was wrong with the file, one sentence each."""


def load_settings(home: Path) -> Settings:
    """Read the settings under ``home``. Whatever cannot be used becomes a notice."""
    path = home / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        return Settings(notices=(f"{FILE_NAME} cannot be read ({error}): defaults are used.",))
    try:
        # only now: most homes have no settings file, and this import costs a part of the first frame
        toml: Any = import_module("tomllib")
    except ModuleNotFoundError:
        return Settings(notices=(f"{FILE_NAME} needs Python 3.11 or newer: defaults are used.",))
    try:
        values = toml.loads(text)
    except ValueError as error:
        return Settings(notices=(f"{FILE_NAME} is not valid TOML ({error}): defaults are used.",))
    return _checked(values)


def _checked(values: dict[str, Any]) -> Settings:
    notices = [
        f"{FILE_NAME}: unknown setting {name!r} is ignored (known: theme, ascii, profiles)."
        for name in values
        if name not in ("theme", "ascii", "profiles")  # profiles: see console/profiles.py
    ]
    theme = values.get("theme")
    if theme is not None and not isinstance(theme, str):
        notices.append(f"{FILE_NAME}: theme must be a name in quotes, not {theme!r}.")
        theme = None
    plain = values.get("ascii")
    if plain is not None and not isinstance(plain, bool):
        notices.append(f"{FILE_NAME}: ascii must be true or false, not {plain!r}.")
        plain = None
    return Settings(theme=theme, ascii=plain, notices=tuple(notices))
