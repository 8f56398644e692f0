"""The checksum of a plan file: it shows whether the file was edited or damaged since this program wrote it.

It guards against accident, not against malice: who edits a file can compute a new one (see
``engine.commit.check_plan``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

CHECKSUM = "checksum"
FIRST_WITH_CHECKSUM = 2
"""The first format with a checksum."""


def checksum_of(document: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON of ``document`` without its checksum: keys sorted, no blanks, UTF-8."""
    rest = {key: value for key, value in document.items() if key != CHECKSUM}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def plan_checksum(plan: BaseModel, format_version: int) -> str | None:
    """The checksum that the file of ``plan`` has, None in a format without one."""
    if format_version < FIRST_WITH_CHECKSUM:
        return None
    return checksum_of(json.loads(plan.model_dump_json(exclude={CHECKSUM})))


def is_as_written(document: Mapping[str, Any]) -> bool:
    """Whether a plan file holds what was written to it."""
    if document["format_version"] < FIRST_WITH_CHECKSUM:
        return document.get(CHECKSUM) is None
    try:
        return bool(document.get(CHECKSUM) == checksum_of(document))
    except RecursionError:
        return False
