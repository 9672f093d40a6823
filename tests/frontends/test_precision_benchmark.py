"""`tengen benchmark --precision all`: precisions play each other, and the winner is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tengen.evaluation.elo import WinDrawLoss
from tengen.evaluation.equal_time import GAMES_AT_A_TIME
from tengen.evaluation.lockstep import Player
from tengen.frontends import precision_benchmark
from tengen.frontends.command_options import ALL_PRECISIONS, BenchmarkOptions
from tengen.frontends.precision_benchmark import compare_precisions
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.registry import open_evaluator
from tengen.network.best_precision import BestPrecision, best_precision, keep_best_precision
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.user_folders import user_cache
from tests.network.test_tengen_format import random_network


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "cache"))


def options(path: Path) -> BenchmarkOptions:
    save_network(random_network("b2c32", 1), path)
    return BenchmarkOptions(
        model=str(path),
        precision=ALL_PRECISIONS,
        board_size=5,
        seconds=0.1,
        minutes=0.01,
        move_seconds=0.002,
    )


def test_the_precision_that_wins_is_kept_and_taken_from_then_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(tmp_path / "net.safetensors")
    played: list[tuple[str, str]] = []

    def int8_wins(players: tuple[Player, Player], *_: object) -> list[WinDrawLoss]:
        played.append((players[0].name, players[1].name))
        return [WinDrawLoss(9, 0, 7) if players[0].name == "int8" else WinDrawLoss(7, 0, 9)]

    monkeypatch.setattr(precision_benchmark, "match_at_equal_time", int8_wins)
    compare_precisions(asked)
    data = load_network_file(asked.model)
    usual = OpenVinoEvaluator(data).precision
    assert played[0][1] == usual
    shown = capsys.readouterr().out
    assert "int8 against" in shown
    assert "Kept: " in shown
    assert open_evaluator(data, "cpu").device.endswith("int8")
    assert open_evaluator(data, "cpu", "float32").device.endswith("float32")
    assert open_evaluator(random_network("b2c32", 2), "cpu").device.endswith(usual)
    found = best_precision(data)
    assert found is not None
    assert "9-0-7" in found.found


def test_games_are_really_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare_precisions(options(tmp_path / "net.safetensors"))
    shown = capsys.readouterr().out
    results = re.findall(r"against \w+ (\d+)-(\d+)-(\d+), .* in equal time", shown)
    assert results
    for result in results:
        assert sum(map(int, result)) >= GAMES_AT_A_TIME


@pytest.mark.parametrize("content", ["", "[1]", '{"precision": "int3", "found": ""}'])
def test_a_result_that_cannot_be_read_is_none(content: str) -> None:
    data = random_network("b2c32", 1)
    keep_best_precision(data, BestPrecision("int8", "tried"))
    assert open_evaluator(data, "cpu").device.endswith("int8")
    [file] = (user_cache() / "precisions").iterdir()
    file.write_text(content)
    assert open_evaluator(data, "cpu").device.endswith(OpenVinoEvaluator(data).precision)


def test_a_processor_with_one_precision_has_no_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision_benchmark, "precisions_of", lambda: [Precision.FLOAT32])
    with pytest.raises(ValueError, match="computes in float32 alone"):
        compare_precisions(options(tmp_path / "net.safetensors"))
