"""The statements that the forms write and read."""
