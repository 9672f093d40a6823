"""KataGo's values for the whole board: what each says follows from the rules, found by hand."""

from __future__ import annotations

import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, Tax
from tests.features.samples import encoded, marked, random_positions

pytestmark = pytest.mark.kernel

# Black A3, White C3 takes two stones, Black B3 takes one and brings the picture back.
TWO_FOR_ONE = """
    . X . X
    O O X X
    . . . .
"""
# Each side may give up two stones in the other's eye, and the picture comes back.
TWO_EYES = """
    . . O X . .
    O O O X X X
    . . . . . .
"""


def seen(position: Position) -> dict[str, float]:
    """The values that are not zero."""
    values = encoded(KATAGO, position).globals
    return {name: float(v) for name, v in zip(KATAGO.globals, values, strict=True) if v != 0}


def value(position: Position, name: str) -> float:
    return float(encoded(KATAGO, position).globals[KATAGO.globals.index(name)])


def shown_passes(position: Position) -> list[int]:
    """Which of the last five moves were passes, in turns ago."""
    return [turn for turn in range(1, 6) if value(position, f"pass {turn} turns ago")]


def test_names_stand_where_katago_has_the_values() -> None:
    assert [KATAGO.globals.index(f"pass {turn} turns ago") for turn in range(1, 6)] == [*range(5)]
    names = ["own komi", "superko", "suicide", "territory scoring", "tax in seki", "tax on groups"]
    assert [KATAGO.globals.index(name) for name in names] == [5, 6, 8, 9, 10, 11]
    names = ["a pass would end the game", "button", "parity of komi"]
    assert [KATAGO.globals.index(name) for name in names] == [14, 17, 18]


# All values at once. On 5x5 komi 7.5 is -7.5 to Black, 1.5 above the drawable -9: wave -0.5.

WHOLE: dict[str, dict[str, float]] = {
    "tromp-taylor": {"superko": 1, "positional or situational": 0.5, "suicide": 1},
    "chinese": {},
    "chinese-ogs": {"superko": 1, "positional or situational": 0.5},
    "aga": {"superko": 1, "positional or situational": -0.5},
    "stone-scoring": {"tax in seki": 1, "tax on groups": 1},
    "japanese": {"territory scoring": 1, "tax in seki": 1},
    "ancient-territory": {"territory scoring": 1, "tax in seki": 1, "tax on groups": 1},
}


@pytest.mark.parametrize("rules", WHOLE)
def test_rules_before_the_first_move(rules: str) -> None:
    expected = {**WHOLE[rules], "own komi": -0.375, "parity of komi": -0.5}
    if "territory scoring" in expected:
        del expected["parity of komi"]
    assert seen(Position(5, rules, 7.5)) == pytest.approx(expected)


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("tax", Tax)
@pytest.mark.parametrize("ko", KoRule)
def test_each_rule_has_its_own_values(ko: KoRule, tax: Tax, suicide: bool) -> None:
    position = Position(5, Rules(ko, tax=tax, suicide=suicide), 7)
    kinds = {KoRule.SIMPLE: 0, KoRule.POSITIONAL: 0.5, KoRule.SITUATIONAL: -0.5}
    assert value(position, "superko") == (ko is not KoRule.SIMPLE)
    assert value(position, "positional or situational") == kinds[ko]
    assert value(position, "tax in seki") == (tax is not Tax.NONE)
    assert value(position, "tax on groups") == (tax is Tax.ALL)
    assert value(position, "suicide") == suicide


def test_values_of_phases_and_handicaps_stay_zero_without_them() -> None:
    never = ["clean-up", "second clean-up", "unequal playouts", "advantage in playouts"]
    assert [KATAGO.globals.index(name) for name in never] == [12, 13, 15, 16]
    for position in random_positions(9, 30):
        assert not any(value(position, name) for name in never)


# Passes


def test_passes_among_the_last_five_moves_are_shown() -> None:
    position = Position(5).play_all("pass A1 pass B2 C3 pass D4")
    assert shown_passes(position) == [2, 5]
    assert shown_passes(position.play("E5")) == [3]
    assert shown_passes(position.play("pass")) == [1, 3]


