"""What Tengen tells its user besides what was asked for: one line each, on stderr.

stdout belongs to protocols. Clients that merge the two streams tell these lines by their start.
"""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Show one line to the user."""
    print(f"tengen: {line}", file=sys.stderr, flush=True)
