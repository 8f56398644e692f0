"""What the engine may load. import-linter sees packages; these see names and what a process really holds."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import engine

MODULES = sorted(Path(engine.__file__).parent.rglob("*.py"))


def imported(module: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def loaded_after(code: str) -> set[str]:
    """Top-level modules of a fresh process that ran ``code``."""
    listing = f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_no_module_uses_sparks_function_objects() -> None:
    """Once a Connect session exists in a process, the columns of pyspark.sql.functions fail on a classic one."""
    users = [str(path) for path in MODULES if "pyspark.sql.functions" in imported(path)]
    assert users == []


def test_importing_the_engine_loads_neither_spark_nor_duckdb() -> None:
    assert not loaded_after("import engine") & {"pyspark", "delta", "duckdb", "sqlglot", "grpc"}


def test_the_chain_is_headless() -> None:
    steps = "import engine.plan_merge, engine.commit.apply_plan, engine.ledger.history, engine.session.connect"
    assert not loaded_after(steps) & {"textual", "click", "rich", "console", "py4j"}
