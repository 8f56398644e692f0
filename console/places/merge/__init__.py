"""The Merge place."""
