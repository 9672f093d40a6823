"""A whole run, small: it learns, stops, goes on, and is never lost."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO_WITHOUT_LADDERS
from tengen.network.files.tengen_format import load_network_file
from tengen.replay.rows import encode_games
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder, RunLock, read_lines
from tengen.runs.params import RatingParams, RunConfig, RunParams, Session
from tengen.runs.rating import ratings_of
from tengen.runs.run import Run, open_run_with, train
from tengen.runs.selfplay_network import DEFAULTS
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games, joined
from tengen.training import trainer
from tengen.training.params import TrainingParams
from tests.replay.games import read_shards

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL = RunConfig(
    run=RunParams(
        model="b2c32",
        device="cpu",
        iterations=6,
        iteration_rows=200,
        first_rows=200,
        checkpoint_seconds=0,
    ),
    selfplay=SelfPlayParams(
        games=16, visits=16, fast_visits=6, board_sizes=(3, 4), full_share=0.5, opening_share=0.5
    ),
    training=TrainingParams(batch=32, warm_up=20),
    rating=RatingParams(every=3, games=4, visits=4, opponents=1),
)


def session(path: Path, iterations: int, config: RunConfig = SMALL) -> None:
    """Go on for so many iterations and end as if killed: nothing is saved at the end."""
    with RunLock(path):
        folder, _ = open_run_with(path, config)
        with Run(folder, config) as run:
            run.begin()
            for _ in range(iterations):
                run.iterate()


def games_of(path: Path) -> Games:
    return joined(list(read_shards(RunFolder(path).shards)))


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are added in the background, steps run between ticks, weights are published there.

    Not as often as on a GPU: here each publication compiles the network.
    """
    defaults = DEFAULTS["cpu"]._replace(ticks_to_publish=512)
    monkeypatch.setitem(DEFAULTS, "cpu", defaults)


@pytest.mark.usefixtures("as_on_a_gpu")
def test_games_that_are_added_in_the_background_all_count(tmp_path: Path) -> None:
    path = tmp_path / "run"
    for iterations in (2, 2):
        session(path, iterations)
    games, checkpoint = games_of(path), load_latest(RunFolder(path))
    assert checkpoint is not None
    assert checkpoint.facts["games"] == len(games.games)
    rows = encode_games(games, KATAGO_WITHOUT_LADDERS, SMALL.run.seed)
    assert checkpoint.facts["rows"] == sum(len(ordered.order) for ordered in rows.values())
    assert int(checkpoint.arrays["trainer.steps"]) > 0


def test_a_run_that_was_cut_equals_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "RENORM_STEPS", (60, 160))  # of about 300
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    session(whole, 6)
    for iterations in (1, 2, 3):
        session(cut, iterations)
    for one, other in zip(games_of(whole), games_of(cut), strict=True):
        np.testing.assert_array_equal(one, other)
    networks = [
        load_network_file(path / "networks" / "000006.safetensors") for path in (whole, cut)
    ]
    for name, weights in networks[0].weights.items():
        np.testing.assert_array_equal(weights, networks[1].weights[name], name)
    results = [read_lines(RunFolder(path).ratings) for path in (whole, cut)]
    assert results[0] == results[1]
    assert [line["iteration"] for line in results[0]] == [3, 6]
    losses = [
        [line["loss/policy"] for line in read_lines(RunFolder(path).metrics) if "games" in line]
        for path in (whole, cut)
    ]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 6


def test_a_run_learns_on_each_of_its_board_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "RENORM_STEPS", (20, 80))
    config = replace(SMALL, rating=RatingParams(every=0))
    session(tmp_path / "run", 5, config)
    lines = read_lines(RunFolder(tmp_path / "run").metrics)
    first, last = lines[0], lines[-1]
    for name in ("3x3/policy", "4x4/policy", "3x3/value", "4x4/value", "loss/policy", "loss/value"):
        assert last[name] < 0.9 * first[name]


def test_a_rating_that_was_interrupted_is_played_when_the_run_goes_on(tmp_path: Path) -> None:
    path, config = tmp_path / "run", replace(SMALL, rating=replace(SMALL.rating, every=1))
    with RunLock(path), Run(*open_run_with(path, config)) as run:
        run.begin()
        run.iterate()
        run._stop.set()
        run.iterate()  # ends at once, and is not rated
        run.go()
    rated = [line["iteration"] for line in read_lines(RunFolder(path).ratings)]
    assert rated == [1]
    assert load_network_file(RunFolder(path).latest).provenance["games"] != "0"
    session(path, 1, config)
    rated = [line["iteration"] for line in read_lines(RunFolder(path).ratings)]
    assert rated == [1, 2, 3]


def test_a_run_keeps_its_games_where_others_would_suit_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(SMALL, selfplay=replace(SMALL.selfplay, games=0))
    for games in (16, 8):
        defaults = DEFAULTS["cpu"]._replace(games=games)
        monkeypatch.setitem(DEFAULTS, "cpu", defaults)
        session(tmp_path / "run", 1, config)
    checkpoint = load_latest(RunFolder(tmp_path / "run"))
    assert checkpoint is not None
    fleet = checkpoint.part("fleet.")
    assert sum(len(fleet[f"slots{k}"]) for k in range(4)) == 16  # two halves of each size


@pytest.mark.usefixtures("as_on_a_gpu")
def test_a_run_whose_shards_are_lost_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run"
    session(path, 2)
    for shard in (path / "shards").glob("*.games"):
        shard.unlink()
    session(path, 1)
    assert read_lines(RunFolder(path).metrics)[-1]["step"] == 3


