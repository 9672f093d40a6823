"""Log lines about errors of the server, limited in number."""

from __future__ import annotations

import threading
import time

from tengen.user_messages import say

MOST_LINES, SECONDS = 10, 60.0  # so many lines in so many seconds

_lock = threading.Lock()
_begun = -SECONDS  # of the present minute
_said = _left_out = 0


def say_sparingly(line: str) -> None:
    """Print a line, unless many were printed lately; how many were left out is told later."""
    global _begun, _said, _left_out
    with _lock:
        now = time.monotonic()
        if now >= _begun + SECONDS:
            left_out = _left_out
            _begun, _said, _left_out = now, 0, 0
            if left_out:
                say(f"{left_out} more lines about errors were left out")
        _said += 1
        if _said > MOST_LINES:
            _left_out += 1
            return
        say(line)
