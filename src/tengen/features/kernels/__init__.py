"""Kernels that encode positions; `feature_table` registers the feature sets."""
