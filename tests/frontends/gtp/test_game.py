"""Laying out a game by commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.frontends.command_options import GtpOptions
from tengen.frontends.gtp import session as gtp_session
from tengen.game.color import Color
from tengen.game.sgf.records import load_sgf
from tests.costs import MOST_GROWTH, cpu_growth
from tests.frontends.gtp.client import NO_NETWORK, Client, session
from tests.frontends.gtp.opponents import surveyor
from tests.katago_data import answers, needs_katago_data


def _stones(client: Client) -> str:
    """The board's rows without coordinates and numbers of moves."""
    rows = client.body("showboard").splitlines()[2:]
    rows = rows[: next(i for i, row in enumerate(rows) if row.startswith("Next"))]
    return "/".join("".join(sign for sign in row[3:] if sign in ".XO") for row in rows)


@needs_katago_data
@pytest.mark.parametrize("case", range(15))
def test_showboard_is_katagos_but_for_the_hash(case: int) -> None:
    """Witness: what KataGo 1.17 printed for these games."""
    known = answers("g170-b6c96")[case]
    size = known["boardsize"]
    width, height = size if isinstance(size, list) else (size, size)
    with session(None) as client:
        client.body(f"rectangular_boardsize {width} {height}")
        client.body(f"kata-set-rules {known['rules']}")
        client.body(f"komi {known['komi']}")
        for color, vertex in known["moves"]:
            client.body(f"play {color} {vertex}")
        shown = client.body("showboard").splitlines()
        rules = client.body("kata-get-rules")
    expected = [line.rstrip() for line in known["board"]]
    assert shown[0].split()[:2] == expected[0].split()[:2]  # the number of the move
    assert shown[1:] == expected[1:]
    assert rules == next(line for line in expected if line.startswith("Rules: ")).removeprefix(
        "Rules: "
    ).replace(f'"komi":{known["komi"]},', "")


def test_sizes_of_boards() -> None:
    with session(None) as client:
        for command, shape in (
            ("boardsize 7", (7, 7)),
            ("boardsize 9 5", (9, 5)),
            ("boardsize 5:9", (5, 9)),
            ("rectangular_boardsize 2 19", (2, 19)),
        ):
            assert client.body(command) == ""
            assert _stones(client) == "/".join(["." * shape[0]] * shape[1])
        for size in ("1", "20", "0", "-3", "9 20"):
            assert client.error(f"boardsize {size}") == "unacceptable size"
        assert "syntax error" in client.error("boardsize nine")


def test_moves_of_either_colour_in_either_case() -> None:
    with session(None) as client:
        for move in ("b A1", "B a2", "black B1", "White b2", "w PASS", "W c3"):
            client.body(f"play {move}")
        assert _stones(client) == "...../...../..O../XO.../XX..."


def test_a_move_that_cannot_be_changes_nothing() -> None:
    with session(None) as client:
        client.body("play b C3")
        assert client.error("play w C3").startswith("illegal move: ")
        assert client.error("play w F1").startswith("illegal move: ")
        assert "syntax error" in client.error("play w I1")
        assert "syntax error" in client.error("play w")
        assert _stones(client) == "...../...../..X../...../....."
        assert client.session.position.to_play is Color.WHITE


def test_a_stone_alone_may_not_be_put_where_it_dies() -> None:
    with session(None) as client:
        client.body("play_sequence b A2 b B1")
        assert "suicide" in client.error("play w A1")


def test_servers_may_allow_what_our_rules_forbid() -> None:
    with session(None) as client:
        client.body("kata-set-rules chinese")
        # a ko, retaken at once
        client.body("play_sequence b B3 w D4 b C4 w E3 b C2 w D2 b A1 w C3 b D3")
        assert _stones(client) == "...../..XO./.X.XO/..XO./X...."
        client.body("play w C3")
        assert _stones(client) == "...../..XO./.XO.O/..XO./X...."
        # two stones killed by their own third
        client.body("clear_board")
        client.body("play_sequence w A3 w B2 w B1 b A2")
        client.body("play b A1")
        assert _stones(client).endswith("O..../.O.../.O...")
        # play goes on after two passes
        client.body("play_sequence w pass b pass w pass")
        client.body("play b E5")


