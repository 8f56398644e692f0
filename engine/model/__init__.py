"""The frozen values that flow through the engine, and the files they become."""
