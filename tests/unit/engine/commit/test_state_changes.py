"""What has changed of the session since the plan, by name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.commit import state_changes
from engine.commit.state_changes import changes, engine_changes, session_changed
from engine.merge.session_definitions import DIGEST, digest
from engine.model.errors import CancelledError
from engine.model.plan import Engines, PlanningState
from engine.model.secrets import MASK


class Conf:
    """Settings, of which ``defaults`` show once they are unset."""

    def __init__(self, values: dict[str, str], defaults: dict[str, str]) -> None:
        self.values, self.defaults = values, defaults

    def get(self, key: str) -> str:
        value = self.values.get(key, self.defaults.get(key))
        if value is None:
            raise ValueError(key)
        return value

    def unset(self, key: str) -> None:
        self.values.pop(key, None)

    def set(self, key: str, value: str) -> None:
        self.values[key] = value


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The session as it is: change what a test is about."""
    session = SimpleNamespace(
        catalog="spark_catalog", schema="default", confs={}, temporary=(), variables={}, definitions={}, defaults={}
    )
    monkeypatch.setattr(state_changes, "session_confs", lambda *_: session.confs)
    monkeypatch.setattr(state_changes, "surroundings", lambda *_: session)
    monkeypatch.setattr(state_changes, "variables_now", lambda *_: session.variables)
    monkeypatch.setattr(state_changes, "view_definition", lambda _, name: session.definitions.get(name))
    monkeypatch.setattr(state_changes, "function_definition", lambda _, name: session.definitions.get(name))
    return session


def found(session: Any, **planned: Any) -> tuple[str, ...]:
    spark: Any = SimpleNamespace(conf=Conf(dict(session.confs), session.defaults))
    try:
        return changes(spark, PlanningState(**planned), ())
    finally:
        assert spark.conf.values == session.confs, "the session is left as it was"


def test_what_was_not_recorded_is_not_compared(now: Any) -> None:
    assert changes(SimpleNamespace(), None, ()) == ()  # type: ignore[arg-type]
    assert found(now) == ()


@pytest.mark.parametrize(
    ("its_spark", "its_delta", "words"),
    [
        ("4.2.0", "4.4.0", ()),
        ("4.2.1", "4.4.1", ()),
        ("4.1.2", "4.4.0", ("Spark was 4.2.0 when planned and is 4.1.2 now",)),
        ("4.2.0", "4.3.1", ("Delta was 4.4.0 when planned and is 4.3.1 now",)),
        ("4.2.0", "unknown", ()),
    ],
)
def test_another_release_of_spark_or_delta_is_told(its_spark: str, its_delta: str, words: tuple[str, ...]) -> None:
    planned = Engines(spark="4.2.0", delta="4.4.0", deltamerge="0.1.0")
    assert engine_changes(planned, Engines(spark=its_spark, delta=its_delta, deltamerge="0.2.0")) == words


def test_the_place_of_names_is_compared(now: Any) -> None:
    assert found(now, catalog="other", schema_name="default") == (
        "the current catalog was other when planned and is spark_catalog now",
    )
    assert found(now, schema_name="sales") == ("the current schema was sales when planned and is default now",)


@pytest.mark.parametrize(
    ("then", "current", "default", "words"),
    [
        ("a", "a", None, ()),
        ("a", "b", None, ("the conf k was a when planned and is b now",)),
        ("", "b", None, ("the conf k was empty when planned and is b now",)),
        (MASK, "b", None, ()),
        # set to what it is anyway
        ("a", None, "a", ()),
        (None, "a", "a", ()),
        (None, "a", "b", ("the conf k was not set when planned and is a now",)),
        ("a", None, None, ("the conf k was a when planned and is not set now",)),
    ],
)
def test_a_conf_is_told_where_its_value_is_another(
    now: Any, then: str | None, current: str | None, default: str | None, words: tuple[str, ...]
) -> None:
    now.confs = {} if current is None else {"k": current}
    now.defaults = {} if default is None else {"k": default}
    assert found(now, confs={} if then is None else {"k": then}) == words


def test_a_secret_is_not_told(now: Any) -> None:
    now.confs = {"my.password": "new"}
    assert found(now, confs={"my.password": "old"}) == ("the conf my.password is another than when planned",)


def test_a_cancel_while_a_default_is_asked_for_goes_up(now: Any) -> None:
    class Cancelled(Conf):
        def get(self, _: str) -> str:
            raise CancelledError("CANCELLED", "The work was cancelled.")

    now.confs = {"k": "a"}
    spark: Any = SimpleNamespace(conf=Cancelled({"k": "a"}, {}))
    with pytest.raises(CancelledError):
        changes(spark, PlanningState(), ())
    assert spark.conf.values == {"k": "a"}


def test_session_variables_are_compared(now: Any) -> None:
    now.variables = {"same": "1", "other": "2", "long": "new", "kept": "text"}
    planned = {"same": "1", "other": "1", "gone": "1", "long": digest("old"), "kept": digest("text")}
    assert planned["long"].startswith(DIGEST)
    assert found(now, variables=planned) == (
        "the session variable other was 1 when planned and is 2 now",
        "the session variable gone is not declared any more",
        "the session variable long is another than when planned",
    )


def test_views_and_functions_are_compared(now: Any) -> None:
    now.definitions = {"v": "SELECT 1", "f": "x + 2"}
    planned = {"v": digest("SELECT 1"), "lost": digest("SELECT 1")}
    assert found(now, views=planned, functions={"f": digest("x + 1")}) == (
        "the view lost is gone",
        "the function f was redefined",
    )


def test_a_function_that_is_called_by_two_names_is_told_once(now: Any) -> None:
    now.definitions = {"f": "new", "g": "new"}
    before = digest("old")
    assert found(now, functions={"f": before, "`s`.f": before, "g": before}) == (
        "the function f was redefined",
        "the function `s`.f is gone",
        "the function g was redefined",
    )
    now.definitions["`s`.f"] = "new"
    assert found(now, functions={"f": before, "`s`.f": before}) == ("the function f was redefined",)


def test_a_temporary_view_hides_a_table(now: Any) -> None:
    now.temporary = ("new", "kept")
    assert found(now, names=("new", "kept", "gone", "never"), temporary=("kept", "gone")) == (
        "new is a temporary view now and was none when planned",
        "the temporary view gone is gone",
    )


def test_the_error_names_the_first_few() -> None:
    assert "session: a; b; c." in session_changed("t", ["a", "b", "c"]).message
    assert "session: a; b; c; and 2 more." in session_changed("t", ["a", "b", "c", "d", "e"]).message
