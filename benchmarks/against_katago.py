"""Visits a second of KataGo's program and of ours, with the same network on the same cores.

Both play a move from the same random openings, in turns, by GTP, with as many threads as there are
cores. Ratios are of processor time a visit, which other programs on the machine change least, and
of time by the clock; the best round of each counts:

    python benchmarks/against_katago.py KATAGO NETWORK... [--sizes 9 19] [--rounds 6]
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from tengen.evaluation.gtp_process import GtpOpponent
from tengen.game.position import Position

SETTINGS = {
    "rules": "tromp-taylor",
    "logAllGTPCommunication": "false",
    "logSearchInfo": "false",
    "logToStderr": "false",
    "ponderingEnabled": "false",
}
OPENING = 6  # random moves, so that nothing is known from the round before


class Cost(NamedTuple):
    """What a visit took, in milliseconds."""

    processor: float
    clock: float


def processor_seconds(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def opening(size: int, choice: random.Random) -> list[Position]:
    """Positions of a game of a few random moves off the edge."""
    line = [Position(size, "tromp-taylor", 7)]
    points = [(x, y) for x in range(2, size - 2) for y in range(2, size - 2)]
    for x, y in choice.sample(points, OPENING):
        line.append(line[-1].play("ABCDEFGHJKLMNOPQRST"[x] + str(y + 1)))
    return line


def cost(engine: GtpOpponent, line: Sequence[Position], visits: int) -> Cost:
    """Let an engine play a move after an opening."""
    engine.start(line[0])
    for position in line[1:]:
        assert position.last_move is not None
        engine.play(*position.last_move, position)
    used, began = processor_seconds(engine.pid), time.perf_counter()
    engine.ask(f"genmove {line[-1].to_play}")
    spent = processor_seconds(engine.pid) - used, time.perf_counter() - began
    return Cost(*(1000 * seconds / visits for seconds in spent))


def compare(katago: str, network: str, size: int, visits: int, rounds: int) -> None:
    """Print what a visit costs in each program, and the ratios."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        config = Path(folder) / "gtp.cfg"
        threads = len(os.sched_getaffinity(0))
        settings = {**SETTINGS, "maxVisits": visits, "numSearchThreads": threads}
        config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        ours = [sys.executable, "-m", "tengen", "gtp", "--model", network, "--visits", str(visits)]
        commands = {
            "KataGo": [katago, "gtp", "-model", network, "-config", str(config)],
            "ours, bf16": [*ours, "--precision", "bf16"],
            "ours, int8": [*ours, "--precision", "int8"],
        }
        engines = {
            name: opened.enter_context(closing(GtpOpponent(shlex.join(command))))
            for name, command in commands.items()
        }
        choice = random.Random(1)
        costs: dict[str, list[Cost]] = {name: [] for name in engines}
        for round_ in range(-2, rounds):  # two to warm up
            line = opening(size, choice)
            for name, engine in engines.items():
                found = cost(engine, line, visits)
                if round_ >= 0:
                    costs[name].append(found)
    best = {name: Cost(*map(min, zip(*each, strict=True))) for name, each in costs.items()}
    print(f"{Path(network).name}, {size}x{size}, {visits} visits")
    for name, each in best.items():
        ratio = Cost(*(theirs / own for theirs, own in zip(best["KataGo"], each, strict=True)))
        print(
            f"  {name:10}  {each.processor:7.3f} ms of processor time a visit, {each.clock:7.3f} "
            f"by the clock: {ratio.processor:.2f} and {ratio.clock:.2f} times KataGo's speed"
        )


def main() -> None:
    """Compare the networks on the board sizes that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("katago")
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=[9, 19])
    parser.add_argument("--visits", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} cores")
    for network in arguments.networks:
        for size in arguments.sizes:
            compare(arguments.katago, network, size, arguments.visits, arguments.rounds)


if __name__ == "__main__":
    main()
