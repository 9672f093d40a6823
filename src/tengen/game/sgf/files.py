"""The game records of files and folders, and the names of files that reviews write beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

WRITTEN = (".review.sgf", ".review.html")  # ends of the names of files that reviews write
SGF = (".sgf",)


def sgf_files(sources: Iterable[str | Path], endings: tuple[str, ...] = SGF) -> list[Path]:
    """The files that are named, and all SGF files in folders, but for reviews.

    With other `endings` those of files in folders.
    """
    found: dict[Path, None] = {}
    for source in map(Path, sources):
        if not source.is_dir():
            found[source] = None
            continue
        inside = (file for file in source.rglob("*") if file.suffix.lower() in endings)
        games = (file for file in sorted(inside) if not file.name.lower().endswith(WRITTEN[0]))
        found.update(dict.fromkeys(games))
    return list(found)
