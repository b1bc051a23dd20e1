"""Programs that drive a graph with a session, read into steps of the model IR."""
