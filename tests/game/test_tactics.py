"""Captures, kos, repetition, suicide and passes, in diagrams."""

from __future__ import annotations

import pytest

from tengen.game.color import Color
from tengen.game.illegal_moves import GameOverError, KoError, SuicideError, SuperkoError
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tests.game.pictures import pictures

pytestmark = pytest.mark.kernel

SIMPLE, POSITIONAL, SITUATIONAL = "chinese", "chinese-ogs", "aga"
KO_RULES = (SIMPLE, POSITIONAL, SITUATIONAL)
NO_RESULT = Outcome(None, None, Reason.NO_RESULT)


def taken(position: Position) -> tuple[int, int]:
    """The numbers of captured black and white stones."""
    return position.captured("black"), position.captured("white")


# Captures

CAPTURES = {  # the move from the first picture to the second, black and white stones it takes
    "one stone": (
        "black C3",
        """
        . X . .   . X . .
        X O . .   X . X .
        . X . .   . X . .
        . . . .   . . . .
        """,
        (0, 1),
    ),
    "one stone in the corner": (
        "black A2",
        """
        O X .   . X .
        . . .   X . .
        . . .   . . .
        """,
        (0, 1),
    ),
    "two stones at the edge": (
        "black D3",
        """
        X O O .   X . . X
        . X X .   . X X .
        . . . .   . . . .
        """,
        (0, 2),
    ),
    "a bent group": (
        "black C1",
        """
        . X X . .   . X X . .
        X O O X .   X . . X .
        . X O X .   . X . X .
        . . . . .   . . X . .
        """,
        (0, 3),
    ),
    "three chains at once": (
        "black C2",
        """
        . X O X .   . X . X .
        X O . O X   X . X . X
        . X . X .   . X . X .
        """,
        (0, 3),
    ),
    "from within, on the last liberty of all around": (
        "black A3",
        """
        . O X   X . X
        O O X   . . X
        X X .   X X .
        """,
        (0, 3),
    ),
    "one stone by a chain of three, which makes no ko": (
        "black C2",
        """
        . X O .   . X O .
        X O . O   X . X O
        . X X .   . X X .
        """,
        (0, 1),
    ),
    "a black stone": (
        "white A2",
        """
        . O .   . O .
        . X O   O . O
        . O .   . O .
        """,
        (1, 0),
    ),
}


@pytest.mark.parametrize(("move", "boards", "stones"), CAPTURES.values(), ids=CAPTURES)
def test_a_move_takes_the_chains_whose_last_liberty_it_fills(
    move: str, boards: str, stones: tuple[int, int]
) -> None:
    before, after = pictures(boards)
    color, point = move.split()
    position = Position.from_diagram(before, to_play=color).play(point)
    assert position.diagram() == after
    assert taken(position) == stones
    assert position.ko is None


def test_a_snapback_takes_the_stones_that_took() -> None:
    start, thrown_in, caught, snapped = pictures("""
        . . O O . .   . . O O . .   . . O O . .   . . O O . .
        . O X X O .   . O X X O .   . O X X O .   . O . . O .
        X X . . O .   X X O . O .   X X . X O .   X X O . O .
    """)
    position = Position.from_diagram(start, to_play="white").play("C1")
    assert position.diagram() == thrown_in
    position = position.play("D1")
    assert position.diagram() == caught
    assert position.liberties("D1") == 1
    assert position.ko is None  # one stone was taken, but by three
    position = position.play("C1")
    assert position.diagram() == snapped
    assert taken(position) == (3, 1)


# Kos

KO = """
    . X O .   . X O .   . X O .
    X O . O   X . X O   X O . O
    . X O .   . X O .   . X O .
    . . . .   . . . .   X . . O
"""


