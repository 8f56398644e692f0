from __future__ import annotations

import pytest

from console.words.silence import silence
from engine.session.store_watch import Silence


@pytest.mark.parametrize(
    ("seconds", "store", "said"),
    [
        (4.9, None, ""),
        (5.2, None, "nothing new for 5 s"),
        (0, 4, ""),
        (0, 5, "the store at lake:9000 has not answered for 5 s"),
        (30, 4, "nothing new for 30 s"),
        (30, 20, "the store at lake:9000 has not answered for 20 s"),
    ],
)
def test_a_silence_is_said_after_five_seconds_and_the_stores_before_sparks(
    seconds: float, store: int | None, said: str
) -> None:
    silent = Silence("lake:9000", store) if store is not None else None
    assert silence(seconds, silent) == said
    assert silence(seconds, silent, with_host=False) == said.replace(" at lake:9000", "")
