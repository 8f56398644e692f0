"""SQL text as Spark's grammar reads it: tokens, expressions, statements. Nothing here asks Spark."""
