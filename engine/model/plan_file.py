"""The plan file: JSON that anyone can read, and that is checked strictly when it is read back.

A plan file may come from another machine or from a stranger. Reading one runs nothing and believes
nothing: it is parsed as data, every key is known, every value has its type.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.files import write_private
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError
from engine.model.plan import FORMAT_VERSION, Plan
from engine.model.plan_checksum import CHECKSUM, is_as_written
from engine.model.plans import AnyPlan

SCHEMA_FILE = Path(__file__).with_name("plan.schema.json")
CREATE_SCHEMA_FILE = Path(__file__).with_name("create_plan.schema.json")

# Far above any real plan; a guard against reading something endless by mistake.
MAX_BYTES = 512 * 1024 * 1024

_HINT_REPLAN = "Make a new one: deltamerge-console plan FILE.sql -o PLAN.json"


def read_plan(text: str) -> AnyPlan:
    """The plan that ``text`` holds.

    Raises EngineError: ``PLAN_FILE_DAMAGED`` (no JSON, or cut short), ``NOT_A_PLAN`` (JSON of something
    else), ``PLAN_FILE_NEWER`` (a later format), ``PLAN_FILE_EDITED`` (its checksum is missing or another's),
    ``PLAN_FILE_INVALID`` (a key that is missing, unknown or of the wrong type, named).
    """
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        place = isinstance(error, json.JSONDecodeError) and f" (line {error.lineno}, column {error.colno})"
        is_other = bool(text.strip()) and not text.lstrip().startswith("{")
        what = "it is a file of another kind" if is_other else "it is damaged or was cut short"
        raise EngineError(
            "PLAN_FILE_DAMAGED",
            f"The plan file is no valid JSON{place or ''}: {what}.",
            _HINT_REPLAN,
        ) from error
    if not isinstance(document, dict) or "format_version" not in document or "plan_id" not in document:
        raise EngineError(
            "NOT_A_PLAN",
            "This is JSON, but not a plan file: it has no format_version and plan_id.",
            "Name a file written by: deltamerge-console plan FILE.sql -o PLAN.json",
        )
    version = document["format_version"]
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise EngineError(
            "PLAN_FILE_INVALID",
            f"The plan file's format_version is {_short(version)}, not a number.",
            _HINT_REPLAN,
        )
    if version > FORMAT_VERSION:
        raise EngineError(
            "PLAN_FILE_NEWER",
            f"The plan file has format {version}; this program reads format {FORMAT_VERSION}.",
            "Apply it with the newer deltamerge-console that wrote it, or plan again with this one.",
        )
    as_written = is_as_written(document)
    try:
        # Strict JSON mode: "1" is no number and 1 is no text; tuples still come from arrays.
        kind = CreatePlan if document.get("kind") == "create_table" else Plan
        plan = kind.model_validate_json(text, strict=True)
    except ValidationError as error:
        if not as_written:
            raise _edited(document, _problem(error)) from error
        raise EngineError(
            "PLAN_FILE_INVALID", f"The plan file is not valid: {_problem(error)}.", _HINT_REPLAN
        ) from error
    if not as_written:
        raise _edited(document)
    return plan


def read_plan_file(path: Path) -> AnyPlan:
    """The plan in the file ``path``. Raises what :func:`read_plan` does, and ``PLAN_FILE_UNREADABLE``."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise EngineError(
            "PLAN_FILE_UNREADABLE",
            f"The plan file {path} cannot be read: {error.strerror or error}.",
            "Check the path and its permissions.",
        ) from error
    return plan_of(data, str(path))


def plan_of(data: bytes, name: str) -> AnyPlan:
    """The plan in the bytes of a file; ``name`` is what to call that. Raises what :func:`read_plan` does."""
    if len(data) > MAX_BYTES:
        raise EngineError("PLAN_FILE_DAMAGED", f"{name} is too big to be a plan file.", _HINT_REPLAN)
    if not data.strip():
        raise EngineError("PLAN_FILE_DAMAGED", f"{name} is empty: it holds no plan.", _HINT_REPLAN)
    try:
        return read_plan(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise EngineError(
            "PLAN_FILE_DAMAGED", f"{name} is no plan file: its bytes are not UTF-8.", _HINT_REPLAN
        ) from error


def write_plan(path: Path, plan: AnyPlan) -> None:
    """Write ``plan`` to ``path``, readable by its owner only (0600).

    The file appears whole or not at all; one that was there stays as it was if writing fails.
    Raises EngineError (``PLAN_FILE_NOT_WRITTEN``): no such folder, no permission, a full disk.
    """
    path = path.expanduser()
    try:
        write_private(path, plan.to_json(), durable=True)
    except OSError as error:
        raise EngineError(
            "PLAN_FILE_NOT_WRITTEN",
            f"The plan file {path} cannot be written: {error.strerror or error}.",
            "Name another place with -o, or make room there.",
        ) from error


def plan_schema(kind: type[Plan | CreatePlan] = Plan) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a plan file of a kind; ``plan.schema.json`` beside this
    file for a MERGE, ``create_plan.schema.json`` for a CREATE."""
    schema = kind.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"deltamerge-console plan file, format {FORMAT_VERSION}",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def schema_text(kind: type[Plan | CreatePlan] = Plan) -> str:
    """The text of the schema's file."""
    return json.dumps(plan_schema(kind), indent=2, ensure_ascii=False) + "\n"


def _edited(document: dict[str, Any], problem: str = "") -> EngineError:
    missing = document.get(CHECKSUM) is None
    what = "it has no checksum" if missing else "its checksum is not that of what it says"
    return EngineError(
        "PLAN_FILE_EDITED",
        f"The plan file is not as it was written: {what}{f', and {problem}' if problem else ''}.",
        f"A plan is what was looked at, and cannot be edited. {_HINT_REPLAN}",
    )


def _problem(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    first = problems[0]
    where = ".".join(str(part) for part in first["loc"]) or "the top"
    kind = first["type"]
    if kind == "missing":
        what = f"the key {where} is missing"
    elif kind == "extra_forbidden":
        what = f"the key {where} is unknown"
    else:
        what = f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}"
    others = f" ({len(problems) - 1} more like it)" if len(problems) > 1 else ""
    return f"{what}{others}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


if __name__ == "__main__":  # python -m engine.model.plan_file: write the schema anew
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    CREATE_SCHEMA_FILE.write_text(schema_text(CreatePlan), encoding="utf-8")
