"""Moves of the engine's own: played or thought of, given up, cancelled, pondered on."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tengen.search.params import SearchParams
from tests.frontends.gtp.client import NO_NETWORK, PATIENCE, SMALL, Client, session
from tests.frontends.gtp.opponents import black_wins, surveyor


def slow(batch: Batch) -> Evaluation:
    time.sleep(0.02)
    return surveyor(batch)


def only_the_centre(batch: Batch) -> Evaluation:
    found = surveyor(batch)
    found.policy[:, 12] = 8.0
    return found


ENDLESS = replace(SMALL, visits=100_000_000)


def test_a_move_is_played() -> None:
    with session() as client:
        vertex = client.body("genmove b")
        assert client.session.position.at(vertex) is Color.BLACK
        assert client.session.position.move_number == 1
        vertex = client.body("genmove w")
        assert client.session.position.at(vertex) is Color.WHITE


def test_a_colour_may_move_twice() -> None:
    with session() as client:
        client.body("genmove white")
        client.body("genmove w")
        moves = client.session.position.moves
        assert [move.color for move in moves] == [Color.WHITE, Color.WHITE]


def test_a_move_after_the_end_of_the_game_is_a_move() -> None:
    with session() as client:
        client.body("play_sequence b C3 w pass b pass")
        client.body("genmove w")
        assert client.session.position.move_number == 4


@pytest.mark.parametrize("command", ["kata-search b", "reg_genmove b", "kata-search_debug b"])
def test_a_move_is_only_thought_of(command: str) -> None:
    with session() as client:
        assert Position(5).is_legal(client.body(command))
        assert client.session.position.move_number == 0


def test_debugging_tells_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with session() as client:
        client.body("genmove_debug b")
        client.body("kata-search_debug w")
        assert "visits" in client.body("debug_moves")
        assert "fake on none" in client.body("kata-debug-print")
    err = capsys.readouterr().err
    assert "black to play" in err
    assert "white to play" in err
    assert all(line.startswith("tengen: ") for line in err.splitlines())


def test_analysis_comes_with_a_move() -> None:
    with session() as client:
        for command in ("kata-genmove_analyze b 1", "genmove_analyze w", "lz-genmove_analyze b 5"):
            moves = client.session.position.move_number
            header, *infos, play = client.ask(command).splitlines()
            assert header == "="
            assert infos
            assert all(line.startswith("info move ") for line in infos)
            assert client.session.position.text(client.session.position.last_move) == play[5:]
            assert client.session.position.move_number == moves + 1
        header, *infos, play = client.ask("7 kata-search_analyze w 1 maxmoves 1").splitlines()
        assert header == "=7"
        assert play.startswith("play ")
        assert client.session.position.move_number == 3


def test_cgos_gets_its_line_of_json() -> None:
    with session() as client:
        client.body("cgos-opponent_rating 2000")
        header, line, play = client.ask("cgos-genmove_analyze b").splitlines()
        assert header == "="
        facts = json.loads(line)
        assert list(facts) == ["winrate", "score", "visits", "moves", "ownership", "comment"]
        assert list(facts["moves"][0]) == ["move", "visits", "winrate", "score", "prior", "pv"]
        assert facts["moves"][0]["move"] == play.removeprefix("play ")
        assert facts["visits"] == 16
        assert len(facts["ownership"]) == 25
        assert client.session.position.move_number == 1


# Giving up


def _moves_of_white(client: Client, count: int) -> list[str]:
    moves = []
    for _ in range(count):
        client.body("genmove b")
        moves.append(client.body("genmove w"))
    return moves


def test_a_lost_game_is_given_up_after_some_moves() -> None:
    # 5x5: no move before the fifth counts, then three in a row that look lost
    with session(black_wins) as client:
        moves = _moves_of_white(client, 5)
        assert "resign" not in moves[:-1]
        assert moves[-1] == "resign"
        assert client.session.position.move_number == 9
        assert client.body("final_score") == "B+R"
        assert "RE[B+R]" in client.body("printsgf")
        client.body("undo")
        assert "RE[" not in client.body("printsgf")


@pytest.mark.parametrize(
    "options",
    [
        replace(SMALL, resign=False),
        replace(SMALL, resign_turns=6),
        replace(SMALL, resign_winrate=0.001),
        replace(SMALL, resign_least_moves=0.9),
    ],
)
def test_a_game_is_not_given_up_otherwise(options: GtpOptions) -> None:
    with session(black_wins, options) as client:
        assert "resign" not in _moves_of_white(client, 6)


def test_resignation_is_switched_off_on_the_way() -> None:
    with session(black_wins) as client:
        client.body("kata-set-param allowResignation false")
        assert "resign" not in _moves_of_white(client, 6)


def test_white_is_patient_in_a_handicap_game() -> None:
    with session(black_wins) as client:
        client.body("set_free_handicap B2 D4")
        for _ in range(5):
            assert client.body("genmove w") != "resign"
            client.body("genmove b")


def test_a_new_game_is_not_lost_because_the_last_one_was() -> None:
    with session(black_wins) as client:
        assert _moves_of_white(client, 5)[-1] == "resign"
        client.body("clear_board")
        assert "resign" not in _moves_of_white(client, 4)


def test_the_client_may_resign() -> None:
    with session() as client:
        client.body("play b resign")
        assert client.body("final_score") == "W+R"


# Interrupts


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def _is_searching(client: Client) -> bool:
    task = client.session._task
    return task is not None and not task.done


def test_guis_interrupt_ends_a_move_with_the_best_so_far() -> None:
    with session(options=ENDLESS) as client:
        assert client.body("gogui-interrupt") == ""
        client.send(b"1 genmove b\n")
        _wait_for(lambda: _is_searching(client))
        client.send(b"# interrupt\n")
        assert Position(5).is_legal(client.reply().removeprefix("=1 "))
        assert client.session.position.move_number == 1


def test_other_input_does_not_end_a_move() -> None:
    with session(options=replace(SMALL, visits=400)) as client:
        client.send(b"1 genmove b\n2 name\n\n3 kata-genmove_analyze w 100\n4 name\n")
        assert client.reply().startswith("=1 ")
        assert client.session.last_result is not None
        assert client.reply() == "=2 Tengen"
        assert "play " in client.reply()
        assert client.session.last_result.visits >= 400
        assert client.reply() == "=4 Tengen"


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("kata-search_cancellable b", "=1 cancelled"),
        ("kata-search_analyze_cancellable b 100", "=1\nplay cancelled"),
    ],
)
def test_any_input_cancels_what_can_be_cancelled(command: str, end: str) -> None:
    with session(options=ENDLESS) as client:
        client.send(f"1 {command}\n".encode())
        _wait_for(lambda: _is_searching(client))
        client.send(b"2 name\n")
        assert client.reply() == end
        assert client.reply() == "=2 Tengen"
        assert client.session.position.move_number == 0


def test_what_is_not_cancelled_tells_its_move() -> None:
    with session() as client:
        assert Position(5).is_legal(client.body("kata-search_cancellable b"))
        assert "play " in client.body("kata-search_analyze_cancellable b")


def test_a_move_without_any_time_is_a_move_and_no_pass() -> None:
    with session(options=ENDLESS) as client:
        client.body("time_settings 1 0 0")
        for left in ("0", "-5", "0.0001"):
            client.body(f"time_left b {left} 0")
            assert client.body("genmove b") != "pass"


def test_a_move_interrupted_at_once_is_no_pass() -> None:
    with session(options=ENDLESS) as client:
        for number in range(20):
            client.send(b"genmove b\n# interrupt\n")
            assert client.reply() != "= pass", number
            client.body("clear_board")
            client.body("clear_cache")


# Pondering

PONDERING = replace(SMALL, ponder=True)


def test_nothing_is_pondered_on_unless_asked() -> None:
    with session() as client:
        client.body("genmove b")
        assert not _is_searching(client)


def test_pondering_goes_on_until_something_changes() -> None:
    with session(options=PONDERING) as client:
        client.body("genmove b")
        assert _is_searching(client)
        for command in ("name", "time_left b 10 0", "showboard", "known_command x"):
            client.ask(command)
            assert _is_searching(client)
        client.body("play w E5")
        assert not _is_searching(client)
        client.body("genmove b")
        for command in ("stop", "undo", "komi 3", "clear_board", "kata-set-param maxVisits 9"):
            client.body("genmove w")
            assert _is_searching(client)
            client.body(command)
            assert not _is_searching(client)


def test_pondering_helps_the_next_move() -> None:
    with session(options=PONDERING) as client:
        client.body("play_sequence b A2 w D1")  # symmetric boards are searched anew
        client.body("genmove b")
        engine, task = client.session.engine(), client.session._task
        assert task is not None
        _wait_for(lambda: sum(move.visits for move in engine.moves_after([])[1]) > 200)
        best = client.session.position.text(engine.moves_after([])[1][0].move)
        client.body(f"play w {best}")
        client.body("genmove b")
        assert client.session.last_result is not None
        assert client.session.last_result.reused > 20


def test_the_end_of_a_game_is_not_pondered_on() -> None:
    with session(options=PONDERING) as client:
        client.body("play_sequence b pass w pass")
        client.body("genmove b")
        if client.session.position.is_over:
            assert not _is_searching(client)


# Loading


class _SlowLoad:
    """A session whose network is there when it is told to be."""

    def __init__(self, script: Callable[[Batch], Evaluation] = surveyor) -> None:
        self.go = threading.Event()
        self._script = script
        self.client = Client(EngineLoader(self._make), SMALL)

    def _make(self) -> Engine:
        self.go.wait(PATIENCE)
        return Engine(FakeEvaluator(self._script), params=SearchParams(megabytes=8))


def test_what_needs_no_network_is_answered_while_it_loads() -> None:
    slow = _SlowLoad()
    client = slow.client
    for command in ("name", "version", "protocol_version", "list_commands", "boardsize 5"):
        client.body(command)
    for command in ("komi 5", "play b C3", "undo", "kata-get-rules", "time_settings 9 0 0"):
        client.body(command)
    client.body("kata-set-param cpuctExploration 1.2")
    client.send(b"genmove b\n")
    time.sleep(0.05)
    assert client.lines.unread == b""
    slow.go.set()
    assert client.reply().startswith("= ")
    client.close()


def test_analysis_that_waits_for_the_network_is_interrupted_all_the_same() -> None:
    slow = _SlowLoad()
    client = slow.client
    client.send(b"1 lz-analyze 10\n")
    assert client.lines.next_line() == "=1"
    client.send(b"2 name\n")
    assert client.lines.next_line() == ""
    assert client.reply() == "=2 Tengen"
    slow.go.set()
    client.close()


def test_a_network_that_cannot_be_loaded_is_named_in_each_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> Engine:
        raise ValueError("net.bin.gz: is no\nnetwork")

    client = Client(EngineLoader(fail), SMALL)
    assert "net.bin.gz: is no network" in client.error("genmove b")
    assert "net.bin.gz: is no network" in client.error("kata-analyze 10")
    assert client.body("name") == "Tengen"
    client.close()
    assert "net.bin.gz" in capsys.readouterr().err


def test_without_a_network_commands_that_need_one_say_so() -> None:
    with session(None) as client:
        client.body("kata-set-rules chinese")
        for command in (
            "genmove b",
            "kata-search w",
            "kata-raw-nn 0",
            "final_score",
            "final_status_list dead",
            "kgs-genmove_cleanup b",
            "benchmark",
            "gogui-policy",
            "kata-get-models",
        ):
            assert client.error(command) == NO_NETWORK
        client.body("clear_cache")
        client.body("stop")


def test_a_network_that_breaks_down_costs_one_move_and_no_session() -> None:
    broken = [True]

    def script(batch: Batch) -> Evaluation:
        if broken[0]:
            raise RuntimeError("the device is gone")
        return surveyor(batch)

    slow = _SlowLoad(script)
    slow.go.set()
    client = slow.client
    assert "the device is gone" in client.error("genmove b")
    assert client.session.position.move_number == 0
    broken[0] = False
    client.body("genmove b")
    client.close()


# Odds and ends


def test_gogui_gets_its_pictures() -> None:
    with session() as client:
        client.body("play b C3")
        commands = client.body("gogui-analyze_commands").splitlines()
        for line in commands:
            kind, label, command = line.split("/")
            assert label
            assert client.body(f"known_command {command.split()[0]}") == "true"
            body = client.body(command)
            if kind in ("cboard", "dboard"):
                rows = [row.split() for row in body.splitlines()]
                assert [len(row) for row in rows] == [5] * 5
            if kind == "cboard":
                for value in np.ravel(rows):
                    assert value == '""' or (value[0] == "#" and len(value) == 7)
            if kind == "gfx":
                drawn = dict(row.split(maxsplit=1) for row in body.splitlines())
                assert list(drawn) == ["TEXT", "INFLUENCE", "VAR", "LABEL"]
                assert len(drawn["INFLUENCE"].split()) == 50
                assert re.match(r"w [A-E][1-5] b ", drawn["VAR"])
            if kind == "pspairs":
                assert re.fullmatch(r"[A-E][1-5] \d+(?: [A-E][1-5] \d+)*", body)
            if kind == "param":
                for row in body.splitlines():
                    assert re.fullmatch(r"\[(?:bool\] \w+ [01]|string\] \w+(?: \S+)?)", row), row
        owner = client.body("gogui-ownership").splitlines()[2].split()
        assert owner[2] <= "#080808"


def test_gogui_changes_settings() -> None:
    with session() as client:
        assert client.body("gogui-param maxVisits 7") == ""
        assert client.body("gogui-param adaptive 1") == ""
        assert client.body("kata-get-param maxVisits") == "7"
        shown = client.body("gogui-param").splitlines()
        assert "[bool] adaptive 1" in shown
        assert "[string] maxVisits 7" in shown
        assert "syntax error" in client.error("gogui-param maxVisits")
        assert "unknown parameter" in client.error("gogui-param nonsense 1")


def test_gogui_sees_the_engine_think_and_others_do_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with session(slow, replace(SMALL, visits=600)) as client:
        client.body("genmove b")
        assert "gogui-gfx" not in capsys.readouterr().err
        client.body("gogui-analyze_commands")
        client.body("genmove w")
        blocks = capsys.readouterr().err.split("gogui-gfx:")[1:]
        assert len(blocks) > 1
        for block in blocks[:-1]:
            assert re.fullmatch(r"\nTEXT .*\nINFLUENCE .*\nVAR .*\nLABEL .*\n\n", block)
        assert blocks[-1] == " CLEAR\n"


def test_the_moves_after_a_line_can_be_seen() -> None:
    with session(options=replace(SMALL, visits=200)) as client:
        assert "nothing was searched" in client.body("debug_moves C3")
        client.body("kata-search b")
        found = client.session.last_result
        assert found is not None
        text = found.position.text
        first, second, third = (text(point) for point in found.pv[:3])
        body = client.body(f"debug_moves {first} {second.lower()}")
        assert f"after {first} {second}: black to play" in body
        assert re.search(rf"^ *{third}: visits ", body, re.MULTILINE)
        assert client.body("debug_moves").count(": visits") == min(20, len(found.moves))
        assert "off the" in client.error("debug_moves J9")
        client.error(f"debug_moves {first} {first}")


def test_adaptive_visits_are_fewer_where_the_move_is_clear() -> None:
    with session(only_the_centre, replace(SMALL, visits=400)) as client:
        client.body("kata-search b")
        assert client.session.last_result is not None
        assert client.session.last_result.visits == 400
        client.body("clear_cache")
        client.body("kata-set-param adaptive true")
        client.body("kata-search b")
        assert client.session.last_result.stopped_by == "decided"
        assert client.session.last_result.visits < 350


def test_speed_is_told() -> None:
    with session() as client:
        line = client.body("benchmark 50")
        assert line.startswith("visits 50 seconds ")
        assert "visits/s" in line
        assert client.body("kata-benchmark 20").startswith("visits 20")
        assert float(client.body("cputime")) > 0
        assert float(client.body("gomill-cpu_time")) > 0


def test_spectators_are_answered() -> None:
    with session() as client:
        assert "Tengen" in client.body("kgs-chat game somebody hello")
        client.body("genmove b")
        assert "%" in client.body("kgs-chat private somebody what do you think?")
        client.body("kgs-game_over")
        client.body("cgos-gameover 2025-01-01 B+Resign")


def test_raw_outputs_need_a_symmetry() -> None:
    with session() as client:
        assert client.body("kata-raw-nn 3").startswith("symmetry 3\nwhiteWin ")
        assert client.body("kata-raw-nn all").count("symmetry ") == 8
        assert client.body("kata-raw-nn w 0")
        for arguments in ("", "8", "x", "b"):
            assert "syntax error" in client.error(f"kata-raw-nn {arguments}")
        assert client.error("kata-raw-human-nn 0")
        models = json.loads(client.body("kata-get-models"))
        assert models[0]["internalName"] == "fake"


def test_every_command_of_katago_and_of_gtp_is_known() -> None:
    """Witness: KATAGO.md's list, and GTP 2's own."""
    katago = (
        "protocol_version name version known_command list_commands quit boardsize "
        "rectangular_boardsize clear_board set_position komi get_komi play undo kata-get-rules "
        "kata-set-rule kata-set-rules kata-get-models kata-get-param kata-set-param "
        "kata-list-params kgs-rules genmove kata-search kata-search_cancellable genmove_debug "
        "kata-search_debug clear_cache showboard fixed_handicap place_free_handicap "
        "set_free_handicap time_settings kgs-time_settings time_left kata-list_time_settings "
        "kata-time_settings final_score final_status_list loadsgf printsgf lz-genmove_analyze "
        "kata-genmove_analyze kata-search_analyze kata-search_analyze_cancellable lz-analyze "
        "kata-analyze kata-raw-nn kata-raw-human-nn cputime gomill-cpu_time kata-benchmark "
        "kata-debug-print-tc debug_moves stop"
    )
    others = (
        "reg_genmove analyze genmove_analyze gg-undo play_sequence kgs-genmove_cleanup kgs-chat "
        "kgs-game_over gogui-analyze_commands gogui-interrupt cgos-opponent_name "
        "cgos-opponent_rating cgos-gameover cgos-genmove_analyze benchmark kata-debug-print"
    )
    with session(None) as client:
        listed = client.body("list_commands").splitlines()
        assert len(listed) == len(set(listed))
        for name in f"{katago} {others}".split():
            assert name in listed
            assert client.body(f"known_command {name}") == "true"
        assert client.body("known_command nonsense") == "false"
        assert client.error("nonsense") == "unknown command"
