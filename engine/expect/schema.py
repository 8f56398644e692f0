"""The JSON Schema of a file of expectations, for editors; ``docs/reference/expectations.schema.json`` holds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import RootModel

from engine.expect.expectation import Expectation


class ExpectationsFile(RootModel[dict[str, list[Expectation]]]):
    """The expectations of tables, by the name of the table."""


def expectations_schema() -> dict[str, Any]:
    """The schema (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ExpectationsFile.model_json_schema()}


if __name__ == "__main__":  # python -m engine.expect.schema: write it anew
    file = Path(__file__).parents[2] / "docs" / "reference" / "expectations.schema.json"
    file.write_text(json.dumps(expectations_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
