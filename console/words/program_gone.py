"""What is said of an operation that runs by the ledger's word, while its program is gone."""

from __future__ import annotations

PROGRAM_GONE = "its program is gone; what became of it is found out when the Spark that it ran on is next connected"
