"""The settings of self-play: board sizes, and how games are divided among them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tengen.config import load_sections, parse_settings, write_sections
from tengen.game.geometry import Size
from tengen.game.rules import KoRule, Scoring, Tax, parse_rules
from tengen.selfplay.params import SelfPlayParams, fair_komi

SECTIONS = {"selfplay": SelfPlayParams}


@pytest.mark.parametrize("text", ['[9, "9x13", 19]', "[9,9x13,19]", "[9, 9x13 , 19x19]"])
def test_rectangles_are_named_by_their_sides(text: str, tmp_path: Path) -> None:
    changed = parse_settings([f"selfplay.board_sizes={text}"], SECTIONS)["selfplay"]
    params = SelfPlayParams(**changed)
    assert params.sizes == (Size(9, 9), Size(9, 13), Size(19, 19))
    assert (params.largest_side, params.largest_size) == (19, Size(19, 19))
    file = tmp_path / "config.toml"
    file.write_text(write_sections({"selfplay": params}))
    assert load_sections(file, SECTIONS)["selfplay"] == params


@pytest.mark.parametrize(
    ("sizes", "complaint"),
    [
        ((), "board_sizes must name at least one"),
        ((20,), "board_sizes: sides of boards must be from 2 to 19, not 20"),
        (("1x9",), "from 2 to 19, not '1x9'"),
        (("9x",), "a number or a text such as \"9x13\", not '9x'"),
        (("9x13x9",), "not '9x13x9'"),
        ((9, "9x9"), "must name each size once, not 9x9 twice"),
        ((-9,), "board_sizes must be 0 or more"),
    ],
)
def test_what_is_no_board_size_is_refused(sizes: tuple[int | str, ...], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        SelfPlayParams(board_sizes=sizes)


def test_sizes_in_settings_are_numbers_or_texts() -> None:
    with pytest.raises(ValueError, match=r"must be a list of whole numbers or texts, not \[9\.5\]"):
        parse_settings(["selfplay.board_sizes=[9.5]"], SECTIONS)


def test_komi_belongs_to_its_size() -> None:
    params, rules = SelfPlayParams(board_sizes=(5, "5x9")), parse_rules("tromp-taylor")
    assert [params.mean_komi(size, rules) for size in params.sizes] == [25, 7]
    params = replace(params, komi=(1.0, 2.0))
    assert [params.mean_komi(size, rules) for size in params.sizes] == [1, 2]
    assert fair_komi(Size(2, 3), rules) == 6  # nobody can own more


def test_even_komi_belongs_to_the_scoring() -> None:
    """Black owns all of 5x5 with one stone in the middle: 25 points of area, 24 of territory."""
    territory, area = parse_rules("japanese"), parse_rules("chinese")
    assert (fair_komi(Size(5, 5), area), fair_komi(Size(5, 5), territory)) == (25, 24)
    assert (fair_komi(Size(9, 9), area), fair_komi(Size(9, 9), territory)) == (7, 6)
    assert fair_komi(Size(6, 6), area) == fair_komi(Size(6, 6), territory)
    params = SelfPlayParams(board_sizes=(9,), komi=(6.5,))
    assert params.mean_komi(Size(9, 9), territory) == 6.5  # as asked for


def test_longest_games_follow_the_area_and_the_phases() -> None:
    params = SelfPlayParams(board_sizes=(9, "9x13"), move_limit=2.0, handicap_stones=3)
    assert [params.most_turns(size) for size in params.sizes] == [162 + 4, 234 + 4]
    params = replace(params, rules=("chinese", "japanese"), clean_up_limit=0.5)
    assert params.most_turns(Size(9, 9)) == 202 + 4


def test_rules_are_named_or_noted_as_katago_does() -> None:
    params = SelfPlayParams(rules=("Japanese", "koSITUATIONALscoreAREAtaxALLsui1button1", "jp"))
    first, second, third = params.drawn_rules
    assert first == third
    assert (first.name, first.played_out, first.friendly_pass) == ("japanese", True, False)
    assert (second.ko, second.scoring, second.tax) == (
        KoRule.SITUATIONAL,
        Scoring.AREA,
        Tax.ALL,
    )
    assert (second.suicide, second.button) == (True, True)
    with pytest.raises(ValueError, match="rules: unknown rules 'nobody'; known are"):
        SelfPlayParams(rules=("chinese", "nobody"))


def test_random_rules_draw_each_part_as_katago_does() -> None:
    rules = SelfPlayParams(rules=("random",)).drawn_rules
    assert len(set(rules)) == 3 * (3 * 2 * 2 + 3 * 2)  # ko; tax, suicide, button; without button
    parts: dict[str, dict[object, float]] = {
        "ko": dict.fromkeys(KoRule, 1 / 3),
        "scoring": dict.fromkeys(Scoring, 1 / 2),
        "tax": {Tax.NONE: 0.4, Tax.SEKI: 0.4, Tax.ALL: 0.2},
        "suicide": {False: 0.5, True: 0.5},
    }
    for part, shares in parts.items():
        found = [getattr(each, part) for each in rules]
        assert {value: found.count(value) / len(rules) for value in shares} == pytest.approx(shares)
    area = [each for each in rules if each.scoring is Scoring.AREA]
    assert sum(each.button for each in area) == len(area) / 3
    assert not any(each.button for each in rules if each.scoring is Scoring.TERRITORY)
    mixed = SelfPlayParams(rules=("random", "stone-scoring")).drawn_rules
    assert len(mixed) == 2 * len(rules)  # each name equally often
    assert mixed[len(rules) :] == len(rules) * mixed[-1:]


@pytest.mark.parametrize("games", [2, 7, 16, 64, 1000, 8192, 8198])
@pytest.mark.parametrize(
    ("sizes", "weights"),
    [((9,), ()), ((9, 13, 19), ()), ((9, 13, 19), (1, 0.001, 3)), ((7, "9x13", 19), (1, 0, 1))],
)
def test_games_are_divided_by_weight_and_area(
    sizes: tuple[int | str, ...], weights: tuple[float, ...], games: int
) -> None:
    params = SelfPlayParams(board_sizes=sizes, size_weights=weights)
    halves = params.halves(games)
    played = [size for size, w in zip(params.sizes, weights or (1,) * len(sizes), strict=True) if w]
    assert [half.size for half in halves] == 2 * played
    first, second = halves[: len(played)], halves[len(played) :]
    assert first == second
    rows = sum(half.rows for half in first)
    assert rows == max(games // 2, len(played))
    assert min(half.rows for half in first) >= 1
    assert params.halves(2 * rows) == halves  # as a resumed run divides them
    if games >= 1000:
        in_all = sum(w * size.area for size, w in params.played_sizes.items())
        for size, count in first:
            wanted = params.played_sizes[size] * size.area / in_all * rows
            assert abs(count - wanted) <= 16
    if games == 8192:
        assert all(half.rows % 8 == 0 for half in halves)


def test_larger_boards_are_expected_to_make_more_rows() -> None:
    games = SelfPlayParams(board_sizes=(9, 13, 19), size_weights=(2, 1, 0))
    assert games.expected_rows == {Size(9, 9): 162, Size(13, 13): 169}
