"""SGF files as games: root properties, the main line, and records of positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sgfmill import sgf as sgfmill_sgf

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, parse_rules
from tengen.game.sgf.records import SgfError, SgfGame, SgfNode, load_sgf, read_sgf, record, save_sgf

BLACK, WHITE = Color


def game(text: str) -> SgfGame:
    (only,) = read_sgf(text, "game.sgf")
    return only


def diagram(text: str) -> str:
    """The main line's last position as rows of stones."""
    return game(text).final_position().diagram()


def rows(picture: str) -> str:
    """A diagram in the form of `Position.diagram`."""
    return Position.from_diagram(picture).diagram()


def reread(position: Position) -> Position:
    return read_sgf(save_sgf(record(position)))[0].final_position()


# The header


@pytest.mark.parametrize(
    ("header", "size"),
    [
        ("SZ[9]", (9, 9)),
        ("SZ[9:13]", (9, 13)),
        ("SZ[19:1]", (19, 1)),
        ("SZ[ 13 ]", (13, 13)),
        ("SZ[9x13]", (9, 13)),
        ("SZ[]", (19, 19)),
        ("", (19, 19)),
    ],
)
def test_size_is_read_and_is_19_if_missing(header: str, size: tuple[int, int]) -> None:
    assert game(f"(;{header})").size == size


@pytest.mark.parametrize("size", ["20", "0", "9:20", "9:0", "-9", "nine", "9:9:9", "1e1", "9" * 99])
def test_impossible_size_is_an_error_that_quotes_it(size: str) -> None:
    with pytest.raises(SgfError) as caught:
        list(game(f"(;SZ[{size}];B[aa])").positions())
    assert caught.value.reason.startswith(f"SZ[{size[:20]}]")


@pytest.mark.parametrize(
    ("written", "komi"),
    [
        ("6.5", 6.5),
        ("6,5", 6.5),
        ("650", 6.5),
        ("375", 7.5),
        ("3.75", 7.5),
        ("0", 0.0),
        ("-5.5", -5.5),
        (".5", 0.5),
        ("komi 6.5 points", 6.5),
        ("", None),
        ("none", None),
        ("6.3", None),
        ("99999", None),
        ("9" * 400, None),
    ],
)
def test_komi_is_read_as_servers_and_people_write_it(written: str, komi: float | None) -> None:
    assert game(f"(;KM[{written}])").komi == komi


@pytest.mark.parametrize(
    ("header", "given", "komi"),
    [
        ("KM[5.5]", 0.5, 5.5),
        ("KM[]", 0.5, 0.5),
        ("RU[Chinese]", None, 7.5),
        ("RU[Japanese]", None, 6.5),
        ("HA[2]", None, 0.5),
        ("HA[2]KM[5.5]", None, 5.5),
        ("HA[2]", 3.0, 3.0),
    ],
)
def test_komi_of_the_start_is_the_files_then_the_callers_then_the_usual_one(
    header: str, given: float | None, komi: float
) -> None:
    assert game(f"(;{header})").start(komi=given).komi == komi


@pytest.mark.parametrize(
    ("written", "handicap"),
    [("4", 4), ("3 stones", 3), ("HA 2", 2), ("1", 0), ("0", 0), ("", 0), ("even game", 0)],
)
def test_handicap_is_the_number_in_the_text(written: str, handicap: int) -> None:
    assert game(f"(;HA[{written}])").handicap == handicap


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Japanese", "japanese"),
        ("chinese", "chinese"),
        ("AGA", "aga"),
        ("NZ", "new-zealand"),
        ("GOE", "ing"),
        ("日本ルール", "japanese"),
        ('{"ko":"SIMPLE", "scoring":"TERRITORY", "suicide":false}', "japanese"),
    ],
)
def test_known_rules_are_recognised(written: str, name: str) -> None:
    assert game(f"(;RU[{written}])").rules == parse_rules(name)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "house rules",
        "{",
        '{"ko":"NONE"}',
        pytest.param(f'{{"ko":{"1" * 5000}}}', id="a number of 5000 digits"),
    ],
)
def test_unknown_rules_are_none_and_the_callers_are_played(written: str) -> None:
    unknown = game(f"(;RU[{written}])")
    assert unknown.rules is None
    assert unknown.start("aga").rules == parse_rules("aga")


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        ("B+3.5", Outcome(BLACK, 3.5, Reason.SCORE)),
        ("W+R", Outcome(WHITE, None, Reason.RESIGNATION)),
        ("W+Time", Outcome(WHITE, None, Reason.TIME)),
        ("0", Outcome(None, 0.0, Reason.SCORE)),
        ("Void", Outcome(None, None, Reason.NO_RESULT)),
        ("?", None),
        ("", None),
    ],
)
def test_result_is_read(written: str, outcome: Outcome | None) -> None:
    assert game(f"(;RE[{written}])").outcome == outcome


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (" Lee Sedol ", "Lee Sedol"),
        (r"x [9d\]", "x [9d]"),
        (r"back\\slash", "back\\slash"),
        ("two\nlines", "two lines"),
        ("one\\\nline", "oneline"),
        ("謝依旻", "謝依旻"),
    ],
)
def test_player_is_a_line_of_unescaped_text(written: str, name: str) -> None:
    named = game(f"(;PW[{written}])")
    assert (named.player("black"), named.player(WHITE)) == ("", name)


