"""Questions about tables and plans that lead to no commit."""
