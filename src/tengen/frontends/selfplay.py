"""`tengen selfplay`: play games without training, and write them as shards, SGF or rows."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.frontends.options import SelfPlayOptions
from tengen.game.geometry import Size
from tengen.network.backends.registry import open_selfplay_buffers
from tengen.network.files.loading import load_network
from tengen.replay.katago_rows import write_katago_rows
from tengen.replay.shard import write_shard
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch
from tengen.selfplay.record import Games, joined
from tengen.selfplay.sgf_text import sgf_text

GAMES_IN_A_FILE = 1_000
TICKS_TO_COLLECT = 64  # between two looks for finished games


def run_self_play(model: str, params: SelfPlayParams, options: SelfPlayOptions) -> None:
    """Play games and write them into a folder; an interrupt keeps those that have ended.

    Raises ValueError.
    """
    data = load_network(model)
    size = Size(params.largest_side, params.largest_side)
    buffers = open_selfplay_buffers(
        data, options.device, size, params.games, most_games=2 * options.games
    )
    fleet = Fleet(buffers, params, SelfPlaySearch(), options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    written = 0
    waiting: list[Games] = []
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        at_a_time = sum(len(half.planes) for half in buffers)
        bar = progress.add_task(f"{data.name}, {at_a_time} games at a time", total=options.games)
        try:
            while written + _count(waiting) < options.games:
                for _ in range(TICKS_TO_COLLECT):
                    fleet.tick()
                waiting.append(fleet.take_games())
                progress.update(bar, completed=written + _count(waiting))
                if _count(waiting) >= GAMES_IN_A_FILE:
                    written += _count(waiting)
                    _write(joined(waiting), params, options, data.name)
                    waiting = []
        finally:
            if _count(waiting):
                _write(joined(waiting), params, options, data.name)


def _count(parts: list[Games]) -> int:
    return sum(len(part.games) for part in parts)


def _write(games: Games, params: SelfPlayParams, options: SelfPlayOptions, name: str) -> None:
    """Write games in all wanted formats."""
    shard = write_shard(options.out, games, {"network": name})
    if options.rows:
        rows = shard.with_suffix(".npz")
        write_katago_rows(rows, games, params.largest_side, options.seed)
    if options.sgf:
        for k, number in enumerate(games.games["number"].tolist()):
            text = sgf_text(games, k, name, name)
            (options.out / f"{number:08}.sgf").write_text(text, encoding="utf-8")
