"""What is typed to find a key is refused in the names of the statement, a sentence for each reason."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from engine.explore import key_question
from engine.model.errors import EngineError


class Casting:
    """A Spark that knows which digits make a number."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sql(self, query: str) -> Any:
        self.asked.append(query)
        values = re.findall(r"try_cast\('([^']*)' AS \w+\) IS NULL", query)
        return SimpleNamespace(collect=lambda: [tuple(not value.isdigit() for value in values)])


@pytest.fixture
def merge(monkeypatch: pytest.MonkeyPatch) -> Any:
    """ON t.id = s.id AND t.day <=> s.day, both BIGINT."""
    fields = [SimpleNamespace(dataType=SimpleNamespace(simpleString=lambda: "bigint")) for _ in range(2)]
    monkeypatch.setattr(key_question, "schema_of", lambda *_: SimpleNamespace(fields=fields))
    monkeypatch.setattr(key_question, "ddl", lambda data_type: data_type.simpleString())
    monkeypatch.setattr(key_question, "is_same", lambda *_: True)

    def side(alias: str, name: str) -> SimpleNamespace:
        return SimpleNamespace(typed=f"{alias}.{name}", text=f"`__dm_{alias}`.`{name}`")

    statement = SimpleNamespace(source=SimpleNamespace(reference="s"), target=SimpleNamespace(reference="t"))
    keys = [
        SimpleNamespace(target=side("t", name), source=side("s", name), null_safe=name == "day")
        for name in ("id", "day")
    ]
    return SimpleNamespace(
        keys=keys, statement=statement, typed=statement, target_sql="t", source_reference="s", sides=()
    )


SOURCE: Any = SimpleNamespace(view="v")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("abc, 1", "'abc' is no BIGINT, and t.id is one."),
        ("1, x", "'x' is no BIGINT, and t.day is one."),
        ("1, ''", "'' is no BIGINT, and t.day is one."),
    ],
)
def test_a_value_that_is_not_of_the_type_of_its_column_is_refused_in_one_sentence(
    merge: Any, typed: str, message: str
) -> None:
    with pytest.raises(EngineError) as raised:
        key_question.ask_for(Casting(), merge, SOURCE, typed)  # type: ignore[arg-type]
    assert (raised.value.condition, raised.value.message) == ("KEY_NOT_UNDERSTOOD", message)
    assert raised.value.hint


def test_the_keys_that_are_wanted_are_told_as_on_ties_them(merge: Any) -> None:
    with pytest.raises(EngineError, match=r"ON ties 2 keys \(t\.id = s\.id, t\.day <=> s\.day\), and 1 was typed"):
        key_question.ask_for(Casting(), merge, SOURCE, "5")  # type: ignore[arg-type]


@pytest.mark.parametrize("typed", ["10001", "2026-11-19", "a, NULL", "'x = y'", "O'Brien", "a.b@c"])
def test_what_compares_nothing_is_a_value(typed: str) -> None:
    assert not key_question.is_predicate(typed)


@pytest.mark.parametrize("typed", ["OR", "in", "IS, NOT", "5, AND", "Acme (UK)", "(020) 5555"])
def test_a_word_alone_and_a_name_with_brackets_are_values_whatever_sql_makes_of_them(typed: str) -> None:
    assert not key_question.is_predicate(typed)


@pytest.mark.parametrize(
    "typed", ["t.id = 1", "id IS NULL", "upper(t.v) <=> 'A'", "t.a BETWEEN 1 AND 2", "t.a IN (1, 2)", "isnan(t.a)"]
)
def test_what_compares_or_calls_is_a_predicate(typed: str) -> None:
    assert key_question.is_predicate(typed)


def test_what_is_null_is_of_every_type(merge: Any) -> None:
    spark = Casting()
    assert key_question.ask_for(spark, merge, SOURCE, "NULL, 5").by_value  # type: ignore[arg-type]
    assert key_question.ask_for(spark, merge, SOURCE, "NULL, NULL").by_value  # type: ignore[arg-type]
    assert len(spark.asked) == 1


def test_what_spark_suggests_has_the_names_of_the_statement(merge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "`x` cannot be resolved. Did you mean one of the following? [`__dm_source`.`id`, `__dm_target`.`id`]."

    def refused(*_: object) -> None:
        raise EngineError("UNRESOLVED_COLUMN.WITH_SUGGESTION", said, "Check it.")

    monkeypatch.setattr(key_question, "schema_of", refused)
    monkeypatch.setattr(key_question, "resolve", lambda text, _: SimpleNamespace(text=text))
    with pytest.raises(EngineError) as raised:
        key_question.ask_for(None, merge, SOURCE, "x = 1")  # type: ignore[arg-type]
    assert raised.value.message.endswith("[s.`id`, t.`id`].")
    assert raised.value.hint == "Check it."
