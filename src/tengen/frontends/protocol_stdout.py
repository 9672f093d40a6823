"""stdout reserved for a protocol."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_stdout() -> Iterator[int]:
    """A descriptor of stdout for the protocol; all other prints go to stderr meanwhile."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    try:
        yield descriptor
    finally:
        sys.stdout.flush()
        os.dup2(descriptor, 1)
        os.close(descriptor)