def test_passes_before_a_move_out_of_turn_are_not_shown() -> None:
    position = Position(5).play("pass").play("A1").play("B2", "white").play("C3")
    assert shown_passes(position) == []


@pytest.mark.parametrize(
    ("rules", "hidden"),
    [
        ("tromp-taylor", False),
        ("chinese", True),
        ("stone-scoring", True),
        ("japanese", False),
        (Rules(scoring=Scoring.TERRITORY, friendly_pass=True), False),
    ],
)
def test_friendly_rules_hide_that_a_second_pass_ends_the_game(
    rules: str | Rules, hidden: bool
) -> None:
    position = Position(5, rules).play_all("A1 B2")
    assert value(position, "a pass would end the game") == 0
    passed = position.play("pass")
    assert value(passed, "a pass would end the game") == (not hidden)
    assert shown_passes(passed) == ([] if hidden else [1])
    assert value(passed.play("C3"), "a pass would end the game") == 0
    assert shown_passes(passed.play("C3")) == [2]


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "japanese"])
def test_after_the_end_one_pass_is_shown(rules: str) -> None:
    over = Position(5, rules).play_all("A1 B2 pass pass")
    assert shown_passes(over) == [1]
    assert value(over, "a pass would end the game") == 1


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_under_simple_ko_passing_again_in_the_same_position_ends_the_game(rules: str) -> None:
    position = Position.from_diagram(TWO_FOR_ONE, "white", rules).play_all("pass A3 C3 B3")
    assert value(position, "a pass would end the game") == 1
    assert shown_passes(position) == [4]
    assert position.play("pass").is_over


def test_friendly_rules_do_not_hide_the_end_by_passing_again_in_the_same_position() -> None:
    rules = Rules(KoRule.SIMPLE, suicide=True, friendly_pass=True)
    start = Position.from_diagram(TWO_EYES, "white", rules)
    position = start.play_all("pass A3 F3 B3 E3")
    assert position.stones_hash == start.stones_hash
    # Black has not passed here, White has.
    assert value(position, "a pass would end the game") == 0
    passed = position.play("pass")
    assert value(passed, "a pass would end the game") == 1
    assert shown_passes(passed) == [1]
    assert marked(KATAGO, passed, "move 2 turns ago") == {"E3"}


# Komi


@pytest.mark.parametrize("komi", [7.5, 0, -3, 6])
def test_komi_is_seen_from_the_side_to_play(komi: float) -> None:
    position = Position(9, komi=komi)
    assert value(position, "own komi") == pytest.approx(-komi / 20)
    assert value(position.play("E5"), "own komi") == pytest.approx(komi / 20)


@pytest.mark.parametrize(
    ("rules", "points"), [("chinese", 3), ("aga", 2), ("tromp-taylor", 0), ("new-zealand", 0)]
)
def test_white_s_bonus_for_handicap_stones_is_komi(rules: str, points: int) -> None:
    position = Position(9, rules, 0.5).with_handicap(3)
    assert value(position, "own komi") == pytest.approx((0.5 + points) / 20)
    assert value(position.play("E5"), "own komi") == pytest.approx(-(0.5 + points) / 20)


def test_komi_beyond_the_board_is_clipped() -> None:
    # 3x3: at most 9 + 20 points. 29 can be drawn on an odd board, so the wave is 0.
    for komi in (29, 29.5, 149.5, 150):
        position = Position(3, komi=komi)
        assert value(position, "own komi") == pytest.approx(-1.45)
        assert value(position.play("B2"), "own komi") == pytest.approx(1.45)
        assert value(position, "parity of komi") == 0
    assert value(Position(3, komi=28.5), "own komi") == pytest.approx(-28.5 / 20)


@pytest.mark.parametrize(
    ("moves", "points"),
    [
        ("", -6.5),
        ("C3", 7.5),  # Black's stone counts in area, not in territory: White is given a point
        ("C3 D4", -6.5),
        ("C3 pass", -7.5),
        ("C3 pass E5", 8.5),
        ("A4 A5 B5", 7.5),  # White's stone was taken: two stones against one were played
        ("A4 A5 B5 D2", -6.5),
    ],
)
def test_territory_scoring_gives_back_the_stones_played(moves: str, points: float) -> None:
    position = Position(5, "japanese", 6.5).play_all(moves)
    assert value(position, "own komi") == pytest.approx(points / 20)


