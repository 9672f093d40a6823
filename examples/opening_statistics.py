"""Which openings are played, how often, and how often Black wins with them.

python examples/opening_statistics.py docs/strength/bundled-64-b6c96-64.sgf --moves 3
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable

from tengen import Color, Position, SgfError, SgfGame, Symmetry, load_sgf
from tengen.game.sgf.files import sgf_files


def opening(game: SgfGame, moves: int) -> str | None:
    """The first moves of a game, the same for its rotations and reflections; None if shorter."""
    for position in game.positions():
        if position.move_number == moves:
            return min(_text(position.transformed(symmetry)) for symmetry in Symmetry)
    return None


def _text(position: Position) -> str:
    return " ".join(position.text(move) for move in position.moves)


def statistics(games: Iterable[SgfGame], moves: int) -> list[tuple[str, int, float]]:
    """Each opening with its number of games and the share that Black won; the most played first."""
    results: dict[str, list[float]] = defaultdict(list)
    for game in games:
        try:
            played, outcome = opening(game, moves), game.outcome
        except SgfError:
            continue  # an impossible move before the opening is over
        if played is not None and outcome is not None:
            won = {Color.BLACK: 1.0, Color.WHITE: 0.0, None: 0.5}[outcome.winner]
            results[played].append(won)
    rows = [(name, len(wins), sum(wins) / len(wins)) for name, wins in results.items()]
    return sorted(rows, key=lambda row: -row[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", help="SGF files and folders")
    parser.add_argument("--moves", type=int, default=3)
    arguments = parser.parse_args()
    loaded = [game for file in sgf_files(arguments.sources) for game in load_sgf(file)]
    rows = statistics(loaded, arguments.moves)
    for name, games, share in rows[:20]:
        print(f"{games:5} games  Black {share:4.0%}  {name}")
    if not rows:
        print(f"None of the {len(loaded)} games has a result and {arguments.moves} moves.")
