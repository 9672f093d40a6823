"""Kernels of replay: `encode` fills training rows."""
