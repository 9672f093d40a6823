"""Messages to the user: one line each, on stderr, since stdout belongs to protocols.

The prefix lets clients that merge the two streams recognise these lines.
"""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Print one line to stderr."""
    print(f"tengen: {line}", file=sys.stderr, flush=True)
