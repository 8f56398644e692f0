"""What Spark answered once, kept as small files, for those who read its plans.

A file holds the statements that one case asked, each with its rows and schema, or with the class and words of its
refusal. ``python -m tests.unit.explained.record`` records all of them anew from a real Spark.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.model.errors import EngineError

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """The part of a DataFrame that the readers use."""

    rows: list[list[Any]]
    fields: dict[str, Any]

    def collect(self) -> list[list[Any]]:
        return self.rows

    @property
    def schema(self) -> Any:
        from pyspark.sql.types import StructType

        return StructType.fromJson(self.fields)


class Confs:
    """The settings of a session, all at their defaults but those that are given."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values
        self.were_set: list[tuple[str, str]] = []

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.were_set.append((key, value))
        self.values[key] = value

    def unset(self, key: str) -> None:
        self.values.pop(key, None)


class Recorded:
    """Answers exactly the statements of one file. Another statement is a KeyError: record the case anew."""

    def __init__(self, name: str, **confs: str) -> None:
        asked = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        self.answers: dict[str, dict[str, Any]] = {one["sql"]: one for one in asked}
        self.conf = Confs(dict(confs))

    def sql(self, text: str) -> Answer:
        answer = self.answers[text]
        if "error" in answer:
            raise EngineError(*answer["error"])
        return Answer(answer["rows"], answer["schema"])


class Prints:
    """Prints the same text for each EXPLAIN."""

    def __init__(self, text: str) -> None:
        self.conf = Confs({})
        self.text = text
        self.asked: list[str] = []

    def sql(self, text: str) -> Answer:
        self.asked.append(text)
        return Answer([[line] for line in self.text.split("\n")], {})
