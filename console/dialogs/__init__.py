"""The dialogs: each answers one question and gives back one value."""