def test_a_run_keeps_settings_that_were_defaults_when_it_began(tmp_path: Path) -> None:
    open_run_with(tmp_path / "run", SMALL)
    text = RunFolder(tmp_path / "run").config.read_text()
    assert f"\nrate = {TrainingParams().rate}\n" in text


def test_what_cannot_be_is_refused_before_there_is_a_run() -> None:
    with pytest.raises(ValueError, match="b6c9x"):
        RunParams(model="b6c9x")
    with pytest.raises(ValueError, match="seed must be below"):
        RunParams(seed=3_000_000_000)


def test_a_run_ends_by_itself_and_can_be_made_longer(tmp_path: Path) -> None:
    short = replace(SMALL, run=replace(SMALL.run, iterations=1), rating=RatingParams(every=0))
    train(tmp_path / "run", short)
    before = len(games_of(tmp_path / "run").games)
    assert before
    train(tmp_path / "run")  # it has reached its end
    assert len(games_of(tmp_path / "run").games) == before
    train(tmp_path / "run", replace(short, run=replace(short.run, iterations=2)))
    games = games_of(tmp_path / "run").games
    assert len(games) > before
    assert len(set(games["number"].tolist())) == len(games)  # none twice


def test_what_compiling_takes_is_not_the_time_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow machine a short run would be over before its first game."""
    monkeypatch.setattr("tengen.runs.run.compile_first", lambda _: time.sleep(2))
    began = time.monotonic()
    with RunLock(tmp_path):
        folder, _ = open_run_with(tmp_path, SMALL)
        with Run(folder, SMALL) as run:
            assert run.seconds <= time.monotonic() - began - 2


def test_what_compiling_takes_is_time_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine may be rented for so long."""
    compiling: list[float] = []  # seconds
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(compiling), sleep=time.sleep)
    monkeypatch.setattr("tengen.runs.run.time", clock)
    monkeypatch.setattr("tengen.runs.run.compile_first", lambda _: compiling.append(3600))
    train(tmp_path, SMALL, Session(minutes=60))
    checkpoint = load_latest(RunFolder(tmp_path))
    assert checkpoint is not None
    assert checkpoint.facts["iteration"] == 0


def test_settings_that_make_another_run_are_refused_by_name(tmp_path: Path) -> None:
    open_run_with(tmp_path / "run", SMALL)
    other = replace(
        SMALL, run=replace(SMALL.run, model="b3c32"), training=TrainingParams(rate=1e-3)
    )
    with pytest.raises(RunError, match=r"run\.model, training\.batch.* cannot change"):
        open_run_with(tmp_path / "run", other)
    fine = replace(SMALL, training=replace(SMALL.training, rate=1e-3))
    open_run_with(tmp_path / "run", fine)
    assert open_run_with(tmp_path / "run", None)[1] == fine


def test_shards_beyond_the_checkpoint_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "run"
    session(path, 2)
    shards = sorted((path / "shards").glob("*.games"))
    extra = shards[-1].with_name("000099-games-1-2.games")
    extra.write_bytes(shards[-1].read_bytes())
    session(path, 1)
    assert not extra.exists()


def test_a_damaged_shard_costs_its_games_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    session(path, 3)
    first = min((path / "shards").glob("*.games"))
    data = bytearray(first.read_bytes())
    data[len(data) // 2] ^= 1
    first.write_bytes(data)
    session(path, 1)
    assert "renamed to" in capsys.readouterr().err
    assert read_lines(RunFolder(path).metrics)[-1]["step"] == 4


def test_a_missing_shard_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run"
    session(path, 3)
    session(path, 1)
    assert "missing" not in capsys.readouterr().err
    min((path / "shards").glob("*.games")).unlink()
    session(path, 1)
    told = capsys.readouterr().err
    assert "shards that its checkpoint refers to are missing (numbers 1)" in told
    assert read_lines(RunFolder(path).metrics)[-1]["step"] == 5


def test_outsiders_are_rated_too(tmp_path: Path) -> None:
    path = tmp_path / "run"
    program = (
        f"gtp:{sys.executable} {Path(__file__).parents[1] / 'evaluation' / 'passing_engine.py'}"
    )
    rating = replace(SMALL.rating, every=1, games=4, outside=(program,))
    session(path, 1, replace(SMALL, rating=rating))
    (first, outsider) = read_lines(RunFolder(path).ratings)
    assert (first["second"], outsider["second"]) == ("000000", program.removeprefix("gtp:"))
    assert outsider["wins"] + outsider["draws"] + outsider["losses"] == 4
    assert set(ratings_of(RunFolder(path))) == {"000000", "000001", program.removeprefix("gtp:")}


def test_outsiders_must_be_engines() -> None:
    with pytest.raises(ValueError, match=r"'gnugo' is no engine"):
        RatingParams(outside=("gnugo",))


@pytest.mark.parametrize("gate", [0.001, 0.999])
def test_a_gate_decides_which_network_plays(tmp_path: Path, gate: float) -> None:
    # So many games that no network wins, or loses, all of them.
    rating = replace(SMALL.rating, every=2, opponents=0, gate=gate, games=16)
    run = replace(SMALL.run, iteration_rows=80, first_rows=80)
    config = replace(SMALL, run=run, rating=rating)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    session(whole, 4, config)
    for iterations in (3, 1):
        session(cut, iterations, config)
    for one, other in zip(games_of(whole), games_of(cut), strict=True):
        np.testing.assert_array_equal(one, other)
    opponents = [line["second"] for line in read_lines(RunFolder(whole).ratings)]
    learned = games_of(whole).games["step"] > 0
    if gate < 0.5:
        assert opponents == ["000000", "000002"]
        assert learned.any()
    else:
        assert opponents == ["000000", "000000"]
        assert not learned.any()
