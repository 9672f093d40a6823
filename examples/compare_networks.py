"""Compare two networks: games between them, and where they disagree most.

python examples/compare_networks.py tengen-9x9 tengen-all --games 20 --visits 32
"""

from __future__ import annotations

import argparse

from tengen import Color, Engine, Position
from tengen.evaluation.elo import WinDrawLoss, estimate


def play(black: Engine, white: Engine, position: Position, visits: int) -> Position:
    """A game from a position to its end."""
    while not position.is_over:
        mover = black if position.to_play is Color.BLACK else white
        position = position.play(mover.search(position, visits=visits).move)
    return position


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs=2)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--visits", type=int, default=32)
    parser.add_argument("--size", type=int, default=9)
    arguments = parser.parse_args()

    empty = Position(arguments.size, "tromp-taylor", 7, move_limit=2 * arguments.size**2)
    first_moves = [empty.play(point) for point in empty.legal_moves()]
    with Engine(arguments.networks[0]) as first, Engine(arguments.networks[1]) as second:
        # Without search, position by position, as the networks themselves see them.
        values = [engine.evaluate(first_moves).result().value[:, 0] for engine in (first, second)]
        furthest = int(abs(values[0] - values[1]).argmax())
        print(
            f"They disagree most about {empty.text(first_moves[furthest].last_move)}: White wins "
            f"{values[0][furthest]:.0%} of the games, or {values[1][furthest]:.0%}"
        )
        tally = WinDrawLoss()  # as the first network sees it
        for number in range(arguments.games):
            # Each first move twice, with colours exchanged: no two games are the same.
            start = first_moves[(7 * (number // 2)) % len(first_moves)]
            pair = (first, second) if number % 2 == 0 else (second, first)
            outcome = play(*pair, start, arguments.visits).outcome()
            winner = None if outcome is None else outcome.winner
            won = {Color.BLACK: 1.0, Color.WHITE: 0.0, None: 0.5}[winner]
            tally = tally.plus(won if number % 2 == 0 else 1 - won)
    print(f"{arguments.networks[0]}: {tally} (wins, draws, losses), Elo {estimate(tally)}")
