"""Kernels that encode positions; `encode` registers the feature sets."""
