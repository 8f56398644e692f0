"""What Delta allows of a column: its name, its type and its constraints."""

from __future__ import annotations

import re

INVALID_CHARACTERS = re.compile(r"[ ,;{}()\n\t=]")
"""Characters that a name has only with column mapping (Delta's SchemaUtils.checkFieldNames)."""
UNSUPPORTED_TYPES = re.compile(r"interval|string collate|time\(")
"""How the types begin that Delta does not store (SchemaUtils.findUnsupportedDataTypes), each printed by itself."""
GEOSPATIAL = re.compile(r"geometry|geography")
"""How those begin that Delta stores only as a preview (DeltaGeoSpatial)."""
CDC_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")
"""The columns of the change data feed, which a table may not have (CDCReader)."""
CHECK = "delta.constraints."
"""How the table property of a CHECK constraint begins; its name follows."""
