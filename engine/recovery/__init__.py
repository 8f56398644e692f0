"""Undo an operation, and settle those whose program died."""
