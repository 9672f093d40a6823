"""Scoring: owners of points, seki, taxes, prisoners, compensation and results of games."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.game.color import Color
from tengen.game.diagram import write_diagram
from tengen.game.illegal_moves import GameOverError
from tengen.game.outcome import Outcome, Reason, parse_outcome
from tengen.game.position import Position
from tengen.game.rules import Rules
from tengen.game.scoring import Tally
from tests.game.pictures import pictures

pytestmark = pytest.mark.kernel

BLACK, WHITE = Color.BLACK, Color.WHITE


# Area: boards, and the owner of each point

AREAS = {
    "walls and a neutral street": """
        . X . O .   X X . O O
        . X . O .   X X . O O
        . X . O .   X X . O O
    """,
    "an empty board": """
        . . .   . . .
        . . .   . . .
    """,
    "one stone": """
        . . . .   X X X X
        . . X .   X X X X
        . . . .   X X X X
    """,
    "one stone each": """
        . . . .   . . . .
        . X . .   . X . .
        . . O .   . . O .
    """,
    "a corner": """
        . . X O   X X X O
        . . X O   X X X O
        X X X O   X X X O
        O O O .   O O O O
    """,
    "stones inside that nobody took off": """
        . . X . O   . . X . O
        . O X . O   . O X . O
        X X X . O   X X X . O
    """,
    "eyes and a point between the walls": """
        X X X X X   X X X X X
        X . O O O   X . O O O
        X O O . O   X O O O O
        X O . O O   X O O O O
    """,
    "a ring in the sea": """
        . . . . .   X X X X X
        . X X X .   X X X X X
        . X O X .   X X O X X
        . X . X .   X X . X X
        . X X X .   X X X X X
    """,
}


@pytest.mark.parametrize("boards", AREAS.values(), ids=AREAS)
def test_a_region_belongs_to_the_colour_of_its_whole_border(boards: str) -> None:
    board, owners = pictures(boards)
    score = Position.from_diagram(board, komi=0).score()
    assert write_diagram(score.owner) == owners
    assert score.margin == owners.count("X") - owners.count("O")
    for tally, sign in ((score.black, "X"), (score.white, "O")):
        assert tally.stones == board.count(sign)
        assert tally.territory == owners.count(sign) - board.count(sign)
        assert tally.prisoners == tally.tax == tally.compensation == 0


def shortcut_margin(stones: NDArray[np.int8]) -> int:
    """The count of a common tutorial: an empty point belongs to a colour if the stones right next
    to it do, whatever else its region touches. Wrong, and only here to be told from the right one.
    """
    height, width = stones.shape
    margin = 0
    for y, x in product(range(height), range(width)):
        around = [(y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)]
        near = {int(stones[p]) for p in around if 0 <= p[0] < height and 0 <= p[1] < width}
        colors = {int(stones[y, x])} if stones[y, x] else near - {0}
        if len(colors) == 1:
            margin += 1 if colors == {BLACK} else -1
    return margin


@pytest.mark.parametrize(
    ("board", "shortcut", "right"),
    [
        # White's stone in Black's corner was not taken off: nobody owns the corner. The shortcut
        # gives Black C3, C2 and B2, White B3, and so Black a game that White has won.
        (
            """
            O . . X O O
            . . . X O .
            X X X X O .
            """,
            +1,
            -1,
        ),
        # Points with no stone next to them are owned, too.
        (
            """
            . . . O .
            . . . O .
            . . . O .
            """,
            -9,
            -15,
        ),
        # White's wall has a gap, so what lies behind it is nobody's.
        (
            """
            . X . O .
            . X . . .
            . X . O .
            """,
            2,
            4,
        ),
    ],
)
def test_the_tutorial_s_shortcut_and_whole_regions_count_differently(
    board: str, shortcut: int, right: int
) -> None:
    position = Position.from_diagram(board, komi=0)
    assert shortcut_margin(position.stones) == shortcut
    assert position.score().margin == right


# Seki and taxes. Points of Black and White under area scoring without tax, with a tax on seki and
# with one on groups, too; then under territory scoring.

TAXES = {
    "a seki of two shared liberties, with walls that look like an eye around each": (
        """
        . X O . X O .
        X X O O X O O
        . X O X X O .
        . X O . X O .
        """,
        [(13, 13), (13, 13), (11, 11)],
        [(3, 3), (3, 3), (1, 1)],
    ),
    "a seki of four shared liberties": (
        """
        . X O . X O .
        X X O . X O O
        . X O . X O .
        . X O . X O .
        """,
        [(12, 12), (12, 12), (10, 10)],
        [(3, 3), (3, 3), (1, 1)],
    ),
    "a seki with one eye each and one shared liberty": (
        """
        . X X O . O
        X . X O O .
        X X X O O O
        O O O X X X
        . O . X . X
        """,
        [(15, 14), (14, 13), (12, 11)],
        [(3, 3), (2, 2), (0, 0)],
    ),
    # To the letter of area scoring White has to connect at B2 before the count.
    "an eye that is false: a stone in atari": (
        """
        . X . X . X
        X X X X X X
        X O X O O O
        O . O O . O
        O O O . O O
        """,
        [(14, 16), (14, 13), (12, 13)],
        [(3, 3), (3, 3), (1, 1)],
    ),
    "open dame and two eyes each": (
        """
        . X . O .
        X X . O O
        . X . O .
        """,
        [(6, 6), (4, 4), (4, 4)],
        [(2, 2), (2, 2), (0, 0)],
    ),
    "open dame and one eye space of three points each": (
        """
        . X . O .
        . X . O .
        . X . O .
        """,
        [(6, 6), (3, 3), (3, 3)],
        [(3, 3), (3, 3), (1, 1)],
    ),
    "open dame and one eye space of two points each, which is not alive": (
        """
        . X . O .
        . X . O .
        """,
        [(4, 4), (2, 2), (2, 2)],
        [(2, 2), (0, 0), (0, 0)],
    ),
    "open dame and a bent eye space of three points": (
        """
        . . X . O .
        . X X . O .
        X X . . O .
        """,
        [(8, 6), (5, 3), (5, 3)],
        [(3, 3), (3, 3), (1, 1)],
    ),
    "no dame, and White's only eye leaves it in atari": (
        """
        . X . X O . O
        X X X X O O O
        """,
        [(8, 6), (8, 5), (6, 5)],
        [(2, 1), (2, 1), (0, -1)],
    ),
    "two groups against one": (
        """
        . X O . O X .
        X X O O O X X
        . X O . O X .
        """,
        [(12, 9), (12, 9), (8, 7)],
        [(4, 2), (4, 2), (0, 0)],
    ),
    "no group at all": (". . .\n. . .", [(0, 0)] * 3, [(0, 0)] * 3),
}


@pytest.mark.parametrize(("board", "area", "territory"), TAXES.values(), ids=TAXES)
def test_a_tax_takes_eyes_in_seki_and_two_points_of_each_living_group(
    board: str, area: list[tuple[int, int]], territory: list[tuple[int, int]]
) -> None:
    for scoring, points in (("AREA", area), ("TERRITORY", territory)):
        for tax, expected in zip(("NONE", "SEKI", "ALL"), points, strict=True):
            position = Position.from_diagram(board, rules=f"score{scoring}tax{tax}", komi=0)
            score = position.score()
            assert (score.black.total, score.white.total) == expected, (scoring, tax)


def test_the_taxed_eyes_of_a_seki_are_nobody_s_points() -> None:
    board, owners = pictures("""
        . X X O . O   X X X O O O
        X . X O O .   X X X O O O
        X X X O O O   X X X O O O
        O O O X X X   O O O X X X
        . O . X . X   . O . X . X
    """)
    score = Position.from_diagram(board, rules="scoreAREAtaxSEKI").score()
    assert write_diagram(score.owner) == owners
    untaxed = Position.from_diagram(board, rules="scoreAREAtaxNONE").score()
    assert write_diagram(untaxed.owner) == owners.replace(". O . X . X", "O O . X X X")


def test_the_group_tax_stands_in_the_tallies() -> None:
    score = Position.from_diagram(TAXES["two groups against one"][0], rules="stone-scoring").score()
    assert (score.black.tax, score.white.tax) == (4, 2)


# Territory, dead stones and prisoners

INVASION = """
    . X O . X
    X X O O .
    . X O . O
    X X O O .
    . X O . .
