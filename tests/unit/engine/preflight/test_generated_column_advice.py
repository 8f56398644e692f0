"""What ON implies of a generated column, and when it is advised."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.merge.analyze import Expression
from engine.model.errors import CancelledError, EngineError
from engine.preflight import generated_column_advice
from engine.preflight.generated_column_advice import generated_predicate, implied_predicates
from engine.sql.parse import parse_merge
from engine.table.logged_schema import LoggedColumn

TYPES = {"at": "timestamp", "n": "int", "v": "int", "date": "timestamp"}
DAY = "CAST(at AS DATE)"


def merge(*conjuncts: Expression) -> Any:
    return SimpleNamespace(
        typed=parse_merge("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"),
        target_schema=[SimpleNamespace(name=name, type=type_) for name, type_ in TYPES.items()],
        on=conjuncts,
        sides=(None, None),
    )


def only(typed: str, column: str = "at") -> Expression:
    """A conjunct of the target alone."""
    return Expression(typed, (), (column,), typed)


def generated(as_: str | None, name: str = "day") -> Any:
    return SimpleNamespace(name=name, generated_as=as_)


def implied(as_: str | None, *conjuncts: Expression) -> list[str]:
    return list(implied_predicates(merge(*conjuncts), [generated(as_)]))


NOON = "CAST(CAST('2026-01-01 12:00' AS timestamp) AS DATE)"


@pytest.mark.parametrize(
    ("typed", "predicate"),
    [
        ("t.at = '2026-01-01 12:00'", f"`t`.`day` = {NOON}"),
        ("t.at >= '2026-01-01 12:00'", f"`t`.`day` >= {NOON}"),
        # two times of one day have the same date
        ("t.at > '2026-01-01 12:00'", f"`t`.`day` >= {NOON}"),
        ("t.at < '2026-01-01 12:00'", f"`t`.`day` <= {NOON}"),
        ("'2026-01-01 12:00' < t.at", f"`t`.`day` >= {NOON}"),
        ("'2026-01-01 12:00' >= t.at", f"`t`.`day` <= {NOON}"),
        ("t.at BETWEEN '2026-01-01 12:00' AND '2026-01-01 12:00'", f"`t`.`day` >= {NOON} AND `t`.`day` <= {NOON}"),
        ("t.at NOT BETWEEN '2026-01-01' AND '2026-01-02'", None),
        ("t.at <> '2026-01-01'", None),
        ("t.at = t.at", None),
        ("t.at IS NULL", None),
    ],
)
def test_a_bound_of_the_base_bounds_what_grows_with_it(typed: str, predicate: str | None) -> None:
    assert implied(DAY, only(typed)) == ([predicate] if predicate else [])


def test_what_does_not_grow_with_its_base_keeps_an_equality_alone() -> None:
    assert implied("n % 7", only("t.n > 3", "n")) == []
    assert implied("n % 7", only("t.n = 3", "n")) == ["`t`.`day` = CAST(3 AS int) % 7"]


def test_a_type_that_is_called_as_the_column_stays_a_type() -> None:
    predicate = "`t`.`day` = CAST(CAST('a' AS timestamp) AS DATE)"
    assert implied("CAST(date AS DATE)", only("t.date = 'a'", "date")) == [predicate]
    assert implied("CAST(at AS DATE)", only("t.date = 'a'", "date")) == []


def test_several_bounds_are_joined_once_each() -> None:
    (text,) = implied(DAY, only("t.at > 'a'"), only("t.at < 'b'"), only("t.at > 'a'"))
    assert text.count(" AND ") == 1


def test_other_columns_and_conjuncts_imply_nothing() -> None:
    assert implied(None, only("t.at = 'a'")) == []
    assert implied(DAY, only("t.v = 1", "v")) == []
    assert implied(DAY, Expression("t.at = s.at", ("at",), ("at",), "t.at = s.at")) == []
    assert implied(DAY, Expression("t.at = t.v", (), ("at", "v"), "t.at = t.v")) == []


def file(path: str) -> Any:
    return SimpleNamespace(path=path)


@pytest.fixture
def advised(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The advice for a MERGE that keeps three files, of which it matches ``matched``."""

    def ask(left: tuple[str, ...], read: set[str] | None, matched: tuple[str, ...] = ("a",), error: Any = None) -> Any:
        def files(*_: object, **__: object) -> list[Any]:
            if error:
                raise error
            return [file(one) for one in left]

        monkeypatch.setattr(generated_column_advice, "resolve", lambda text, _: SimpleNamespace(text=text))
        monkeypatch.setattr(generated_column_advice, "where", lambda *_: "")
        monkeypatch.setattr(generated_column_advice, "files_for_scan", files)
        scan: Any = SimpleNamespace(read=read, after=[file(one) for one in "abc"], predicates=())
        matches: Any = SimpleNamespace(
            view="v", files=[SimpleNamespace(file=file(one), matched=one in matched) for one in "abc"]
        )
        columns: list[LoggedColumn] = [generated(DAY)]
        return generated_predicate(None, merge(only("t.at = 'x'")), scan, matches, columns)  # type: ignore[arg-type]

    return ask


def test_it_is_advised_where_it_keeps_what_a_read_keeps_and_each_match(advised: Any) -> None:
    remark = advised(("a",), {"a"})
    assert remark.sentence.startswith("The MERGE reads 3 files where a read would keep 1")
    assert "Add AND `t`.`day` = " in remark.evidence


@pytest.mark.parametrize(
    ("left", "read", "matched"),
    [
        (("a",), None, ("a",)),
        (("a",), {"a", "b", "c"}, ("a",)),
        (("a",), {"b"}, ("a",)),
        (("a",), {"a"}, ("b",)),
        (("a", "b", "c"), {"a"}, ("a",)),
    ],
)
def test_it_is_not_advised_where_a_file_would_be_lost_or_none_is_left_out(
    advised: Any, left: tuple[str, ...], read: set[str] | None, matched: tuple[str, ...]
) -> None:
    assert advised(left, read, matched) is None


def test_what_is_no_predicate_after_all_is_left_out_and_a_cancel_goes_up(advised: Any) -> None:
    assert advised(("a",), {"a"}, error=EngineError("PARSE_SYNTAX_ERROR", "…")) is None
    with pytest.raises(CancelledError):
        advised(("a",), {"a"}, error=CancelledError("CANCELLED", "…"))