# The tree


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"a\]b\\c\:d:e[f", r"a]b\c:d:e[f"),
        ("tab\there\vand\fthere", "tab here and there"),
        ("\r\n|\n\r|\n|\r|\n\n", "\n|\n|\n|\n|\n\n"),
        ("soft\\\n|\\\r\n|\\\n\r|\\\rbreaks", "soft|||breaks"),
        ("(;B[aa)", "(;B[aa)"),
    ],
)
def test_text_follows_the_rules_of_sgf_for_escapes_and_white_space(written: str, text: str) -> None:
    assert game(f"(;C[{written}];B[aa])").root.text("C") == text


def test_variations_and_comments_survive_writing_and_reading() -> None:
    first = game("(;SZ[9]C[root];B[cc](;W[gg]C[main];B[])(;W[cg]C[side](;B[a1])(;B[gg]C[last])))")
    again = read_sgf(save_sgf(first))[0]
    black = again.root.children[0]
    main, side = black.children
    assert [again.root.text("C"), main.text("C"), side.text("C")] == ["root", "main", "side"]
    assert [child.properties for child in side.children] == [
        {"B": ["a1"]},
        {"B": ["gg"], "C": ["last"]},
    ]
    assert [node.properties for node in main.main_line()] == [
        {"W": ["gg"], "C": ["main"]},
        {"B": [""]},
    ]


def test_positions_follow_a_given_line() -> None:
    branched = game("(;SZ[9];B[cc](;W[gg])(;W[cg];B[gc]))")
    black = branched.root.children[0]
    side = black.children[1]
    *_, last = branched.positions([branched.root, black, side, side.children[0]])
    assert last == Position(9, "japanese").play_all("C7 C3 G7")


@pytest.mark.parametrize(
    "text",
    [
        "(;SZ[9]PB[x];B[cc];W[gg]",
        "(;SZ[9]PB[x];B[cc](;W[gg])(;W[cg]",
        "(SZ[9]PB[x];B[cc];W[gg])",
        "(;SiZe[9]PlayerBlack[x];Black[cc];White[gg])",
        "(;sz[9]pb[x];b[CC];w[GG])",
        " ( ; SZ [9] PB\n[x] ; B [ cc ] ; W [gg] ) ",
        "(;SZ[9]PB[x]KM;B[cc];W[gg])",
        "(;SZ[9]PB[x];B[cc]();W[gg])))",
        "Dear [you], see (below; it was) fun (foo [at] bar):\n(;SZ[9]PB[x];B[cc];W[gg]) Bye (Lee)",
        "\ufeff(;SZ[9]PB[x]\0;B[cc]\x1f;W[gg])\x1a",
        "(;SZ[9]PB[x];B[C7];W[g3])",
        "(;SZ[9]PB[x]B[cc];W[gg];)",
    ],
)
def test_sloppy_files_are_read_as_they_were_meant(text: str) -> None:
    sloppy = read_sgf(text)[0]
    assert sloppy.player("b") == "x"
    assert sloppy.final_position() == Position(9, "japanese").play_all("C7 G3")


def test_all_games_of_a_file_are_read() -> None:
    games = read_sgf("(;SZ[9];B[aa]) and (;SZ[13];B[bb])\n(SZ[19];B[cc])")
    assert [(one.size.width, len(list(one.positions()))) for one in games] == [
        (9, 2),
        (13, 2),
        (19, 2),
    ]


