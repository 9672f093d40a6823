"""Distillation against self-play alone: Elo by the minutes that each has learned.

Trains the same architecture twice on this machine, from the same random weights and for as long
each: by `tengen distil`, and by `tengen train`. Then some networks of both play each other and the
teacher, and all games are fitted together; the teacher with `--teacher-visits` is 0. What is there
already in `--out` goes on.

    python -m benchmarks.distil b10c384h6nbttflrs.bin.gz --into b8c128 --minutes 10 --out d9
    python -m benchmarks.distil b10c384h6nbttflrs.bin.gz --into b8c128 --minutes 25 --out d19 \
        --board-size 19

Both commands want a GPU. With `--processor` minutes are those of processor time, for machines
without a GPU and with other work to do, and the learning rate does not fall:

    python -m benchmarks.distil b10c384h6nbttflrs.bin.gz --into b4c64 --minutes 12 --processor \
        --rows 1000 --out d9
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.strength_curve import Kept, Match, Side, chosen_networks, curve_of, play
from tengen.evaluation.elo import Result, fit
from tengen.network.files.loading import load_network
from tengen.runs.folder import RunFolder, append_line, read_lines
from tengen.svg_chart import line_chart

RUNS = ("distilled", "self-play")
LEAST_MINUTES = 0.05  # of the run before its first network counts


def train(name: str, options: argparse.Namespace) -> None:
    """Begin or resume one of the runs; its networks are kept, and not rated meanwhile."""
    folder = options.out / name
    if options.processor:
        spawn = multiprocessing.get_context("spawn")
        child = spawn.Process(target=learn_by_processor_time, args=(name, options))
        child.start()
        child.join()
        if child.exitcode:
            raise SystemExit(f"{folder}: ended with status {child.exitcode}")
        return
    if name == RUNS[0]:
        command = ["distil", options.teacher, str(folder), "--into", options.into]
    else:
        command = ["train", str(folder), "--model", options.into]
    command += ["--minutes", str(options.minutes), "--board-size", str(options.board_size)]
    for setting in settings_of(options):
        command += ["--set", setting]
    print(" ".join(["tengen", *command]), flush=True)
    subprocess.run([sys.executable, "-m", "tengen", *command], check=True)


def settings_of(options: argparse.Namespace) -> list[str]:
    settings = ["rating.every=1", "rating.opponents=0", *options.settings]
    return settings + ([f"run.iteration_rows={options.rows}"] if options.rows else [])


def learn_by_processor_time(name: str, options: argparse.Namespace) -> None:
    """Begin or resume a run until it has had so much processor time, in this process."""
    from tengen.frontends.command_options import DistilOptions, TrainOptions
    from tengen.frontends.distil import as_training
    from tengen.frontends.run_settings import run_config
    from tengen.runs.params import Session
    from tengen.runs.run import train as train_run

    folder = options.out / name
    settings = [*settings_of(options), "training.schedule=constant"]
    if name == RUNS[0]:
        distil = DistilOptions(
            into=options.into, board_size=options.board_size, settings=settings, seed=1
        )
        wanted = as_training(options.teacher, str(folder), distil)
    else:
        wanted = TrainOptions(
            model=options.into, board_size=options.board_size, settings=settings, seed=1
        )
    config = run_config(str(folder), wanted)
    clock = options.out / f"{name}.jsonl"
    before = max([0.0, *(line["minutes"] for line in read_lines(clock))])
    if before >= options.minutes:
        return
    began = time.process_time()

    def note(step: int, metrics: Mapping[str, float]) -> None:
        minutes = before + (time.process_time() - began) / 60
        append_line(clock, {"step": step, "minutes": minutes, "rows": metrics.get("rows", 0)})
        if minutes >= options.minutes:
            signal.raise_signal(signal.SIGINT)  # saves and stops

    train_run(folder, config, Session(observers=(note,)))


def by_processor_time(found: list[Kept], run: Path, clock: Path) -> list[Kept]:
    """These networks with the processor time of their iterations, and the run's last one."""
    minutes = {line["step"]: line["minutes"] for line in read_lines(clock)}
    kept = [each._replace(minutes=minutes.get(int(Path(each.file).stem), 0.0)) for each in found]
    latest = RunFolder(run).latest
    games = int(load_network(latest).provenance["games"])
    return [*kept, Kept(f"{run.name}-latest", str(latest), max(minutes.values()), games)]


def matches_of(networks: dict[str, list[Kept]], options: argparse.Namespace) -> Iterator[Match]:
    """Each network against the one before, the other run's of the same time, and the teacher."""
    visits, games, size = options.visits, options.games, options.board_size
    teacher = Side("teacher", options.teacher, options.teacher_visits)
    sides = {
        name: [Side(each.name, each.file, visits) for each in found]
        for name, found in networks.items()
    }
    for found in sides.values():
        for before, after in itertools.pairwise(found):
            yield Match(after, before, games, size)
        for side in found[len(found) // 2 :]:  # earlier ones would lose every game
            yield Match(side, teacher, games, size)
    for one, other in zip(*sides.values(), strict=False):
        yield Match(one, other, games, size)


def play_all(matches: Sequence[Match], results: Path) -> None:
    """Play the matches that the file does not have yet."""
    known = {(line["first"], line["second"]) for line in read_lines(results)}
    for match in matches:
        if (match.first.name, match.second.name) not in known:
            append_line(results, play(match))


def report(networks: dict[str, list[Kept]], options: argparse.Namespace) -> None:
    """Fit all games, print the curves, and draw them."""
    keys = ("first", "second", "wins", "draws", "losses")
    lines = read_lines(options.out / "results.jsonl")
    ratings = fit(
        [Result(*(line[key] for key in keys)) for line in lines],
        f"teacher@{options.teacher_visits}",
    )
    series = []
    for name, found in networks.items():
        minutes = {each.name: each.minutes for each in found}
        series.append(curve_of(name, minutes, ratings))
    title = f"{Path(options.teacher).name} into {options.into}, {options.board_size}x"
    title += f"{options.board_size}, {options.visits} visits"
    over = "minutes of processor time" if options.processor else "minutes"
    chart = line_chart(series, [], title, over, "Elo")
    (options.out / "distil.svg").write_text(chart, encoding="utf-8")
    for line in lines:
        print(
            f"{line['first']:32}{line['second']:32}{line['wins']}-{line['draws']}-{line['losses']}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("teacher")
    parser.add_argument("--into", required=True, help="architecture, such as b8c128")
    parser.add_argument("--board-size", type=int, default=9)
    parser.add_argument("--minutes", type=float, default=10.0, help="of each of the two runs")
    parser.add_argument("--processor", action="store_true", help="minutes of processor time")
    parser.add_argument("--points", type=int, default=4, help="networks of each run that play")
    parser.add_argument("--visits", type=int, default=32)
    parser.add_argument("--teacher-visits", type=int, default=1)
    parser.add_argument("--games", type=int, default=40, help="of each match")
    parser.add_argument("--rows", type=int, default=0, help="of an iteration; 0: as suits")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    networks = {}
    for name in RUNS:
        train(name, options)
        kept = chosen_networks([options.out / name], options.points)
        if options.processor:
            kept = by_processor_time(kept, options.out / name, options.out / f"{name}.jsonl")
        networks[name] = [each for each in kept if each.minutes >= LEAST_MINUTES]
    play_all(list(matches_of(networks, options)), options.out / "results.jsonl")
    report(networks, options)


if __name__ == "__main__":
    main()
