from __future__ import annotations

import pytest

from engine.model.errors import EngineError
from engine.session.state import ServerInfo
from engine.session.static_confs import check_static, sealed

GIVEN = {
    "spark.sql.extensions": "mine",
    "spark.jars.packages": "org.x:y:1",
    "spark.hadoop.fs.s3a.secret.key": "the-secret",
    "spark.jars.repositories": "https://user:the-secret@mirror.example/maven",
}
EFFECTIVE = {"spark.sql.extensions": "deltas,mine", "spark.ui.enabled": "false"}
SERVER = ServerInfo(token="t", static_confs=sealed(GIVEN, "t"), effective=sealed(EFFECTIVE, "t"))


def test_secrets_are_sealed_and_the_rest_is_as_it_was() -> None:
    assert sealed(EFFECTIVE, "t") == EFFECTIVE
    assert "the-secret" not in str(sealed(GIVEN, "t"))


@pytest.mark.parametrize("again", [{}, GIVEN, {"spark.sql.extensions": "mine"}, {"spark.ui.enabled": "false"}])
def test_what_was_given_may_be_given_again_whatever_spark_made_of_it(again: dict[str, str]) -> None:
    check_static(SERVER, again)


@pytest.mark.parametrize(
    "other",
    [
        {"spark.sql.extensions": "deltas,mine"},
        {"spark.hadoop.fs.s3a.secret.key": "another"},
        {"spark.ui.enabled": "true"},
        {"spark.new": "x"},
    ],
)
def test_another_value_is_refused_and_not_repeated(other: dict[str, str]) -> None:
    with pytest.raises(EngineError) as caught:
        check_static(SERVER, {**GIVEN, **other})
    assert caught.value.condition == "STATIC_CONF"
    assert next(iter(other)) in caught.value.message
    assert "another" not in caught.value.message.replace("another value", "")