@pytest.mark.parametrize("rules", [*KO_RULES, "japanese", "tromp-taylor"])
def test_a_ko_is_not_retaken_at_once_but_after_a_threat(rules: str) -> None:
    open_ko, black_took, white_retook = pictures(KO)
    position = Position.from_diagram(open_ko, rules=rules).play("C3")
    assert position.diagram() == black_took
    assert taken(position) == (0, 1)
    assert position.ko == (1, 1)
    with pytest.raises(KoError):
        position.play("B3")
    position = position.play("D1")
    assert position.ko is None
    position = position.play("A1").play("B3")
    assert position.diagram() == white_retook
    assert taken(position) == (1, 1)
    assert position.ko == (2, 1)
    with pytest.raises(KoError):
        position.play("C3")


def test_a_pass_is_as_good_as_a_threat() -> None:
    position = Position.from_diagram(pictures(KO)[0]).play_all("C3 pass A1 B3")
    assert position.at("C3") is None


# Black can take at C5 and C1, White at H5.
THREE_KOS = """
    X O . O . O X . X
    . X O . . . O X .
    . . . . . . . . .
    . X O . . . . . .
    X O . O . . . . .
"""
ROUND_OF_THREE = "C5 H5 C1 B5 G5 B1"


@pytest.mark.parametrize("rules", KO_RULES)
def test_of_two_kos_the_other_one_may_be_taken(rules: str) -> None:
    position = Position.from_diagram(THREE_KOS, rules=rules).play("C5")
    with pytest.raises(KoError):
        position.play("B5")
    position = position.play("H5")
    with pytest.raises(KoError):
        position.play("G5")
    assert position.is_legal("E3")
    assert taken(position) == (1, 1)


def test_a_double_ko_does_not_go_round_for_ever() -> None:
    start = Position.from_diagram(THREE_KOS, rules=SIMPLE)
    stones_of_start_again = "C5 H5 pass B5 G5"

    simple = start.play_all(stones_of_start_again).play_all("pass C5 H5")
    assert simple.stones_hash == start.play_all("C5 H5").stones_hash
    assert not simple.is_over
    ended = simple.pass_()  # Black has passed here before
    assert ended.passes == 1
    outcome = ended.outcome()
    assert outcome is not None
    assert outcome.reason is Reason.SCORE

    situational = Position.from_diagram(THREE_KOS, rules=SITUATIONAL)
    situational = situational.play_all(stones_of_start_again)  # but it is White's turn now
    assert situational.stones_hash == start.stones_hash
    with pytest.raises(SuperkoError):
        situational.pass_().play("C5")

    positional = Position.from_diagram(THREE_KOS, rules=POSITIONAL)
    with pytest.raises(SuperkoError):
        positional.play_all(stones_of_start_again)


@pytest.mark.parametrize("rules", [SIMPLE, "japanese"])
def test_under_simple_ko_a_triple_ko_ends_without_result(rules: str) -> None:
    start = Position.from_diagram(THREE_KOS, rules=rules)
    second = start.play_all(ROUND_OF_THREE)
    assert second.stones_hash == start.stones_hash
    assert second.to_play is start.to_play
    *almost, last = ROUND_OF_THREE.split()
    third = second.play_all(almost)
    assert not third.is_over
    third = third.play(last)
    assert third.is_over
    assert third.outcome() == NO_RESULT
    assert taken(third) == (6, 6)
    with pytest.raises(GameOverError):
        third.play("C5")


@pytest.mark.parametrize("rules", [POSITIONAL, SITUATIONAL])
def test_superko_forbids_to_close_the_round_of_a_triple_ko(rules: str) -> None:
    *almost, last = ROUND_OF_THREE.split()
    position = Position.from_diagram(THREE_KOS, rules=rules).play_all(almost)
    with pytest.raises(SuperkoError):
        position.play(last)
    assert position.is_legal("E3")
    assert not position.is_over


# White can send two stones and get one back at the bottom, Black at the top.
SENDING_TWO = """
    O . X . X
    . O O X .
    . . . . .
    . X X O .
    X . O . O
"""
WHITE_SENDS, BLACK_SENDS = "B1 D1 C1", "B5 D5 C5"


def sending_two(rules: str) -> Position:
    return Position.from_diagram(SENDING_TWO, to_play="white", rules=rules)


