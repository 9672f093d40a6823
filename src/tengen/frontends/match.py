"""`tengen match`: two engines play, and how much stronger one is."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.evaluation.elo import Tally, estimate
from tengen.evaluation.lockstep import Game, Player, openings, play_in_lockstep
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf import record, save_sgf
from tengen.network.devices import open_evaluator
from tengen.network.evaluator import Evaluator
from tengen.network.files import load_network

MOVES_PER_POINT = 2  # at which a game is counted as it stands


class EngineSpec(NamedTuple):
    """An engine as the command line names it: a network and its visits."""

    model: str
    visits: int

    def __str__(self) -> str:
        return f"{Path(self.model).name}@{self.visits}"


def parse_engine(text: str) -> EngineSpec:
    """Read MODEL@VISITS; raises ValueError."""
    model, at, visits = text.rpartition("@")
    if not at or not model or not visits.isdigit() or int(visits) < 1:
        raise ValueError(f"{text!r} is no engine: write MODEL@VISITS, such as net.bin.gz@64")
    return EngineSpec(model, int(visits))


def run_match(
    engines: tuple[EngineSpec, EngineSpec],
    empty: Position,
    games: int,
    opening_moves: int,
    device: str,
    seed: int,
    sgf_folder: str | None,
) -> Tally:
    """Play pairs of games with colours exchanged and print the result, the first engine's view."""
    evaluators: dict[str, Evaluator] = {}
    for engine in engines:
        if engine.model not in evaluators:
            evaluators[engine.model] = open_evaluator(load_network(engine.model), device)
    players = tuple(Player(str(e), evaluators[e.model], e.visits) for e in engines)
    starts = openings(players[0].evaluator, empty, opening_moves, max(1, games // 2), seed)
    folder = Path(sgf_folder) if sgf_folder else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=2 * len(starts))

        def count(game: Game) -> None:
            nonlocal tally
            tally = with_game(tally, game)
            text = f"{players[0].name} {tally} {players[1].name}, {estimate(tally)} Elo"
            progress.update(task, advance=1, description=text)
            if folder:
                names = tuple(player.name for player in players)
                _save(game, names, folder / f"game-{tally.games:05}.sgf")

        play_in_lockstep((players[0], players[1]), starts, seed, count)
    print(f"{players[0].name} - {players[1].name}: {tally} (wins, draws, losses)")
    print(f"Elo difference with its 95% interval: {estimate(tally)}")
    return tally


def with_game(tally: Tally, game: Game) -> Tally:
    """The first player's results with one game more."""
    outcome = game.end.outcome()
    if outcome is None or outcome.winner is None:
        return tally._replace(draws=tally.draws + 1)
    if (outcome.winner is Color.BLACK) == (game.black == 0):
        return tally._replace(wins=tally.wins + 1)
    return tally._replace(losses=tally.losses + 1)


def _save(game: Game, names: tuple[str, ...], path: Path) -> None:
    black, white = names[game.black], names[1 - game.black]
    path.write_bytes(save_sgf(record(game.end, black=black, white=white)))
