"""Work in a session that others have, too: what it brings along is there for its turn alone."""

from __future__ import annotations

from typing import Any

import pytest

from engine.session.session import Session


class Confs:
    """The confs of a session, of which each call is a call of Spark."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.calls: list[str] = []

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.calls.append(key)
        self.values[key] = value

    def unset(self, key: str) -> None:
        del self.values[key]


class Spark:
    def __init__(self, conf: Confs) -> None:
        self.conf = conf


def session_with(conf: Confs) -> Session:
    spark: Any = Spark(conf)
    return Session(spark, endpoint="classic", session_id=None, user_id=None, opener=None)


def test_confs_that_are_brought_along_are_set_in_the_turn_and_put_back_after_it() -> None:
    conf = Confs(other="1", same="2")
    session = session_with(conf)
    session.bring_confs({"other": "9", "same": "2", "new": "3"})
    assert conf.values == {"other": "1", "same": "2"}, "another one may work there now"
    with session.turn(lambda: None):
        assert conf.values == {"other": "9", "same": "2", "new": "3"}
    assert conf.values == {"other": "1", "same": "2"}
    assert conf.calls == ["other", "new", "other"]


def test_they_are_put_back_after_a_failure_too() -> None:
    conf = Confs()
    session = session_with(conf)
    session.bring_confs({"new": "3"})
    with pytest.raises(ValueError, match="work"), session.turn(lambda: None):
        raise ValueError("work")
    assert conf.values == {}
