"""The steps of a MERGE, one file each, named after Delta's own."""
