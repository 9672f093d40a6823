"""Kernels that turn games into training rows."""