def test_deep_nesting_does_not_overflow_the_stack() -> None:
    depth = 5000
    deep = game("(;C[x]" * depth + ")" * depth)
    again = read_sgf(save_sgf(deep))[0]
    assert sum(node.text("C") == "x" for node in again.root.main_line()) == depth


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        ("", 0, "no game found"),
        ("Dear Lee, (I resign)", 0, "no game found"),
        ("()", 0, "no game found"),
        (b"", 0, "no game found"),
        ("(;SZ[9]\n \0!;B[aa])", 10, "unexpected '!'"),
        ("(;C[a]b])", 7, "unexpected ']'"),
        ("(;B[aa] ;[bb])", 9, "a value without a property"),
        ("(;B[aa]([bb]))", 8, "a value without a property"),
        ("(;B[aa](;W[bb])[cc])", 15, "a value without a property"),
    ],
)
def test_what_is_no_sgf_is_an_error_that_says_where_and_why(
    data: str | bytes, offset: int, reason: str
) -> None:
    with pytest.raises(SgfError) as caught:
        read_sgf(data, "bad.sgf")
    assert (caught.value.source, caught.value.offset) == ("bad.sgf", offset)
    assert reason in caught.value.reason
    where = f", offset {offset}" if offset else ""
    assert str(caught.value) == f"bad.sgf{where}: {caught.value.reason}"


# The main line


def test_main_line_gives_the_position_after_each_node() -> None:
    positions = list(game("(;SZ[9]KM[5.5]RU[AGA];B[cc];C[nothing];W[gg])").positions())
    start = Position(9, "aga", 5.5)
    black = start.play("C7")
    assert positions == [start, black, black, black.play("G3")]


@pytest.mark.parametrize("written", ["", " ", "tt", "TT", "pass", "Pass"])
def test_pass_is_written_in_several_ways(written: str) -> None:
    passed = game(f"(;SZ[19];B[{written}])").final_position()
    assert [tuple(move) for move in passed.moves] == [(BLACK, None)]


@pytest.mark.parametrize(
    ("text", "picture"),
    [
        ("(;SZ[3]AB[aa][bb]AW[cc])", "X.. .X. ..O"),
        ("(;SZ[3]AB[aa:bb])", "XX. XX. ..."),
        ("(;SZ[3]AB[bb:aa])", "XX. XX. ..."),
        ("(;SZ[3]AB[ba:ab][cc:cc]AE[ab])", "XX. .X. ..X"),
        ("(;SZ[3]AB[aa:];AW[bb:cb]AE[aa])", "... .OO ..."),
        ("(;SZ[3]AB[]AW[bb])", "... .O. ..."),
        ("(;SZ[3];B[aa];AW[aa];B[bb])", "O.. .X. ..."),
        ("(;SZ[3:2]AB[ca]AW[ab])", "..X O.."),
    ],
)
def test_set_up_stones_are_put_on_the_board(text: str, picture: str) -> None:
    assert diagram(text) == rows("\n".join(picture.split()))


@pytest.mark.parametrize(
    ("text", "color"),
    [
        ("(;SZ[9]AB[cc])", BLACK),
        ("(;SZ[9]AB[cc]PL[W])", WHITE),
        ("(;SZ[9]PL[white])", WHITE),
        ("(;SZ[9];B[cc];PL[b])", BLACK),
        ("(;SZ[9];B[cc];AW[gg])", WHITE),
        ("(;SZ[9]HA[2]AB[cc][gg])", WHITE),
        ("(;SZ[9]HA[2]AB[cc][gg]PL[B])", BLACK),
        ("(;SZ[9]HA[2])", BLACK),
    ],
)
def test_side_to_play_is_the_stated_one_or_white_after_a_handicap(text: str, color: Color) -> None:
    assert game(text).final_position().to_play is color


@pytest.mark.parametrize(
    ("text", "handicap"),
    [
        ("(;SZ[9]AB[cc][gg])", 2),
        ("(;SZ[9]HA[some]AB[cc][gg])", 2),
        ("(;SZ[9]HA[0]AB[cc][gg])", 0),
        ("(;SZ[9]HA[2];AB[cc][gg];W[cg])", 2),
        ("(;SZ[9]HA[2];B[cc];B[gg];W[cg])", 2),
        ("(;SZ[9]HA[3]AB[cc][gg][cg];W[cc])", 3),
        ("(;SZ[9]HA[2]AB[cc][gg];W[cg];AE[cg];AW[gc])", 2),
    ],
)
def test_handicap_is_the_stated_one_whatever_happens_to_the_stones(
    text: str, handicap: int
) -> None:
    assert game(text).final_position().handicap == handicap


