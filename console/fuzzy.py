"""Finds names by parts: all words somewhere in the name, or at least their letters in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def best_matches(words: str, things: Iterable[T], text_of: Callable[[T], str]) -> list[T]:
    """The things whose text fits, best first; with nothing typed, all of them as they are."""
    typed = words.lower().split()
    if not typed:
        return list(things)
    scored = [(score, thing) for thing in things if (score := match(typed, text_of(thing))) is not None]
    # the order of equals stays
    return [thing for _, thing in sorted(scored, key=lambda pair: pair[0])]


def match(typed: list[str], text: str) -> tuple[int, int] | None:
    """How well ``text`` fits lower-case words, less is better; None if it does not.

    A word that stands there whole goes before one whose letters only come in that order (``ordl``: ``order_lines``).
    """
    lower = text.lower()
    scattered = gaps = 0
    for word in typed:
        at = lower.find(word)
        if at >= 0:
            # a name that starts with the word goes first
            gaps += 0 if at == 0 or not lower[at - 1].isalnum() else 1
            continue
        spread = _spread(word, lower)
        if spread is None:
            return None
        scattered += 1
        gaps += spread
    return scattered, gaps


def _spread(word: str, text: str) -> int | None:
    """How many characters lie between the letters of ``word`` in ``text``; None if they do not come in order."""
    first = position = text.find(word[0])
    for letter in word[1:]:
        if position < 0:
            return None
        position = text.find(letter, position + 1)
    return None if position < 0 else position - first + 1 - len(word)
