"""Games that were played, kept to learn from."""
