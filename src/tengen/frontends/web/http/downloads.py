"""Files to download are made one at a time, and in half of the time at most."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Downloads:
    """Who asks for many files waits for them, and those who play do not."""

    def __init__(self) -> None:
        self._making = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the files that others asked for, then make one."""
        async with self._making:
            began = time.monotonic()
            try:
                yield
            finally:
                await asyncio.sleep(time.monotonic() - began)
