"""The places of the console, one screen each, and what they share."""
