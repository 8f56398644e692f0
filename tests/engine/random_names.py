"""Names and literals that are hard to read: keywords, and what pretends to be structure."""

from __future__ import annotations

from random import Random

POSITIONS = (
    "target column",
    "source column",
    "target alias",
    "source alias",
    "target table",
    "source table",
    "schema",
    "query",
    "assigned column",
    "inserted column",
    "bare column",
    "field",
    "assigned field",
    "function",
    "variable",
    "parameter",
    "argument",
    "output",
    "field of a type",
)
"""Where a name may stand."""

PLAIN = ("id", "v", "k", "amount", "x1", "_a", "region", "Name")
ODD = (
    "`x), deleteaction(Some((`",
    "`a``b`",
    "`WHEN MATCHED THEN DELETE`",
    "`a.b`",
    "`a, b`",
    "` `",
    "`#12`",
    "`--`",
    "`/*`",
    "`it's`",
    '`"`',
    "`:p`",
    "`{x}`",
    "`a\nb`",
    "`ünïcode`",
    "1a",
    "2_",
    "x1e5",
    "_",
    "r",
    "R",
    "e1",
    "__dm_target",
    "lazy",
)
STRINGS = (
    "''",
    "'a'",
    "'it''s'",
    "'it\\'s'",
    '"double"',
    '"say ""no"""',
    '"it\'s"',
    "'\"'",
    r"r'\d+'",
    r"R'\'",
    'r"[a-z]{3}"',
    "'x), deleteaction(Some(('",
    "'a, assignment(b, 1)'",
    "' WHEN MATCHED THEN DELETE '",
    "'{}'",
    "'{x}{0}%s'",
    "'-- no comment'",
    "'/* none'",
    "'*/'",
    "';'",
    "'line\r\nend'",
    "'line\nend'",
    "'\\\\'",
    "'\\n\\t\\0'",
    "'`'",
    "':p'",
    "'\u2028ü€'",
    "'$t'",
    "'a#12'",
    "') THEN DELETE WHEN NOT MATCHED THEN INSERT *'",
)
NUMBERS = ("0", "1", "42", "1.5", "1.", "2e3", "1E-3", "7L", "3S", "4Y", "1.5BD", "2.5D", "1F", "10e2bd")


class Names:
    """Names for a statement: mostly ``word`` at ``position``, plain ones elsewhere, odd ones rarely."""

    def __init__(self, random: Random, words: tuple[str, ...], word: str, position: str) -> None:
        self._random, self._words, self._word, self._position = random, words, word, position

    def name(self, position: str) -> str:
        drawn = self._random.random()
        if position == self._position and drawn < 0.85:
            return self._written(self._word, 0.9)
        if drawn < 0.8:
            return self._random.choice(PLAIN)
        return self._written(self._random.choice(self._words), 0.5) if drawn < 0.93 else self._random.choice(ODD)

    def _written(self, word: str, bare: float) -> str:
        cased = self._random.choice((word, word.lower(), word.lower(), word.title()))
        return cased if self._random.random() < bare else f"`{cased}`"
