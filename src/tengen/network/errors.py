"""What can be wrong with a network file."""

from __future__ import annotations


class NetworkFileError(ValueError):
    """A network file that cannot be used; says which and why."""
