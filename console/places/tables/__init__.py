"""The Tables place."""
