"""Numbers, sizes, times and paths as people read them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from console.words import format as words

FILE = "day=2026-11-20/part-00031-0b5c1c1e-7b1d-4b7f-9d0c-3f4a5b6c7d8e.c000.snappy.parquet"


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "CET-1")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), (1204, "1,204"), (-5, "-5"), (None, "?")])
def test_what_is_not_known_is_a_question_mark_never_0(value: int | None, shown: str) -> None:
    assert words.number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1, "1 file"), (0, "0 files"), (2, "2 files"), (None, "? files"), (1000, "1,000 files")]
)
def test_one_has_no_plural(value: int | None, shown: str) -> None:
    assert words.count(value, "file") == shown


def test_a_plural_of_its_own() -> None:
    assert words.count(2, "entry", "entries") == "2 entries"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "?"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (23_100_000, "23.1 MB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (99_940, "99.9 kB"),
        (99_950, "100 kB"),
        (-1_200_000_000, "-1.2 GB"),
        (5 * 10**21, "5,000 EB"),
    ],
)
def test_a_size_has_three_digits_at_most(value: int | None, shown: str) -> None:
    assert words.size(value) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (1, 0, "?"),
        (0, 9, "0 %"),
        (1, 1000, "<1 %"),
        (1, 100, "1 %"),
        (999, 1000, ">99 %"),
        (99, 100, "99 %"),
        (5, 5, "100 %"),
    ],
)
def test_something_is_never_0_percent_nor_almost_all_100(part: int, whole: int, shown: str) -> None:
    assert words.share(part, whole) == shown


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (340, "340 ms"),
        (999, "999 ms"),
        (1000, "1.0 s"),
        (6_200, "6.2 s"),
        (59_949, "59.9 s"),
        (59_950, "1 min 00 s"),
        (65_000, "1 min 05 s"),
        (3_599_400, "59 min 59 s"),
        (3_600_000, "1 h 00 min"),
        (7_380_000, "2 h 03 min"),
    ],
)
def test_a_duration_has_two_units_at_most(milliseconds: int, shown: str) -> None:
    assert words.duration(milliseconds) == shown


@pytest.mark.parametrize(
    ("width", "shown"), [(10, "abcdefghij"), (9, "abcd…ghij"), (8, "abc…ghij"), (2, "…j"), (1, "a"), (0, ""), (-1, "")]
)
def test_the_middle_of_a_text_is_cut(width: int, shown: str) -> None:
    assert words.elide_middle("abcdefghij", width) == shown


@pytest.mark.parametrize("width", range(9))
def test_a_text_that_is_cut_is_never_wider_than_its_room(width: int) -> None:
    assert len(words.elide_end("abcdefghij", width, "...")) <= width
    assert len(words.elide_middle("abcdefghij", width, "...")) <= width


@pytest.mark.parametrize(("width", "shown"), [(10, "abcdefghij"), (4, "abc…"), (1, "…"), (0, "")])
def test_the_end_of_a_text_is_cut(width: int, shown: str) -> None:
    assert words.elide_end("abcdefghij", width) == shown


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (len(FILE), FILE),
        (43, "day=2026-11-20/part-00031-0b5c1c1e….parquet"),
        (40, "day=2026-11-20/part-00031-0b5c….parquet"),
        (38, "day=2026-11-20/part-00031….parquet"),
        (25, "…1-20/part-00031….parquet"),
        (21, "…/part-00031….parquet"),
        (14, "part-0…parquet"),
    ],
)
def test_the_number_of_a_file_goes_last(width: int, shown: str) -> None:
    assert words.elide_file(FILE, width) == shown


@pytest.mark.parametrize(
    ("width", "end", "middle"), [(6, "日本語", "日本語"), (5, "日本…", "日…語"), (4, "日…", "…語")]
)
def test_a_character_of_two_cells_takes_two(width: int, end: str, middle: str) -> None:
    assert words.elide_end("日本語", width) == end
    assert words.elide_middle("日本語", width) == middle
    assert words.elide_file("日本語/日本", 8) == "…語/日本"
    assert words.padded("日本", 6) == "日本  "


def test_a_file_without_a_folder_is_cut_in_its_middle() -> None:
    assert words.elide_file("abcdefghij", 5) == "ab…ij"


def test_a_time_without_a_zone_is_utc() -> None:
    assert words.parse_time("2026-11-20T12:00:00") == words.parse_time("2026-11-20T12:00:00Z")
    assert words.parse_time("2026-11-20T13:00:00+01:00") == words.parse_time("2026-11-20T12:00:00Z")
    assert words.parse_time("yesterday") is None


def test_times_are_shown_in_the_readers_zone(in_berlin: None) -> None:
    at = "2026-11-20T12:04:11.250Z"
    assert words.local_time(at) == "2026-11-20 13:04:11"
    assert words.local_time(at, seconds=False) == "2026-11-20 13:04"
    assert words.local_time(at, zone=True) == "2026-11-20 13:04:11 CET"
    assert words.local_clock(at) == "13:04:11"


def test_what_is_no_time_stays_as_it_is() -> None:
    assert [words.local_time(text) for text in (None, "", "soon")] == ["?", "?", "soon"]
    assert [words.local_clock(text) for text in (None, "soon")] == ["?", "soon"]


def test_the_parts_of_a_second_are_left_out() -> None:
    assert words.to_the_second("2026-11-20T12:04:11.250+02:00") == "2026-11-20T12:04:11+02:00"


def test_six_characters_of_a_hash_tell_plans_apart() -> None:
    assert words.short_id("0123456789") == "012345"
