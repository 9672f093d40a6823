"""Elo and ranks of the levels on a board: neighbours, GNU Go and the player of the first day.

All games are fitted jointly, with GNU Go 3.8 at level 10 at 0. Only levels of similar strength play
it and the player of the first day: others would win or lose all games. With --out, games are saved
and a stopped run resumes there. Ends with the table for `engine/level_ranks.py`.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

from tests.opponents.gnu_go import find_gnu_go

from tengen.engine.level_ranks import rank_at
from tengen.engine.levels import LEVELS
from tengen.evaluation.elo import Result, fit, share_of
from tengen.evaluation.match import FIRST_DAY, EngineSpec, parse_engine
from tengen.frontends.command_options import MatchOptions
from tengen.frontends.match import run_match
from tengen.game.position import Position
from tengen.network.files.bundled import bundled_for

GNU_GO = "GNU Go"
NEAR_IT = "novice", "learner", "casual", "club"
NEAR_FIRST_DAY = "newcomer", "starter"
KOMI = 7.0


def played(pair: tuple[EngineSpec, EngineSpec], games: int, options: argparse.Namespace) -> Result:
    """Play a match between two engines."""
    names = [GNU_GO if engine.command else engine.name for engine in pair]
    folder = f"{options.out}/{' - '.join(names).replace(':', ' ')}" if options.out else None
    match = MatchOptions(
        games=games,
        board_size=options.board_size,
        komi=KOMI,
        parallel=options.parallel,
        out=folder,
    )
    tally = run_match(pair, match)
    return Result(names[0], names[1], *tally)


def main() -> None:
    """Play, fit, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board-size", type=int, default=9)
    parser.add_argument("--games", type=int, default=40, help="between neighbours")
    parser.add_argument("--outside-games", type=int, default=20, help="of each level near others")
    parser.add_argument("--near-it", nargs="*", default=NEAR_IT, help="levels that play GNU Go")
    parser.add_argument("--near-first-day", nargs="*", default=NEAR_FIRST_DAY)
    parser.add_argument("--levels", nargs="+", default=[level.id for level in LEVELS])
    parser.add_argument("--parallel", type=int, default=8, help="games at a time")
    parser.add_argument("--out", type=Path, help="folder for the games")
    options = parser.parse_args()
    gnu_go = find_gnu_go()
    if gnu_go is None:
        parser.error("GNU Go is not installed, and nothing else says what a rank is")
    outside = [(name, parse_engine(f"gtp:{gnu_go}")) for name in options.near_it]
    outside += [(name, parse_engine(FIRST_DAY)) for name in options.near_first_day]
    levels = {name: parse_engine(f"level:{name}") for name in options.levels}
    results = [played(pair, options.games, options) for pair in pairwise(levels.values())]
    results += [
        played((levels[name], other), options.outside_games, options) for name, other in outside
    ]
    ratings = fit(results, GNU_GO)
    print("\n| level | rank | Elo | 95% | games | expected against the next |")
    print("|---|---|---|---|---|---|")
    players = [FIRST_DAY, *(engine.name for engine in levels.values())]
    elos = [ratings[name].elo for name in players]
    steps = [f"{share_of(low - high):.0%} ({high - low:.0f} Elo)" for low, high in pairwise(elos)]
    for name, step in zip(players, [*steps, ""], strict=True):
        elo, low, high, games = ratings[name]
        rank = rank_at(elo, ratings[FIRST_DAY].elo)
        print(f"| {name} | {rank} | {elo:.0f} | {low:.0f} to {high:.0f} | {games} | {step} |")
    network = bundled_for(Position(options.board_size)).stem
    print(f'\n("{network}", {options.board_size}): BoardRatings(')
    print(f"    first_day={ratings[FIRST_DAY].elo:.0f},\n    levels={{")
    for name, engine in levels.items():
        print(f'        "{name}": {ratings[engine.name].elo:.0f},')
    print("    },\n),")


if __name__ == "__main__":
    main()
