"""`tengen benchmark --precision all`: which precision plays best in equal time.

Fewer bits make more visits a second and worse evaluations. What that is worth together differs by
network and by processor, so networks play themselves here, and the winner is kept for this machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from rich.progress import Progress, TaskID
from rich.table import Table

from tengen.engine.search_rate import Rate, search_rate
from tengen.evaluation.elo import WinDrawLoss, estimate
from tengen.evaluation.equal_time import match_at_equal_time
from tengen.evaluation.lockstep import Player
from tengen.frontends.command_options import BenchmarkOptions
from tengen.game.position import Position
from tengen.network.backends.openvino_evaluator import (
    OpenVinoEvaluator,
    Precision,
    precisions_of,
)
from tengen.network.best_precision import BestPrecision, keep_best_precision
from tengen.network.evaluator import Evaluator
from tengen.network.files.loading import load_network
from tengen.network.network_data import NetworkData
from tengen.search.warmup import compile_kernels
from tengen.terminal_console import TerminalConsole

KOMI = 7.0  # fair on 9x9 by area
SEED = 1


class Contender(NamedTuple):
    """A network in a precision, and how much it searches in the time of a move."""

    precision: Precision
    evaluator: Evaluator
    rate: Rate
    visits: int  # a move

    @property
    def player(self) -> Player:
        """A player of a match."""
        return Player(self.precision, self.evaluator, self.visits)


class Match(NamedTuple):
    """The games of two precisions."""

    first: Precision
    second: Precision
    tally: WinDrawLoss  # the first one's

    def __str__(self) -> str:
        return f"{self.first} against {self.second} {self.tally}, {estimate(self.tally)} Elo"


def compare_precisions(options: BenchmarkOptions) -> None:
    """Let all precisions of this processor play, show what was measured, and keep the best one.

    The usual one plays the others in turn; the winner stays. Raises ValueError.
    """
    board = Position(options.board_size, "tromp-taylor", KOMI)
    data = load_network(options.model, board)
    compile_kernels()
    with Progress(console=TerminalConsole(stderr=True), transient=True) as progress:
        contenders = list(_contenders(data, options, board, progress))
        if len(contenders) == 1:
            raise ValueError(f"this processor computes in {contenders[0].precision} alone")
        best, matches = contenders[0], []
        seconds = 60 * options.minutes / (len(contenders) - 1)
        for other in contenders[1:]:
            task = progress.add_task(f"{other.precision} against {best.precision}", total=seconds)
            tally = _play((other.player, best.player), board, progress, task)
            matches.append(Match(other.precision, best.precision, tally))
            if tally.share > 0.5:
                best = other
    _show(data, options, contenders, matches)
    terms = f"at {options.move_seconds:g} s a move on {options.board_size}x{options.board_size}"
    try:
        found = f"{'; '.join(map(str, matches))} {terms}"
        keep_best_precision(data, BestPrecision(best.precision, found))
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}; the result is not kept") from None
    kept = f"Kept: {data.name} runs in {best.precision} here, unless --precision says otherwise."
    TerminalConsole().print(kept, markup=False)


def _contenders(
    data: NetworkData, options: BenchmarkOptions, board: Position, progress: Progress
) -> Iterator[Contender]:
    """The precisions of this processor, the usual one first, and their speed."""
    precisions = precisions_of()
    task = progress.add_task("measuring the speed", total=len(precisions))
    for precision in precisions:
        evaluator = OpenVinoEvaluator(data, precision)
        rate = search_rate(evaluator, board, evaluator.best_batch, options.seconds)
        visits = max(2, round(rate.visits * options.move_seconds))
        yield Contender(precision, evaluator, rate, visits)
        progress.advance(task)


def _play(
    players: tuple[Player, Player], board: Position, progress: Progress, task: TaskID
) -> WinDrawLoss:
    """The first one's results, when they are clear or the time of the task is over."""
    began, results = time.monotonic(), WinDrawLoss()
    for tally in match_at_equal_time(players, board, SEED):
        results = tally
        progress.update(task, completed=time.monotonic() - began)
        if progress.tasks[task].finished:
            break
    return results


def _show(
    data: NetworkData,
    options: BenchmarkOptions,
    contenders: list[Contender],
    matches: list[Match],
) -> None:
    console = TerminalConsole()
    size = options.board_size
    console.print(f"{data.name} on the processor, {size}x{size}", markup=False)
    table = Table("precision", "visits/s", f"visits in {options.move_seconds:g} s")
    for each in contenders:
        table.add_row(each.precision, f"{each.rate.visits:,.0f}", f"{each.visits:,}")
    console.print(table)
    for match in matches:
        console.print(f"{match}, in equal time", markup=False)
