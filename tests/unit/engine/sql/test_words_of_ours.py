"""The SQL that we write around an operator's expressions leaves them what they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import engine

OPENS_A_TYPE = re.compile(r"(?<![`\w])(?:array|map|struct)\s*\(", re.IGNORECASE)
ALONE = {
    "table/delta_log.py",
    "table/logged_schema.py",
    "demo/demo_sql.py",
    "preflight/evolution_errors.py",
    "table/nested_types.py",
}
"""Their queries hold no expression of an operator, or it is no query."""


def test_no_word_of_ours_makes_spark_take_a_shift_to_the_right_for_the_end_of_a_type() -> None:
    """SqlBaseLexer counts ARRAY, MAP and STRUCT as begun types, and reads >> as two > behind one: quoted they are the
    same functions."""
    home = Path(engine.__file__).parent
    found = {
        f"{path.relative_to(home)}: {node.value[:60]}"
        for path in home.rglob("*.py")
        if str(path.relative_to(home)) not in ALONE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OPENS_A_TYPE.search(node.value)
    }
    assert not found
