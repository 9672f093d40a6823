"""Sweeps: which runs they have, and what their curves have in common."""

from __future__ import annotations

import csv
import json
import math
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from tengen.frontends import sweep as command
from tengen.frontends.cli import app
from tengen.frontends.command_options import SweepOptions
from tengen.frontends.sweep import Planned, planned_runs, run_sweep, train_command
from tengen.runs.sweep import Curve, joint_series, read_curve, summary, variants

TINY = """
[run]
model = "b2c32"
device = "cpu"
iterations = 2
iteration_rows = 20
first_rows = 10
[selfplay]
games = 4
board_sizes = [3]
visits = 4
[training]
batch = 8
[rating]
every = 0
"""


def test_variants_are_all_combinations() -> None:
    found = variants(["training.rate=0.001, 0.002", "selfplay.board_sizes=[7,9],[9]"])
    assert [each.settings for each in found] == [
        ("training.rate=0.001", "selfplay.board_sizes=[7,9]"),
        ("training.rate=0.001", "selfplay.board_sizes=[9]"),
        ("training.rate=0.002", "selfplay.board_sizes=[7,9]"),
        ("training.rate=0.002", "selfplay.board_sizes=[9]"),
    ]
    assert len({each.folder for each in found}) == 4
    assert variants([])[0].name == "as it is"


@pytest.mark.parametrize("text", ["training.rate", "training.rate=", "=1", "training.rate=1,1"])
def test_what_cannot_be_varied_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write section|the same"):
        variants([text])


def test_every_variant_has_every_seed(tmp_path: Path) -> None:
    options = SweepOptions(tmp_path, seeds=2, vary=["training.rate=0.1,0.2"])
    assert [(each.variant.name, each.seed) for each in planned_runs(options)] == [
        ("training.rate=0.1", 1),
        ("training.rate=0.1", 2),
        ("training.rate=0.2", 1),
        ("training.rate=0.2", 2),
    ]


def test_the_mean_of_runs_has_an_interval() -> None:
    """Two runs with values 1 and 3: mean 2, deviation √2, and t is 12.706 at one degree."""
    series = joint_series("two", [Curve([0, 10], [1, 1]), Curve([0, 5, 20], [3, 3, 3])])
    assert (series.x[0], series.x[-1]) == (0, 10)  # as far as both have come
    assert set(series.y) == {2.0}
    assert series.high[-1] - 2 == pytest.approx(12.706 * math.sqrt(2) / math.sqrt(2))
    ((name, last, half),) = summary({"two": series})
    assert (name, last) == ("two", 2.0)
    assert half == pytest.approx(12.706)


def test_one_run_has_no_interval_and_none_no_curve() -> None:
    assert joint_series("one", [Curve([0, 1], [5, 6])]).low == ()
    assert joint_series("none", [Curve([], [])]).x == ()
    assert joint_series("apart", [Curve([0, 1], [1, 1]), Curve([2, 3], [1, 1])]).x == ()


def test_ratings_are_drawn_over_what_the_lines_of_their_steps_tell(tmp_path: Path) -> None:
    lines: list[dict[str, float | None]] = [
        {"step": 1, "rows": 100, "minutes": 1.0, "loss/policy": 2.0},
        {"step": 1, "minutes": 1.5, "elo": 40.0},
        {"step": 2, "rows": 200, "minutes": 2.0, "loss/policy": None},
        {"step": 2, "minutes": 2.5, "elo": 70.0},
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "metrics.jsonl").write_text(text)
    assert read_curve(tmp_path, "elo", "rows") == Curve([100, 200], [40, 70])
    assert read_curve(tmp_path, "elo", "minutes") == Curve([1.5, 2.5], [40, 70])
    assert read_curve(tmp_path, "elo", "step") == Curve([1, 2], [40, 70])
    assert read_curve(tmp_path, "loss/policy", "rows") == Curve([100], [2])


