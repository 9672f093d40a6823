"""Kernels of problems: the exhaustive search of a small region."""
