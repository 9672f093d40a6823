"""GNU Go 3.8 as an opponent, where it is installed."""

from __future__ import annotations

import shutil

PLACES = "gnugo", "/usr/games/gnugo"  # Debian puts it where not everybody's path leads
# Area scoring in which dead stones must be captured, as Tromp and Taylor have it.
OPTIONS = (
    "--mode gtp --level 10 --chinese-rules --capture-all-dead --allow-suicide --positional-superko"
)


def find_gnu_go() -> str | None:
    """The command that starts GNU Go, None if it is not installed."""
    program = next((found for place in PLACES if (found := shutil.which(place))), None)
    return f"{program} {OPTIONS}" if program else None
