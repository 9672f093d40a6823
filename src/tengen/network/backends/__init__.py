"""Ways to run networks: one file each, and the registry that chooses."""