@pytest.mark.parametrize("rules", [SIMPLE, SITUATIONAL])
def test_sending_two_returns_one_and_gives_the_turn_to_the_other(rules: str) -> None:
    start = sending_two(rules)
    position = start.play("B1")
    assert (position.liberties("B1"), position.to_play) == (1, Color.BLACK)
    position = position.play("D1")
    assert (taken(position), position.ko) == ((0, 2), None)
    position = position.play("C1")
    assert (taken(position), position.ko) == ((1, 2), None)
    assert position.diagram() == start.diagram()
    assert position.to_play is Color.BLACK
    assert not position.is_over


def test_positional_superko_forbids_to_return_one() -> None:
    position = sending_two(POSITIONAL).play_all("B1 D1")
    with pytest.raises(SuperkoError):
        position.play("C1")


def test_situational_superko_forbids_to_send_two_again() -> None:
    passed = sending_two(SITUATIONAL).play_all(WHITE_SENDS).pass_()
    with pytest.raises(SuperkoError):
        passed.play("B1")
    with pytest.raises(SuperkoError):  # the other way round to the same stones and turn
        sending_two(SITUATIONAL).play_all(f"{WHITE_SENDS} {BLACK_SENDS}")


def test_under_simple_ko_sending_two_ends_at_the_third_occurrence() -> None:
    position = sending_two(SIMPLE).play_all(f"{WHITE_SENDS} {BLACK_SENDS} {WHITE_SENDS} B5 D5")
    assert not position.is_over
    position = position.play("C5")
    assert position.outcome() == NO_RESULT
    assert taken(position) == (6, 6)


def test_under_simple_ko_passing_twice_in_one_position_ends_the_game() -> None:
    position = sending_two(SIMPLE).play_all(WHITE_SENDS).pass_().play_all(WHITE_SENDS)
    assert not position.is_over
    position = position.pass_()
    assert position.passes == 1
    assert position.is_over
    outcome = position.outcome()
    assert outcome is not None
    assert outcome.reason is Reason.SCORE


def test_under_simple_ko_a_pass_starts_the_count_of_repetitions_anew() -> None:
    both = f"{WHITE_SENDS} {BLACK_SENDS}"
    position = sending_two(SIMPLE).play_all(f"{WHITE_SENDS} pass {both}")
    assert position.diagram() == sending_two(SIMPLE).diagram()
    assert not position.is_over  # the third time with White to play, the second since the pass
    assert position.play_all(both).outcome() == NO_RESULT


# Suicide

SUICIDE_OF_TWO = """
    . X O .   . . O .
    O O . .   O O . .
    . . . .   . . . .
"""


@pytest.mark.parametrize("rules", ["tromp-taylor", "new-zealand", "ing"])
def test_suicide_of_several_stones_takes_them_off_where_it_is_allowed(rules: str) -> None:
    before, after = pictures(SUICIDE_OF_TWO)
    position = Position.from_diagram(before, rules=rules).play("A3")
    assert position.diagram() == after
    assert taken(position) == (2, 0)
    assert position.ko is None
    assert position.to_play is Color.WHITE


@pytest.mark.parametrize("rules", [*KO_RULES, "japanese", "stone-scoring"])
def test_suicide_of_several_stones_is_refused_where_it_is_not_allowed(rules: str) -> None:
    with pytest.raises(SuicideError):
        Position.from_diagram(pictures(SUICIDE_OF_TWO)[0], rules=rules).play("A3")


@pytest.mark.parametrize("rules", ["tromp-taylor", "new-zealand", *KO_RULES])
@pytest.mark.parametrize("point", ["A5", "C5", "D2"])
def test_a_single_stone_never_takes_its_own_life(point: str, rules: str) -> None:
    eyes = """
        . O . O .
        O . O . .
        . . . O .
        . . O . O
        . . . O .
    """
    with pytest.raises(SuicideError):
        Position.from_diagram(eyes, rules=rules).play(point)


