"""Undo an operation, and settle those whose process died."""
