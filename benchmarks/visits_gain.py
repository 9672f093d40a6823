"""Elo gained by visits: one network against itself at 1, 8, 64 and 256 visits, on 9x9.

The baseline: KataGo's own search gains +231, +332 and +182 Elo in these steps with the same
network, each ±100 or so. With names of variants, these play the default search at equal visits
instead.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from tengen.evaluation.elo import estimate
from tengen.evaluation.lockstep import Player, openings, play_in_lockstep, tally_of
from tengen.game.position import Position
from tengen.network.backends.registry import open_evaluator
from tengen.network.evaluator import Evaluator
from tengen.network.files.loading import load_network
from tengen.search.params import SearchParams

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
STEPS = ((8, 1), (64, 8), (256, 64))

PLAIN = SearchParams(
    exploration=1.2,
    exploration_log=0.0,
    stdev_scale=0.0,
    fpu_trusts_tried=False,
    value_weight=0.0,
    lcb_stdevs=0.0,
    root_fpu_reduction=0.2,
)
DEFAULT = SearchParams()
VARIANTS = {
    "plain": PLAIN,
    "graph": replace(DEFAULT, graph=True),
    "no score utility": replace(DEFAULT, static_score=0.0, dynamic_score=0.0),
    "no value weight": replace(DEFAULT, value_weight=0.0),
    "no stdev scale": replace(DEFAULT, stdev_scale=0.0),
    "no value bias": replace(DEFAULT, value_bias=0.0),
    "no noise pruning": replace(DEFAULT, noise_pruning=False),
    "neither": replace(DEFAULT, value_bias=0.0, noise_pruning=False),
    "no lcb": replace(DEFAULT, lcb_stdevs=0.0),
    "no fpu trust": replace(DEFAULT, fpu_trusts_tried=False),
    "prototype's temperature": replace(
        DEFAULT, temperature=0.1, temperature_early=0.5, temperature_halflife=17.0
    ),
    "exploration 0.7": replace(DEFAULT, exploration=0.7),
    "exploration 1.4": replace(DEFAULT, exploration=1.4),
}


def duel(first: Player, second: Player, starts: list[Position], seed: int) -> None:
    began = time.monotonic()
    tally = tally_of(play_in_lockstep((first, second), starts, seed))
    seconds = time.monotonic() - began
    print(
        f"{first.name} - {second.name}: {tally}, {estimate(tally)} Elo, {seconds:.0f} s", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*", help=", ".join(VARIANTS))
    parser.add_argument("--network", default=str(NETWORK))
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--visits", type=int, default=64, help="visits of variants")
    parser.add_argument("--leaves", type=int, default=1, help="leaves in flight of variants")
    parser.add_argument("--params", default="default", help="the variant whose steps are measured")
    options = parser.parse_args()
    if not Path(options.network).exists():
        print(f"nothing measured: no network at {options.network}")
        return
    evaluator: Evaluator = open_evaluator(load_network(options.network))
    print(f"{evaluator.name} on {evaluator.device}")
    empty = Position(9, "tromp-taylor", 7, move_limit=162)
    starts = openings(evaluator, empty, 4, options.games // 2, seed=1)
    if not options.variants and options.leaves == 1:
        params = VARIANTS.get(options.params, DEFAULT)
        for more, fewer in STEPS:
            one, other = (Player(f"{v} visits", evaluator, v, params) for v in (more, fewer))
            duel(one, other, starts, seed=2)
    visits = options.visits
    usual = Player(f"default@{visits}", evaluator, visits)
    for name in options.variants:
        duel(Player(f"{name}@{visits}", evaluator, visits, VARIANTS[name]), usual, starts, seed=3)
    if options.leaves > 1:
        several = Player(
            f"{options.leaves} leaves@{visits}", evaluator, visits, DEFAULT, options.leaves
        )
        duel(several, usual, starts, seed=4)


if __name__ == "__main__":
    main()
