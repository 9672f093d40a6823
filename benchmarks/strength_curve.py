"""Elo of a run's networks over the minutes of the run, against anchors from outside the run.

`play` lets each network play the one before it and the anchors (a KataGo network at several
visits), and appends the results to a file; it skips matches that the file already has. Several runs
count as one if each started from the last network of the one before. `draw` fits the results of
all files jointly, with `--zero` as the baseline, and draws a curve for each file with networks.

    python -m benchmarks.strength_curve play RUN --anchor g170-b6c96.bin.gz --out results.jsonl
    python -m benchmarks.strength_curve draw results.jsonl gnugo.jsonl --zero gnugo --out curve.svg
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from tengen.evaluation.elo import Rating, Result, fit
from tengen.evaluation.lockstep import Player, openings, play_in_lockstep, tally_of
from tengen.game.position import Position
from tengen.network.backends.registry import open_evaluator
from tengen.network.files.loading import load_network
from tengen.runs.folder import append_line, read_lines
from tengen.svg_chart import Anchor, Series, line_chart

ANCHOR_VISITS = (1, 8, 64, 256)
OPENING_MOVES = 4


class Kept(NamedTuple):
    """A network of a run, with the minutes and games of this run and those before it."""

    name: str
    file: str
    minutes: float
    games: int


class Side(NamedTuple):
    """A network with its visits."""

    network: str  # its name
    file: str
    visits: int

    @property
    def name(self) -> str:
        return f"{self.network}@{self.visits}"


class Match(NamedTuple):
    first: Side
    second: Side
    games: int
    side: int = 9  # of the board


def matches_of(
    networks: Sequence[Kept], anchor: str, visits: int, games: int, last_games: int
) -> Iterator[Match]:
    """Each network against the one before and the nearest anchors; anchors against each other."""
    anchors = [Side(Path(anchor).name.split(".")[0], anchor, each) for each in ANCHOR_VISITS]
    for weaker, stronger in itertools.pairwise(anchors):
        yield Match(stronger, weaker, games)
    sides = [Side(network.name, network.file, visits) for network in networks]
    for before, side in itertools.pairwise(sides):
        yield Match(side, before, games)
    for side in sides[1:-1]:
        yield from (Match(side, each, games) for each in anchors[1:3])
    yield from (Match(sides[-1], each, last_games) for each in anchors[1:])


def play(match: Match) -> dict[str, Any]:
    """Play games from openings drawn from the first network's policy, each with both colours."""
    began = time.monotonic()
    evaluators = [open_evaluator(load_network(side.file)) for side in (match.first, match.second)]
    first, second = (
        Player(side.name, evaluator, side.visits)
        for side, evaluator in zip((match.first, match.second), evaluators, strict=True)
    )
    empty = Position(match.side, "tromp-taylor", 7, move_limit=2 * match.side**2)
    starts = openings(evaluators[0], empty, OPENING_MOVES, match.games // 2, seed=1)
    tally = tally_of(play_in_lockstep((first, second), starts, seed=2))
    return {
        "first": first.name,
        "second": second.name,
        **tally._asdict(),
        "seconds": round(time.monotonic() - began, 1),
    }


def chosen_networks(runs: Sequence[Path], count: int) -> list[Kept]:
    """About `count` evenly spaced networks of the runs, including the last one."""
    networks: list[Kept] = []
    for run in runs:
        minutes, games = (networks[-1].minutes, networks[-1].games) if networks else (0.0, 0)
        for file in sorted((run / "networks").glob("*.safetensors")):
            facts = load_network(file).provenance
            networks.append(
                Kept(
                    f"{run.name}-{file.stem}",
                    str(file),
                    minutes + float(facts["minutes"]),
                    games + int(facts["games"]),
                )
            )
    if not networks:
        raise SystemExit("there are no networks in these runs yet")
    step = max(1, len(networks) // count)
    return networks[len(networks) - 1 :: -step][::-1]


def play_all(options: argparse.Namespace) -> None:
    networks = chosen_networks(options.runs, options.networks)
    for name, _, minutes, games in networks:  # for the curve's x axis
        append_line(options.out, {"network": name, "minutes": minutes, "games": games})
    known = {(line["first"], line["second"]) for line in read_lines(options.out) if "first" in line}
    wanted = matches_of(networks, options.anchor, options.visits, options.games, options.last)
    todo = [match for match in wanted if (match.first.name, match.second.name) not in known]
    todo.sort(key=lambda match: -match.games * max(match.first.visits, match.second.visits))
    cores = len(os.sched_getaffinity(0))
    os.environ["NUMBA_NUM_THREADS"] = str(max(1, cores // options.processes))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, spawn) as pool:
        for done in as_completed([pool.submit(play, match) for match in todo]):
            append_line(options.out, done.result())
            print(done.result(), flush=True)


def draw(options: argparse.Namespace) -> None:
    files = [list(read_lines(path)) for path in options.results]
    lines = list(itertools.chain(*files))
    results = [
        Result(*(line[key] for key in ("first", "second", "wins", "draws", "losses")))
        for line in lines
        if "first" in line
    ]
    ratings = fit(results, options.zero)
    minutes = [minutes_of(lines) for lines in files]
    others = [
        Anchor(name, rating.elo)
        for name, rating in ratings.items()
        if not any(name.split("@")[0] in known for known in minutes)
    ]
    for anchor in others:
        print(f"{anchor.name:42}{ratings[anchor.name]!s:>24}")
    series = [
        curve_of(path.stem.replace("-", " "), known, ratings)
        for path, known in zip(options.results, minutes, strict=True)
        if known
    ]
    text = line_chart(series, others, options.title, "minutes of one H200", "Elo")
    Path(options.out).write_text(text, encoding="utf-8")


def minutes_of(lines: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The minutes of each network in a file."""
    return {line["network"]: float(line["minutes"]) for line in lines if "network" in line}


def curve_of(name: str, minutes: dict[str, float], ratings: dict[str, Rating]) -> Series:
    """The ratings of these networks over their minutes."""
    points = []
    for player, rating in ratings.items():
        minute = minutes.get(player.split("@")[0])
        if minute is not None:
            points.append((minute, rating.elo, rating.low, rating.high))
            print(f"{player:30}{minute:6.1f} min  {rating!s:>24}")
    columns = zip(*sorted(points), strict=True) if points else ([], [], [], [])
    return Series(name, *(list(column) for column in columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    playing = commands.add_parser("play")
    playing.set_defaults(call=play_all)
    playing.add_argument("runs", nargs="+", type=Path)
    playing.add_argument("--anchor", required=True)
    playing.add_argument("--networks", type=int, default=12, help="about how many to rate")
    playing.add_argument("--visits", type=int, default=64)
    playing.add_argument("--games", type=int, default=100)
    playing.add_argument("--last", type=int, default=400, help="games of the last network")
    playing.add_argument("--processes", type=int, default=6)
    playing.add_argument("--out", type=Path, default=Path("results.jsonl"))
    drawing = commands.add_parser("draw")
    drawing.set_defaults(call=draw)
    drawing.add_argument("results", nargs="+", type=Path)
    drawing.add_argument("--zero", required=True, help="the player whose rating is 0")
    drawing.add_argument("--title", default="From nothing, 9x9, 64 visits")
    drawing.add_argument("--out", default="curve.svg")
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
