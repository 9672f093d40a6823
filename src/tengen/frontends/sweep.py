"""`tengen sweep`: runs with several settings and seeds, one after the other, and a joint plot."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from tengen.atomic_files import replace_text
from tengen.frontends.command_options import SweepOptions, TrainOptions
from tengen.frontends.run_settings import run_config
from tengen.interrupt import interruptible
from tengen.network.own_trunks import loaded_modules
from tengen.runs.sweep import Curve, Variant, joint_series, read_curve, summary, variants
from tengen.svg_chart import Series, line_chart
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say, tell

POLL_SECONDS = 0.2


class Planned(NamedTuple):
    """A run of a sweep."""

    variant: Variant
    seed: int
    path: Path
    settings: tuple[str, ...]


def run_sweep(recipe: str, options: SweepOptions) -> None:
    """Train all runs, or resume them, then write sweep.csv and sweep.svg; raises ValueError.

    A run that fails is named and left out. Ctrl-C saves the run under way and stops the sweep; the
    same command goes on with it.
    """
    plan = planned_runs(options)
    for each in plan:  # errors in settings are reported before the first run begins
        wanted = TrainOptions(config=recipe, settings=list(each.settings), seed=each.seed)
        run_config(str(each.path), wanted)
    options.out.mkdir(parents=True, exist_ok=True)
    stop = threading.Event()
    with interruptible(stop, "stopping; the run under way is saved (Ctrl-C again: at once)"):
        for number, each in enumerate(plan, 1):
            if stop.is_set():
                break
            say(f"run {number} of {len(plan)}: {each.variant.name}, seed {each.seed}")
            status = _train(recipe, each, stop)
            if status and not stop.is_set():
                say(f"{each.path} failed with status {status}; its curve is used as far as it goes")
    _report(plan, options)
    if stop.is_set():
        raise KeyboardInterrupt


def planned_runs(options: SweepOptions) -> list[Planned]:
    """The runs of a sweep, all seeds of a variant together; raises ValueError."""
    return [
        Planned(
            variant,
            seed,
            options.out / variant.folder / f"seed-{seed}",
            (*options.settings, *variant.settings),
        )
        for variant in variants(options.vary)
        for seed in range(1, options.seeds + 1)
    ]


def train_command(recipe: str, run: Planned) -> list[str]:
    """The command line that trains a run, or resumes it."""
    settings = [word for setting in run.settings for word in ("--set", setting)]
    modules = [word for file in loaded_modules() for word in ("--module", file)]
    words = [*modules, "train", str(run.path), "--config", recipe]
    command = [sys.executable, "-m", "tengen", *words]
    return [*command, "--seed", str(run.seed), *settings]


def _train(recipe: str, run: Planned, stop: threading.Event) -> int:
    """Train a run in a process of its own, so that its memory is free afterwards."""
    # In a session of its own it is not interrupted by Ctrl-C, but signalled below, once.
    child = subprocess.Popen(train_command(recipe, run), start_new_session=True)
    signalled = False
    while True:
        try:
            return child.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if stop.is_set() and not signalled and os.name == "posix":
                child.send_signal(signal.SIGTERM)  # it may be in the background, without Ctrl-C
                signalled = True
        except BaseException:
            child.terminate()
            raise


def _report(plan: Sequence[Planned], options: SweepOptions) -> None:
    """Write and print what the runs have in common."""
    curves: dict[str, list[Curve]] = {}
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["variant", "seed", options.over, options.metric])
    for each in plan:
        curve = read_curve(each.path, options.metric, options.over)
        curves.setdefault(each.variant.name, []).append(curve)
        rows = zip(curve.x, curve.y, strict=True)
        writer.writerows([each.variant.name, each.seed, *row] for row in rows)
    replace_text(options.out / "sweep.csv", table.getvalue())
    series = {name: joint_series(name, found) for name, found in curves.items()}
    _print_table(series, options)
    drawn = [each for each in series.values() if each.x]
    where = f"{options.metric!r} over {options.over!r}"
    for name, found in curves.items():
        if not series[name].x and any(curve.x for curve in found):
            what = f"its runs have no range of {options.over!r} in common"
            advice = (
                "train longer" if options.over == "rows" else "try --over rows, or train longer"
            )
            say(f"{name}: {what}; {advice} (sweep.csv has all values)")
    if not any(curve.x for found in curves.values() for curve in found):
        say(f"no run has the metric {where} yet; metrics.jsonl of a run shows all")
    if not drawn:
        return
    title = f"{options.metric}, mean of {options.seeds} seeds with its 95% interval"
    chart = line_chart(drawn, (), title, options.over, options.metric)
    replace_text(options.out / "sweep.svg", chart)
    tell(f"Written: {options.out / 'sweep.svg'}, {options.out / 'sweep.csv'}")


def _print_table(series: dict[str, Series], options: SweepOptions) -> None:
    table = Table("variant", f"{options.metric} at the end", "95% interval")
    for name, last, half in summary(series):
        shown = [f"{last:.4g}", f"± {half:.2g}"]
        table.add_row(Text(name), *("-" if "nan" in each else each for each in shown))
    TerminalConsole().print(table)
