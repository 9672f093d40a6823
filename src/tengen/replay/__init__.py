"""What was played, kept on disk as games, and turned into rows to learn from."""
