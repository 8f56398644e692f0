"""The properties that a statement gives, as Delta writes them."""

from __future__ import annotations

import pytest

from engine.create.provided_metadata import KNOWN_PROPERTIES, Provided, normal_key, session_defaults, unknown_property
from engine.model.create_values import StateColumn
from tests.unit.engine.create.test_metadata_after import Session


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("DELTA.APPENDONLY", "delta.appendOnly"),
        ("delta.enableDeletionVectors", "delta.enableDeletionVectors"),
        ("delta.Feature.RowTracking", "delta.feature.rowtracking"),
        ("delta.NoSuch", "delta.NoSuch"),
        ("My.Own", "My.Own"),
        ("appendOnly", "appendOnly"),
    ],
)
def test_deltas_own_properties_are_written_its_way(typed: str, written: str) -> None:
    assert normal_key(typed) == written


@pytest.mark.parametrize(
    ("key", "unknown"),
    [
        ("delta.nosuch", True),
        ("delta.NOSUCH", True),
        ("delta.appendonly", False),
        ("my.own", False),
        ("delta.constraints.c", False),
        ("delta.feature.nosuch", False),
        ("delta.universalFormat.config.x", False),
    ],
)
def test_what_delta_refuses_as_unknown(key: str, unknown: bool) -> None:
    assert unknown_property(key) is unknown
    assert not any(unknown_property(f"delta.{name}") for name in KNOWN_PROPERTIES)


def test_the_sessions_defaults_are_properties_of_new_tables() -> None:
    session = Session(spark__databricks__delta__properties__defaults__APPENDONLY="true", spark__app__name="x")
    assert session_defaults(session) == {"delta.appendOnly": "true"}  # type: ignore[arg-type]


def test_what_is_given_is_kept_in_the_plan() -> None:
    column = StateColumn(name="id", type="int")
    kept = Provided((column,), ("id",), configuration={"a": "b"}, comment="c").value()
    assert (kept.description, kept.columns, kept.partition_columns, kept.configuration) == (
        "c",
        (column,),
        ("id",),
        {"a": "b"},
    )
