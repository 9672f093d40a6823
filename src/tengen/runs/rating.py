"""Ratings of a run's networks: each plays earlier ones, and all are rated jointly."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tengen.engine.engine import Engine
from tengen.evaluation.elo import Rating, Result, WinDrawLoss, fit
from tengen.evaluation.lockstep import Played, Player, openings, play_in_lockstep, tally_of
from tengen.evaluation.match import EngineSpec, contestant, parse_engine, play_match
from tengen.game.position import Position
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.network.files.loading import load_network
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.folder import RunFolder, append_line, read_lines
from tengen.runs.params import RatingParams
from tengen.search.request import Limits
from tengen.selfplay.params import SelfPlayParams, fair_komi


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

    `playing` names a network that is always among the opponents. Returns whether all matches were
    played; a match that `should_stop` ends is not counted.
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
    side = games.largest_side
    komi = games.komi[games.board_sizes.index(side)] if games.komi else fair_komi(side)
    empty = Position(side, games.rules[0], komi, move_limit=games.most_turns)
    mine = Player(name, opened(load_network_file(network_file(folder, name))), params.visits)
    for number, (label, opponent) in enumerate(opponents.items()):
        seed = 1000 * iteration + number
        starts = openings(mine.evaluator, empty, params.opening_moves, params.games // 2, seed=seed)
        tally = _play(mine, opponent, starts, seed, opened, should_stop)
        if should_stop():
            return False
        match = {"iteration": iteration, "first": name, "second": label}
        append_line(folder.ratings, match | tally._asdict())
    return True


def _play(
    mine: Player,
    opponent: EngineSpec,
    starts: list[Position],
    seed: int,
    opened: Callable[[NetworkData], Evaluator],
    should_stop: Callable[[], bool],
) -> WinDrawLoss:
    """Play from each start with both colours: networks in lockstep, programs one game at a time."""
    limits = opponent.limits
    theirs = opened(load_network(opponent.model)) if opponent.model else None
    if theirs is not None and limits.visits is not None:
        players = mine, Player(opponent.name, theirs, limits.visits)
        return tally_of(play_in_lockstep(players, starts, seed, should_stop=should_stop))
    tally = WinDrawLoss()

    def count(played: Played) -> bool:
        nonlocal tally
        tally = tally.plus(played.points)
        return not should_stop()

    with ExitStack() as closing:
        own = closing.enter_context(Engine(mine.evaluator, params=mine.params, seed=seed))
        other = None if theirs is None else closing.enter_context(Engine(theirs, seed=seed))
        me = EngineSpec(mine.name, limits=Limits(visits=mine.visits))
        sides = [partial(contestant, me, own, seed), partial(contestant, opponent, other, seed)]
        play_match(sides, starts, range(2 * len(starts)), 1, count)
    return tally


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
