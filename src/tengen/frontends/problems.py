"""`tengen problems`: make problems out of games, and check files of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.box import SIMPLE
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tengen.engine.engine import Engine
from tengen.frontends.command_options import ProblemsOptions
from tengen.game.geometry import Size, parse_size
from tengen.game.position import Position
from tengen.game.sgf.files import sgf_files
from tengen.interrupt import interruptible
from tengen.network.files.bundled import BUNDLED, bundled_networks
from tengen.problems.checking import why_wrong
from tengen.problems.making import Maker
from tengen.problems.problem import GRADES, RULES, Problem
from tengen.problems.problem_files import SHIPPED, read_problems
from tengen.problems.solver import RegionSolver
from tengen.problems.workshop import Terms, Workshop
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say

CACHE_MEGABYTES = 64.0


def make_problems(folder: Path, games: Sequence[str], options: ProblemsOptions) -> None:
    """Make problems into a folder, from SGF files or else from games that are played for it.

    Ctrl-C stops after the part under way; the same command goes on. Raises ValueError.
    """
    sizes = [parse_size(each) for each in options.sizes]
    files = sgf_files(games)
    if games and not files:
        raise ValueError(f"there is no SGF file in {', '.join(games)}")
    stop = threading.Event()
    with ExitStack() as stack:
        first = Position(sizes[0], RULES)
        engine = stack.enter_context(_engine(options.model, options, first))
        others = [
            stack.enter_context(_engine(each, options, first)) for each in _second(options, sizes)
        ]
        names = dict.fromkeys([options.model, *(each.name for each in others)])
        terms = Terms(
            tuple(map(str, sizes)), options.seed, options.batch, options.visits, tuple(names)
        )
        workshop = Workshop(folder, terms)
        stack.enter_context(
            interruptible(stop, "stopping after the games under way (Ctrl-C again: at once)")
        )
        maker = Maker(engine, others, options.visits)
        try:
            if files:
                _from_files(workshop, maker, files, stop)
            else:
                _from_play(workshop, maker, sizes, options.count, stop)
        finally:
            path = workshop.write_result(options.most_of_a_grade)
            _print_numbers(read_problems(path))
            say(f"written: {path}")
    if stop.is_set():
        raise KeyboardInterrupt


def _engine(model: str, options: ProblemsOptions, first: Position) -> Engine:
    return Engine(model, **options.placement, cache_megabytes=CACHE_MEGABYTES, first_game=first)


def _second(options: ProblemsOptions, sizes: Sequence[Size]) -> Iterator[str]:
    """The networks that have to agree: those named, else the other bundled one."""
    if options.second or options.model != BUNDLED or any(size.area > 81 for size in sizes):
        yield from options.second
    elif len(bundled_networks()) > 1:
        yield str(bundled_networks()[-1])


def _bars() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, TimeElapsedColumn(), console=TerminalConsole(stderr=True))


def _from_files(
    workshop: Workshop, maker: Maker, files: Sequence[Path], stop: threading.Event
) -> None:
    found = 0
    with _bars() as progress:
        bar = progress.add_task("reading games", total=len(files))
        for file in files:
            if stop.is_set():
                break
            try:
                found += workshop.make_from_file(maker, file)
            except (ValueError, OSError) as error:
                say(f"left out: {file}: {error}")
            progress.update(bar, advance=1, description=f"{found} problems in games")


def _from_play(
    workshop: Workshop, maker: Maker, sizes: Sequence[Size], count: int, stop: threading.Event
) -> None:
    """Play part after part, in turns for each size, until each has enough problems."""
    numbers, found = Counter[Size](), Counter[Size]()
    with _bars() as progress:
        bars = {size: progress.add_task(f"problems on {size}", total=count) for size in sizes}
        while lacking := [size for size in sizes if found[size] < count]:
            for size in lacking:
                if stop.is_set():
                    return
                found[size] += workshop.make_from_play(maker, size, numbers[size])
                numbers[size] += 1
                progress.update(bars[size], completed=min(count, found[size]))


def _print_numbers(problems: Sequence[Problem]) -> None:
    table = Table("board", *(f"grade {grade}" for grade in GRADES), "in all", box=SIMPLE)
    numbers = Counter((str(each.size), each.grade) for each in problems)
    for size in dict.fromkeys(str(each.size) for each in problems):
        row = [numbers[size, grade] for grade in GRADES]
        table.add_row(size, *map(str, row), str(sum(row)))
    TerminalConsole(stderr=True).print(table)


def check_problems(file: Path | None) -> bool:
    """Check each problem of a file, by default those that come with Tengen; are all right?

    By the rules, and by searching its region anew. Raises ValueError and OSError.
    """
    path = file or SHIPPED
    problems = read_problems(path)
    solver, wrong = RegionSolver(), 0
    with _bars() as progress:
        bar = progress.add_task("checking problems", total=len(problems))
        for problem in problems:
            if why := why_wrong(problem, solver):
                say(f"{path}: {problem.id}: {why}")
                wrong += 1
            progress.update(bar, advance=1)
    say(f"{len(problems) - wrong} of {len(problems)} problems are right")
    return wrong == 0
