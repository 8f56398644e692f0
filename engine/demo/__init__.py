"""The sample tables and merges of ``deltamerge-console demo``."""
