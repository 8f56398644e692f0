"""Numbers beside what they count."""

from __future__ import annotations

from engine.model.counted import count_and_verb, part_and_verb, percent


def test_the_verb_is_that_of_the_part() -> None:
    assert part_and_verb(1, 3, "file", "have") == "1 of 3 files has"
    assert part_and_verb(2, 3, "file", "differ") == "2 of 3 files differ"
    assert part_and_verb(1, 1, "file", "are") == "1 of 1 file is"
    assert count_and_verb(1_204, "row", "stand") == "1,204 rows stand"


def test_a_small_share_is_not_0_percent() -> None:
    assert [percent(share) for share in (0.5, 0.07, 0.001, 0.0004, 0, 1)] == [
        "50%",
        "7%",
        "0.1%",
        "0.04%",
        "0%",
        "100%",
    ]
