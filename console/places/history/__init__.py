"""The History place."""
