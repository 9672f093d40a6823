"""Makes files to download one after another, and pauses after each as long as it took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class OneFileAtATime:
    """The queue for files, so that those who ask for many do not delay those who play."""

    def __init__(self) -> None:
        self._making = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until earlier files are made, then make one in the `with` block."""
        async with self._making:
            began = time.monotonic()
            try:
                yield
            finally:
                await asyncio.sleep(time.monotonic() - began)
