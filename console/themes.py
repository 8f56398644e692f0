"""Colour themes from YAML files: ours beside the package, the operator's own under ``<home>/themes``, checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

DEFAULT_THEME = "merge-dark"

_COLOURS = frozenset(
    [
        "primary",
        "secondary",
        "accent",
        "foreground",
        "background",
        "surface",
        "panel",
        "boost",
        "success",
        "warning",
        "error",
    ]
)
_OTHERS = frozenset({"name", "dark", "variables"})
_TEXT_STYLES = frozenset({"none", "not", "b", "bold", "dim", "i", "italic", "u", "underline", "reverse", "strike"})
_ALPHA = re.compile(r"(\d+(\.\d+)?%)?")


class BadThemeError(Exception):
    """A theme file that cannot be used; the text says which and why."""


def shipped_folder() -> Path:
    """Where our themes are: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def theme_named(wanted: str | None, ours: Iterable[Theme]) -> tuple[str, list[str]]:
    """The theme to begin with, and a sentence if the wanted one is neither of ours nor of Textual's."""
    names = sorted(theme.name for theme in ours)
    if wanted is None or wanted in {*names, *BUILTIN_THEMES}:
        return wanted or DEFAULT_THEME, []
    return DEFAULT_THEME, [f"No theme is named {wanted!r}; there are {', '.join(names)}, and those of Textual."]


def load_themes(home: Path | None = None) -> tuple[list[Theme], dict[Path, str]]:
    """Our themes and those of the operator, and each file that is not usable, with a sentence that says why."""
    themes = [load_theme(path) for path in _files(shipped_folder())]
    complaints: dict[Path, str] = {}
    for path in _files(home / "themes") if home is not None else []:
        try:
            theme = load_theme(path)
            check_variables(path.name, theme)
            if any(theme.name == known.name for known in themes):
                raise BadThemeError(f"Theme file {path.name}: there is a theme {theme.name!r} already.")
        except BadThemeError as error:
            complaints[path] = str(error)
        else:
            themes.append(theme)
    return themes, complaints


def _files(folder: Path) -> list[Path]:
    return sorted(path for ending in ("*.yaml", "*.yml") for path in folder.glob(ending))


def load_theme(path: Path) -> Theme:
    """One theme file. Raises BadThemeError with a sentence that names the file and the key."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except (OSError, UnicodeDecodeError) as error:
        raise BadThemeError(f"Theme file {path.name} cannot be read: {error}") from error
    # what looks like a date and is none
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadThemeError(f"Theme file {path.name} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise BadThemeError(f"Theme file {path.name} must be a mapping of keys to colours.")
    return _theme(path.name, values)


def _theme(file_name: str, values: dict[str, Any]) -> Theme:
    for key in values:
        if key not in _COLOURS | _OTHERS:
            raise BadThemeError(f"Theme file {file_name}: unknown key {key!r}{_perhaps(key, _COLOURS | _OTHERS)}.")
    name = values.get("name")
    if not isinstance(name, str) or not name:
        raise BadThemeError(f"Theme file {file_name}: it needs a name.")
    if "primary" not in values:
        raise BadThemeError(f"Theme file {file_name}: it needs a primary colour.")
    if not isinstance(dark := values.get("dark", True), bool):
        raise BadThemeError(f"Theme file {file_name}: dark is true or false, not {dark!r}.")
    variables = values.get("variables") or {}
    if not isinstance(variables, dict):
        raise BadThemeError(f"Theme file {file_name}: variables must be a mapping.")
    colours = {key: str(value) for key, value in values.items() if key in _COLOURS}
    for key, value in colours.items():
        if not _is_colour(value):
            raise BadThemeError(f"Theme file {file_name}: {key} is no colour: {value!r}{_quote_it(values[key])}.")
    theme = Theme(
        name=name,
        primary=colours["primary"],
        dark=dark,
        variables={str(key): str(value) for key, value in variables.items()},
    )
    return replace(theme, **colours)  # type: ignore[arg-type]


def check_variables(file_name: str, theme: Theme) -> None:
    """Raise BadThemeError for a variable that no style knows, or that would stop the styles from being read."""
    known = theme.to_color_system().generate()
    for name, value in theme.variables.items():
        if name not in known:
            raise BadThemeError(f"Theme file {file_name}: unknown variable {name!r}{_perhaps(name, known)}.")
        if name.endswith("-style"):
            if bad := [word for word in value.split() if word not in _TEXT_STYLES]:
                raise BadThemeError(f"Theme file {file_name}: {name} is no text style: {bad[0]!r}.")
            continue
        colour, _, alpha = value.partition(" ")
        if not (colour == "auto" or _is_colour(colour)) or not _ALPHA.fullmatch(alpha):
            raise BadThemeError(f"Theme file {file_name}: {name} is no colour: {value!r}.")


def _is_colour(text: str) -> bool:
    try:
        Color.parse(text)
    except ColorParseError:
        return False
    return True


def _quote_it(value: object) -> str:
    # to YAML, what follows a bare # is a comment
    return ' (put it in quotes: "#rrggbb")' if value is None else ""


def _perhaps(name: object, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(name), list(known), n=1)
    return f", perhaps {near[0]!r}" if near else ""
