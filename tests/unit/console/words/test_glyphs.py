"""Each sign has an ASCII one, for terminals that can show no more."""

from __future__ import annotations

import locale
from dataclasses import asdict

import pytest

from console.words.glyphs import ASCII, UNICODE, locale_speaks_utf8


def test_the_plain_signs_are_ascii_and_as_many_levels() -> None:
    assert all(sign.isascii() for sign in asdict(ASCII).values())
    assert len(ASCII.levels) == len(UNICODE.levels)


@pytest.mark.parametrize(
    ("named", "utf8"), [({"LC_ALL": "C"}, False), ({"LANG": "POSIX"}, False), ({"LC_ALL": "", "LANG": "C"}, False)]
)
def test_the_c_locale_speaks_no_utf8_whatever_python_takes(
    monkeypatch: pytest.MonkeyPatch, named: dict[str, str], utf8: bool
) -> None:
    for key in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(key, raising=False)
    for key, value in named.items():
        monkeypatch.setenv(key, value)
    assert locale_speaks_utf8() is utf8


@pytest.mark.parametrize(("of_locale", "utf8"), [("UTF-8", True), ("ISO8859-1", False)])
def test_other_locales_say_it_by_their_encoding(monkeypatch: pytest.MonkeyPatch, of_locale: str, utf8: bool) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE")
    monkeypatch.setattr(locale, "getlocale", lambda: ("de_DE", of_locale))
    assert locale_speaks_utf8() is utf8


def test_a_locale_without_an_encoding_prefers_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE")
    monkeypatch.setattr(locale, "getlocale", lambda: (None, None))
    monkeypatch.setattr(locale, "getpreferredencoding", lambda _: "utf-8")
    assert locale_speaks_utf8()
