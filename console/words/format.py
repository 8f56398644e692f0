"""Numbers, sizes, times and paths as people read them. Shared by the console and the command line."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from engine.model.counted import count as count  # noqa: PLC0414
from engine.model.counted import number as number  # noqa: PLC0414

_UUID_AND_CODEC = re.compile(r"-([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[^/]*?(?=\.parquet$|$)")
UUID_DIGITS = (8, 4, 0)
"""How many of a UUID's digits are shown, where there is room for them."""
_PARTS_OF_A_SECOND = re.compile(r"\.\d+")
_SI_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def size(value: int | None) -> str:
    """Bytes in SI units with three digits at most: ``934 MB``, ``23.1 MB``, ``1.2 GB``."""
    if value is None:
        return "?"
    amount = float(abs(value))
    unit = 0
    # 999.5 rounds to 1000, which belongs to the next unit
    while amount >= 999.5 and unit < len(_SI_UNITS) - 1:
        amount /= 1000
        unit += 1
    sign = "-" if value < 0 else ""
    digits = 0 if unit == 0 or amount >= 99.95 else 1
    text = f"{amount:,.{digits}f}".removesuffix(".0")
    return f"{sign}{text} {_SI_UNITS[unit]}"


def rounded(value: int) -> str:
    """``1,204`` as it is; above 9,999 three digits at most: ``30.2k``, ``1.2M``."""
    return number(value) if value < 10_000 else size(value).replace(" ", "").removesuffix("B")


def share(part: int, whole: int) -> str:
    """``part`` of ``whole`` in percent. Something never reads as 0 %, nor almost all as 100 %."""
    if whole <= 0:
        return "?"
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


def duration(milliseconds: int) -> str:
    """``340 ms``, ``6.2 s``, ``1 min 05 s``, ``2 h 03 min``."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    seconds = round(milliseconds / 1000)
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def elide_middle(text: str, width: int, ellipsis: str = "…") -> str:
    """``text`` in at most ``width`` cells of the terminal, cut in its middle: both ends of a path tell most."""
    if cells(text) <= width:
        return text
    if width <= cells(ellipsis):
        return _begin(text, width)
    kept = width - cells(ellipsis)
    tail = (kept + 1) // 2
    return _begin(text, kept - tail) + ellipsis + _end(text, tail)


def elide_file(path: str, width: int, ellipsis: str = "…") -> str:
    """A data file's path in at most ``width`` cells: ``…19/part-00031-5f3a….parquet``.

    What tells files apart is kept: the number before the UUID that Spark puts into names goes last, and the begin of
    the UUID, which tells the files of one write from those of another, before it.
    """
    if cells(path) <= width:
        return path
    shorter = [_with_digits(path, digits, ellipsis) for digits in UUID_DIGITS]
    path = next((one for one in shorter if cells(one) <= width), shorter[-1])
    if cells(path) <= width:
        return path
    folders, slash, name = path.rpartition("/")
    room = width - cells(name) - cells(slash) - cells(ellipsis)
    if not slash or room < 0:
        return elide_middle(name, width, ellipsis)
    return f"{ellipsis}{_end(folders, room)}/{name}"


def _with_digits(path: str, digits: int, ellipsis: str) -> str:
    """``path`` with so many of its UUID's digits."""
    return _UUID_AND_CODEC.sub(lambda uuid: f"-{uuid[1][:digits]}{ellipsis}" if digits else ellipsis, path)


def elide_end(text: str, width: int, ellipsis: str = "…") -> str:
    """``text`` in at most ``width`` cells, cut at its end."""
    if cells(text) <= width:
        return text
    return _begin(text, width - cells(ellipsis)) + _begin(ellipsis, width)


def _begin(text: str, width: int) -> str:
    """As much of the beginning as fits; half of a character of two cells does not."""
    taken = 0
    for at, character in enumerate(text):
        taken += cells(character)
        if taken > width:
            return text[:at]
    return text


def _end(text: str, width: int) -> str:
    return _begin(text[::-1], width)[::-1]


def cells(text: str) -> int:
    """How many cells of a terminal ``text`` takes."""
    if text.isascii():
        return len(text)
    # a command that prints nothing of the kind does not wait for it
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """``text`` with blanks behind it, ``width`` cells wide."""
    return text + " " * (width - cells(text))


def parse_time(text: str) -> datetime | None:
    """ISO 8601 as an aware time; without a zone it counts as UTC, as the engine writes it."""
    try:
        # Python 3.10 does not read the Z, nor parts of a second but by three or six digits
        whole = _PARTS_OF_A_SECOND.sub(lambda parts: f"{parts[0][:7]:0<7}", text.replace("Z", "+00:00"), count=1)
        moment = datetime.fromisoformat(whole)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def local_time(text: str | None, *, zone: bool = False, seconds: bool = True) -> str:
    """An ISO 8601 time in the reader's zone: ``2026-11-20 12:04:11``. What is no time stays as it is."""
    if not text:
        return "?"
    moment = parse_time(text)
    if moment is None:
        return text
    local = moment.astimezone()
    shown = local.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
    return f"{shown} {local.strftime('%Z')}" if zone else shown


def this_year() -> str:
    """The year of the reader's clock and zone."""
    return f"{datetime.now().astimezone().year:04}"


def to_the_second(text: str) -> str:
    """An ISO 8601 time without the parts of its seconds, in its own zone."""
    return re.sub(r"(:\d\d)\.\d+", r"\1", text)


def local_clock(text: str | None) -> str:
    """Only the time of day, in the reader's zone."""
    return local_time(text)[-8:] if text and parse_time(text) else local_time(text)


def short_id(identifier: str) -> str:
    """The first characters of a hash, enough to tell plans apart on one screen."""
    return identifier[:6]