@pytest.mark.parametrize(
    ("moves", "picture"),
    [
        pytest.param(
            "AB[ba][ab][bc]AW[ca][db][cc][bb];B[cb];W[bb];B[dd]",
            ".XO. XO.O .XO. ...X",
            id="ko retaken",
        ),
        pytest.param("AW[ba][ab];B[aa];W[dd]", ".O.. O... .... ...O", id="suicide"),
        pytest.param(
            "AW[ca][bb][ab];B[aa];W[dd];B[ba]", "..O. OO.. .... ...O", id="suicide of two"
        ),
        pytest.param(";B[aa];W[aa];B[dd]", "O... .... .... ...X", id="on a stone"),
        pytest.param(";B[aa];B[bb];W[cc];W[dd]", "X... .X.. ..O. ...O", id="out of turn"),
        pytest.param(";B[];W[];B[aa]", "X... .... .... ....", id="after the end"),
    ],
)
def test_recorded_moves_are_played_even_if_illegal(moves: str, picture: str) -> None:
    assert diagram(f"(;SZ[4]RU[Japanese]{moves})") == rows("\n".join(picture.split()))


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        ("(;SZ[9];B[cc]\n;W[zz])", ";W", "'zz' is off the 9x9 board"),
        ("(;SZ[9:5];B[ic];W[ag])", ";W", "'ag' is off the 9x5 board"),
        ("(;SZ[9];B[cc];W[K1])", ";W", "'K1' is off the 9x9 board"),
        ("(;SZ[9];B[D0])", ";B", "'D0' is off the 9x9 board"),
        ("(;SZ[9];B[c])", ";B", "not a point: 'c'"),
        ("(;SZ[9] ;AB[aa:jj])", ";AB", "'jj' is off the 9x9 board"),
        ("(SZ[19]AW[tt])", "SZ", "'tt' is off the 19x19 board"),
        ("(;SZ[2];AB[aa:bb])", ";AB", "would have no liberty"),
        ("(;SZ[9];B[aa:bb])", ";B", "not a point: 'aa:bb'"),
    ],
)
def test_impossible_point_is_an_error_with_source_offset_of_its_node_and_reason(
    text: str, at: str, reason: str
) -> None:
    impossible = game(text)
    with pytest.raises(SgfError) as caught:
        list(impossible.positions())
    assert (caught.value.source, caught.value.offset) == ("game.sgf", text.index(at))
    assert reason in caught.value.reason


# Writing


def test_other_programs_read_a_record() -> None:
    position = Position(9, "japanese", 5.5).with_handicap(2).play_all("C7 pass E5")
    written = save_sgf(record(position, black="x [9d]", white="謝\\"))
    other = sgfmill_sgf.Sgf_game.from_bytes(written)
    assert (other.get_size(), other.get_komi(), other.get_handicap()) == (9, 5.5, 2)
    assert (other.get_player_name("b"), other.get_player_name("w")) == ("x [9d]", "謝\\")
    # sgfmill counts rows and columns from the bottom left, from 0
    assert other.get_root().get_setup_stones()[0] == {(2, 2), (6, 6)}
    assert [node.get_move() for node in other.get_main_sequence()[1:]] == [
        ("w", (6, 2)),
        ("b", None),
        ("w", (4, 4)),
    ]


