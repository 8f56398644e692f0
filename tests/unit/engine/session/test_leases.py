from __future__ import annotations

from pathlib import Path

import pytest

from engine.session.leases import place_of_session


@pytest.mark.parametrize("place", ["", "servers/s3", "servers/lake-s3"])
def test_a_session_is_found_on_the_server_that_it_was_left_on(tmp_path: Path, place: str) -> None:
    leases = tmp_path / place / "leases"
    leases.mkdir(parents=True)
    (leases / "123.sessions").write_text("started\nan-id me\nanother-id somebody else\n")
    assert place_of_session(tmp_path, "another-id") == tmp_path / place
    assert place_of_session(tmp_path, "another") is None
