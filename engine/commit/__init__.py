"""Commit a plan exactly as it was shown, once, or refuse it."""
