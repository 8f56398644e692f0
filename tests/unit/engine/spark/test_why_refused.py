"""A refusal without a reason is asked again by a listing, and what was found out before stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.model.errors import EngineError
from engine.spark import why_refused
from engine.spark.store_errors import ANY_OF, STORE_DENIED, store_error
from engine.spark.why_refused import says_why_refused

SDK = "s3a://lake/t: software.amazon.awssdk.services.s3.model.S3Exception: {} (Service: S3, Status Code: 403):{}"
BARE = "The store refuses access to the bucket lake without saying why."


class Lists:
    """A Spark whose listing of the bucket raises ``said``."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.tags: list[str] = []
        self.tagged: list[str] = []
        self.read = SimpleNamespace(format=lambda _: SimpleNamespace(load=self._load))

    def addTag(self, tag: str) -> None:
        self.tags.append(tag)

    def removeTag(self, tag: str) -> None:
        self.tags.remove(tag)

    def _load(self, _: str) -> Any:
        self.tagged = [*self.tags]
        raise RuntimeError(self.said)


@pytest.fixture(autouse=True)
def _read_by_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(why_refused, "translate", lambda error: store_error(str(error)) or error)


def refused(spark: Any, hint: str, **kwargs: Any) -> EngineError:
    @says_why_refused
    def work(_: Any, tag: str | None = None) -> None:
        raise EngineError(STORE_DENIED, BARE, hint)

    with pytest.raises(EngineError) as raised:
        work(spark, **kwargs)
    return raised.value


def test_the_reason_of_the_listing_is_told() -> None:
    error = refused(Lists(SDK.format("The token has expired", "ExpiredToken")), ANY_OF)
    assert "session token" in error.message
    assert error.hint.startswith("Fetch a new one")
    assert error.__cause__ is not None


def test_that_a_commit_may_be_there_is_told_still() -> None:
    error = refused(Lists(SDK.format("The token has expired", "ExpiredToken")), f"The commit may be there. {ANY_OF}")
    assert error.hint.startswith("The commit may be there. Fetch a new one")


def test_a_listing_that_is_refused_without_a_reason_too_changes_nothing() -> None:
    error = refused(Lists(SDK.format("Forbidden", "null")), ANY_OF)
    assert (error.message, error.hint) == (BARE, ANY_OF)


def test_a_cancel_reaches_the_listing() -> None:
    spark = Lists(SDK.format("The token has expired", "ExpiredToken"))
    refused(spark, ANY_OF, tag="work")
    assert (spark.tagged, spark.tags) == (["work"], [])
