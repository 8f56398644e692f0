"""The paths of files as ``java.net.URI`` prints them, which is how Spark names the file of a row."""

from __future__ import annotations

from unicodedata import category
from urllib.parse import quote

from engine.sql.names import string

SAFE = "/:@!$&'()*+,;=~._-"
OTHERWISE_ENCODED = "%(?!2[0235]|3[CEF]|5[BCDE]|60|7[BCDF]|[01][0-9A-F])"
"""A sign that java.net.URI does not encode, or in small letters: other writers do."""
SPACES = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
FIRST_PRINTABLE = 0xA0
"""The first behind ASCII and its control characters."""


def encoded(path: str) -> str:
    """As ``java.net.URI`` prints a path: letters that are not ASCII stay as they are."""
    # ":" is safe, and so are all characters of a scheme
    return "".join(one if _is_plain(one) else quote(one, safe=SAFE) for one in path)


def encoded_again(path: str) -> str:
    """The SQL expression ``path``, encoded as ``java.net.URI`` does, however its writer did."""
    safe = string(f"^[A-Za-z0-9{SAFE}]$")
    plain = f"c RLIKE {safe} OR (ascii(c) >= {FIRST_PRINTABLE} AND NOT c RLIKE '[{SPACES}]')"
    sign = f"IF({plain}, c, replace(url_encode(c), '+', '%20'))"
    # the two functions mean a space by +
    decoded = f"try_url_decode(replace({path}, '+', '%2B'))"
    return f"coalesce(array_join(transform(split({decoded}, ''), c -> {sign}), ''), {path})"


def _is_plain(character: str) -> bool:
    """Whether a character is not ASCII, and no space or control character either."""
    return ord(character) >= FIRST_PRINTABLE and not category(character).startswith("Z")