"""
BENT_FOUR = """
    . . . . . . .
    O O O . . . .
    X X O O O O .
    . X X X X O .
    O O O . X O .
"""


@pytest.mark.parametrize(
    ("board", "dead", "black", "white"),
    [
        (INVASION, [], (3, 0), (4, 0)),  # the stone lives: around it is nobody's land
        (INVASION, ["E5"], (3, 0), (7, 1)),
        (INVASION, ["E5", "B3"], (0, 0), (17, 8)),
        (INVASION, ["C1"], (3, 7), (0, 0)),  # E3 is another chain and stays
        (INVASION, ["C1", "E3"], (17, 8), (0, 0)),
        (BENT_FOUR, ["A3"], (0, 0), (23, 7)),
    ],
)
def test_dead_chains_are_prisoners_and_their_place_is_territory(
    board: str, dead: list[str], black: tuple[int, int], white: tuple[int, int]
) -> None:
    score = Position.from_diagram(board, rules="japanese", komi=0).score(dead)
    for tally, expected in ((score.black, black), (score.white, white)):
        assert (tally.territory, tally.prisoners) == expected
        assert tally.stones == 0


def test_any_stones_of_a_dead_chain_name_it_whole() -> None:
    position = Position.from_diagram(INVASION, rules="japanese")
    one, all_of_it = position.score(["B1"]), position.score(["B1", "B2", "A2", "B5"])
    assert (one.white, one.black) == (all_of_it.white, all_of_it.black)
    assert one.white.prisoners == 7


def test_under_area_scoring_dead_stones_only_leave_the_board() -> None:
    position = Position.from_diagram(INVASION, rules="chinese", komi=0)
    assert position.score().margin == (7 + 1 + 3) - (8 + 4)
    assert position.score(["E5"]).margin == (7 + 3) - (8 + 7)
    assert position.score(["E5"]).white.prisoners == 0


def test_captured_stones_count_under_territory_scoring_alone() -> None:
    board = """
        O X . O .
        . X . O .
        . X . O .
    """
    ended = Position.from_diagram(board, rules="japanese", komi=0).play_all("A2 pass pass")
    score = ended.score()
    assert (score.black.territory, score.black.prisoners) == (2, 1)
    assert (score.white.territory, score.white.prisoners) == (3, 0)
    assert ended.outcome() == Outcome(None, 0.0, Reason.SCORE)
    area = Position.from_diagram(board, rules="chinese", komi=0).play_all("A2 pass pass").score()
    assert (area.black.total, area.white.total) == (6, 6)


@pytest.mark.parametrize(("point", "message"), [("C3", "no dead stone at C3"), ("F1", "off the")])
def test_a_dead_stone_that_is_not_there_is_refused(point: str, message: str) -> None:
    position = Position(5).play_all("A1 B2 pass pass")
    with pytest.raises(ValueError, match=message):
        position.score([point])
    with pytest.raises(ValueError, match=message):
        position.outcome(["A1", point])


# Compensation


@pytest.mark.parametrize(("komi", "text"), [(7.5, "W+7.5"), (0, "0"), (-3, "B+3"), (0.5, "W+0.5")])
def test_komi_is_white_s(komi: float, text: str) -> None:
    score = Position(9, komi=komi).score()
    assert (score.black.compensation, score.white.compensation) == (0, komi)
    assert str(score) == text


@pytest.mark.parametrize(
    ("rules", "bonuses"),  # for no, one, two and four handicap stones
    [
        ("tromp-taylor", (0, 0, 0, 0)),
        ("japanese", (0, 0, 0, 0)),
        ("chinese", (0, 0, 2, 4)),
        ("aga", (0, 0, 1, 3)),
    ],
)
def test_white_gets_the_handicap_bonus_of_the_rules(rules: str, bonuses: tuple[int, ...]) -> None:
    stones = ["C3", "G7", "C7", "G3"]
    for count, bonus in zip((0, 1, 2, 4), bonuses, strict=True):
        position = Position(9, rules, komi=0.5).with_handicap(stones[:count]).play("E5")
        assert position.score().white.compensation == 0.5 + bonus


def test_a_problem_on_the_board_is_no_handicap_but_one_may_be_declared() -> None:
    problem = Position(9, "chinese", komi=0).set_up(black=["C3", "G7"], white=["E5"])
    assert problem.score().white.compensation == 0
    declared = problem.set_up(handicap=3)
    assert declared.score().white.compensation == 3


@pytest.mark.parametrize(
    ("moves", "black", "white"),
    [
        ("", 0.5, 7),  # untaken it goes to the side to play
        ("C3", 0, 7.5),
        ("pass", 0.5, 7),
        ("pass C3", 0.5, 7),
        ("C3 pass", 0, 7.5),
        ("C3 pass D4 pass pass", 0, 7.5),
    ],
)
def test_the_button_is_half_a_point(moves: str, black: float, white: float) -> None:
    score = Position(5, "aga-button").play_all(moves).score()
    assert (score.black.compensation, score.white.compensation) == (black, white)


# How games end


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(BLACK, 3.5, Reason.SCORE), "B+3.5"),
        (Outcome(WHITE, 12.0, Reason.SCORE), "W+12"),
        (Outcome(WHITE, 0.5, Reason.SCORE), "W+0.5"),
        (Outcome(BLACK, None, Reason.SCORE), "B+"),
        (Outcome(BLACK, None, Reason.RESIGNATION), "B+R"),
        (Outcome(WHITE, None, Reason.TIME), "W+T"),
        (Outcome(WHITE, None, Reason.FORFEIT), "W+F"),
        (Outcome(None, 0.0, Reason.SCORE), "0"),
        (Outcome(None, None, Reason.NO_RESULT), "Void"),
    ],
)
def test_an_outcome_is_written_and_read_as_sgf_has_it(outcome: Outcome, text: str) -> None:
    assert str(outcome) == text
    assert parse_outcome(text) == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (" b+2.5 ", Outcome(BLACK, 2.5, Reason.SCORE)),
        ("White + 2,5", Outcome(WHITE, 2.5, Reason.SCORE)),
        ("B+Resign", Outcome(BLACK, None, Reason.RESIGNATION)),
        ("w+resignation", Outcome(WHITE, None, Reason.RESIGNATION)),
        ("W+Time", Outcome(WHITE, None, Reason.TIME)),
        ("B+Forfeit", Outcome(BLACK, None, Reason.FORFEIT)),
        ("Draw", Outcome(None, 0.0, Reason.SCORE)),
        ("jigo", Outcome(None, 0.0, Reason.SCORE)),
        ("VOID", Outcome(None, None, Reason.NO_RESULT)),
        ("?", None),
        ("", None),
        ("B", None),
        ("3.5", None),
        ("X+3", None),
        ("B+x", None),
        ("B+3.5.1", None),
        ("B+-3", None),
        ("B+nan", None),
        ("B+inf", None),
        ("B+1e5", None),
    ],
)
def test_other_spellings_of_outcomes_are_read_or_refused(
    text: str, outcome: Outcome | None
) -> None:
    assert parse_outcome(text) == outcome


def test_a_game_counted_at_the_move_limit_says_so() -> None:
    position = Position(3, komi=0, move_limit=3).play_all("B2 pass")
    assert position.outcome() is None
    over = position.play("A1")
    assert over.is_over
    assert over.outcome() == Outcome(BLACK, 9.0, Reason.MOVE_LIMIT)
    assert str(over.outcome()) == "B+9"
    with pytest.raises(GameOverError):
        over.play("C3")


def test_passes_at_the_move_limit_end_the_game_as_passes_do() -> None:
    over = Position(3, komi=0, move_limit=3).play_all("B2 pass pass")
    assert over.outcome() == Outcome(BLACK, 9.0, Reason.SCORE)


def test_dead_stones_change_the_outcome() -> None:
    over = Position(5, komi=5).play_all("C3 A1 pass pass")
    assert over.outcome() == Outcome(WHITE, 5.0, Reason.SCORE)  # one stone each, the rest nobody's
    assert over.outcome(["A1"]) == Outcome(BLACK, 20.0, Reason.SCORE)


def test_whoever_resigns_loses_whatever_the_count() -> None:
    position = Position(5, komi=0).play("C3")
    assert position.outcome() is None
    assert position.resign("black").outcome() == Outcome(WHITE, None, Reason.RESIGNATION)


def test_stones_in_a_pass_alive_area_are_dead_unless_every_stone_counts() -> None:
    """KataGo's final_score says W+0.5: each side has ten points."""
    board = """
        O . O . O
        O O O O O
        . . . . .
        X X X X X
        . . X O .
    """
    position = Position.from_diagram(board, komi=0.5)
    assert str(position.score()) == "W+0.5"
    assert position.score().owner[4].tolist() == [BLACK] * 5
    assert position.score().black == Tally(6, 4, 0, 0, 0.0)
    strict = Position.from_diagram(board, Color.BLACK, Rules(settled=False), 0.5)
    assert str(strict.score()) == "W+3.5"
    assert strict.rules.name == "tromp-taylor"
    assert str(strict.play_all("pass pass").outcome()) == "W+3.5"
