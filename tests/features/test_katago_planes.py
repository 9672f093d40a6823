"""KataGo's planes on pictures: what each marks follows from the rules, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO, KATAGO_WITH_SUICIDE_AREAS
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.rules import Rules, Scoring, Tax, parse_rules
from tests.features.samples import encoded, marked, random_positions

pytestmark = pytest.mark.kernel

HISTORY = [f"move {turn} turns ago" for turn in range(1, 6)]
LADDERS = ["caught in a ladder", *(f"caught in a ladder {n} ago" for n in ("1 turn", "2 turns"))]


def see(position: Position, plane: str) -> set[str]:
    return marked(KATAGO, position, plane)


def history(position: Position) -> list[set[str]]:
    """Where the last five moves were played, as the planes show it."""
    return [see(position, plane) for plane in HISTORY]


# Stones and liberties

LIBERTIES = """
    X O . . .
    . . . . .
    . . O . X
    X X . . .
    . . . . .
"""


def test_the_board_is_marked() -> None:
    assert see(Position((3, 2)), "on board") == {"A1", "B1", "C1", "A2", "B2", "C2"}


@pytest.mark.parametrize("to_play", Color)
def test_stones_are_seen_from_the_side_to_play(to_play: Color) -> None:
    position = Position.from_diagram(LIBERTIES, to_play)
    black, white = {"A5", "E3", "A2", "B2"}, {"B5", "C3"}
    own, opponent_s = (black, white) if to_play is Color.BLACK else (white, black)
    assert see(position, "own stone") == own
    assert see(position, "opponent's stone") == opponent_s


def test_chains_of_up_to_three_liberties_are_told_apart() -> None:
    position = Position.from_diagram(LIBERTIES)
    assert see(position, "chain has 1 liberty") == {"A5"}
    assert see(position, "chain has 2 liberties") == {"B5"}
    assert see(position, "chain has 3 liberties") == {"E3"}


# Ko

KO = """
    . X O . .
    X O . O .
    . X O . .
"""
# Black A3, White C3 takes two stones, Black B3 would take one and bring the picture back.
TWO_FOR_ONE = """
    . X . X
    O O X X
    . . . .
"""
# Black A3 and B3 would be suicide of two stones, which brings the picture back.
TWO_POINT_EYE = """
    . . O .
    O O O .
    . . . .
"""


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor", "aga"])
def test_a_ko_just_taken_is_banned_for_one_turn(rules: str) -> None:
    taken = Position.from_diagram(KO, rules=rules).play("C2")
    assert see(taken, "ko or superko ban") == {"B2"}
    assert see(taken.play_all("E3 E1"), "ko or superko ban") == set()


@pytest.mark.parametrize(
    ("rules", "to_play", "moves", "banned"),
    [
        ("tromp-taylor", "black", "A3 C3", {"B3"}),
        ("aga", "black", "A3 C3", set()),  # the picture has not stood with White to play
        ("aga", "white", "pass A3 C3", {"B3"}),  # here it has
        ("chinese", "black", "A3 C3", set()),
    ],
)
def test_a_superko_ban_is_marked(rules: str, to_play: str, moves: str, banned: set[str]) -> None:
    position = Position.from_diagram(TWO_FOR_ONE, to_play, rules).play_all(moves)
    assert position.ko is None
    assert see(position, "ko or superko ban") == banned


@pytest.mark.parametrize(
    ("rules", "banned"),
    [
        ("tromp-taylor", {"B3"}),
        ("new-zealand", set()),  # situational: the picture stood with Black to play
        ("chinese-ogs", set()),  # forbidden as suicide already, which this plane does not show
    ],
)
def test_a_repetition_by_suicide_is_marked_where_suicide_is_legal(
    rules: str, banned: set[str]
) -> None:
    position = Position.from_diagram(TWO_POINT_EYE, rules=rules).play_all("A3 pass")
    assert see(position, "ko or superko ban") == banned


def test_nothing_is_banned_at_the_start() -> None:
    assert see(Position.from_diagram(KO, "white"), "ko or superko ban") == set()


# History


def test_the_last_five_moves_are_marked() -> None:
    position = Position(5).play_all("A1 B2 pass D4 E5 C3")
    assert history(position) == [{"C3"}, {"E5"}, {"D4"}, set(), {"B2"}]


def test_a_captured_stone_was_played_all_the_same() -> None:
    position = Position(5).play_all("A4 A5 B5")
    assert history(position) == [{"B5"}, {"A5"}, {"A4"}, set(), set()]


def test_history_stops_where_a_side_moved_twice() -> None:
    position = Position(5).play("A1").play("B2").play("C3").play("D4", "black").play("E5")
    assert history(position) == [{"E5"}, {"D4"}, set(), set(), set()]


def test_history_starts_where_stones_were_put_down() -> None:
    position = Position(5).play_all("A1 B2").set_up(black=["C3"], to_play="white").play("D4")
    assert history(position) == [{"D4"}, set(), set(), set(), set()]


def test_under_friendly_rules_history_is_hidden_while_a_pass_would_end_the_game() -> None:
    passed = Position(5, "chinese").play_all("A1 B2 pass")
    assert history(passed) == [set()] * 5
    assert history(passed.play("C3")) == [{"C3"}, set(), {"B2"}, {"A1"}, set()]


FRIENDLY_TERRITORY = Rules(scoring=Scoring.TERRITORY, friendly_pass=True)


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese", FRIENDLY_TERRITORY])
def test_elsewhere_history_is_shown_after_a_pass(rules: str | Rules) -> None:
    passed = Position(5, rules).play_all("A1 B2 pass")
    assert history(passed) == [set(), {"B2"}, {"A1"}, set(), set()]


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "japanese"])
def test_after_the_end_one_move_is_shown(rules: str) -> None:
    over = Position(5, rules).play_all("A1 B2 pass pass")
    assert over.is_over
    assert history(over) == [set()] * 5


def test_a_resumed_game_shows_nothing_from_before_the_pass_that_ended_it() -> None:
    """Witness: KataGo's evaluations of such games, in tests/frontends/gtp/test_with_network.py."""
    over = Position(5, "tromp-taylor").play_all("B2 pass pass")
    resumed = over.play("D4", strict=False)
    assert history(resumed) == [{"D4"}, set(), set(), set(), set()]
    assert encoded(KATAGO, resumed).globals[:5].tolist() == [0, 1, 0, 0, 0]
    later = resumed.play("C3")
    assert history(later) == [{"C3"}, {"D4"}, set(), set(), set()]
    assert encoded(KATAGO, later).globals[:5].tolist() == [0, 0, 1, 0, 0]


