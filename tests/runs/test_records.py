"""Runs that learn from game records in place of self-play."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size
from tengen.game.sgf.records import SgfGame, load_sgf
from tengen.network.files.tengen_format import load_network_file
from tengen.network.learned_from import learned_from
from tengen.replay.katago_rows_writer import write_katago_rows
from tengen.replay.rows import encode_games
from tengen.replay.shard import read_shard, write_shard
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder, RunLock, read_lines
from tengen.runs.pack import pack_run, unpack_run
from tengen.runs.pack_file import read_pack
from tengen.runs.params import DataParams, RatingParams, RunConfig, RunParams
from tengen.runs.record_source import FromRecords
from tengen.runs.records import read_records, record_pieces, with_records
from tengen.runs.run import Run, open_run_with, train
from tengen.selfplay.record import Games, joined
from tengen.training.params import TrainingParams
from tests.replay.games import random_games

pytestmark = pytest.mark.usefixtures("one_thread")

GNUGO = "docs/strength/bundled-100-gnugo.sgf"
SMALL = RunConfig(
    run=RunParams(
        model="b2c32",
        device="cpu",
        iterations=4,
        iteration_rows=600,
        first_rows=200,
        checkpoint_seconds=0,
    ),
    training=TrainingParams(batch=32, warm_up=20, samples_per_row=1.0, search_share=0.0),
    rating=RatingParams(every=0),
)


def sgf(moves: str, result: str = "B+R", size: int = 5) -> str:
    return f"(;GM[1]SZ[{size}]KM[7]RU[Chinese]RE[{result}]{moves})"


def few_games(path: Path, count: int = 60, seed: int = 1) -> Path:
    """Games on 5x5 in which whoever plays in the centre first goes on from there in a line."""
    draw = np.random.default_rng(seed)
    path.mkdir(exist_ok=True)
    for k in range(count):
        row = "abcde"[draw.integers(5)]
        black = "".join(f";B[c{y}];W[{row}{y}]" for y in "abcde" if row != "c")
        (path / f"{k:03}.sgf").write_text(sgf(black or ";B[cc];W[aa]"))
    return path


def session(path: Path, config: RunConfig, iterations: int) -> None:
    """Go on for so many iterations and end as if killed."""
    with RunLock(path):
        folder, config = open_run_with(path, config)
        read_records(folder, config.data, config.run.feature_set, config.run.seed)
        config = with_records(folder, config)
        with Run(folder, config, placement=FromRecords()) as run:
            run.begin()
            for _ in range(iterations):
                run.iterate()


def learning_from(*records: Path | str, **data: object) -> RunConfig:
    params = DataParams(records=tuple(map(str, records)), **data)  # type: ignore[arg-type]
    return replace(SMALL, data=params)


def pieces_of(path: Path) -> Games:
    folder = RunFolder(path)
    return joined([read_shard(piece.path).games for piece in record_pieces(folder)])


def test_a_run_learns_what_its_records_have(tmp_path: Path) -> None:
    """Games of the bundled network and of GNU Go: it finds more and more of their moves."""
    config = learning_from(GNUGO)
    train(tmp_path / "run", replace(config, run=replace(config.run, iterations=3)))
    lines = read_lines(RunFolder(tmp_path / "run").metrics)
    assert lines[-1]["loss/policy"] < 0.85 * lines[0]["loss/policy"]
    # Of games it has not seen, too; 1/82 of the moves would be found by chance.
    assert lines[-1]["held out/policy"] < 0.9 * lines[0]["held out/policy"]
    assert lines[-1]["held out/same move"] > 0.08
    data = load_network_file(tmp_path / "run" / "latest.safetensors")
    assert learned_from(data.provenance) == "records"
    assert data.trained_on.boards == frozenset({Size(9, 9)})
    assert data.trained_on.rules_text == "tromp-taylor"


def test_a_run_that_was_cut_equals_one_that_was_not(tmp_path: Path) -> None:
    config = learning_from(few_games(tmp_path / "games"), epochs=0.0)
    config = replace(config, run=replace(config.run, iteration_rows=100, first_rows=50))
    for name, parts in (("whole", [4]), ("cut", [1, 2, 1])):
        for iterations in parts:
            session(tmp_path / name, config, iterations)
    one, other = (load_latest(RunFolder(tmp_path / name)) for name in ("whole", "cut"))
    assert one is not None
    assert other is not None
    assert one.arrays.keys() == other.arrays.keys()
    for name, values in one.arrays.items():
        np.testing.assert_array_equal(values, other.arrays[name], name)
    assert {**one.facts, "seconds": 0} == {**other.facts, "seconds": 0}
    losses = [
        [line["loss/policy"] for line in read_lines(RunFolder(tmp_path / name).metrics)]
        for name in ("whole", "cut")
    ]
    assert losses[0] == losses[1]


def test_it_ends_after_its_epochs_with_each_game_used_as_often(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = learning_from(few_games(tmp_path / "games", 20), epochs=3.0, held_out=0.0)
    config = replace(config, run=replace(config.run, iterations=0))
    train(tmp_path / "run", config)
    checkpoint = load_latest(RunFolder(tmp_path / "run"))
    assert checkpoint is not None
    assert checkpoint.facts["games"] == 60
    rows = encode_games(pieces_of(tmp_path / "run"), KATAGO, 1)[Size(5, 5)]
    assert checkpoint.facts["rows"] == 3 * len(rows.order)
    last = read_lines(RunFolder(tmp_path / "run").metrics)[-1]
    assert last["epochs"] == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "has ended" in said
    assert said.endswith("--set data.epochs=6")  # only that lets it go on
    # A pack goes on after these epochs, not with the first one again.
    pack_run(RunFolder(tmp_path / "run"), tmp_path / "run.pack")
    (tmp_path / "elsewhere").mkdir()
    unpack_run(read_pack(tmp_path / "run.pack"), tmp_path / "elsewhere")
    elsewhere = load_latest(RunFolder(tmp_path / "elsewhere"))
    assert elsewhere is not None
    assert elsewhere.arrays["fleet.taken"] == checkpoint.arrays["fleet.taken"] == 3


def test_reading_goes_on_where_it_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games = few_games(tmp_path / "games", 30)
    monkeypatch.setattr("tengen.runs.records.GAMES_IN_A_PIECE", 4)
    config = learning_from(games)
    whole, _ = open_run_with(tmp_path / "whole", config)
    read_records(whole, config.data, KATAGO, 1)
    cut, _ = open_run_with(tmp_path / "cut", config)
    calls: list[Path] = []

    def killed(path: Path) -> list[SgfGame]:
        calls.append(path)
        if len(calls) == 17:
            raise KeyboardInterrupt
        return load_sgf(path)

    monkeypatch.setattr("tengen.runs.records.load_sgf", killed)
    with pytest.raises(KeyboardInterrupt):
        read_records(cut, config.data, KATAGO, 1)
    index = read_records(cut, config.data, KATAGO, 1)
    assert len(calls) == 31  # the 17th was begun, and its piece had nothing else in it
    assert index.games == 30
    for one, other in zip(pieces_of(whole.path), pieces_of(cut.path), strict=True):
        np.testing.assert_array_equal(one, other)
    assert capsys.readouterr().err.count("30 games to learn from") == 2
    read_records(cut, config.data, KATAGO, 1)
    assert len(calls) == 31


def test_what_cannot_be_learned_from_is_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = few_games(tmp_path / "games", 20)
    (games / "broken.sgf").write_text("(;GM[1]SZ[5];B[zz])")
    (games / "empty.SGF").write_text("")
    (games / "rows.npz").write_bytes(b"nothing")
    (games / "000001-games-1-2.games").write_bytes(b"nothing")
    (games / "notes.txt").write_text("not a game")
    good, empty = sgf(";B[cc];W[bb]"), sgf("")
    (games / "many.sgfs").write_text(good + empty + good + good)
    folder, config = open_run_with(tmp_path / "run", learning_from(games))
    index = read_records(folder, config.data, KATAGO, 1)
    assert (index.games, index.left_out) == (20 + 3, 4 + 1)  # a bad game spoils no others
    said = capsys.readouterr().err
    for name in ("broken.sgf", "empty.SGF", "rows.npz", "000001-games-1-2.games"):
        assert f"{name}" in said
    assert "notes.txt" not in said
    assert "only 0 of them have a score" in said


def test_shards_and_katagos_rows_are_records_too(tmp_path: Path) -> None:
    games = random_games(30, seed=2, sides=(5,), first=700)
    rows = tmp_path / "data"
    write_shard(rows, games, {})
    write_katago_rows(rows / "rows.npz", random_games(20, seed=4, sides=(5,)), 9, 1, "run")
    few_games(rows, 10)
    config = learning_from(rows, epochs=2.0)
    config = replace(config, run=replace(config.run, iterations=0))
    train(tmp_path / "run", config)
    folder = RunFolder(tmp_path / "run")
    shards = [piece for piece in record_pieces(folder) if piece.path.suffix == ".games"]
    own = joined([read_shard(piece.path).games for piece in shards])
    assert len(own.games) == 40
    assert len(set(own.games["number"].tolist())) == 40  # shards had theirs
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    assert checkpoint.facts["rows"] > 0
    lines = read_lines(folder.metrics)
    assert lines[-1]["loss/policy"] < lines[0]["loss/policy"]


def test_rare_and_unwanted_boards_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = few_games(tmp_path / "games", 60)
    (games / "large.sgf").write_text(sgf(";B[gg]", size=13))
    (games / "seven.sgf").write_text(sgf("".join(f";B[{x}c];W[{x}e]" for x in "abcdefg"), size=7))
    folder, config = open_run_with(tmp_path / "run", learning_from(games))
    read_records(folder, config.data, KATAGO, 1)
    assert "left out: games on 13x13 boards" in capsys.readouterr().err
    assert with_records(folder, config).selfplay.board_sizes == ("5x5", "7x7")
    train(tmp_path / "run")  # rows on 13x13 do not stand in the way
    only, config = open_run_with(tmp_path / "only", learning_from(games, record_sizes=(7,)))
    assert read_records(only, config.data, KATAGO, 1).games == 1
    assert with_records(only, config).selfplay.board_sizes == ("7x7",)


def test_held_out_games_are_not_learned_from(tmp_path: Path) -> None:
    games = few_games(tmp_path / "games", 40)
    counts = {}
    for share in (0.0, 0.25):
        config = learning_from(games, epochs=1.0, held_out=share)
        config = replace(config, run=replace(config.run, iterations=0, first_rows=1))
        train(tmp_path / f"run{share}", config)
        folder = RunFolder(tmp_path / f"run{share}")
        checkpoint = load_latest(folder)
        assert checkpoint is not None
        counts[share] = checkpoint.facts["rows"]
        assert any("held out/policy" in line for line in read_lines(folder.metrics)) == (share > 0)
    assert 0.5 * counts[0.0] < counts[0.25] < 0.95 * counts[0.0]


def test_nothing_to_learn_from_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    with pytest.raises(RunError, match="there are no SGF files"):
        train(tmp_path / "run", learning_from(tmp_path / "games"))
    (tmp_path / "games" / "broken.sgf").write_text("(;B[zz])")
    with pytest.raises(RunError, match="none of the 1 files can be used for training"):
        train(tmp_path / "run", learning_from(tmp_path / "games"))
    assert not (tmp_path / "run").exists()
    few_games(tmp_path / "games", 10)
    config = replace(SMALL.run, iterations=1)
    train(tmp_path / "run", replace(learning_from(tmp_path / "games"), run=config))


def test_a_piece_that_is_gone_is_named(tmp_path: Path) -> None:
    config = learning_from(few_games(tmp_path / "games", 10))
    config = replace(config, run=replace(config.run, iterations=1))
    train(tmp_path / "run", config)
    folder = RunFolder(tmp_path / "run")
    (tmp_path / "games" / "000.sgf").unlink()  # they are not needed any more
    train(tmp_path / "run", replace(config, run=replace(config.run, iterations=2)))
    record_pieces(folder)[0].path.unlink()
    with pytest.raises(RunError, match="1 shards were written, but 0 are there"):
        train(tmp_path / "run", replace(config, run=replace(config.run, iterations=3)))
    (folder.records / "index.json").write_text(json.dumps({"other": 1}))
    with pytest.raises(RunError, match=r"index\.json: cannot be used"):
        train(tmp_path / "run", replace(config, run=replace(config.run, iterations=3)))