def test_runs_without_a_range_in_common_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)

    def train(recipe: str, run: Planned, stop: threading.Event) -> int:
        run.path.mkdir(parents=True)
        lines = [{"step": k, "games": 100 * run.seed + k, "loss/policy": 1} for k in range(3)]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (run.path / "metrics.jsonl").write_text(text)
        return 0

    monkeypatch.setattr(command, "_train", train)
    run_sweep(str(tmp_path / "tiny.toml"), SweepOptions(tmp_path / "out", seeds=2, over="games"))
    heard = capsys.readouterr()
    assert "as it is: its runs have no range of 'games' in common; try --over rows" in heard.err
    assert "nan" not in heard.out
    assert "no run has the metric" not in heard.err


def test_what_a_recipe_does_not_have_is_refused_before_any_run(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    options = SweepOptions(tmp_path / "out", vary=["training.rat=0.1"])
    with pytest.raises(ValueError, match=r"training.rat=0\.1"):
        run_sweep(str(tmp_path / "tiny.toml"), options)
    assert not (tmp_path / "out").exists()


def test_a_sweep_trains_every_run_and_draws_what_they_have_in_common(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    out = tmp_path / "out"
    trained: list[str] = []

    def train(recipe: str, run: Planned, stop: threading.Event) -> int:
        """What a run would leave, without its games: the rate decides about the loss."""
        words = train_command(recipe, run)[3:]
        commands: Any = typer.main.get_command(app)
        parsed = commands.commands["train"].make_context("train", words[1:])
        assert parsed.params["seed"] == run.seed
        trained.append(f"{run.variant.name} {run.seed}")
        run.path.mkdir(parents=True)
        rate = float(run.settings[-1].partition("=")[2])
        lines = [{"step": k, "rows": 10 * k, "loss/policy": rate * run.seed} for k in range(3)]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (run.path / "metrics.jsonl").write_text(text)
        return 1 if run.seed == 2 else 0  # which is said, and the sweep goes on

    monkeypatch.setattr(command, "_train", train)
    options = SweepOptions(out, seeds=2, vary=["training.rate=1,3"])
    run_sweep(str(tmp_path / "tiny.toml"), options)
    assert trained == [f"training.rate={rate} {seed}" for rate in (1, 3) for seed in (1, 2)]
    with (out / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + 4 * 3
    assert (out / "sweep.svg").read_text("utf-8").startswith("<svg")
    heard = capsys.readouterr()
    # Of the rate 3: 3 and 6, so 4.5 with a deviation of 1.5 √2.
    assert "4.5" in heard.out
    assert f"± {12.706 * 1.5:.2g}" in heard.out
    assert heard.err.count("failed with status 1") == 2


def test_an_interrupt_ends_the_sweep_after_the_run_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    trained: list[int] = []

    def train(recipe: str, run: Planned, stop: threading.Event) -> int:
        trained.append(run.seed)
        stop.set()
        return 0

    monkeypatch.setattr(command, "_train", train)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(str(tmp_path / "tiny.toml"), SweepOptions(tmp_path / "out", seeds=3))
    assert trained == [1]


def test_a_run_of_a_sweep_is_stopped_by_one_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is asked once to stop, and its own end is waited for."""
    code = (
        "import signal, sys, time\n"
        "heard = []\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"  # as in the background
        "signal.signal(signal.SIGTERM, lambda *_: heard.append(1))\n"
        "open('ready', 'w').close()\n"
        "while not heard: time.sleep(0.01)\n"
        "time.sleep(0.5)\n"
        "sys.exit(40 + len(heard))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "train_command", lambda *_: [sys.executable, "-c", code])
    stop = threading.Event()

    def stop_when_ready() -> None:
        while not Path("ready").exists():
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=stop_when_ready).start()
    (run,) = planned_runs(SweepOptions(tmp_path, seeds=1))
    assert command._train("recipe", run, stop) == 41