def test_a_sequence_is_played_whole_or_not_at_all() -> None:
    with session(None) as client:
        client.body("play_sequence b A1 w A2 b B1")
        assert client.error("play_sequence w E5 b E5").startswith("illegal move")
        assert "syntax error" in client.error("play_sequence w E5 b")
        assert _stones(client) == "...../...../...../O..../XX..."
        assert client.body("play_sequence") == ""


def test_moves_are_taken_back() -> None:
    with session(None) as client:
        client.body("play_sequence b A1 w A2 b B1 w pass")
        client.body("undo")
        client.body("gg-undo 2")
        assert _stones(client) == "...../...../...../...../X...."
        assert client.error("gg-undo 2") == "cannot undo"
        client.body("gg-undo")
        assert client.error("undo") == "cannot undo"
        assert "syntax error" in client.error("gg-undo x")
        assert client.error("gg-undo -1")


def test_clear_board_keeps_size_rules_and_komi() -> None:
    with session(None) as client:
        client.body("boardsize 7")
        client.body("kata-set-rules japanese")
        client.body("komi -3.5")
        client.body("play b A1")
        client.body("clear_board")
        assert client.body("get_komi") == "-3.5"
        assert '"scoring":"TERRITORY"' in client.body("kata-get-rules")
        assert _stones(client) == "/".join(["......."] * 7)


def test_changed_terms_leave_the_game_as_it_is() -> None:
    with session(None) as client:
        client.body("play_sequence b B2 b B1 w A1 b A2 w E5")  # White loses a stone
        before = _stones(client)
        client.body("komi 6.5")
        client.body("kata-set-rules japanese")
        client.body("kata-set-rule ko POSITIONAL")
        client.body("kata-set-rule scoring area")
        assert _stones(client) == before
        position = client.session.position
        assert position.komi == 6.5
        assert position.captured("white") == 1
        assert position.move_number == 5
        client.body("gg-undo 5")
        assert client.session.position.komi == 6.5


def test_komi_is_in_half_points() -> None:
    with session(None) as client:
        for komi in ("7.25", "401", "-1e9"):
            assert client.error(f"komi {komi}").startswith("unacceptable komi")
        assert "syntax error" in client.error("komi nan")
        client.body("komi 0")
        assert client.body("get_komi") == "0"


# Handicap


@pytest.mark.parametrize(
    ("stones", "expected"),
    [
        (2, "Q16 D4"),
        (3, "D16 Q16 D4"),
        (5, "D16 Q16 K10 D4 Q4"),
        (6, "D16 Q16 D10 Q10 D4 Q4"),
        (7, "D16 Q16 D10 K10 Q10 D4 Q4"),
        (9, "D16 K16 Q16 D10 K10 Q10 D4 K4 Q4"),
    ],
)
def test_fixed_handicap_is_listed_as_katago_lists_it(stones: int, expected: str) -> None:
    with session(None, GtpOptions(seed=0)) as client:
        assert client.body(f"fixed_handicap {stones}") == expected
        assert client.session.position.to_play is Color.WHITE
        assert client.session.position.handicap == stones
        assert client.error("fixed_handicap 2") == "board not empty"


def test_fixed_handicap_has_its_bounds() -> None:
    with session(None, GtpOptions(seed=0, board_size=9)) as client:
        for stones in ("0", "1", "10", "-2"):
            assert "fixed handicap stones" in client.error(f"fixed_handicap {stones}")
        client.body("boardsize 6")
        assert client.error("fixed_handicap 2")


