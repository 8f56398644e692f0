"""The Create place."""
