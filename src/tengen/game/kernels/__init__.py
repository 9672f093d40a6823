"""Kernels of the rules: the board, legality, life and ladders."""
