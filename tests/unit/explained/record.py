"""Record all cases anew: ``python -m tests.unit.explained.record``. Starts Spark; no test does."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from engine.session.connect import connect
from engine.session.server import stop_server
from engine.spark.spark_errors import translate
from tests.conftest import SERVER_CONFS
from tests.unit.explained import FOLDER
from tests.unit.explained.cases import CASES, SETUP


class Recording:
    """A session that remembers what it was asked and what it answered."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.asked: dict[str, dict[str, Any]] = {}
        self.conf = spark.conf

    def sql(self, text: str) -> Any:
        try:
            frame = self.spark.sql(text)
            schema = json.loads(frame.schema.json())
            rows = [[str(cell) if cell is not None else None for cell in row] for row in frame.collect()]
        except Exception as error:
            told = translate(error, text)
            self.asked[text] = {"sql": text, "error": [told.condition, told.message, told.hint]}
            raise
        self.asked[text] = {"sql": text, "rows": rows, "schema": schema}
        return frame


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        try:
            with connect("local[2]", home=Path(home), confs=SERVER_CONFS) as session:
                for statement in SETUP:
                    session.spark.sql(statement)
                for name, case in CASES.items():
                    recording = Recording(session.spark)
                    case(recording)
                    text = json.dumps(list(recording.asked.values()), indent=1, ensure_ascii=False)
                    # where the warehouse was is nobody's business
                    text = re.sub(rf"{re.escape(home)}[\w/-]*/warehouse", "/warehouse", text)
                    (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
                    print(name, len(recording.asked), "statements")
        finally:
            stop_server(Path(home))


if __name__ == "__main__":
    main()
