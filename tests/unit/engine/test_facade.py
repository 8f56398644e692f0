"""``from engine import …`` gives what the README says, whatever was imported before."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import engine


@pytest.mark.parametrize("name", engine.__all__)
def test_no_module_has_the_name_of_the_facade(name: str) -> None:
    """Python puts a module into its package under its name, over what the package gives."""
    assert name not in {module.name for module in pkgutil.iter_modules(engine.__path__)}


@pytest.mark.parametrize("name", engine.__all__)
def test_the_facade_gives_what_can_be_called(name: str) -> None:
    importlib.import_module("engine.commit.apply_plan")
    assert callable(getattr(engine, name))
