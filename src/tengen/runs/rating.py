"""Ratings of a run's networks: each plays earlier ones, and all are rated jointly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from tengen.evaluation.elo import Rating, Result, fit
from tengen.evaluation.lockstep import Played, openings, tally_of
from tengen.evaluation.match import EngineSpec, parse_engine, play_engines
from tengen.game.position import Position
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.network.files.loading import load_network
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.folder import RunFolder, append_line, read_lines
from tengen.runs.params import RatingParams
from tengen.search.request import Limits
from tengen.selfplay.params import SelfPlayParams


def network_name(iteration: int) -> str:
    """The name of an iteration's network."""
    return f"{iteration:06}"


def network_file(folder: RunFolder, name: str) -> Path:
    """The file of a run's network."""
    return folder.networks / f"{name}.safetensors"


def rate_network(
    folder: RunFolder,
    iteration: int,
    params: RatingParams,
    games: SelfPlayParams,
    opened: Callable[[NetworkData], Evaluator],
    playing: str = "",
    should_stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Let an iteration's network, already kept, play earlier ones and opponents from outside.

    Every match is played on all board sizes of the run, the same number of games on each, so that
    ratings are comparable. `playing` names a network that is always among the opponents. Returns
    whether all matches were played; a match that `should_stop` ends is not counted.
    """
    name = network_name(iteration)
    kept = (file.stem for file in folder.networks.glob("*.safetensors"))
    earlier = sorted(each for each in kept if each < name)
    chosen = earlier[max(0, len(earlier) - params.opponents) :]
    if playing and playing != name and playing not in chosen:
        chosen = [playing, *chosen]
    opponents = {
        each: EngineSpec(each, str(network_file(folder, each)), Limits(visits=params.visits))
        for each in chosen
    }
    opponents |= {spec.name: spec for spec in map(parse_engine, params.outside)}
    if not opponents:
        return True
    boards = _empty_boards(games)
    mine = opened(load_network_file(network_file(folder, name)))
    me = EngineSpec(name, limits=Limits(visits=params.visits))
    for number, (label, opponent) in enumerate(opponents.items()):
        theirs = opened(load_network(opponent.model)) if opponent.model else None
        sides = [(me, mine), (opponent, theirs)]
        by_size: dict[str, list[Played]] = {}
        for k, empty in enumerate(boards):
            seed = 1000 * iteration + 100 * k + number
            pairs = max(1, params.games // 2 // len(boards))
            starts = openings(mine, empty, params.opening_moves, pairs, seed=seed)
            numbers = range(2 * len(starts))
            played = play_engines(sides, starts, numbers, seed, should_stop=should_stop)
            if should_stop():
                return False
            by_size[str(empty.size)] = played
        match: dict[str, Any] = {"iteration": iteration, "first": name, "second": label}
        match |= tally_of(chain.from_iterable(by_size.values()))._asdict()
        if len(by_size) > 1:
            match["by_size"] = {size: str(tally_of(played)) for size, played in by_size.items()}
        append_line(folder.ratings, match)
    return True


def _empty_boards(games: SelfPlayParams) -> list[Position]:
    """The boards of a run's ratings: all sizes that are played, by the first of its rules.

    Territory is played out as in self-play, so that nobody has to judge what is dead.
    """
    rules = replace(games.first_rules, played_out=True)
    return [
        Position(size, rules, games.mean_komi(size, rules), move_limit=games.most_turns(size))
        for size in games.played_sizes
    ]


def passes(folder: RunFolder, iteration: int, playing: str, gate: float) -> bool:
    """Whether an iteration's network scored at least `gate` of the points against `playing`."""
    name = network_name(iteration)
    for match in _results(folder):
        if (match.first, match.second) == (name, playing):
            games = match.wins + match.draws + match.losses
            return bool(match.wins + 0.5 * match.draws >= gate * games)
    return False


def ratings_of(folder: RunFolder) -> dict[str, Rating]:
    """The ratings of all networks and opponents that played; the run's first network has 0."""
    results = _results(folder)
    if not results:
        return {}
    names = (name for result in results for name in (result.first, result.second))
    return fit(results, min(filter(str.isdigit, names)))


def _results(folder: RunFolder) -> list[Result]:
    return [Result(*(line[name] for name in Result._fields)) for line in read_lines(folder.ratings)]
