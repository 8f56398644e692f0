"""How the engine reaches Spark: the embedded Connect server, named servers, sessions. Imports no pyspark."""
