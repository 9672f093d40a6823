"""A run that is packed goes on elsewhere as if it had stayed."""

from __future__ import annotations

import errno
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

from tengen.frontends.command_options import TrainOptions
from tengen.frontends.run_settings import run_config
from tengen.runs import pack as pack_module
from tengen.runs import pack_file, run
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder, RunLock, read_lines
from tengen.runs.pack import NETWORKS_SHARE, choose, pack_run
from tengen.runs.pack_file import INDEX_BYTES, read_facts, read_pack
from tengen.runs.packed_games import packed_games, unpacked_games
from tengen.runs.params import RunConfig, Session
from tengen.runs.rating import ratings_of
from tengen.runs.run import Run, open_run_with, train
from tengen.training.params import rate_at
from tests.runs.test_faults import command_line
from tests.runs.test_run import SMALL, games_of, session

pytestmark = pytest.mark.usefixtures("one_thread")

LONG = replace(SMALL, run=replace(SMALL.run, iterations=100))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four iterations, with ratings, and its pack beside it."""
    path = tmp_path_factory.mktemp("packed") / "run"
    before = numba.get_num_threads(), torch.get_num_threads()
    numba.set_num_threads(1)
    torch.set_num_threads(1)
    session(path, 4, LONG)
    numba.set_num_threads(before[0])
    torch.set_num_threads(before[1])
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


def went_on(pack: Path, path: Path, iterations: int, config: RunConfig | None = None) -> Run:
    """A run that goes on from a pack for so many iterations, then ends as if killed."""
    train(path, config, Session(0, origin=pack))
    with RunLock(path), Run(*open_run_with(path, None)) as went:
        went.begin()
        for _ in range(iterations):
            went.iterate()
    return went


def test_games_ratings_and_losses_go_on_where_they_were(packed: Path, tmp_path: Path) -> None:
    before = read_lines(RunFolder(packed.with_name("run")).metrics)
    numbers = set(games_of(packed.with_name("run")).games["number"].tolist())
    new = RunFolder(tmp_path / "new")
    went = went_on(packed, new.path, 3)
    assert went._replay.buffer.window > 0
    lines = [line for line in read_lines(new.metrics) if "games" in line]
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    assert all(one["steps"] < other["steps"] for one, other in pairwise(lines))
    losses = [line["loss/total"] for line in before if "loss/total" in line]
    assert abs(lines[4]["loss/total"] - losses[-1]) < abs(losses[0] - losses[-1])
    assert [line["iteration"] for line in read_lines(new.ratings)] == [3, 6]
    assert set(ratings_of(new)) == {"000000", "000003", "000006"}
    games = games_of(new.path).games
    assert len(set(games["number"].tolist())) == len(games) == lines[-1]["games"]
    assert numbers < set(games["number"].tolist())


def test_the_first_games_after_a_pack_are_not_cut_short(packed: Path, tmp_path: Path) -> None:
    went_on(packed, tmp_path / "new", 1)
    old = games_of(packed.with_name("run")).games
    new = games_of(tmp_path / "new").games[len(old) :]
    full = {int(max(8, SMALL.selfplay.move_limit * side * side)) for side in (3, 4)}
    assert set(old["move_limit"].tolist()) - full  # the first games of a run are
    assert len(new) > 0
    assert set(new["move_limit"].tolist()) <= full | {
        limit + stones for limit in full for stones in range(1, 5)
    }


@pytest.mark.parametrize("setting", ["run.model=b3c32", "training.batch=64", "run.ladders=false"])
def test_what_makes_the_network_or_the_pace_cannot_change(
    packed: Path, tmp_path: Path, setting: str
) -> None:
    config = run_config(str(tmp_path / "new"), TrainOptions(origin=packed, settings=[setting]))
    name = setting.partition("=")[0]
    with pytest.raises(RunError, match=f"pack of run: {name} cannot change after a run has begun"):
        train(tmp_path / "new", config, Session(origin=packed))


@pytest.mark.parametrize("sizes", [(4, 5), (4,)])
def test_the_next_phase_of_a_run_may_have_other_boards_searches_and_limits(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[int, ...]
) -> None:
    recipe = tmp_path / "next.toml"
    recipe.write_text(f"[selfplay]\nboard_sizes = {list(sizes)}\n[window]\nstart = 400\n")
    options = TrainOptions(
        origin=packed, config=str(recipe), settings=["training.rate=0.0005"], iterations=200
    )
    config = run_config(str(tmp_path / "new"), options)
    assert config == replace(
        LONG,
        run=replace(LONG.run, iterations=200),
        selfplay=replace(LONG.selfplay, board_sizes=sizes),
        training=replace(LONG.training, rate=0.0005),
        window=replace(LONG.window, start=400),
    )
    went_on(packed, tmp_path / "new", 1, config)
    played = games_of(tmp_path / "new").games["width"]
    old = games_of(packed.with_name("run")).games["width"]
    assert set(played.tolist()) == set(sizes)
    assert (played == 4).sum() >= (old == 4).sum() > 0
    assert f"left out {(old == 3).sum()} packed games on other boards" in capsys.readouterr().err


def test_presets_do_not_mix_with_packs(packed: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--preset names all settings, and --from has its own"):
        run_config(str(tmp_path / "new"), TrainOptions(origin=packed, preset="gumbel"))


def test_a_run_is_not_overwritten(packed: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is a run already; resume it without --from"):
        train(packed.with_name("run"), None, Session(origin=packed))
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"holds other files \('notes.txt' for one\)"):
        train(tmp_path, None, Session(origin=packed))


# When packs are written


def test_a_session_ends_and_packs_while_the_run_goes_on(tmp_path: Path) -> None:
    path, pack = tmp_path / "run", tmp_path / "out" / "run.pack"
    config = replace(SMALL, run=replace(SMALL.run, iterations=0, minutes=1000.0))
    train(path, config, Session(minutes=0.01, pack=pack))
    facts = read_facts(pack)["state"]
    assert 0.6 <= facts["seconds"] < 600
    share = config.run.share_done(facts["seconds"], 0, 0)
    assert rate_at(config.training, 10**6, share) == config.training.rate  # not near its end
    assert RunFolder(path).latest.exists()


def test_a_run_that_has_ended_is_packed_without_being_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    train(path, replace(SMALL, run=replace(SMALL.run, iterations=2)))
    monkeypatch.delattr(run, "Run")
    for words in ([], ["--session-minutes", "0", "--iterations", "9"]):
        pack = tmp_path / f"packed-{len(words)}"
        assert command_line(monkeypatch, "train", str(path), "--pack", str(pack), *words) == 0
        assert read_facts(pack)["checkpoint"] == 2
        assert f"tengen: {pack}: packed iteration 2 with " in capsys.readouterr().err


def test_a_run_without_a_checkpoint_cannot_be_packed(tmp_path: Path) -> None:
    open_run_with(tmp_path / "run", SMALL)
    with pytest.raises(RunError, match=r"has no checkpoint yet"):
        pack_run(RunFolder(tmp_path / "run"), tmp_path / "run.pack")


def test_checkpoints_renew_the_pack_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_module, "SECONDS_BETWEEN", 0.0)
    path, pack = tmp_path / "run", tmp_path / "run.pack"
    with RunLock(path), Run(*open_run_with(path, LONG), Session(pack=pack)) as running:
        running.begin()
        for _ in range(3):
            running.iterate()
    assert 1 <= read_facts(pack)["checkpoint"] <= 3
    assert len(read_pack(pack).members["state"]) > 0


def test_a_pack_that_cannot_be_renewed_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pack_module, "SECONDS_BETWEEN", 0.0)
    path, pack = tmp_path / "run", tmp_path / "run.pack"

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pack_file, "replace_file", full)
    with RunLock(path), Run(*open_run_with(path, LONG), Session(pack=pack)) as running:
        running.begin()
        for _ in range(2):
            running.iterate()
    assert "the disk is full" in capsys.readouterr().err
    assert read_lines(RunFolder(path).metrics)[-1]["step"] == 2


def test_a_place_where_no_pack_can_be_written_is_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir")
    with pytest.raises(RunError, match=r"letter.txt: is no pack of a run.*name another file"):
        train(tmp_path / "run", SMALL, Session(pack=tmp_path / "letter.txt"))
    with pytest.raises(RunError, match=r"my pack: a pack's name has only letters, digits"):
        train(tmp_path / "run", SMALL, Session(pack=tmp_path / "my pack"))
    assert not (tmp_path / "run").exists()
    assert (tmp_path / "letter.txt").read_text() == "Dear Sir"


# What fits


def test_a_pack_keeps_to_its_limit_with_the_newest_games(packed: Path, tmp_path: Path) -> None:
    folder = RunFolder(packed.with_name("run"))
    games = games_of(folder.path)
    whole = read_pack(packed).members
    state = sum(len(whole[name]) for name in ("state", "ratings", "metrics"))
    room = sum(len(content) for name, content in whole.items() if "games" in name) * 2 // 3
    pack = tmp_path / "small.pack"
    pack_run(folder, pack, INDEX_BYTES + state + room)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= INDEX_BYTES + state + room
    members = read_pack(pack).members
    assert not [name for name in members if name.startswith("network")]  # over a quarter of it
    kept = unpacked_games(members["games-0"])
    assert len(games.games) // 3 < len(kept.games) < len(games.games)
    np.testing.assert_array_equal(kept.games, games.games[-len(kept.games) :])
    with pytest.raises(RunError, match=r"weights and optimizer alone take .* a smaller network"):
        pack_run(folder, pack, INDEX_BYTES + state - 1)


def test_the_room_goes_to_opponents_then_games_then_older_networks(packed: Path) -> None:
    games = games_of(packed.with_name("run"))
    size = len(packed_games(games))

    def chosen(room: int, rows: int, opponents: int = 1, bytes_each: int = 1000) -> list[str]:
        networks = [(f"{k:06}", bytes(bytes_each)) for k in (30, 20, 10)]
        found = choose(room, networks, opponents, [games, games, games], rows)
        taken = sum(map(len, found.networks.values())) + sum(map(len, found.games))
        assert taken <= room
        return [*found.networks, *("games" for _ in found.games)]

    assert chosen(100 * size, 10**9) == ["000030", "000020", "000010", *["games"] * 3]
    assert chosen(int(1.5 * size) + 1000, 10**9) == ["000030", "games", "games"]
    assert chosen(int(1.5 * size) + 1000, 10**9, opponents=0) == ["games", "games"]
    large = int(size * 1.5 * NETWORKS_SHARE) + 1
    assert chosen(int(1.5 * size), 10**9, bytes_each=large) == ["games", "games"]


def test_only_as_many_games_are_packed_as_the_window_holds(packed: Path) -> None:
    games = games_of(packed.with_name("run"))
    rows = int(games.turns["weight"].sum())
    found = choose(10**9, [], 0, [games] * 100, 4000)
    groups = -(-5000 // rows)
    assert found.n_games == groups * len(games.games)


def test_the_network_that_makes_the_games_is_always_packed(tmp_path: Path) -> None:
    config = replace(LONG, rating=replace(SMALL.rating, every=2, opponents=0, gate=0.999))
    session(tmp_path / "run", 2, config)
    pack = tmp_path / "run.pack"
    pack_run(RunFolder(tmp_path / "run"), pack)
    assert "network-000000" in read_pack(pack).members
    went_on(pack, tmp_path / "new", 1)
    assert not games_of(tmp_path / "new").games["step"].any()  # still of the first network
