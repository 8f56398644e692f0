"""The signs beside words. Every sign has a word next to it, so that none has to be learnt."""

from __future__ import annotations

import locale
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """One set of signs. A sign never stands alone and never needs its colour."""

    ok: str = "✔"
    warning: str = "⚠"
    error: str = "✖"
    points_to: str = "▸"
    dot: str = "·"
    into: str = "←"
    becomes: str = "→"
    changed: str = "▸"
    insert: str = "+"
    update: str = "~"
    delete: str = "-"
    on: str = "●"
    off: str = "○"
    ellipsis: str = "…"
    rewritten: str = "■"
    read: str = "▪"
    skipped: str = "·"
    bar: str = "━"
    bar_rest: str = "─"
    exact: str = "="
    estimated: str = "≈"
    unknown: str = "?"
    ticked: str = "☑"
    unticked: str = "☐"
    ascending: str = "▲"
    descending: str = "▼"
    levels: str = "▁▂▃▄▅▆▇█"
    """From the least to the most."""


UNICODE = Glyphs()
ASCII = Glyphs(
    ok="+",
    warning="!",
    error="x",
    points_to=">",
    dot="-",
    into="<-",
    becomes="->",
    changed=">",
    on="*",
    off="o",
    ellipsis="...",
    rewritten="#",
    read="o",
    skipped=".",
    bar="=",
    bar_rest="-",
    estimated="~",
    ticked="[x]",
    unticked="[ ]",
    ascending="^",
    descending="v",
    levels="_.-=+*#@",
)


def locale_speaks_utf8() -> bool:
    """Whether the terminal's locale can show more than ASCII."""
    # Python takes UTF-8 for the C locale, whatever the terminal takes
    named = next((os.environ[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(key)), "")
    if named in ("C", "POSIX"):
        return False
    return "utf" in (locale.getlocale()[1] or locale.getpreferredencoding(False)).lower()


def accuracy_mark(accuracy: str, glyphs: Glyphs) -> str:
    """How sure a number is, in a sign and a word."""
    sign = {"exact": glyphs.exact, "estimated": glyphs.estimated}.get(accuracy, glyphs.unknown)
    return f"{sign} {accuracy}"
