"""The games of files and folders, and the files that reviews of them are written to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

WRITTEN = (".review.sgf", ".review.html")  # ends of the names of files


def sgf_files(sources: Iterable[str | Path]) -> list[Path]:
    """The files that are named, and all SGF files in folders, but for reviews."""
    found: dict[Path, None] = {}
    for source in map(Path, sources):
        if not source.is_dir():
            found[source] = None
            continue
        inside = (file for file in source.rglob("*") if file.suffix.lower() == ".sgf")
        games = (file for file in sorted(inside) if not file.name.lower().endswith(WRITTEN[0]))
        found.update(dict.fromkeys(games))
    return list(found)
