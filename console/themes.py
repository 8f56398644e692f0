"""Colour themes from YAML files: ours beside the package, the operator's own under ``<home>/themes``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

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


class BadThemeError(Exception):
    """A theme file that cannot be used; the text says which and why."""


def shipped_folder() -> Path:
    """Where our themes are: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def load_themes(folders: Iterable[Path]) -> tuple[list[Theme], list[str]]:
    """All usable themes of the folders, and a sentence for each file that is not usable."""
    themes: list[Theme] = []
    complaints: list[str] = []
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            try:
                themes.append(load_theme(path))
            except BadThemeError as error:
                complaints.append(str(error))
    return themes, complaints


def load_theme(path: Path) -> Theme:
    """One theme file. Raises BadThemeError with a sentence that names the file and the key."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadThemeError(f"Theme file {path.name} cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise BadThemeError(f"Theme file {path.name} must be a mapping of keys to colours.")
    return _theme(path.name, values)


def _theme(file_name: str, values: dict[str, Any]) -> Theme:
    for key in values:
        if key not in _COLOURS | _OTHERS:
            raise BadThemeError(f"Theme file {file_name}: unknown key {key!r}.")
    name = values.get("name")
    if not isinstance(name, str) or not name:
        raise BadThemeError(f"Theme file {file_name}: it needs a name.")
    if "primary" not in values:
        raise BadThemeError(f"Theme file {file_name}: it needs a primary colour.")
    variables = values.get("variables") or {}
    if not isinstance(variables, dict):
        raise BadThemeError(f"Theme file {file_name}: variables must be a mapping.")
    colours = {key: str(value) for key, value in values.items() if key in _COLOURS}
    for key, value in colours.items():
        try:
            Color.parse(value)
        except ColorParseError:
            raise BadThemeError(f"Theme file {file_name}: {key} is no colour: {value!r}.") from None
    theme = Theme(
        name=name,
        primary=colours["primary"],
        dark=bool(values.get("dark", True)),
        variables={str(key): str(value) for key, value in variables.items()},
    )
    return replace(theme, **colours)  # type: ignore[arg-type]
