"""The history of operations, in one DuckDB file."""
