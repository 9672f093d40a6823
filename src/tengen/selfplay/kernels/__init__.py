"""Kernels that step the games of self-play."""
