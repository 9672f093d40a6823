"""A run that is packed goes on elsewhere as if it had stayed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.frontends.options import TrainOptions
from tengen.frontends.train import run_config
from tengen.runs import pack as pack_module
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder, read_lines
from tengen.runs.pack import NETWORKS_SHARE, choose, pack_run
from tengen.runs.pack_file import MOST_BYTES, PART_BYTES, read_facts, read_pack, write_pack
from tengen.runs.packed_games import packed_games, unpacked_games
from tengen.runs.params import RunConfig, Session
from tengen.runs.run import Run, open_run_with, train
from tengen.runs.folder import RunLock
from tengen.selfplay.record import Games, games_where, joined
from tests.runs.test_run import SMALL, games_of, session

pytestmark = pytest.mark.usefixtures("one_thread")

LONG = replace(SMALL, run=replace(SMALL.run, iterations=100))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four iterations, with ratings, and its pack beside it."""
    path = tmp_path_factory.mktemp("packed") / "run"
    session(path, 4, LONG)
    pack_run(RunFolder(path), path.with_name("run.pack"))
    return path.with_name("run.pack")


def copied(packed: Path, to: Path) -> Path:
    """The pack alone, as on another machine."""
    to.mkdir()
    for file in packed.parent.glob("run.pack*"):
        shutil.copy(file, to)
    return to / packed.name


def test_a_packed_run_goes_on_with_its_weights_counters_games_and_ratings(
    packed: Path, tmp_path: Path
) -> None:
    old, new = RunFolder(packed.with_name("run")), RunFolder(tmp_path / "new")
    train(new.path, None, Session(0, origin=copied(packed, tmp_path / "elsewhere")))
    before, after = load_latest(old), load_latest(new)
    assert before is not None
    assert after is not None
    for name in ("rows", "games", "steps", "architecture", "playing"):
        assert after.facts[name] == before.facts[name], name
    assert after.facts["iteration"] >= before.facts["iteration"] == 4
    assert after.facts["seconds"] > before.facts["seconds"] > 0
    trainer, other = before.part("trainer."), after.part("trainer.")
    assert trainer.keys() == other.keys()
    for name, values in trainer.items():
        assert other[name].dtype == values.dtype
        if name.endswith((".exp_avg", ".exp_avg_sq")):
            np.testing.assert_allclose(other[name], values, rtol=2**-8, err_msg=name)
        elif name.startswith("ema."):
            live = trainer[f"network.network.{name.removeprefix('ema.')}"]
            error = np.abs(other[name] - values)
            assert (error <= 2**-8 * np.abs(live - values) + 1e-6 * np.abs(live)).all(), name
        else:
            np.testing.assert_array_equal(other[name], values, name)
    games, kept = games_of(old.path), games_of(new.path)
    np.testing.assert_array_equal(kept.games, games.games)
    np.testing.assert_array_equal(kept.targets, games.targets)
    np.testing.assert_array_equal(kept.ownership, games.ownership)
    for name in ("move", "color", "kind", "visits", "n_targets"):
        np.testing.assert_array_equal(kept.turns[name], games.turns[name])
    for name, step in (("value", 1 / 256), ("score", 1 / 16), ("lead", 1 / 16), ("weight", 1 / 64)):
        np.testing.assert_allclose(kept.turns[name], games.turns[name], atol=step / 2 + 1e-6)
    assert read_lines(new.ratings) == read_lines(old.ratings) != []
    assert read_lines(new.metrics)[: len(read_lines(old.metrics))] == read_lines(old.metrics)
    networks = sorted(path.name for path in old.networks.iterdir())
    assert sorted(path.name for path in new.networks.iterdir()) == networks
    for name in networks:
        assert (new.networks / name).read_bytes() == (old.networks / name).read_bytes()
