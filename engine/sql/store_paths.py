"""Paths in object stores, before Spark sees them."""

from __future__ import annotations

import re

from engine.model.errors import UsageError

# The name of a bucket holds no colon. A secret key may hold slashes.
_CREDENTIALS = re.compile(
    r"\b(?:s3[an]?|gs)://[^/:@\s'\"`]+:[^\s'\"`]*@"
    # a key alone: S3A leaves it out and asks as another
    r"|\bs3[an]?://[^/:@\s'\"`]+@",
    re.IGNORECASE,
)
_STORE = re.compile(r"(?:s3[an]?|gs|abfss?|wasbs?)://", re.IGNORECASE)


def is_in_store(path: str) -> bool:
    """Whether ``path`` is in an object store, by its scheme."""
    return _STORE.match(path) is not None


def refuse_credentials(text: str) -> None:
    """Raise UsageError ``CREDENTIALS_IN_URL`` if a path in ``text`` holds a key and its secret: Spark's plans and logs
    would show them."""
    if _CREDENTIALS.search(text):
        raise UsageError(
            "CREDENTIALS_IN_URL",
            "A path in an object store holds credentials, which plans and logs would show.",
            "Write s3a://BUCKET/PATH, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        )
