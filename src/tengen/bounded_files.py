"""Read files of unknown origin, which may be damaged, huge or endless devices."""

from __future__ import annotations

import errno
import os
from pathlib import Path

SETTINGS_BYTES = 4 << 20  # of a file of settings, or of another text that people write
RECORD_BYTES = 256 << 20  # of a file with game records; collections have some MB


def read_bounded(path: str | Path, most: int) -> bytes:
    """The content of a file; raises OSError, also for one with more than so many bytes."""
    with Path(path).open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content
