"""`tengen match` as its user meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tengen.engine.levels import level_named
from tengen.evaluation.elo import WinDrawLoss
from tengen.evaluation.lockstep import Played
from tengen.evaluation.match import parse_engine
from tengen.frontends.command_options import MatchOptions
from tengen.frontends.match import run_match
from tengen.game.color import Color
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.sgf.records import load_sgf
from tengen.network.files.bundled import BUNDLED
from tengen.network.files.tengen_format import save_network
from tests.bundled import needs_bundled_network
from tests.network.test_tengen_format import random_network


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("networks")
    files = folder / "one.safetensors", folder / "other.safetensors"
    for seed, file in enumerate(files):
        save_network(random_network("b2c32", seed), file)
    return files


pytestmark = pytest.mark.usefixtures("one_kernel_thread")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line on a machine without torch."""
    code = "import sys; sys.modules['torch'] = None; from tengen.frontends.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "match", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "200", "NUMBA_NUM_THREADS": "1"},
    )


def test_an_engine_is_a_network_with_visits_or_seconds_or_a_command() -> None:
    by_visits = parse_engine("nets/b6.bin.gz@64")
    assert (by_visits.model, by_visits.limits.visits) == ("nets/b6.bin.gz", 64)
    assert by_visits.name == "b6.bin.gz@64"
    assert parse_engine("me@home/net@1").model == "me@home/net"
    by_time = parse_engine("net@0.5s")
    assert (by_time.limits.visits, by_time.limits.seconds) == (None, 0.5)
    assert parse_engine("gtp:gnugo --mode gtp").command == "gnugo --mode gtp"
    level = parse_engine("level:Beginner")
    assert (level.model, level.name) == (BUNDLED, "level:beginner")
    assert level.level is level_named("beginner")
    with pytest.raises(ValueError, match="no level is called 'god'; there are newcomer"):
        parse_engine("level:god")


@needs_bundled_network
def test_levels_of_the_bundled_network_play_it(tmp_path: Path) -> None:
    process = run(
        *("level:learner", "bundled@2", "--games", "2", "--board-size", "5"),
        *("--opening-moves", "2", "--out", str(tmp_path)),
    )
    assert process.returncode == 0, process.stderr
    assert "level:learner - bundled@2: " in process.stdout
    assert len(list((tmp_path / "games").glob("*.sgf"))) == 2


@pytest.mark.parametrize(
    "text", ["", "net", "net@", "@64", "net@0", "net@-3", "net@many", "net@1.5", "gtp:"]
)
def test_what_is_no_engine_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"MODEL@VISITS such as|must be over 0") as caught:
        parse_engine(text)
    assert repr(text) in str(caught.value) or text == "net@0"


BLACK_WINS = Position(3, "tromp-taylor", 0.5).play_all("B2 pass pass")
WHITE_WINS = Position(3, "tromp-taylor", 0.5).play_all("pass B2 pass pass")
DRAW = Position(3, "tromp-taylor", 0).play_all("pass pass")


@pytest.mark.parametrize(
    ("end", "black", "expected"),
    [
        (BLACK_WINS, 0, WinDrawLoss(2, 1, 1)),
        (BLACK_WINS, 1, WinDrawLoss(1, 1, 2)),
        (WHITE_WINS, 0, WinDrawLoss(1, 1, 2)),
        (WHITE_WINS, 1, WinDrawLoss(2, 1, 1)),
        (DRAW, 0, WinDrawLoss(1, 2, 1)),
        (DRAW, 1, WinDrawLoss(1, 2, 1)),
    ],
)
def test_results_are_the_first_players(end: Position, black: int, expected: WinDrawLoss) -> None:
    assert end.is_over
    outcome = end.outcome()
    assert outcome is not None
    assert WinDrawLoss(1, 1, 1).plus(Played(black, end, end, outcome).points) == expected


def test_a_match_is_played_told_and_saved(
    networks: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = parse_engine(f"{networks[0]}@6"), parse_engine(f"{networks[1]}@3")
    folder = tmp_path / "deep" / "games"
    options = MatchOptions(
        games=6,
        board_size=5,
        komi=0.5,
        opening_moves=3,
        device="cpu",
        seed=4,
        out=str(folder.parent),
    )
    tally = run_match(engines, options)
    assert tally.games == 6
    shown = capsys.readouterr().out
    assert f"one.safetensors@6 - other.safetensors@3: {tally} (wins, draws, losses)" in shown
    assert "Elo difference with its 95% interval: " in shown

    names = [engine.name for engine in engines]
    counted, openings = WinDrawLoss(), Counter[tuple[str, int]]()
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"{n:05}.sgf" for n in range(6)]
    for file in files:
        (game,) = load_sgf(file)
        end = game.final_position()
        black = names.index(game.root.properties["PB"][0])
        assert game.root.properties["PW"] == [names[1 - black]]
        # A file does not know of the move limit, where the board was counted as it stood.
        assert end.is_over or end.move_number == 50
        outcome = end.score().outcome(Reason.SCORE)
        assert game.root.properties["RE"] == [str(outcome)]
        assert outcome.winner is not None
        won = (outcome.winner is Color.BLACK) == (black == 0)
        counted = WinDrawLoss(counted.wins + won, 0, counted.losses + (not won))
        openings[str(end.moves[:3]), black] += 1
    assert counted == tally
    # Each of the three openings was played twice, with colours exchanged.
    first_moves = {moves for moves, _ in openings}
    assert openings == {(moves, black): 1 for moves in first_moves for black in (0, 1)}
    assert len(first_moves) == 3


def test_the_command_line_plays_a_match_without_torch(networks: tuple[Path, Path]) -> None:
    process = run(
        f"{networks[0]}@2",
        f"{networks[1]}@2",
        "--games",
        "2",
        "--board-size",
        "4",
        "--device",
        "cpu",
        "--opening-moves",
        "1",
    )
    assert process.returncode == 0, process.stderr
    first, second = process.stdout.splitlines()
    assert first.startswith("one.safetensors@2 - other.safetensors@2: ")
    assert second.startswith("Elo difference")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["net@x", "net@1"], "'net@x' is no engine"),
        (["nowhere@5", "nowhere@5"], "nowhere"),
        (["only@1"], "Missing argument"),
    ],
)
def test_bad_usage_is_one_clear_line(arguments: list[str], complaint: str) -> None:
    process = run(*arguments)
    assert process.returncode in (1, 2)
    assert process.stdout == ""
    assert process.stderr.count("\n") == 1
    assert process.stderr.startswith("tengen: ")
    assert complaint in process.stderr
