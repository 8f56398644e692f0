from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import DateType, StringType

from engine.create.generation_expressions import unsupported_part


@pytest.mark.parametrize(
    ("expression", "columns", "fault"),
    [
        ("upper(user)", {"user": StringType()}, None),
        ("upper(user)", {"name": StringType()}, "user"),
        ("year(current_date)", {"current_date": DateType()}, None),
        ("year(current_date)", {}, "current_date"),
    ],
)
def test_a_column_goes_before_the_function_that_is_called_without_brackets(
    expression: str, columns: Any, fault: str | None
) -> None:
    no_spark: Any = None  # no class depends on a type here
    assert unsupported_part(no_spark, expression, columns) == fault
