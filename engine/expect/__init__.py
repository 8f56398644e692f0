"""What a team writes down must hold of a table, checked on the rows that a MERGE would leave."""
