"""Things that are closed at the end of a `with` statement."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closeable:
    """What has a `close` can be used in a `with` statement."""

    def close(self) -> None:
        """End it, and free what it holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
