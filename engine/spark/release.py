"""The minor release of a version."""

from __future__ import annotations


def release(version: str) -> str:
    """``4.2`` of ``4.2.1``."""
    return ".".join(version.split(".")[:2])
