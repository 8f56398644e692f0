"""An SQL function is described alike by every release of Spark."""

from __future__ import annotations

import json

from engine.spark.described_function import described_function

KEPT = {
    "sqlFunction.returnType": "STRING",
    "sqlFunction.deterministic": "true",
    "sqlFunction.isTableFunc": "false",
    "sqlFunction.inputParam": "v STRING",
    "sqlFunction.expression": "concat(v,\n'x')",
    "sqlFunction.createTime": "1795723914931",
    "sqlConfig.spark.sql.session.timeZone": "UTC",
    "sqlConfig.spark.sql.ansi.enabled": "true",
    "catalogAndNamespace.part.0": "spark_catalog",
}


def rows(**changed: str) -> list[tuple[str]]:
    usage = json.dumps({**KEPT, **{f"sqlFunction.{name}": value for name, value in changed.items()}})
    return [
        ("Function: plus_x",),
        ("Class: sqlFunction.",),
        (f"Usage: {usage}",),
        ("Extended Usage:\n    No example/argument for plus_x.\n",),
    ]


def test_what_the_catalog_keeps_is_told_in_lines() -> None:
    assert described_function(rows()).splitlines() == [
        "Function: plus_x",
        "Type: SCALAR",
        "Input: v STRING",
        "Returns: STRING",
        "Deterministic: true",
        "Configs: spark.sql.ansi.enabled=true",
        "         spark.sql.session.timeZone=UTC",
        "Create Time: 1795723914931",
        "Body: concat(v,",
        "'x')",
    ]


def test_the_body_of_a_query_is_the_query() -> None:
    assert described_function(rows(query="(SELECT 'a')")).endswith("\nBody: (SELECT 'a')")


def test_every_other_function_is_as_spark_describes_it() -> None:
    built_in = [("Function: upper",), ("Class: org.apache.spark.sql.catalyst.expressions.Upper",), ("Usage: {x}",)]
    assert described_function(built_in) == "\n".join(line for (line,) in built_in)
    new = [("Function: plus_x",), ("Type: SCALAR",), ("Body: concat(v, 'x')",)]
    assert described_function(new) == "Function: plus_x\nType: SCALAR\nBody: concat(v, 'x')"
