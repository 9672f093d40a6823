"""Elo of the levels: games between neighbours and against GNU Go, fitted jointly.

The baseline at 0 is GNU Go 3.8 at level 10 if installed, else the weakest level. GNU Go takes some
eight seconds for a game, and only levels of similar strength play it: others would win or lose all
games. With --out, games are saved and a stopped run resumes there.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

from tests.opponents.gnu_go import find_gnu_go

from tengen.engine.levels import LEVELS
from tengen.evaluation.elo import Result, fit, share_of
from tengen.evaluation.match import EngineSpec, parse_engine
from tengen.frontends.match import run_match
from tengen.frontends.options import MatchOptions

GNU_GO = "GNU Go"
NEAR_IT = "novice", "learner", "casual", "club"
SIDE, KOMI = 9, 7.0


def played(pair: tuple[EngineSpec, EngineSpec], games: int, options: argparse.Namespace) -> Result:
    """Play a match between two engines."""
    names = [GNU_GO if engine.command else engine.name for engine in pair]
    folder = f"{options.out}/{' - '.join(names).replace(':', ' ')}" if options.out else None
    match = MatchOptions(
        games=games, board_size=SIDE, komi=KOMI, parallel=options.parallel, out=folder
    )
    tally = run_match(pair, match)
    return Result(names[0], names[1], *tally)


def main() -> None:
    """Play, fit, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=40, help="between neighbours")
    parser.add_argument("--gnu-go-games", type=int, default=20, help="of each level near it")
    parser.add_argument("--near-it", nargs="*", default=NEAR_IT, help="levels that play GNU Go")
    parser.add_argument("--levels", nargs="+", default=[level.id for level in LEVELS])
    parser.add_argument("--parallel", type=int, default=4, help="games at a time")
    parser.add_argument("--out", type=Path, help="folder for the games")
    options = parser.parse_args()
    levels = [parse_engine(f"level:{name}") for name in options.levels]
    results = [played(pair, options.games, options) for pair in pairwise(levels)]
    gnu_go = find_gnu_go()
    if gnu_go is not None:
        theirs = parse_engine(f"gtp:{gnu_go}")
        near = [parse_engine(f"level:{name}") for name in options.near_it]
        results += [played((level, theirs), options.gnu_go_games, options) for level in near]
    ratings = fit(results, GNU_GO if gnu_go and options.near_it else levels[0].name)
    print("\n| level | Elo | 95% | games | expected against the next |")
    print("|---|---|---|---|---|")
    elos = [ratings[level.name].elo for level in levels]
    steps = [f"{share_of(low - high):.0%} ({high - low:.0f} Elo)" for low, high in pairwise(elos)]
    for level, step in zip(levels, [*steps, ""], strict=True):
        elo, low, high, games = ratings[level.name]
        print(f"| {level.name} | {elo:.0f} | {low:.0f} to {high:.0f} | {games} | {step} |")


if __name__ == "__main__":
    main()
