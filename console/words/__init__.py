"""What the screen and the command line both say, as plain text."""