def test_territory_scoring_gives_back_stones_put_down_and_prisoners() -> None:
    position = Position.from_diagram("X X X\n. . .\nO . .", "white", "japanese", 6.5)
    assert value(position, "own komi") == pytest.approx((6.5 + 3 - 1) / 20)
    # The stone taken before counts on: three black stones and two white ones were played.
    taken = (
        Position(5, "japanese", 6.5).play_all("A4 A5 B5").set_up(["D2"], ["E5"], to_play="white")
    )
    assert taken.captured("white") == 1
    assert value(taken, "own komi") == pytest.approx((6.5 + 3 - 2) / 20)


def test_area_scoring_gives_nothing_back() -> None:
    assert value(Position(5, "chinese", 6.5).play("C3"), "own komi") == pytest.approx(6.5 / 20)


# Button


def test_the_button_is_shown_until_a_pass_takes_it() -> None:
    start = Position(5, "aga-button", 7)
    assert value(start, "button") == 1
    assert value(start, "own komi") == pytest.approx(-0.35)
    assert value(start, "a pass would end the game") == 0
    played = start.play("A1")
    assert value(played, "button") == 1
    assert value(played, "own komi") == pytest.approx(0.35)


def test_who_took_the_button_has_half_a_point() -> None:
    start = Position(5, "aga-button", 7)
    by_black = start.play("pass")
    assert value(by_black, "button") == 0
    assert value(by_black, "own komi") == pytest.approx(6.5 / 20)
    assert value(by_black, "parity of komi") == pytest.approx(-0.5)  # 1.5 above the drawable 5
    by_white = start.play_all("A1 pass")
    assert value(by_white, "own komi") == pytest.approx(-7.5 / 20)
    assert value(by_white, "parity of komi") == pytest.approx(-0.5)  # 1.5 above the drawable -9


def test_taking_the_button_does_not_count_as_a_pass_before_the_end() -> None:
    taken = Position(5, "aga-button", 7).play("pass")
    assert shown_passes(taken) == [1]
    assert value(taken, "a pass would end the game") == 0
    again = taken.play_all("A1 pass")
    assert again.passes == 1
    assert shown_passes(again) == []  # AGA's rules are friendly: hidden
    assert value(again, "a pass would end the game") == 0
    unfriendly = Rules(KoRule.SITUATIONAL, suicide=False, button=True)
    shown = Position(5, unfriendly, 7).play_all("pass A1 pass")
    assert shown_passes(shown) == [1, 3]
    assert value(shown, "a pass would end the game") == 1


# Parity of komi: 0 where a draw is possible, half way up or down at half points

WAVES = [
    # board, komi, wave for Black, wave for White
    (5, 7.0, 0, 0),
    (5, 7.5, -0.5, 0.5),  # -7.5 is 1.5 above -9; 7.5 is 0.5 above 7
    (5, 8.0, 0, 0),  # 1 above a drawable komi, where the wave comes down
    (5, 8.5, 0.5, -0.5),
    (5, 0.5, 0.5, -0.5),  # -0.5 is 0.5 above -1; 0.5 is 1.5 above -1
    (5, 0.0, 0, 0),
    (4, 7.0, 0, 0),
    (4, 7.5, 0.5, -0.5),  # -7.5 is 0.5 above -8; 7.5 is 1.5 above 6
    (4, 8.0, 0, 0),
    (4, 6.5, -0.5, 0.5),
    (4, 0.5, -0.5, 0.5),
    ((3, 4), 6.5, -0.5, 0.5),
    ((3, 5), 6.5, 0.5, -0.5),
]


@pytest.mark.parametrize(("size", "komi", "black", "white"), WAVES)
def test_the_wave_of_komi_follows_the_parity_of_the_board(
    size: int | tuple[int, int], komi: float, black: float, white: float
) -> None:
    position = Position(size, komi=komi)
    assert value(position, "parity of komi") == pytest.approx(black)
    assert value(position.play("A1"), "parity of komi") == pytest.approx(white)


def test_territory_scoring_has_no_wave() -> None:
    position = Position(5, "japanese", 6.5)
    assert value(position, "parity of komi") == 0
    assert value(position.play("C3"), "parity of komi") == 0
