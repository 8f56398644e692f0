"""What Delta would raise only while the MERGE runs, and what it would do without a word."""
