"""`tengen benchmark`: visits/s for a network and a board, and the settings that give most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.progress import Progress
from rich.table import Table

from tengen.atomic_files import replace_text
from tengen.engine.search_rate import Rate, search_rate
from tengen.engine.settings import EngineOptions
from tengen.frontends.command_options import BenchmarkOptions, load_settings, write_settings
from tengen.game.position import Position
from tengen.network.backends.registry import open_evaluator
from tengen.network.files.loading import load_network
from tengen.search.warmup import compile_kernels
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import tell

LEAVES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NEARLY = 0.95  # of the best rate: fewer leaves in flight see more before they choose


def recommended(rates: list[Rate]) -> Rate:
    """The fewest leaves in flight that are nearly as fast as any."""
    best = max(rate.visits for rate in rates)
    return next(rate for rate in rates if rate.visits >= NEARLY * best)


def run_benchmark(options: BenchmarkOptions) -> None:
    """Measure, show a table, recommend, and write the settings if a file is named.

    An existing file keeps all its other settings. With `signature`, print that one instead.
    """
    if options.signature:
        from tengen.engine.behaviour_signature import behaviour_signature

        tell(behaviour_signature())
        return
    board_size = options.board_size
    position = Position(board_size, "tromp-taylor")
    evaluator = open_evaluator(load_network(options.model, position), **options.placement)
    compile_kernels()
    rates: list[Rate] = []
    with Progress(console=TerminalConsole(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=len(LEAVES))
        for leaves in LEAVES:
            rates.append(search_rate(evaluator, position, leaves, options.seconds))
            progress.advance(task)
            if leaves >= 4 * evaluator.best_batch:
                break  # far beyond the best batch of the device
    best = recommended(rates)
    table = Table("leaves in flight", "visits/s", "evaluations/s", "evaluations/visit", "")
    for rate in rates:
        mark = "recommended" if rate is best else ""
        cost = f"{rate.evaluations_per_visit:.2f}"
        table.add_row(
            str(rate.leaves), f"{rate.visits:,.0f}", f"{rate.evaluations:,.0f}", cost, mark
        )
    console = TerminalConsole()
    console.print(
        f"{evaluator.name} on {evaluator.device}, {board_size}x{board_size}", markup=False
    )
    console.print(table)
    if options.config is not None:
        path = Path(options.config)
        settings = load_settings(path) if path.exists() else {}
        settings["engine"] = replace(
            settings.get("engine", EngineOptions()),
            model=options.model,
            **options.placement,
            leaves=best.leaves,
        )
        replace_text(path, write_settings(settings))
        console.print(f"Settings written to {path}.", markup=False)
