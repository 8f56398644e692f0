"""What the console remembers of tables: never what was asked for before it forgot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from console.catalog import Catalog
from engine.model.browse import Column, TableRef
from engine.model.errors import EngineError


class Tables:
    """A backend whose answers are of the time of the question; ``meanwhile`` runs before each comes."""

    def __init__(self) -> None:
        self.name = "old"
        self.meanwhile: Callable[[], None] = lambda: None

    def list_schemas(self) -> list[str]:
        return ["sales"]

    def list_tables(self, schema: str) -> list[TableRef]:
        answer = [TableRef(schema_name=schema, name=f"{schema}.{self.name}", table=self.name)]
        self.meanwhile()
        return answer

    def table_columns(self, name: str) -> tuple[Column, ...]:
        answer = (Column(name=self.name, type="int"),)
        self.meanwhile()
        if name == "gone":
            raise EngineError("TABLE_OR_VIEW_NOT_FOUND", "gone")
        return answer


@pytest.fixture
def tables() -> Tables:
    return Tables()


@pytest.fixture
def catalog(tables: Tables) -> Catalog:
    backend: Any = tables
    catalog = Catalog(backend)

    def forget() -> None:
        tables.name, tables.meanwhile = "new", lambda: None
        catalog.forget()

    tables.meanwhile = forget
    return catalog


def test_a_list_that_was_asked_for_before_it_was_forgotten_is_not_kept(catalog: Catalog) -> None:
    assert [one.name for one in catalog.load_tables()] == ["sales.old"]
    assert catalog.known_tables() == []
    assert [one.name for one in catalog.load_tables()] == ["sales.new"]
    assert [one.name for one in catalog.known_tables()] == ["sales.new"]


def test_columns_that_were_asked_for_before_they_were_forgotten_are_not_kept(catalog: Catalog) -> None:
    assert catalog.ask_columns("t")[0].name == "old"
    assert catalog.known_columns("t") is None
    assert catalog.ask_columns("t")[0].name == "new"


def test_that_a_table_was_not_there_is_forgotten_too(catalog: Catalog) -> None:
    assert catalog.try_columns("gone") == ()
    assert catalog.known_columns("gone") is None
