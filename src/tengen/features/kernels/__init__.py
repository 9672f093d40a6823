"""Kernels that write feature planes and global values."""