def test_passes_make_suicide_a_repetition_of_stones_but_not_of_the_turn() -> None:
    eye = """
        . . O .
        O O O .
        . . . .
    """
    positional = Position.from_diagram(eye, rules="tromp-taylor").play_all("A3 pass")
    with pytest.raises(SuperkoError):
        positional.play("B3")
    situational = Position.from_diagram(eye, rules="new-zealand").play_all("A3 pass B3")
    assert taken(situational) == (2, 0)
    assert situational.diagram() == Position.from_diagram(eye).diagram()
    assert situational.to_play is Color.WHITE


def test_under_simple_ko_suicides_at_new_places_repeat_a_position_too() -> None:
    eyes = """
        . . O . . . X . .
        O O O . . . X X X
        O O O . . . X X X
        . . O . . . X . .
    """
    start = Position.from_diagram(eyes, rules="koSIMPLEsui1")
    second = start.play_all("A4 J4 B4 H4")
    assert second.diagram() == start.diagram()
    assert not second.is_over
    third = second.play_all("A1 J1 B1 H1")
    assert third.diagram() == start.diagram()
    assert third.outcome() == NO_RESULT


# Bent four in the corner


def test_bent_four_in_the_corner_is_a_ko_that_the_attacker_takes_first() -> None:
    start, filled, emptied, ko = pictures("""
        . . . . . . .   . . . . . . .   . . . . . . .   . . . . . . .
        O O O . . . .   O O O . . . .   O O O . . . .   O O O . . . .
        X X O O O O .   X X O O O O .   X X O O O O .   X X O O O O .
        . X X X X O .   O X X X X O .   . X X X X O .   O X X X X O .
        O O O . X O .   O O O . X O .   . . . X X O .   . O . X X O .
    """)
    position = Position.from_diagram(start, to_play="white", rules="japanese").play("A2")
    assert position.diagram() == filled
    assert (position.liberties("A3"), position.liberties("A1")) == (1, 1)
    position = position.play("D1")
    assert position.diagram() == emptied
    assert taken(position) == (0, 4)
    position = position.play_all("B1 A1")
    assert position.liberties("A1") == 1
    position = position.play("A2")
    assert position.diagram() == ko
    assert (taken(position), position.ko) == ((1, 4), (0, 4))
    with pytest.raises(KoError):
        position.play("A1")

    won_by_black = position.play_all("G5 G4 A1")
    assert taken(won_by_black) == (1, 5)
    assert won_by_black.liberties("B1") == 1

    won_by_white = position.play_all("G5 A1 C1 A1 G4 B1 G3 A2")  # no threat was answered
    assert taken(won_by_white) == (10, 7)


# Passes and the button


@pytest.mark.parametrize("rules", [*KO_RULES, "japanese", "tromp-taylor"])
def test_two_passes_in_a_row_end_the_game(rules: str) -> None:
    position = Position(5, rules).play_all("C3 pass D4 pass")
    assert position.passes == 1
    assert not position.is_over
    position = position.play("B2")
    assert position.passes == 0
    position = position.play_all("pass pass")
    assert position.is_over
    with pytest.raises(GameOverError):
        position.play("A1")
    with pytest.raises(GameOverError):
        position.pass_()


def test_the_first_pass_takes_the_button_and_does_not_count_towards_the_end() -> None:
    position = Position(5, "aga-button").play_all("C3 pass")
    assert position.passes == 0
    assert position.score().white.compensation == 7.5
    position = position.pass_()
    assert position.passes == 1
    assert not position.is_over
    assert position.pass_().is_over


def test_after_the_button_a_stone_still_parts_two_passes() -> None:
    position = Position(5, "aga-button").play_all("pass C3 pass D4 pass")
    assert not position.is_over
    assert position.pass_().is_over


def test_taking_the_button_lifts_the_superko_ban() -> None:
    position = Position.from_diagram(pictures(KO)[0], rules="aga-button").play_all("C3 pass pass")
    assert position.passes == 1
    retaken = position.play("B3")
    assert retaken.diagram() == pictures(KO)[0]
    assert retaken.to_play is Color.BLACK
