"""Where an error is: read from Spark's message, and converted to a place in the text that the operator typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

# Spark counts lines from 1; columns from 1 in the frame under a message, from 0 at the end of one
FRAME = re.compile(r"^== SQL \(line (\d+), position (\d+)\) ==$", re.MULTILINE)
OF_PARSER = re.compile(r"\(line (\d+), pos (\d+)\)\s*\n+== SQL ==\n(.*)", re.DOTALL)
# two characters that a lexer leaves together: a word, r'…', a comment, a doubled quote
ONE_TOKEN = re.compile(r"\w\w|\w['\"]|--|``|''|\"\"")
OF_ANALYZER = re.compile(r"; line (\d+) pos (\d+)(?:;|\s*$)", re.MULTILINE)


class Edited(Protocol):
    """``[start, end)`` of a text and the ``text`` that replaces it."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Edit:
    """An :class:`Edited` that keeps nothing else."""

    start: int
    end: int
    text: str


def place_in(message: str, sql: str) -> tuple[int | None, int | None]:
    """(line, column), both from 1, of the place in ``sql`` that a message names; None if it names none."""
    match = FRAME.search(message)
    if match:
        return _checked(sql, int(match[1]), int(match[2]))
    match = OF_PARSER.search(message)
    if match:
        # a parser reads types, constraints and views as well: what it was given follows, as far as the place
        line, excerpt = int(match[1]), match[3].split("\n")
        if excerpt[:line] != sql.split("\n")[:line]:
            return None, None
        return _checked(sql, line, int(match[2]) + 1)
    match = OF_ANALYZER.search(message)
    return _checked(sql, int(match[1]), int(match[2]) + 1) if match else (None, None)


def _checked(sql: str, line: int, column: int) -> tuple[int | None, int | None]:
    return (None, None) if offset_of(sql, line, column) is None else (line, column)


def offset_of(text: str, line: int, column: int) -> int | None:
    """The offset of a place; None if the text has no such place. The end of the text is one."""
    lines = text.split("\n")
    if not (1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1):
        return None
    return sum(len(one) + 1 for one in lines[: line - 1]) + column - 1


def place_of(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of an offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def edited(text: str, edits: Iterable[Edited]) -> str:
    """``text`` with ``edits`` done, each with a blank where it would become one token with what stands beside it. They
    do not overlap or touch, and replace whole tokens."""
    for one in sorted(_set_apart(text, edits), key=lambda edit: edit.start, reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


def before_edits(text: str, edits: Iterable[Edited], offset: int) -> int:
    """The offset in ``text`` of ``offset`` in what the edits made of it: within what was put in, where that begins."""
    shift = 0
    for one in sorted(_set_apart(text, edits), key=lambda edit: edit.start):
        start = one.start + shift
        if offset < start:
            break
        if offset < start + len(one.text):
            return one.start
        shift += len(one.text) - (one.end - one.start)
    return offset - shift


def _set_apart(text: str, edits: Iterable[Edited]) -> Iterator[Edit]:
    """``edits`` with the blanks that they need: ``USING(SELECT 1)s`` has none where a name is put for the query."""
    for one in edits:
        left, right = text[max(one.start - 1, 0) : one.start], text[one.end : one.end + 1]
        put = f" {one.text}" if ONE_TOKEN.fullmatch(left + (one.text or right)[:1]) else one.text
        yield Edit(one.start, one.end, f"{put} " if ONE_TOKEN.fullmatch(put[-1:] + right) else put)
