"""Matches between any engines: the referee, programs that fail, matches that were stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from tengen.engine.engine import Engine
from tengen.evaluation.elo import Sprt, WinDrawLoss
from tengen.evaluation.gtp_process import EngineError, GtpOpponent
from tengen.evaluation.lockstep import Played
from tengen.evaluation.match import (
    Contestant,
    MatchFolder,
    OwnContestant,
    parse_engine,
    play_game,
    play_match,
)
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.sgf.records import load_sgf
from tengen.network.fake import FakeEvaluator
from tests.frontends.gtp.opponents import black_wins, surveyor

# A program that speaks GTP and plays the moves of a list, whatever the opponent does.
PROGRAM = """
import sys
moves = iter(sys.argv[1].split())
for line in sys.stdin:
    words = line.split()
    reply = "= "
    if words[0] == "genmove":
        move = next(moves, "pass")
        if move == "die":
            sys.exit(1)
        reply += move
    elif words[0] == "name":
        reply += "Scripted"
    elif words[0] == "known_command":
        reply += "true" if "rules" in sys.argv[1:] else "false"
    elif words[0] == "kata-set-rules":
        reply = "= " if "\\"ko\\":\\"SIMPLE\\"" in words[1] else "? not these"
    elif words[0] == "komi" and words[1] == "13":
        reply = "? bad luck"
    print(reply, end="\\n\\n", flush=True)
    if words[0] == "quit":
        break
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "scripted.py"
    path.write_text(PROGRAM)
    return f"{sys.executable} {path}"


class Listed:
    """A contestant that plays the moves of a list, then passes."""

    def __init__(self, moves: str) -> None:
        self._list = moves
        self._turn = 1000
        self.closed = False

    def move(self, position: Position) -> str | None:
        if position.move_number <= self._turn:  # another game
            self._moves = iter(self._list.split())
        self._turn = position.move_number
        return next(self._moves, None)

    def close(self) -> None:
        self.closed = True


EMPTY = Position(5, "tromp-taylor", 0.5, move_limit=60)


def test_colours_are_exchanged_from_game_to_game() -> None:
    sides = Listed("C3 C2"), Listed("")
    first, second = (play_game(number, sides, EMPTY) for number in (0, 1))
    assert [move.color for move in first.end.moves if move.point] == [Color.BLACK] * 2
    assert [move.color for move in second.end.moves if move.point] == [Color.WHITE] * 2
    assert first.points == second.points == 1


def test_an_illegal_move_loses_and_is_told() -> None:
    played = play_game(0, (Listed("C3 C3"), Listed("")), EMPTY)
    assert played.outcome.winner is Color.WHITE
    assert played.outcome.reason is Reason.FORFEIT
    assert "C3" in played.remark
    assert "occupied" in played.remark


def test_a_program_plays_a_whole_game_against_our_search(program: str) -> None:
    with Engine(FakeEvaluator()) as engine:
        ours = OwnContestant(engine, parse_engine("any@20"), seed=1)
        theirs = GtpOpponent(f"{program} 'C3 B2 D4'")
        try:
            played = play_game(1, (ours, theirs), EMPTY)
        finally:
            theirs.close()
            ours.close()
    assert played.remark == ""
    black = [move.point for move in played.end.moves if move.color is Color.BLACK]
    assert EMPTY.text(black[0]) == "C3"
    assert played.end.is_over


def test_a_program_may_resign(program: str) -> None:
    theirs = GtpOpponent(f"{program} 'C3 resign'")
    try:
        played = play_game(1, (Listed("A1"), theirs), EMPTY)
    finally:
        theirs.close()
    assert str(played.outcome) == "W+R"


def test_a_program_that_dies_loses_that_game_and_is_started_again(program: str) -> None:
    ends: list[Played] = []

    def on_end(played: Played) -> bool:
        ends.append(played)
        return True

    made: list[Listed] = []

    def listed() -> Contestant:
        made.append(Listed("A1 A2"))
        return made[-1]

    def dying() -> Contestant:
        return GtpOpponent(f"{program} 'C3 die'")

    play_match([listed, dying], [EMPTY] * 2, range(4), 1, on_end)
    assert sorted(played.number for played in ends) == [0, 1, 2, 3]
    assert all("has ended" in played.remark and played.points == 1 for played in ends)
    assert all(side.closed for side in made)


def test_errors_of_programs_are_for_people(program: str) -> None:
    with pytest.raises(EngineError, match="does not start"):
        GtpOpponent("no-such-program-anywhere")
    with pytest.raises(EngineError, match="has ended"):
        GtpOpponent(f"{sys.executable} -c pass")
    engine = GtpOpponent(f"{program} ''")
    with pytest.raises(EngineError, match="bad luck"):
        engine.start(Position(5, "tromp-taylor", 13))
    engine.close()
    silent = "import time; print('= x\\n', flush=True); time.sleep(60)"
    waiting = GtpOpponent(f'{sys.executable} -c "{silent}"', patience=0.2)
    with pytest.raises(EngineError, match="does not answer"):
        waiting.ask("genmove black")
    waiting.close()


def test_a_match_ends_when_it_is_told_to() -> None:
    ends: list[int] = []

    def on_end(played: Played) -> bool:
        ends.append(played.number)
        return len(ends) < 3

    sides = [lambda: Listed("C3"), lambda: Listed("")]
    play_match(sides, [EMPTY] * 50, range(100), 1, on_end)
    assert ends == [0, 1, 2]