NO_NAME = Rules(KoRule.SITUATIONAL, Scoring.TERRITORY, button=True)
POSITIONS: dict[str, Callable[[], Position]] = {
    "start": lambda: Position(19),
    "one point": lambda: Position(1),
    "rectangle": lambda: Position((9, 13), "aga", -0.5).play_all("J13 A1"),
    "rules without a name": lambda: Position(5, NO_NAME, 3).play_all("A1 pass B2"),
    "capture": lambda: Position(5).play_all("A4 A5 B5"),
    "ko": lambda: Position(5).play_all("B5 C5 A4 D4 B3 C3 C4 B4"),
    "same side twice": lambda: Position(9).play("C3").play("D4", "black").play("E5", "b"),
    "played on": lambda: Position(9).play_all("pass pass").play("E5", strict=False),
    "handicap": lambda: Position(19, "chinese").with_handicap(9).play_all("C6 F3"),
    "free handicap": lambda: Position(9, "aga").with_handicap(["A1", "B1", "C1"]),
    "one stone": lambda: Position(9, "aga").with_handicap(["E5"]),
    "no handicap": lambda: Position(9, "aga").set_up(["A1", "B1"], handicap=0),
    "white first": lambda: Position(9).set_up(to_play="white"),
    "diagram": lambda: Position.from_diagram("X.O\n.XO\n...", to_play="white").play("B1"),
    "set-up twice": lambda: Position(5).set_up(["A1", "B2"]).set_up(["C3"], ["D4"], ["A1"], "w"),
    "set-up in mid-game": lambda: (
        Position(5, "chinese")
        .with_handicap(["C3", "B2"])
        .play_all("A4 A5 pass B5")
        .set_up(["E1"], ["E5"], ["B5"], "white")
        .play_all("E4 pass")
    ),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_reading_a_record_gives_an_equal_position(name: str) -> None:
    position = POSITIONS[name]()
    again = reread(position)
    assert again == position
    assert again.moves == position.moves


def test_recording_what_was_read_gives_an_equal_position_after_a_move_on_a_stone() -> None:
    odd = game("(;SZ[9]RU[AGA]HA[3]AB[cc][gg][cg];W[cc];B[dd];W[dd])").final_position()
    assert reread(odd) == odd


def test_captured_stones_that_were_set_are_recorded_and_read() -> None:
    position = Position(9, "japanese", 0).play("E5").set_up(captured=(3, 12))
    assert [position.captured(color) for color in Color] == [3, 12]
    read = read_sgf(save_sgf(record(position)))[0].final_position()
    assert read == position
    assert read.score().black.prisoners == 12
    assert position.set_up(black=["A1"]).captured("white") == 12
    for nonsense in ("x", "3", "-1:2", "99999:1", "1:2:3"):
        assert read_sgf(f"(;SZ[9]CAPTURED[{nonsense}])")[0].final_position().captured("black") == 0
    with pytest.raises(ValueError, match="captured"):
        position.set_up(captured=(-1, 0))


def test_record_states_the_result_of_a_counted_game() -> None:
    # Black has all 25 points.
    ended = Position(5, "tromp-taylor", 7.5).play_all("C3 pass pass")
    again = read_sgf(save_sgf(record(ended)))[0]
    assert again.outcome == Outcome(BLACK, 17.5, Reason.SCORE)
    assert again.final_position() == ended


@pytest.mark.parametrize(
    ("before", "nodes"),
    [
        (lambda: Position(9), 1),
        (lambda: Position(9).play("E5"), 2),
        (lambda: Position(9).with_handicap(2).play("E5").set_up(white=["A1"]), 3),
    ],
)
def test_record_of_a_resignation_has_the_result_and_no_move(
    before: Callable[[], Position], nodes: int
) -> None:
    position = before()
    again = read_sgf(save_sgf(record(position.resign("white"))))[0]
    assert again.outcome == Outcome(BLACK, None, Reason.RESIGNATION)
    assert len(list(again.root.main_line())) == nodes
    assert again.final_position() == position


def test_record_of_a_game_that_goes_on_states_no_result() -> None:
    assert record(Position(9).play("E5")).outcome is None


def test_saved_file_is_utf8_whatever_it_was_read_from() -> None:
    old = "(;CA[Shift_JIS]FF[3]PB[趙治勲 十])".encode("cp932")
    saved = save_sgf(read_sgf(old)[0])
    assert saved == "(;FF[4]GM[1]CA[UTF-8]PB[趙治勲 十])\n".encode()


def test_what_utf8_cannot_write_becomes_a_question_mark() -> None:
    half = game("(;C[a\ud800b])")
    half.root.set_text("N", "\udfffc")
    again = read_sgf(save_sgf(half))[0]
    assert half.root.text("C") == again.root.text("C") == "a?b"
    assert again.root.text("N") == "?c"


# Nodes and files


def test_text_set_on_a_node_is_escaped() -> None:
    node = SgfNode()
    node.set_text("C", r"a]b\c")
    assert node.raw("C") == r"a\]b\\c"
    assert node.text("C") == r"a]b\c"
    assert (node.raw("N"), node.text("N")) == (None, "")


def test_file_is_loaded_with_its_name_as_source(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(b"(;SZ[9];B[zz])")
    (loaded,) = load_sgf(path)
    with pytest.raises(SgfError) as caught:
        loaded.final_position()
    assert caught.value.source == str(path)


@pytest.mark.parametrize("name", ["missing.sgf", "."])
def test_unreadable_file_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(SgfError) as caught:
        load_sgf(tmp_path / name)
    assert caught.value.source == str(tmp_path / name)
    assert "directory" in caught.value.reason


def test_letters_count_from_the_top_left() -> None:
    (move,) = game("(;SZ[9:13];B[cl])").final_position().moves
    assert move.point == Point(2, 11)
