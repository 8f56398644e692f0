"""What is said of a merge that is written in Python."""

from __future__ import annotations

import re

PYTHON = re.compile(r"\bDeltaTable\s*\.|\.\s*when(Not)?Matched(BySource)?(Update|Insert|Delete)")
PYTHON_HINT = (
    "This is Python's DeltaTable.merge. As SQL, with a line for each call:",
    "  MERGE INTO table AS t USING source AS s ON condition",
    "  whenMatchedUpdateAll()            WHEN MATCHED THEN UPDATE SET *",
    "  whenNotMatchedInsertAll()         WHEN NOT MATCHED THEN INSERT *",
    "  whenNotMatchedBySourceDelete()    WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "{merge.template} writes such a statement.",
)
