"""`tengen selfplay`: play games without training, and write them as shards, SGF or rows."""

from __future__ import annotations

from contextlib import nullcontext
from secrets import token_hex
from typing import NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.atomic_files import replace_text
from tengen.engine.engine import Engine
from tengen.frontends.command_options import SelfPlayOptions
from tengen.game.position import Position
from tengen.network.backends.registry import open_selfplay_buffers
from tengen.network.files.loading import load_network
from tengen.replay.katago_rows_writer import write_katago_rows
from tengen.replay.network_estimates import estimate_turns
from tengen.replay.shard import write_shard
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch
from tengen.selfplay.record import Games, games_where, joined
from tengen.selfplay.sgf_text import sgf_text
from tengen.terminal_console import TerminalConsole

GAMES_IN_A_FILE = 1_000
TICKS_TO_COLLECT = 64  # between two looks for finished games


def run_self_play(model: str, params: SelfPlayParams, options: SelfPlayOptions) -> None:
    """Play games and write them into a folder; an interrupt keeps those that have ended.

    Raises ValueError.
    """
    data = load_network(model, Position(params.sizes[0], params.rules[0]))
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"{options.out}: is no folder; name a folder, new or old") from None
    buffers = open_selfplay_buffers(
        data, options.device, params.halves, params.games, most_games=max(2, options.games)
    )
    search = SelfPlaySearch()
    wants_rows = options.rows is not None
    fleet = Fleet(buffers, params, search, options.seed, move_values=wants_rows)
    engine = Engine(data, device=options.device, params=search) if wants_rows else None
    writer = _Writer(params, options, data.name, token_hex(16), engine)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    written = 0
    waiting: list[Games] = []
    bars = Progress(*columns, TimeRemainingColumn(), console=TerminalConsole(stderr=True))
    with engine or nullcontext(), bars as progress:
        at_a_time = sum(len(half.planes) for half in buffers)
        bar = progress.add_task(f"{data.name}, {at_a_time} games at a time", total=options.games)
        try:
            while written + _count(waiting) < options.games:
                for _ in range(TICKS_TO_COLLECT):
                    fleet.tick()
                waiting.append(_numbered_below(options.games, fleet.take_games()))
                progress.update(bar, completed=written + _count(waiting))
                if _count(waiting) >= GAMES_IN_A_FILE:
                    written += _count(waiting)
                    writer.write(joined(waiting))
                    waiting = []
        finally:
            if _count(waiting):
                writer.write(joined(waiting))


def _numbered_below(limit: int, games: Games) -> Games:
    """The games that were begun first: those that end first would be the short ones."""
    return games_where(games, games.games["number"] < limit)


def _count(parts: list[Games]) -> int:
    return sum(len(part.games) for part in parts)


class _Writer(NamedTuple):
    """Writes games in all wanted formats."""

    params: SelfPlayParams
    options: SelfPlayOptions
    network: str
    run: str  # a name that no other run has, so that games of runs with one seed differ
    engine: Engine | None  # asked for leads, where rows are wanted

    def write(self, games: Games) -> None:
        """Write some games as a shard and whatever else was asked for."""
        out, seed = self.options.out, self.options.seed
        shard = write_shard(out, games, {"network": self.network, "run": self.run})
        if self.engine is not None:
            estimates = estimate_turns(games, self.engine, seed)
            rows = shard.with_suffix(".npz")
            write_katago_rows(rows, games, self.params.largest_side, seed, self.run, estimates)
        if self.options.sgf:
            for k, number in enumerate(games.games["number"].tolist()):
                text = sgf_text(games, k, self.network, self.network)
                replace_text(out / f"{number:08}.sgf", text)
