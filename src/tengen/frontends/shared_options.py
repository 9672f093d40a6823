"""Help texts and defaults that several commands share."""

from __future__ import annotations

BOARD_SIZE = "side of the board"
CONFIG = "settings file; `tengen config` writes one"
LEVEL = "strength, from beginner to full; docs/levels.md lists them"
LOG = "add all input and output to this file"
SEED = "the same seed makes the same moves; else each game has its own"


def any_seed() -> int:
    """A seed that nobody chose."""
    from secrets import randbits

    return randbits(32)
