"""What a Delta table is now: its log, its commits, its files and its state."""
