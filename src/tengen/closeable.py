"""Closeable: objects that a `with` statement closes, as in ``with Engine() as engine``."""

from __future__ import annotations

from typing import Self


class Closeable:
    """Base class of objects with a `close` method."""

    def close(self) -> None:
        """Release all resources."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
