"""Learn 5x5 from random weights to well above plain UCT, in under half an hour on two cores.

Trains, then plays 100 games against UCT with 1,000 playouts a move, which was written for the tests
and shares no code with our search, and draws the ratings of the run. With perfect play Black wins
5x5 by the whole board, but UCT is not perfect: at komi 10.5 each colour wins about half of its
games against itself, so that colours do not decide the match.

Run as a module, from the root of the repository: python -m benchmarks.learn_5x5
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tests.opponents.uct import UctPlayer
from tests.search.plain_search import Search

from tengen.evaluation.elo import WinDrawLoss
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.params import RatingParams, RunConfig, RunParams
from tengen.runs.rating import ratings_of
from tengen.runs.run import train
from tengen.runs.selfplay_network import evaluator_on
from tengen.search.request import Limits
from tengen.selfplay.params import SelfPlayParams
from tengen.svg_chart import Series, line_chart
from tengen.training.params import TrainingParams

ROOT = Path(__file__).parents[1]
SIDE, KOMI = 5, 10.5
MOVE_LIMIT = 100
PLAYOUTS = 1000
VISITS = 64
GAMES = 100
WANTED = 0.9  # share of the games


def config(minutes: float) -> RunConfig:
    """A small network, and games at about the komi of the match."""
    return RunConfig(
        run=RunParams(
            model="b3c48",
            device="cpu",
            minutes=minutes,
            iteration_rows=2000,
            first_rows=2000,
        ),
        selfplay=SelfPlayParams(
            games=128,
            visits=64,
            fast_visits=16,
            full_share=0.5,
            board_sizes=(SIDE,),
            komi=(KOMI,),
            komi_spread=4.0,
        ),
        training=TrainingParams(batch=128, rate=2e-3, warm_up=100, ema=0.99, samples_per_row=6),
        rating=RatingParams(every=4, games=40, visits=16, opponents=2, opening_moves=3),
    )


def play_match(search: Search, games: int) -> WinDrawLoss:
    """Play games against UCT from the empty board, with alternating colours."""
    tally = WinDrawLoss()
    for game in range(games):
        mine = Color.BLACK if game % 2 == 0 else Color.WHITE
        opponent = UctPlayer(PLAYOUTS, seed=game)
        position = Position(SIDE, "tromp-taylor", KOMI, move_limit=MOVE_LIMIT)
        while not position.is_over:
            if position.to_play is mine:
                search.set_position(position)
                move = search.run(Limits(visits=VISITS)).move
            else:
                move = opponent.choose(position)
            position = position.play(move)
        outcome = position.outcome()
        assert outcome is not None
        won = outcome.winner is mine
        tally = tally._replace(wins=tally.wins + won, losses=tally.losses + (not won))
        print(f"game {game + 1}: {mine} {'wins' if won else 'loses'}, {outcome}", flush=True)
    return tally


def draw_ratings(folder: RunFolder) -> Path:
    """Draw the rating of each network over its minutes of training into the run's folder."""
    ratings = ratings_of(folder)
    minutes = {
        name: float(
            load_network_file(folder.networks / f"{name}.safetensors").provenance["minutes"]
        )
        for name in ratings
    }
    names = sorted(ratings)
    series = Series(
        f"{SIDE}x{SIDE} from random weights",
        [minutes[name] for name in names],
        [ratings[name].elo for name in names],
        [ratings[name].low for name in names],
        [ratings[name].high for name in names],
    )
    picture = folder.path / "ratings.svg"
    title = f"Learning {SIDE}x{SIDE} on a CPU"
    picture.write_text(line_chart([series], [], title, "minutes", "Elo"), encoding="utf-8")
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=ROOT / "runs" / "learn-5x5")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--games", type=int, default=GAMES)
    options = parser.parse_args()
    began = time.monotonic()
    train(options.run, config(options.minutes))
    folder = RunFolder(options.run)
    for line in read_lines(folder.metrics)[-1:]:
        print(f"trained in {line['minutes']:.1f} minutes")
    last = max(folder.networks.glob("*.safetensors"))
    search = Search(evaluator_on("cpu", load_network_file(last)), ownership=False, leaves=1)
    tally = play_match(search, options.games)
    print(f"ratings: {draw_ratings(folder)}")
    print(
        f"network {last.stem} with {VISITS} visits against UCT with {PLAYOUTS:,} playouts: "
        f"{tally.wins} of {tally.games} won ({tally.share:.0%}; wanted: over {WANTED:.0%}), "
        f"{(time.monotonic() - began) / 60:.1f} minutes in all"
    )
    raise SystemExit(tally.share <= WANTED)


if __name__ == "__main__":
    main()
