"""Tengen: a complete Go AI in Python."""

__version__ = "0.1.0"
