"""The examples run as they are written, with fewer visits."""

from __future__ import annotations

import json
import runpy
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

from tengen.engine.engine import Engine
from tengen.frontends.command_options import TrainOptions
from tengen.frontends.train import run_training
from tengen.game.position import Position
from tengen.network import own_trunks
from tengen.network.fake import FakeEvaluator
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.params import RunConfig, Session

EXAMPLES = Path("examples")
GAME = "(;GM[1]SZ[9]KM[7]RU[Chinese]PB[Ann]PW[Bo]RE[B+R];B[ee];W[cc];B[gg];W[gc])"
TURNED = "(;GM[1]SZ[9]KM[7]RU[Chinese]RE[W+3];B[ee];W[gc];B[cg];W[cc])"  # reflected, three moves


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")


@pytest.fixture
def game(tmp_path: Path) -> str:
    (tmp_path / "one.sgf").write_text(GAME)
    (tmp_path / "two.sgf").write_text(TURNED)
    return str(tmp_path / "one.sgf")


def test_there_are_six_and_each_is_short() -> None:
    lengths = {
        path.stem: len(path.read_text("utf-8").splitlines()) for path in EXAMPLES.glob("*.py")
    }
    assert len(lengths) >= 6
    assert max(lengths.values()) < 60, lengths
    tested = Path(__file__).read_text("utf-8")
    assert [name for name in lengths if f'"{name}' not in tested] == []


def test_opening_statistics(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("opening_statistics", str(Path(game).parent), monkeypatch=monkeypatch)
    (line,) = capsys.readouterr().out.splitlines()  # both games are the same but for a reflection
    assert line.split()[:4] == ["2", "games", "Black", "50%"]


def test_biggest_mistakes(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.csv"
    run("biggest_mistakes", game, "--visits", "2", "--csv", str(out), monkeypatch=monkeypatch)
    assert "one.sgf, move " in capsys.readouterr().out
    assert len(out.read_text("utf-8").splitlines()) == 5  # a heading and four moves


def test_ownership_picture(game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "picture.svg"
    run("ownership_picture", game, "--visits", "4", "--out", str(out), monkeypatch=monkeypatch)
    picture = ElementTree.parse(out).getroot()
    assert len([shape for shape in picture if shape.tag.endswith("circle")]) == 4
    assert len([shape for shape in picture if shape.tag.endswith("rect")]) == 1 + 81


def test_bot_server() -> None:
    bot = runpy.run_path(str(EXAMPLES / "bot_server.py"))["Bot"]
    with Engine(FakeEvaluator()) as engine, bot(0, engine, "beginner") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        query = json.dumps({"size": 5, "moves": ["C3"]}).encode()
        with urllib.request.urlopen(address, query) as reply:
            assert json.load(reply)["move"] not in ("C3", "")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address, b'{"size": 5, "moves": ["C3", "C3"]}')
        with refused.value as reply:
            assert "occupied" in json.load(reply)["error"]
        server.shutdown()


def test_compare_networks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--games", "2", "--visits", "1", "--size", "5")
    run("compare_networks", "tengen-9x9", "tengen-all", *few, monkeypatch=monkeypatch)
    assert "tengen-9x9: " in capsys.readouterr().out


def test_own_torch_module(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("own_torch_module", game, "--epochs", "30", monkeypatch=monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    losses = [float(line.split()[-1]) for line in lines[:-1]]
    assert losses[-1] < 0.7 * losses[0]  # of four positions; it learns them by heart
    assert "32 visits" in lines[-1]


def test_metrics_to_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the service and without a run: what is told of one arrives."""
    logged: list[tuple[dict[str, float], int]] = []
    logger = SimpleNamespace(log=lambda metrics, step: logged.append((metrics, step)))
    begun: list[dict[str, Any]] = []

    def init(project: str, config: dict[str, Any]) -> SimpleNamespace:
        begun.append(config)
        return logger

    def train(path: str, config: RunConfig, session: Session) -> None:
        assert (path, config.run.minutes) == (str(tmp_path), 2.0)
        for observer in session.observers:
            observer(3, {"loss/policy": 1.5})

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    monkeypatch.setattr("tengen.runs.run.train", train)
    run("metrics_to_wandb", str(tmp_path), "--minutes", "2", monkeypatch=monkeypatch)
    assert begun[0]["run"]["minutes"] == 2.0
    assert logged == [({"loss/policy": 1.5}, 3)]


def test_own_evaluator(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run("own_evaluator", monkeypatch=monkeypatch)
    assert "F5" in capsys.readouterr().out  # which captures


def test_own_trunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole run with a module of one's own, which then plays."""
    torch.set_num_threads(1)
    monkeypatch.setattr(own_trunks, "_TRUNKS", {})
    monkeypatch.setattr(own_trunks, "_FILES", [])
    own_trunks.load_module(str(EXAMPLES / "own_trunk.py"))
    few = "run.iteration_rows=60 run.first_rows=20 selfplay.games=8 selfplay.visits=6"
    more = "selfplay.fast_visits=2 training.batch=16 rating.every=0"
    options = TrainOptions(
        model="lines", board_size=4, iterations=2, device="cpu", settings=f"{few} {more}".split()
    )
    run_training(str(tmp_path / "run"), options)
    run_training(str(tmp_path / "run"), TrainOptions(iterations=3))
    lines = read_lines(RunFolder(tmp_path / "run").metrics)
    assert lines[-1]["loss/total"] < lines[0]["loss/total"]
    with Engine(str(tmp_path / "run" / "latest.safetensors")) as engine:
        assert engine.search(Position(4), visits=10).visits >= 10
