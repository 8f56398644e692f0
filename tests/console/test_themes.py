"""Themes: readable for everybody, told apart by everybody, and an operator's own are checked before they are used."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from rich.color import ColorSystem
from textual.color import Color, rgb_to_lab
from textual.theme import Theme

from console.specs import PLACES
from console.themes import check_variables, load_themes
from console.words.glyphs import locale_speaks_utf8
from tests.console.drive import ORDERS, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL

THEMES = {theme.name: theme for theme in load_themes()[0]}
TEXTS = ("foreground", "text-primary", "text-success", "text-warning", "text-error", "text-accent", "foreground-muted")
GROUNDS = ("background", "surface", "panel")
# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB
SIGHTS = {
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def colour(theme: Theme, name: str) -> Color:
    return Color.parse({**theme.to_color_system().generate(), **theme.variables}[name])


def linear(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def contrast(text: Color, ground: Color) -> float:
    """As WCAG 2 counts it: 1 to 21."""

    def luminance(color: Color) -> float:
        r, g, b = map(linear, color.rgb)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    light, dark = sorted((luminance(ground + text), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen_with(sight: str, color: Color) -> Color:
    def channel(row: tuple[float, float, float]) -> int:
        value = sum(weight * share for weight, share in zip(row, map(linear, color.rgb), strict=True))
        value = min(max(value, 0), 1)
        return round(255 * (12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055))

    return Color(*map(channel, SIGHTS[sight]))


def distance(one: Color, other: Color) -> float:
    a, b = rgb_to_lab(one), rgb_to_lab(other)
    return float(((a.L - b.L) ** 2 + (a.a - b.a) ** 2 + (a.b - b.b) ** 2) ** 0.5)


def test_there_are_six_themes_at_least_dark_and_light() -> None:
    assert len(THEMES) >= 6
    assert {theme.dark for theme in THEMES.values()} == {True, False}


@pytest.mark.parametrize("name", THEMES)
def test_every_text_can_be_read_on_every_ground(name: str) -> None:
    theme = THEMES[name]
    least = 7 if name == "merge-contrast" else 4.5
    ratios = {
        (text, ground): contrast(colour(theme, text), colour(theme, ground)) for text in TEXTS for ground in GROUNDS
    }
    assert not {pair: round(ratio, 1) for pair, ratio in ratios.items() if ratio < least}


@pytest.mark.parametrize("name", THEMES)
def test_the_line_under_the_cursor_can_be_read_and_be_seen(name: str) -> None:
    theme = THEMES[name]
    cursor = colour(theme, "block-cursor-background")
    assert contrast(colour(theme, "block-cursor-foreground"), cursor) >= 4.5
    assert distance(cursor, colour(theme, "background")) >= 12


@pytest.mark.parametrize("sight", SIGHTS)
def test_good_warning_and_error_differ_for_colour_blind_readers(sight: str) -> None:
    theme = THEMES["merge-colour-blind"]
    seen = [seen_with(sight, colour(theme, name)) for name in ("text-success", "text-warning", "text-error")]
    assert min(distance(one, other) for one, other in combinations(seen, 2)) >= 25


def test_the_measure_of_colour_blindness_finds_red_against_green() -> None:
    red, green = Color.parse("#c04000"), Color.parse("#708000")
    assert distance(seen_with("deuteranopia", red), seen_with("deuteranopia", green)) < 25 < distance(red, green)


@pytest.mark.parametrize("name", THEMES)
def test_our_own_themes_stand_the_check_that_an_operators_themes_must_stand(name: str) -> None:
    check_variables(name, THEMES[name])


DRAWN = set("\u2500\u2502\u256d\u256e\u2570\u256f\u25b8\u25be\u2588\u2581\u2501\u258c ")
"""Lines and bars: nothing to be read."""


def told_faintly(operator: Operator, system: ColorSystem) -> list[str]:
    """The texts on the screen whose contrast is below 4.5 in the colours of a terminal."""
    faint = []
    for strip in operator.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if style is None or style.color is None or style.bgcolor is None or set(text) <= DRAWN:
                continue
            found = [Color(*one.downgrade(system).get_truecolor()) for one in (style.color, style.bgcolor)]
            if contrast(*found) < 4.5:
                faint.append(f"{text.strip()!r} {contrast(*found):.1f} ({style})")
    return faint


@pytest.mark.parametrize("name", THEMES)
async def test_every_text_of_every_place_can_be_read_in_true_colour_and_in_256(backend: FakeBackend, name: str) -> None:
    async with console(backend, size=(120, 36)) as operator:
        operator.app.theme = name
        await operator.plan(MERGE_SQL)
        for place in PLACES:
            operator.app.go_to(place.name)
            await operator.pilot.pause()
            for system in (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT):
                assert not told_faintly(operator, system)


async def test_every_place_opens_in_every_theme(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        await operator.press("1", *ORDERS, "enter")
        await operator.sees("decimal(12,2)")
        await operator.press(*["right_square_bracket"] * 5)
        await operator.sees("size: ")
        for name in operator.app.available_themes:
            operator.app.theme = name
            for place in PLACES:
                operator.app.go_to(place.name)
                await operator.pilot.pause()
        assert {"ansi-dark", "ansi-light", "nord", *THEMES} <= set(operator.app.available_themes)


BAD_THEMES = {
    "name: [unclosed": "is not valid YAML",
    "name: mine\nprimary: 2026-02-30": "is not valid YAML: day is out of range",
    "- a list": "must be a mapping",
    "primary: red": "it needs a name",
    "name: mine": "it needs a primary colour",
    "name: mine\nprimary: notacolour": "primary is no colour: 'notacolour'",
    "name: mine\nprimary: #aabbcc": "put it in quotes",
    "name: mine\nprimary: red\nsucess: green": "unknown key 'sucess', perhaps 'success'",
    "name: mine\nprimary: red\ndark: dusky": "dark is true or false, not 'dusky'",
    "name: mine\nprimary: red\nvariables: {bordr: red}": "unknown variable 'bordr', perhaps 'border'",
    "name: mine\nprimary: red\nvariables: {border: reddish}": "border is no colour: 'reddish'",
    "name: mine\nprimary: red\nvariables: {border: red much}": "border is no colour: 'red much'",
    "name: mine\nprimary: red\nvariables: {link-style: wavy}": "link-style is no text style: 'wavy'",
    "name: merge-dark\nprimary: red": "there is a theme 'merge-dark' already",
}


@pytest.mark.parametrize("text", BAD_THEMES)
def test_a_theme_that_cannot_be_used_is_told_of_by_file_and_key_and_left_out(tmp_path: Path, text: str) -> None:
    Path(tmp_path, "themes").mkdir()
    Path(tmp_path, "themes", "my.yaml").write_text(text)
    themes, by_file = load_themes(tmp_path)
    complaints = list(by_file.values())
    assert {theme.name for theme in themes} == set(THEMES)
    assert len(complaints) == 1
    assert "my.yaml" in complaints[0]
    assert BAD_THEMES[text] in complaints[0]


async def test_a_theme_of_the_operator_is_used_by_its_name(backend: FakeBackend) -> None:
    Path(backend.home, "themes").mkdir()
    Path(backend.home, "themes", "my.yaml").write_text("name: mine\nprimary: '#ff00ff'\n")
    Path(backend.home, "settings.toml").write_text('theme = "mine"\n')
    async with console(backend) as operator:
        assert operator.app.theme == "mine"
        assert operator.app.theme_variables["primary"] == "#FF00FF"


async def test_a_bad_theme_is_told_of_and_the_default_is_used(backend: FakeBackend) -> None:
    Path(backend.home, "themes").mkdir()
    Path(backend.home, "themes", "my.yaml").write_text("name: mine\nprimary: '#ff00ff'\nsucess: green\n")
    Path(backend.home, "settings.toml").write_text('theme = "mine"\n')
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("Theme file my.yaml: unknown key 'sucess'", "No theme is named 'mine'")
        assert operator.app.theme == "merge-dark"


async def test_no_color_draws_in_greys_and_every_word_stays(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with console(backend) as operator:
        await operator.plan(MERGE_SQL)
        await operator.sees("✔ updates 1,204", "⚠ source is materialized")
        colours = {
            color.triplet
            for line in operator.app.screen._compositor.render_strips()
            for segment in line
            if segment.style is not None
            for color in (segment.style.color, segment.style.bgcolor)
            if color is not None and color.triplet is not None
        }
        assert colours
        assert all(max(rgb) - min(rgb) <= 1 for rgb in colours)


@pytest.mark.parametrize(
    ("named", "speaks"),
    [
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, True),
    ],
)
def test_the_c_locale_has_no_more_than_ascii(
    monkeypatch: pytest.MonkeyPatch, named: dict[str, str], speaks: bool
) -> None:
    for key in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(key, raising=False)
    for key, value in named.items():
        monkeypatch.setenv(key, value)
    assert locale_speaks_utf8() == speaks
