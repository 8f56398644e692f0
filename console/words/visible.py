"""Make text that is not ours safe to show: nothing in it can move, hide or reorder what is on screen.

Data, names, errors and SQL come from elsewhere. A terminal obeys escape sequences in them, and
bidirectional or zero-width characters can make one name look like another. Such characters are shown
as the escapes a programmer would type (``\\x1b``, ``\\u202e``), which need no font and no UTF-8.
"""

from __future__ import annotations

import re
import unicodedata

# Letters and marks that draw nothing, which `str.isprintable` lets pass: those that Unicode calls default ignorable,
# the variation selectors among them, and the blanks of Braille and of Khitan.
_BLANK_LETTER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U000e0000-\U000e0fff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, lines: bool = False, tab_size: int = 4) -> str:
    """``text`` with control, format, bidi and surrogate characters written as escapes.

    With ``lines`` the text keeps its line breaks (``\\r\\n`` counts as one) and its tabs become spaces:
    for SQL and messages. Without, the result is always one line: for names and cells.
    """
    if text.isprintable() and not _BLANK_LETTER.search(text):
        return text
    if lines:
        return "\n".join(_one_line(line.expandtabs(tab_size)) for line in text.replace("\r\n", "\n").split("\n"))
    return _one_line(text)


def table_name(name: str) -> str:
    """A table by the one name that is shown of it. A CREATE names the session's own catalog, which a MERGE into the
    same table need not: it goes without saying."""
    return visible(name.removeprefix("spark_catalog."))


def or_null(value: str | None) -> str:
    """A value of a row as text. NULL is ``NULL``; a text that reads so is in quotes, as is one that reads as that."""
    if value is None:
        return "NULL"
    return f"'{value}'" if value.strip("'") == "NULL" else value


def cell(value: str | None) -> str:
    """A value of a row in a sentence: NULL is told from a text that reads NULL."""
    return visible(or_null(value))


def grid_cell(value: str | None) -> str | None:
    """A value of a row for a table, which tells NULL from texts by itself."""
    return None if value is None else visible(value)


def is_visible(text: str) -> bool:
    """Whether ``visible`` would leave ``text`` as it is."""
    return visible(text) == text


def _one_line(text: str) -> str:
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    # The no-break and typographic spaces (Zs) are not "printable" to Python, yet draw as blanks do.
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return _escaped(character) if _BLANK_LETTER.match(character) else character
    return _escaped(character)


def _escaped(character: str) -> str:
    if short := _SHORT.get(character):
        return short
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