def test_free_handicap_is_on_star_points_as_far_as_there_are_any() -> None:
    with session(None, GtpOptions(seed=0, board_size=9)) as client:
        assert client.body("place_free_handicap 4") == "C7 G7 C3 G3"
        client.body("clear_board")
        assert client.error("place_free_handicap 12") == NO_NETWORK
        assert client.error("place_free_handicap 1")
    with session(surveyor, GtpOptions(seed=0, board_size=9)) as client:
        assert len(client.body("place_free_handicap 12").split()) == 12
        client.body("clear_board")
        assert len(client.body("place_free_handicap 100").split()) == 20


def test_free_handicap_is_where_the_client_puts_it() -> None:
    with session(None) as client:
        assert client.body("set_free_handicap A1 e5 C3") == ""
        assert _stones(client) == "....X/...../..X../...../X...."
        client.body("clear_board")
        for stones in ("A1 A1", "A1 pass", "A1 J9", ""):
            assert client.error(f"set_free_handicap {stones}")
        assert _stones(client) == "/".join(["....."] * 5)


def test_blacks_first_moves_in_a_row_are_a_handicap() -> None:
    """As KataGo has it, for clients that lay handicaps out by moves."""
    with session(None) as client:
        client.body("kata-set-rules chinese")
        client.body("play b A1")
        assert client.session.position.handicap == 0
        client.body("play b B2")
        client.body("play b C3")
        assert client.session.position.handicap == 3
        client.body("play w E5")
        assert client.session.position.handicap == 3
        assert client.session.position.score().white.compensation == 3.5
        client.body("play b E1")
        client.body("gg-undo 3")
        assert client.session.position.handicap == 2
        client.body("undo")
        assert client.session.position.handicap == 0
        # but not where a whole position is laid out
        client.body("play_sequence b B2 w E5 w E4")
        assert client.session.position.handicap == 0


def test_a_position_is_set_at_once() -> None:
    with session(None) as client:
        client.body("play b E5")
        client.body("set_position b A1 w C3 B B1")
        assert _stones(client) == "...../...../..O../...../XX..."
        assert client.session.position.to_play is Color.BLACK
        assert client.error("undo") == "cannot undo"
        for stones in ("b A1 w", "b A1 w A1", "b A1 w pass", "x A1", "b A2 b B1 b A1 w C1 b"):
            assert client.error(f"set_position {stones}")
        assert client.error("set_position w A1 b A2 b B1")  # no liberty
        assert _stones(client) == "...../...../..O../...../XX..."
        client.body("set_position")
        assert _stones(client) == "/".join(["....."] * 5)


# Rules


def test_rules_by_name_json_and_single_field() -> None:
    tromp_taylor = (
        '{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA",'
        '"suicide":true,"tax":"NONE","whiteHandicapBonus":"0"}'
    )
    with session(None) as client:
        assert client.body("kata-get-rules") == tromp_taylor
        client.body('kata-set-rules {"ko":"SIMPLE", "scoring":"TERRITORY", "suicide":false}')
        assert '"tax":"SEKI"' in client.body("kata-get-rules")
        client.body("kata-set-rules Tromp-Taylor")
        assert client.body("kata-get-rules") == tromp_taylor
        client.body("kata-set-rule hasButton true")
        assert client.error("kata-set-rule score TERRITORY")  # as KataGo: no network knows both
        assert '"hasButton":true' in client.body("kata-get-rules")
        client.body("kata-set-rule hasButton false")
        client.body("kata-set-rule score TERRITORY")
        assert '"scoring":"TERRITORY"' in client.body("kata-get-rules")
        for wrong in ("kata-set-rules martian", "kata-set-rule ko MAYBE", "kata-set-rule x 1"):
            assert client.error(wrong)
        assert "syntax error" in client.error("kata-set-rules")


def test_kgs_means_superko_by_chinese_rules() -> None:
    with session(None) as client:
        for name, ko in (
            ("chinese", "POSITIONAL"),
            ("aga", "SITUATIONAL"),
            ("japanese", "SIMPLE"),
            ("new_zealand", "SITUATIONAL"),
        ):
            client.body(f"kgs-rules {name}")
            assert f'"ko":"{ko}"' in client.body("kata-get-rules")
        assert client.body("get_komi") == "0.5"
        assert "unknown rules" in client.error("kgs-rules martian")


