"""Distillation against self-play alone: Elo by the minutes that each has learned.

Trains the same architecture twice on this machine, for as long each: by `tengen distil`, and by
`tengen train`. Then some networks of both play each other and the teacher, and all games are fitted
together; the teacher with `--teacher-visits` is 0. What is there already in `--out` goes on.

    python -m benchmarks.distil b10c384h6nbttflrs.bin.gz --into b8c128 --minutes 10 --out d9
    python -m benchmarks.distil b10c384h6nbttflrs.bin.gz --into b8c128 --minutes 25 --out d19 \
        --board-size 19

Beside a GPU each command wants one; on two cores try `--into b4c64 --minutes 8 --rows 2000`.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.strength_curve import Kept, Match, Side, chosen_networks, curve_of, play
from tengen.evaluation.elo import Result, fit
from tengen.runs.folder import append_line, read_lines
from tengen.svg_chart import line_chart

RUNS = ("distilled", "self-play")
LEAST_MINUTES = 0.05  # of the run before its first network counts


def train(name: str, options: argparse.Namespace) -> None:
    """Begin or resume one of the runs; its networks are kept, and not rated meanwhile."""
    folder = options.out / name
    if name == RUNS[0]:
        command = ["distil", options.teacher, str(folder), "--into", options.into]
    else:
        command = ["train", str(folder), "--model", options.into]
    command += ["--minutes", str(options.minutes), "--board-size", str(options.board_size)]
    settings = ["rating.every=1", "rating.opponents=0", *options.settings]
    if options.rows:
        settings.append(f"run.iteration_rows={options.rows}")
    for setting in settings:
        command += ["--set", setting]
    print(" ".join(["tengen", *command]), flush=True)
    subprocess.run([sys.executable, "-m", "tengen", *command], check=True)


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
    chart = line_chart(series, [], title, "minutes", "Elo")
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
        networks[name] = [each for each in kept if each.minutes >= LEAST_MINUTES]
    play_all(list(matches_of(networks, options)), options.out / "results.jsonl")
    report(networks, options)


if __name__ == "__main__":
    main()