def test_a_pass_that_takes_the_button_ends_nothing() -> None:
    position = Position(5, "aga-button").play_all("B2 pass pass D4")
    assert history(position) == [{"D4"}, set(), set(), {"B2"}, set()]
    assert encoded(KATAGO, position).globals[:5].tolist() == [0, 1, 1, 0, 0]


def test_after_an_end_by_repetition_one_move_is_shown() -> None:
    position = Position.from_diagram(TWO_FOR_ONE, "white", "chinese")
    for repetition in (False, True):
        for color, move in [("black", "A3"), ("white", "C3"), ("black", "B3")]:
            position = position.play(move, color)
        assert position.is_over == repetition
    assert history(position) == [{"B3"}, set(), set(), set(), set()]


# Ladders

LADDER = """
    . . . . . . .
    . . X . . . .
    . X O . . . .
    . X . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""


def ladders(position: Position) -> list[set[str]]:
    """The stones caught now, one turn ago and two turns ago."""
    return [see(position, plane) for plane in LADDERS]


def test_a_catching_move_is_marked_for_the_attacker_alone() -> None:
    attack, defence = (Position.from_diagram(LADDER, color) for color in Color)
    assert ladders(attack)[0] == ladders(defence)[0] == {"C5"}
    assert see(attack, "catches in a ladder") == {"D5"}
    assert see(defence, "catches in a ladder") == set()
    swapped = Position.from_diagram(LADDER.translate(str.maketrans("XO", "OX")), "white")
    assert see(swapped, "catches in a ladder") == {"D5"}


def test_a_stone_in_atari_is_caught_without_a_catching_move() -> None:
    position = Position.from_diagram(LADDER).play_all("D5 G6")
    assert ladders(position)[0] == {"C5"}
    assert see(position, "catches in a ladder") == set()


def test_ladders_are_remembered_for_two_turns() -> None:
    broken = Position.from_diagram(LADDER).play_all("A2 F2")  # White's stone stands in the way
    assert ladders(broken) == [set(), {"C5"}, {"C5"}]
    assert ladders(broken.play("A6")) == [set(), set(), {"C5"}]
    assert ladders(broken.play_all("A6 G6")) == [set(), set(), set()]


def test_turns_out_of_sight_show_the_oldest_board_in_sight() -> None:
    caught = Position.from_diagram(LADDER)
    assert ladders(caught) == [{"C5"}, {"C5"}, {"C5"}]
    # White moved twice: in sight is one move, before which F2 stood already.
    assert ladders(caught.play("F2", "white").play("G6", "white")) == [set(), set(), set()]
    # Black moved twice before F2: in sight are two moves.
    twice = caught.play("A2").play("A6", "black").play("F2")
    assert ladders(twice) == [set(), {"C5"}, {"C5"}]


def test_hidden_history_hides_earlier_ladders() -> None:
    after_pass = "A2 F2 pass"
    shown = Position.from_diagram(LADDER, rules="tromp-taylor").play_all(after_pass)
    assert ladders(shown) == [set(), set(), {"C5"}]
    hidden = Position.from_diagram(LADDER, rules="chinese").play_all(after_pass)
    assert ladders(hidden) == [set(), set(), set()]


def test_resigning_does_not_shift_the_ladders_in_time() -> None:
    position = Position.from_diagram(LADDER).play_all("A2 F2")
    assert ladders(position.resign()) == ladders(position)


# Area

# White's B4 is dead in a pass-alive chain's eye; between it and F2 the rest is open.
DEAD_STONE = """
    . O X . X .
    X X X X X .
    . . . . . O
    . . . . . .