def test_games_at_a_time_are_all_played_once() -> None:
    ends: list[int] = []
    lock = threading.Lock()

    def on_end(played: Played) -> bool:
        with lock:
            ends.append(played.number)
        return True

    sides = [lambda: Listed("C3"), lambda: Listed("")]
    play_match(sides, [EMPTY] * 20, range(40), 4, on_end)
    assert sorted(ends) == list(range(40))


def test_results_are_found_again_and_a_cut_line_is_played_again(tmp_path: Path) -> None:
    store = MatchFolder(tmp_path, ("one", "other"), "5x5")
    assert store.finished() == {}
    for number in (0, 1, 5):
        store.add(play_game(number, (Listed("C3"), Listed("")), EMPTY))
    assert store.finished() == {0: 1.0, 1: 1.0, 5: 1.0}
    results = tmp_path / "results.jsonl"
    results.write_text(results.read_text()[:-20])
    assert store.finished() == {0: 1.0, 1: 1.0}
    (game,) = load_sgf(tmp_path / "games" / "00001.sgf")
    assert game.root.properties["PB"] == ["other"]
    line = json.loads(results.read_text().splitlines()[0])
    assert game.root.properties["RE"] != [line["result"]]  # colours were exchanged
    store.add(play_game(5, (Listed("C3"), Listed("")), EMPTY))
    assert store.finished() == {0: 1.0, 1: 1.0, 5: 1.0}  # the cut line has spoilt no other
    with pytest.raises(ValueError, match="name another folder"):
        MatchFolder(tmp_path, ("one", "third")).finished()
    with pytest.raises(ValueError, match="games on 5x5, not on 7x7"):
        MatchFolder(tmp_path, ("one", "other"), "7x7").finished()


def test_a_network_is_known_by_its_content(tmp_path: Path) -> None:
    """A file that was replaced under the same name is another engine."""
    store = MatchFolder(tmp_path, ("one", "other"), "5x5", networks=("a" * 64, ""))
    store.add(play_game(0, (Listed("C3"), Listed("")), EMPTY))
    assert store.finished() == {0: 1.0}
    assert MatchFolder(tmp_path, ("one", "other"), "5x5").finished() == {0: 1.0}
    with pytest.raises(ValueError, match=r"one was another network then \(SHA-256 aaaaaaaaaaaa"):
        MatchFolder(tmp_path, ("one", "other"), "5x5", networks=("b" * 64, "")).finished()


def test_programs_that_take_rules_are_told_them(program: str) -> None:
    with contextlib.closing(GtpOpponent(f"{program} '' rules")) as engine:
        engine.start(Position(5, "chinese"))
        with pytest.raises(EngineError, match="not these"):
            engine.start(Position(5, "tromp-taylor"))
    with contextlib.closing(GtpOpponent(f"{program} ''")) as engine:
        engine.start(Position(5, "tromp-taylor"))


def test_the_sequential_test_decides_clear_cases_and_waits_in_others() -> None:
    test = Sprt(0, 50)
    assert test.verdict(WinDrawLoss()) is None
    assert test.verdict(WinDrawLoss(3, 0, 0)) is None
    assert test.verdict(WinDrawLoss(300, 20, 150)) is True
    assert test.verdict(WinDrawLoss(150, 20, 300)) is False
    # Wald's bound for 5% errors is ln 19; in the middle between both hypotheses the ratio is 0.
    middle = (test.log_likelihood_ratio(WinDrawLoss(5360, 0, 4640)),)
    assert abs(middle[0]) < 2.94


def test_the_sequential_test_is_seldom_wrong() -> None:
    import numpy as np

    random = np.random.default_rng(1)
    test, wrong, runs = Sprt(0, 100), 0, 200
    for _ in range(runs):
        tally = WinDrawLoss()
        while test.verdict(tally) is None:
            won = random.random() < 0.5  # equal players: the low hypothesis is true
            tally = tally._replace(wins=tally.wins + won, losses=tally.losses + (not won))
        wrong += test.verdict(tally) is True
    assert wrong / runs < 0.1


def test_levels_play_whole_games() -> None:
    with Engine(FakeEvaluator(surveyor)) as engine:
        sides = [
            OwnContestant(engine, parse_engine(f"level:{name}"), seed=1)
            for name in ("beginner", "expert")
        ]
        for number in range(2):
            played = play_game(number, (sides[0], sides[1]), EMPTY)
            assert (played.remark, played.outcome.reason) == ("", Reason.SCORE)
            assert played.end.move_number > 10


def test_a_level_that_resigns_has_lost() -> None:
    start = EMPTY.play_all("A1 A2 B1 B2 C1 C2 D1 D2 E1 E2 A5")
    with Engine(FakeEvaluator(black_wins)) as engine:
        sides = OwnContestant(engine, parse_engine("level:full"), 1), Listed("C3 " * 3)
        played = play_game(1, sides, start)
    assert played.outcome == Outcome(Color.BLACK, None, Reason.RESIGNATION)


def test_an_interrupted_match_does_not_wait_for_its_games() -> None:
    class Endless:
        """Plays the first legal point, slowly; after ten moves the user loses patience."""

        moves = 0

        def move(self, position: Position) -> Point | None:
            self.moves += 1
            if self.moves == 10:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            return next(iter(position.legal_moves()), None)

        def close(self) -> None:
            pass

    player, ended = Endless(), []

    def on_end(played: Played) -> bool:
        ended.append(played)
        return True

    # It may be ignored where tests run in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        play_match([lambda: player, lambda: player], [Position(19)], range(2), 2, on_end)
    signal.signal(signal.SIGINT, before)
    assert player.moves < 200  # a game has more than 361
    assert not ended
