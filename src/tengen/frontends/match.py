"""`tengen match`: games between two engines, and the difference in Elo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.evaluation.elo import Sprt, WinDrawLoss, estimate
from tengen.evaluation.lockstep import Played, openings
from tengen.evaluation.match import EngineSpec, MatchFolder, play_engines
from tengen.frontends.command_options import MatchOptions
from tengen.game.position import Position
from tengen.network.backends.registry import open_evaluator
from tengen.network.evaluator import Evaluator
from tengen.network.files.loading import file_sha256, find_network, load_network
from tengen.network.trained_on import unfamiliar
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say, tell

MOVES_PER_POINT = 2  # after which a game is counted as it stands
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
    store = None
    if options.out:
        digests = _sha256(engines[0], empty), _sha256(engines[1], empty)
        store = MatchFolder(Path(options.out), names, terms, digests)
    known = store.finished() if store else {}
    tally = WinDrawLoss()
    for gained in known.values():
        tally = tally.plus(gained)
    numbers = [number for number in range(options.games) if number not in known]
    networks = _open_networks(engines, empty, options)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = TerminalConsole(stderr=True)
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
            play_engines(
                [(engine, networks.get(engine.model)) for engine in engines],
                _starts(networks, empty, options),
                numbers,
                options.seed,
                on_end=on_end,
                parallel=options.parallel,
                in_lockstep=AT_A_TIME,
            )
    tell(f"{names[0]} - {names[1]}: {tally} (wins, draws, losses)")
    tell(f"Elo difference with its 95% interval: {estimate(tally)}")
    if test is not None:
        verdict = test.verdict(tally)
        decided = {True: f"at least {test.high:g}", False: f"at most {test.low:g}"}
        tell(f"Sequential test: {decided[verdict] if verdict is not None else 'not decided'}")
    return tally


def _sha256(engine: EngineSpec, empty: Position) -> str:
    """Of the network that an engine plays with; "" if it has none."""
    return file_sha256(find_network(engine.model, empty)) if engine.model else ""


def _summary(names: tuple[str, str], tally: WinDrawLoss) -> str:
    return f"{names[0]} {tally} {names[1]}, {estimate(tally)} Elo"


def _open_networks(
    engines: Sequence[EngineSpec], empty: Position, options: MatchOptions
) -> dict[str, Evaluator]:
    """Evaluators by network file, each opened once; says what they were not trained on."""
    models = dict.fromkeys(engine.model for engine in engines if engine.model)
    networks = {}
    for model in models:
        data = load_network(model, empty)
        if (found := unfamiliar(data.name, data.trained_on, empty)) is not None:
            say(f"warning: {found}")
        networks[model] = open_evaluator(data, options.device, options.precision)
    return networks


def _starts(
    networks: dict[str, Evaluator], empty: Position, options: MatchOptions
) -> list[Position]:
    """A position for each pair of games: openings, if there is a network to draw them from."""
    pairs = options.games // 2 + 1
    if not networks or not options.opening_moves:
        return [empty] * pairs
    drawn_from = next(iter(networks.values()))
    return openings(drawn_from, empty, options.opening_moves, pairs, seed=options.seed)
