"""`tengen benchmark`: a table, a recommendation, settings that are read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.engine.search_rate import Rate
from tengen.frontends.benchmark import recommended, run_benchmark
from tengen.frontends.command_options import BenchmarkOptions, load_settings
from tengen.network.files.tengen_format import save_network
from tests.network.test_tengen_format import random_network


def test_the_fewest_leaves_that_are_nearly_as_fast_are_recommended() -> None:
    rates = [Rate(1, 100, 90), Rate(4, 290, 280), Rate(8, 300, 280), Rate(16, 301, 290)]
    assert recommended(rates).leaves == 4
    assert recommended([Rate(1, 100, 1), Rate(2, 90, 1)]).leaves == 1


def test_it_shows_rates_and_writes_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, config = tmp_path / "net.safetensors", tmp_path / "tengen.toml"
    save_network(random_network("b2c32", 1), model)
    config.write_text(
        "[engine]\nvisits = 77\n[search]\nexploration = 2.0\n[gtp]\nboard_size = 13\n"
    )
    run_benchmark(
        BenchmarkOptions(
            model=str(model), device="cpu", board_size=5, seconds=0.1, config=str(config)
        )
    )
    shown = capsys.readouterr().out
    assert "recommended" in shown
    assert "visits/s" in shown
    settings = load_settings(config)
    engine, search = settings["engine"], settings["search"]
    assert engine.model == str(model)
    assert engine.leaves >= 1
    assert (engine.visits, search.exploration) == (77, 2.0)
    assert settings["gtp"].board_size == 13
