"""The command line. Data on stdout, narration on stderr; contract and exit codes as DESIGN.md lists them.

Nothing heavy is imported here: the bare command opens the console, and its first frame comes before Spark,
DuckDB and rich. Each command imports what it needs when it runs.
"""

from console.cli.entry import main

__all__ = ["main"]
