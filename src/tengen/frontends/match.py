"""`tengen match`: games between two engines, and the difference in Elo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.engine.engine import Engine
from tengen.evaluation.elo import Sprt, WinDrawLoss, estimate
from tengen.evaluation.lockstep import Played, Player, openings, play_in_lockstep
from tengen.evaluation.match import EngineSpec, Store, contestant, play_match
from tengen.frontends.options import MatchOptions
from tengen.game.position import Position
from tengen.network.backends.registry import open_evaluator
from tengen.network.evaluator import Evaluator
from tengen.network.files.loading import load_network

MOVES_PER_POINT = 2  # at which a game is counted as it stands
AT_A_TIME = 256  # games of two networks in lockstep


def run_match(engines: tuple[EngineSpec, EngineSpec], options: MatchOptions) -> WinDrawLoss:
    """Play pairs of games with colours exchanged and print the result, the first engine's view."""
    limit = MOVES_PER_POINT * options.board_size**2
    empty = Position(options.board_size, options.rules, options.komi, move_limit=limit)
    test = Sprt(*options.sprt) if options.sprt else None
    names = engines[0].name, engines[1].name
    terms = (
        f"{empty.size}, {empty.rules}, komi {empty.komi:g}, {options.opening_moves} moves of "
        f"openings, seed {options.seed}"
    )
    store = Store(Path(options.out), names, terms) if options.out else None
    known = store.finished() if store else {}
    tally = WinDrawLoss()
    for gained in known.values():
        tally = tally.plus(gained)
    numbers = [number for number in range(options.games) if number not in known]
    networks = _open_networks(engines, options)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task(_summary(names, tally), total=options.games, completed=len(known))

        def on_end(played: Played) -> bool:
            nonlocal tally
            tally = tally.plus(played.points)
            if store:
                store.add(played)
            if played.remark:
                console.print(f"game {played.number}: {played.remark}", markup=False)
            progress.update(task, advance=1, description=_summary(names, tally))
            return test is None or test.verdict(tally) is None

        if numbers and (test is None or test.verdict(tally) is None):
            _play(engines, networks, empty, options, numbers, on_end)
    print(f"{names[0]} - {names[1]}: {tally} (wins, draws, losses)")
    print(f"Elo difference with its 95% interval: {estimate(tally)}")
    if test is not None:
        verdict = test.verdict(tally)
        decided = {True: f"at least {test.high:g}", False: f"at most {test.low:g}"}
        print(f"Sequential test: {decided[verdict] if verdict is not None else 'not decided'}")
    return tally


def _summary(names: tuple[str, str], tally: WinDrawLoss) -> str:
    return f"{names[0]} {tally} {names[1]}, {estimate(tally)} Elo"


def _open_networks(engines: Sequence[EngineSpec], options: MatchOptions) -> dict[str, Evaluator]:
    """Evaluators by network file, each opened once."""
    models = dict.fromkeys(engine.model for engine in engines if engine.model)
    return {
        model: open_evaluator(load_network(model), options.device, options.precision)
        for model in models
    }


def _play(
    engines: tuple[EngineSpec, EngineSpec],
    evaluators: dict[str, Evaluator],
    empty: Position,
    options: MatchOptions,
    numbers: Sequence[int],
    on_end: Callable[[Played], bool],
) -> None:
    starts = [empty] * (options.games // 2 + 1)
    if evaluators and options.opening_moves:
        drawn_from = next(iter(evaluators.values()))
        starts = openings(drawn_from, empty, options.opening_moves, len(starts), seed=options.seed)
    if all(engine.model and engine.limits.visits for engine in engines):
        first, second = (
            Player(engine.name, evaluators[engine.model], engine.limits.visits or 1)
            for engine in engines
        )
        _play_in_lockstep((first, second), starts, numbers, options.seed, on_end)
        return
    with ExitStack() as closing:
        own = {
            model: closing.enter_context(Engine(evaluator, seed=options.seed))
            for model, evaluator in evaluators.items()
        }
        make = [
            partial(contestant, engine, own.get(engine.model), options.seed) for engine in engines
        ]
        play_match(make, starts, numbers, options.parallel, on_end)


def _play_in_lockstep(
    players: tuple[Player, Player],
    starts: Sequence[Position],
    numbers: Sequence[int],
    seed: int,
    on_end: Callable[[Played], bool],
) -> None:
    going_on = True

    def report(game: Played) -> None:
        nonlocal going_on
        going_on = on_end(game)

    for first in range(0, len(numbers), AT_A_TIME):
        if going_on:
            batch = numbers[first : first + AT_A_TIME]
            play_in_lockstep(players, starts, seed + first, report, batch)