"""
NO_DAME = """
    . X . X O . O .
    X X X X O O O O
"""
TAXES = [Tax.SEKI, Tax.ALL]
BLACK_STONES = {"C4", "E4", "A3", "B3", "C3", "D3", "E3"}


def area(position: Position) -> tuple[set[str], set[str]]:
    return see(position, "own area"), see(position, "opponent's area")


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese"])
def test_area_without_tax_is_stones_and_territory_with_dead_stones_given_away(rules: str) -> None:
    black = BLACK_STONES | {"A4", "B4", "D4"}
    assert area(Position.from_diagram(DEAD_STONE, "black", rules)) == (black, {"F2"})
    assert area(Position.from_diagram(DEAD_STONE, "white", rules)) == ({"F2"}, black)


@pytest.mark.parametrize("tax", TAXES)
def test_with_tax_a_group_that_has_dame_keeps_only_its_stones(tax: Tax) -> None:
    position = Position.from_diagram(DEAD_STONE, rules=Rules(tax=tax))
    assert area(position) == (BLACK_STONES, {"F2"})


@pytest.mark.parametrize("tax", [Tax.NONE, *TAXES])
def test_with_tax_a_group_without_dame_keeps_its_territory(tax: Tax) -> None:
    position = Position.from_diagram(NO_DAME, rules=Rules(tax=tax))
    rows = {x: {f"{x}1", f"{x}2"} for x in "ABCDEFGH"}
    black, white = (set().union(*(rows[x] for x in side)) for side in ("ABCD", "EFGH"))
    assert area(position) == (black, white)


@pytest.mark.parametrize("tax", [Tax.NONE, *TAXES])
def test_with_tax_a_group_in_atari_keeps_only_its_stones(tax: Tax) -> None:
    position = Position.from_diagram(
        """
            . X . X
            X X X X
            O O O O
            . O O O
        """,
        rules=Rules(tax=tax),
    )
    upper, lower = ({f"{x}{y}" for x in "ABCD" for y in rows} for rows in ("34", "12"))
    assert area(position) == (upper, lower if tax is Tax.NONE else lower - {"A1"})


@pytest.mark.parametrize("rules", ["japanese", "ancient-territory", FRIENDLY_TERRITORY])
@pytest.mark.parametrize("board", [DEAD_STONE, NO_DAME])
def test_territory_scoring_shows_no_area(rules: str | Rules, board: str) -> None:
    assert area(Position.from_diagram(board, rules=parse_rules(rules))) == (set(), set())


def test_an_empty_board_is_nobody_s() -> None:
    assert area(Position(5)) == (set(), set())
    assert len(area(Position(5).play("C3"))[1]) == 25


# Clean-up phases: see test_katago_clean_up.py


def test_planes_of_phases_stay_empty_where_players_agree() -> None:
    names = ["ko recapture block", "unused", *(n for n in KATAGO.planes if "clean-up" in n)]
    assert [KATAGO.planes.index(name) for name in names] == [7, 8, 20, 21]
    for position in random_positions(8, 30):
        assert not np.any(encoded(KATAGO, position).planes[[7, 8, 20, 21]])


# Areas as if suicide were legal

# A2 touches no black stone, so the corner is an eye of Black's only where White may not remove its
# own stones by suicide.
CORNER = """
    . . . X
    X X . .
    O X X X
    O O X .
    . X . X
"""


@pytest.mark.parametrize("suicide", [False, True])
def test_areas_can_be_those_under_suicide(suicide: bool) -> None:
    rules = replace(parse_rules("chinese"), suicide=suicide)
    position = Position.from_diagram(CORNER, rules=rules)
    assert marked(KATAGO_WITH_SUICIDE_AREAS, position, "opponent's area") == {"A2", "A3", "B2"}
    assert see(position, "opponent's area") == ({"A2", "A3", "B2"} if suicide else set())


def test_nothing_but_areas_changes_with_them() -> None:
    areas = [KATAGO.planes.index(f"{owner} area") for owner in ("own", "opponent's")]
    rest = [k for k in range(len(KATAGO.planes)) if k not in areas]
    for position in random_positions(21, 60):
        seen, usual = encoded(KATAGO_WITH_SUICIDE_AREAS, position), encoded(KATAGO, position)
        np.testing.assert_array_equal(seen.planes[rest], usual.planes[rest])
        np.testing.assert_array_equal(seen.globals, usual.globals)
        if position.rules.suicide:
            np.testing.assert_array_equal(seen.planes, usual.planes)
