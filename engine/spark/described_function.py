"""What DESCRIBE FUNCTION EXTENDED says, as Spark 4.2 says it whichever release is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

# Before 4.2 an SQL function is described by what the catalog keeps of it (SQLFunction.toExpressionInfo).
_KEPT = "Class: sqlFunction."
_USAGE = "Usage: "
_PART = "sqlFunction."
_CONF = "sqlConfig."


def described_function(rows: Sequence[Any]) -> str:
    """The lines of ``rows``. Of an SQL function: Function, Input, Returns, Deterministic, Configs, Body and others."""
    lines = [str(row[0]) for row in rows]
    usage = next((line for line in lines if line.startswith(f"{_USAGE}{{")), None)
    if _KEPT not in lines or usage is None:
        return "\n".join(lines)
    kept: dict[str, str] = json.loads(usage.removeprefix(_USAGE))
    part = {name.removeprefix(_PART): value for name, value in kept.items() if name.startswith(_PART)}
    confs = sorted(f"{name.removeprefix(_CONF)}={value}" for name, value in kept.items() if name.startswith(_CONF))
    return "\n".join(
        (
            lines[0],
            f"Type: {'TABLE' if part.get('isTableFunc') == 'true' else 'SCALAR'}",
            f"Input: {part.get('inputParam', '')}",
            f"Returns: {part.get('returnType', '')}",
            f"Deterministic: {part.get('deterministic', '')}",
            "Configs: " + "\n         ".join(confs),
            f"Create Time: {part.get('createTime', '')}",
            f"Body: {part.get('query') or part.get('expression', '')}",
        )
    )
