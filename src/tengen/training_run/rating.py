"""How strong the networks of a run are: each plays those before it, and all are rated together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tengen.evaluation.elo import Tally
from tengen.evaluation.lockstep import Game, Player, openings, play_in_lockstep
from tengen.evaluation.match import Played, points, with_points
from tengen.evaluation.ratings import Rating, Result, fit
from tengen.game.position import Position
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.network.store import load_network_file, save_network
from tengen.selfplay.params import SelfPlayParams, fair_komi
from tengen.training_run.folder import RunFolder
from tengen.training_run.json_lines import append_line, read_lines
from tengen.training_run.params import RatingParams


def network_name(iteration: int) -> str:
    """What the network of an iteration is called."""
    return f"{iteration:06}"


def network_file(folder: RunFolder, name: str) -> Path:
    """Where a network of a run lies."""
    return folder.networks / f"{name}.safetensors"


def keep_network(folder: RunFolder, data: NetworkData) -> None:
    """Keep a network to be played against later; raises NetworkFileError."""
    save_network(data, network_file(folder, data.name), half=True)


def rate_network(
    folder: RunFolder,
    iteration: int,
    params: RatingParams,
    games: SelfPlayParams,
    opened: Callable[[NetworkData], Evaluator],
) -> None:
    """Let the network of an iteration, which was kept, play the ones before it."""
    name = network_name(iteration)
    rated = sorted(file.stem for file in folder.networks.glob("*.safetensors"))
    earlier = [each for each in rated if each < name][-params.opponents :]
    mine = opened(load_network_file(network_file(folder, name)))
    side = games.largest_side
    komi = games.komi[games.board_sizes.index(side)] if games.komi else fair_komi(side)
    empty = Position(side, games.rules[0], komi, move_limit=games.most_turns)
    for number, opponent in enumerate(earlier):
        theirs = opened(load_network_file(network_file(folder, opponent)))
        seed = 1000 * iteration + number
        starts = openings(mine, empty, params.opening_moves, params.games // 2, seed=seed)
        players = (
            Player(name, mine, params.visits),
            Player(opponent, theirs, params.visits),
        )
        tally = _tally(play_in_lockstep(players, starts, seed))
        values = {
            "iteration": iteration,
            "first": name,
            "second": opponent,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
        }
        append_line(folder.ratings, values)


def _tally(games: list[Game]) -> Tally:
    tally = Tally()
    for game in games:
        outcome = game.end.outcome()
        assert outcome is not None
        tally = with_points(tally, points(Played(game.number, game.end, outcome)))
    return tally


def ratings_of(folder: RunFolder) -> dict[str, Rating]:
    """The ratings of all networks of a run that played, the first one's being 0."""
    results = [
        Result(line["first"], line["second"], line["wins"], line["draws"], line["losses"])
        for line in read_lines(folder.ratings)
    ]
    if not results:
        return {}
    return fit(results, min(result.second for result in results))
