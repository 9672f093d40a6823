"""Ratings of a run's networks: each plays earlier ones, and all are rated jointly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tengen.evaluation.elo import Rating, Result, fit
from tengen.evaluation.gtp_process import EngineError
from tengen.evaluation.lockstep import Played, openings, tally_of
from tengen.evaluation.match import EngineSpec, parse_engine, play_engines
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.loading import find_network, load_network
from tengen.network.files.tengen_format import load_network_file
from tengen.network.network_data import NetworkData
from tengen.runs.folder import RunFolder, append_line, read_lines
from tengen.runs.params import RatingParams
from tengen.search.request import Limits
from tengen.selfplay.params import SelfPlayParams
from tengen.user_messages import say


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
    record: Callable[[dict[str, Any]], None] | None = None,
) -> bool:
    """Let an iteration's network, already kept, play earlier ones and opponents from outside.

    Every match is played on all board sizes of the run, the same number of games on each, so that
    ratings are comparable. `playing` names a network that is always among the opponents. Returns
    whether all matches were played; a match that `should_stop` ends is not counted. The others go
    to `record`, or to the run's file of ratings.
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
        try:
            seed = 1000 * iteration + number
            by_size = _play_on(boards, (me, mine), opponent, params, seed, opened, should_stop)
        except (EngineError, NetworkFileError) as error:
            if label in chosen:
                raise
            say(f"{name} is not rated against {label}: {error}")  # and the run goes on
            continue
        if by_size is None:
            return False
        match: dict[str, Any] = {"iteration": iteration, "first": name, "second": label}
        match |= tally_of(chain.from_iterable(by_size.values()))._asdict()
        if len(by_size) > 1:
            match["by_size"] = {size: str(tally_of(played)) for size, played in by_size.items()}
        (record or partial(append_line, folder.ratings))(match)
    return True


def _play_on(
    boards: Sequence[Position],
    me: tuple[EngineSpec, Evaluator],
    opponent: EngineSpec,
    params: RatingParams,
    seed: int,
    opened: Callable[[NetworkData], Evaluator],
    should_stop: Callable[[], bool],
) -> dict[str, list[Played]] | None:
    """The games of a match by board size; None if it was stopped.

    Raises EngineError or NetworkFileError for an opponent that fails.
    """
    networks: dict[Path, Evaluator] = {}  # the bundled ones differ by board
    by_size: dict[str, list[Played]] = {}
    for k, empty in enumerate(boards):
        theirs = None
        if opponent.model:
            file = find_network(opponent.model, empty)
            theirs = networks[file] = networks.get(file) or opened(load_network(file))
        pairs = max(1, params.games // 2 // len(boards))
        starts = openings(me[1], empty, params.opening_moves, pairs, seed=seed + 100 * k)
        sides = [me, (opponent, theirs)]
        numbers = range(2 * len(starts))
        played = play_engines(sides, starts, numbers, seed + 100 * k, should_stop=should_stop)
        if should_stop():
            return None
        by_size[str(empty.size)] = played
    return by_size


def _empty_boards(games: SelfPlayParams) -> list[Position]:
    """The boards of a run's ratings: all sizes that are played, by the first of its rules.

    Territory is played out as in self-play, so that no dead stones have to be agreed on.
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
    names = (name for result in results for name in (result.first, result.second))
    own = [name for name in names if name.isdigit()]
    return fit(results, min(own)) if own else {}


def _results(folder: RunFolder) -> list[Result]:
    """The results of all matches; lines that hold something else are skipped, with a message."""
    found = []
    for number, line in enumerate(read_lines(folder.ratings), 1):
        result = Result(*(line.get(name) for name in Result._fields))  # type: ignore[arg-type]
        counts = (result.wins, result.draws, result.losses)
        if (
            all(isinstance(name, str) for name in (result.first, result.second))
            and all(type(count) is int and count >= 0 for count in counts)
            and sum(counts) > 0
        ):
            found.append(result)
        else:
            say(f"{folder.ratings}: entry {number} is no result of a match and was skipped")
    return found