# Files

GAME = "(;FF[4]GM[1]SZ[9]KM[5.5]RU[Chinese]AB[cc][gg]HA[2]PL[W];W[gc];B[cg];W[ee];B[])"


def test_a_file_is_loaded_to_its_end_or_before_a_move(tmp_path: Path) -> None:
    path = tmp_path / "a game.sgf"
    path.write_text(GAME)
    with session(None) as client:
        client.body(f"loadsgf {path}")
        assert client.session.position.move_number == 4
        assert client.body("get_komi") == "5.5"
        assert client.session.position.handicap == 2
        client.body(f"loadsgf {path} 1")
        assert client.session.position.move_number == 0
        assert client.session.position.stones.sum() == 2
        client.body(f"loadsgf {path} 3")
        assert client.session.position.move_number == 2
        client.body(f"loadsgf {path} 100")
        assert client.session.position.move_number == 4
        client.body("gg-undo 4")
        assert client.error("undo") == "cannot undo"
        assert client.error("loadsgf /nonexistent.sgf").startswith("cannot load file")
        assert client.error("loadsgf")
        (tmp_path / "bad.sgf").write_text("(;SZ[99])")
        assert client.error(f"loadsgf {tmp_path / 'bad.sgf'}").startswith("cannot load file")


def test_the_game_is_printed_and_saved_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out.sgf"
    with session(None) as client:
        client.body("boardsize 9")
        client.body("komi 6.5")
        client.body("fixed_handicap 2")
        client.body("play_sequence w E5 b pass w D5")
        text = client.body("printsgf")
        client.body(f"printsgf {path}")
        assert client.error("printsgf /nonexistent/x.sgf").startswith("cannot write")
        assert client.body("printsgf -") == text
        assert path.read_text().strip() == text.strip()
        game = load_sgf(path)[0]
        assert game.final_position() == client.session.position
        assert "RE[" not in text


def test_the_players_of_a_printed_game_have_names() -> None:
    with session() as client:
        client.body("cgos-opponent_name GNU Go")
        client.body("genmove w")
        assert "PB[GNU Go]" in client.body("printsgf")
        assert "PW[Tengen]" in client.body("printsgf")


def test_the_same_size_keeps_the_game() -> None:
    """Witness: KataGo 1.17.2 shows the same board after each of these."""
    with session(None) as client:
        client.body("boardsize 7")
        client.body("play_sequence b C3 w E5")
        before = client.body("showboard")
        for command in ("boardsize 7", "boardsize 7 7", "rectangular_boardsize 7 7"):
            client.body(command)
            assert client.body("showboard") == before
        client.body("boardsize 5")
        assert _stones(client) == "/".join(["....."] * 5)


def test_komi_runs_to_400_in_half_points() -> None:
    """Witness: KataGo 1.17.2 accepts and refuses the same."""
    with session(None) as client:
        for komi in ("400", "-400", "150.5", "7"):
            client.body(f"komi {komi}")
            assert float(client.body("get_komi")) == float(komi)
        for komi in ("400.5", "-401", "7.25", "7.2", "nan"):
            client.error(f"komi {komi}")
        assert client.body("get_komi") == "7"


def test_a_long_game_costs_what_it_is_long() -> None:
    """`play` and `undo` looked at all moves again, and so did the record at each of them."""
    with session(None) as client:

        def play(moves: int) -> None:
            client.body("clear_board")
            client.body(f"play_sequence {'b pass w pass ' * (moves // 2)}")
            client.body("printsgf")
            client.body(f"gg-undo {moves}")

        assert cpu_growth(int, play, 400) < MOST_GROWTH


def test_a_game_ends_at_a_stated_number_of_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gtp_session, "MOST_MOVES", 3)
    with session(None) as client:
        client.body("play_sequence b A1 w B1 b C1")
        assert client.error("play w D1") == "a game may have 3 moves, not more"
        client.body("undo")
        client.body("play w D1")
