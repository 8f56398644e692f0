"""Text that knows its parts: a tree of tokens, written with any blanks and comments between them, and made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random


class Marker(str):
    """A parameter marker, one token: ``:name``."""

    __slots__ = ()


class Path(str):
    """The first step of a path into a VARIANT, one token: ``:name``."""

    __slots__ = ()


@dataclass(frozen=True)
class Part:
    """An expression: its tokens, and the expressions among them."""

    pieces: tuple[str | Part, ...]

    def tokens(self) -> Iterator[str]:
        for piece in self.pieces:
            yield from piece.tokens() if isinstance(piece, Part) else (piece,)

    def smaller(self) -> Iterator[Part]:
        """Expressions that may stand here instead, the smallest first."""
        if self.pieces != ONE.pieces:
            yield ONE
        for at, piece in enumerate(self.pieces):
            if isinstance(piece, Part):
                yield piece
                for less in piece.smaller():
                    yield Part((*self.pieces[:at], less, *self.pieces[at + 1 :]))


def part(*pieces: str | Part) -> Part:
    """A Part. Words and signs may share a string, parted by blanks; a quoted piece is one token."""
    found: list[str | Part] = []
    for piece in pieces:
        if isinstance(piece, (Part, Marker, Path)) or piece.lstrip("rR")[:1] in ("'", '"', "`"):
            found.append(piece)
        else:
            found += piece.split()
    return Part(tuple(found))


ONE = Part(("1",))

GAPS: tuple[tuple[str, ...], ...] = (
    (" ",),
    ("", " "),
    (" ", "\n", "  ", "\t"),
    (" ", "\r\n", "\r\n  "),
    (" ", "\r", "\f", "\u00a0", "\u3000"),
    (" ", "/* ; WHEN MATCHED THEN DELETE */", "/* a /* nested ' */ comment */", "/**/", " /* :no_marker */ "),
    (" ", "-- it's a comment\n", "--\r\n", "-- ) THEN DELETE\r", " -- goes on \\\n :here\n"),
    ("", " ", "\n", "\r\n", "\t", "/*\n*/", "-- (\n", "/*/* */*/"),
)
SIGNS = frozenset("([,)]=")


class Writer:
    """Puts tokens behind each other, and tells where they came to stand."""

    def __init__(self, seed: int, gaps: tuple[str, ...]) -> None:
        self._random = Random(seed)
        self._gaps = gaps
        self._written: list[str] = []
        self._last = ""
        self.length = 0
        self.markers: list[tuple[int, int]] = []

    def put(self, *pieces: str | Part) -> tuple[int, int]:
        """Where the first piece begins and the last one ends."""
        start = -1
        for token in part(*pieces).tokens():
            gap = self._gap(token) if self._last else ""
            self._written += [gap, token]
            self.length += len(gap) + len(token)
            self._last = token
            if isinstance(token, Marker):
                self.markers.append((self.length - len(token), self.length))
            start = self.length - len(token) if start < 0 else start
        return start, self.length

    def _gap(self, token: str) -> str:
        gap = self._gaps[0] if len(self._gaps) == 1 else self._random.choice(self._gaps)
        if isinstance(token, Path):
            return gap
        if gap[:1] in ("-", "/"):
            return f" {gap}"
        together = self._last in SIGNS and token in SIGNS
        beside = (self._last in SIGNS or token in SIGNS) and not {self._last[-1], token[0]} & set("<>!*/-+|:&.")
        return gap or ("" if beside and not (together and "=" in (self._last, token)) else " ")

    @property
    def text(self) -> str:
        return "".join(self._written)
