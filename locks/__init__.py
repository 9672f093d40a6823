"""Packages with the hashes of their wheels, and the programs that write them."""
