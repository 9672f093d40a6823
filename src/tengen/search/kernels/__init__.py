"""Kernels that grow, reuse and read search trees."""
