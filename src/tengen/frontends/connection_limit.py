"""How many connections a server may have open, so that it can still open files of its own."""

from __future__ import annotations

import sys
from contextlib import suppress

MOST = 500
FEWEST = 16
BACKLOG = 64  # accepted at a time, before those beyond the limit are closed
OTHER_FILES = 128  # that the process opens: games, networks, pages


def most_connections() -> int:
    """The limit for this process, whose own limit on open files is raised if need be."""
    if sys.platform == "win32":
        return MOST
    import resource

    wanted = MOST + BACKLOG + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < wanted:  # infinity is negative
        raised = wanted if hard < 0 else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return MOST if soft < 0 else min(MOST, max(FEWEST, soft - BACKLOG - OTHER_FILES))
