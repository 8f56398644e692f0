"""What the engine asks of any SparkSession, and how it reads Spark's answers and errors."""
