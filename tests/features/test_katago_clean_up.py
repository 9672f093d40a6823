"""KataGo's inputs in the clean-up phases, beside the slow reference of these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.game.rules import KoRule, Tax, parse_rules
from tests.features.samples import WITHOUT_COMPILER, encoded, marked
from tests.game.ko_fights import ko_fight
from tests.game.reference import PlayedOutGame, Points

pytestmark = pytest.mark.kernel
JAPANESE = replace(parse_rules("japanese"), played_out=True)


def value(position: Position, name: str) -> float:
    return float(encoded(KATAGO, position).globals[KATAGO.globals.index(name)])


def of(points: dict[tuple[int, int], int], color: int) -> Points:
    return frozenset(point for point in points if points[point] == color)


def check(position: Position, slow: PlayedOutGame) -> None:
    me, enemy = slow.to_play, 3 - slow.to_play
    last = slow.phase == 2
    owner = slow.count()[0] if last else {}
    planes = {
        "ko recapture block": frozenset(slow.blocked),
        "own stone at the second clean-up": of(slow.start, me),
        "opponent's stone at the second clean-up": of(slow.start, enemy),
        "own area": of(owner, me),
        "opponent's area": of(owner, enemy),
    }
    if slow.phase:
        now = frozenset(slow.stones.items())
        taken = [p for p in slow.points() if (now, me, p) in slow.taken]
        planes["ko or superko ban"] = frozenset(taken)
    ends = slow.passes > 0 or (
        (slow.phase > 0 or slow.ko == "simple") and slow.situation() in slow.passed
    )
    values = {
        "clean-up": slow.phase > 0,
        "second clean-up": last,
        "a pass would end the game": ends,
        "own komi": (slow.cost[enemy] - slow.cost[me]) / 20,
    }
    found = encoded(KATAGO, position)
    for plane, points in planes.items():
        marks = np.argwhere(found.planes[KATAGO.planes.index(plane)])
        assert {(int(x), int(y)) for y, x in marks} == points, plane
    for name, expected in values.items():
        assert found.globals[KATAGO.globals.index(name)] == pytest.approx(float(expected)), name


@pytest.mark.parametrize("tax", Tax)
@pytest.mark.parametrize("ko", KoRule)
def test_inputs_of_ko_fights_are_those_of_the_reference(ko: KoRule, tax: Tax) -> None:
    phases = set()
    for seed in range(1 if WITHOUT_COMPILER else 8):
        for position, slow in ko_fight(replace(JAPANESE, ko=ko, tax=tax), seed):
            if not slow.over and (not WITHOUT_COMPILER or position.move_number < 12):
                check(position, slow)
                phases.add(slow.phase)
    assert WITHOUT_COMPILER or phases == {0, 1, 2}


def shown(position: Position) -> list[str]:
    """The last moves, the latest first, as far as they are shown."""
    found = []
    for turn in range(1, 6):
        points = marked(KATAGO, position, f"move {turn} turns ago")
        passed = value(position, f"pass {turn} turns ago")
        found += [*points, *(["pass"] if passed else [])]
    return found


def test_moves_of_earlier_phases_are_not_shown() -> None:
    position = Position(5, JAPANESE).play_all("C3 C4 pass")
    assert shown(position) == ["pass", "C4", "C3"]
    position = position.pass_()
    assert position.phase == 1
    assert shown(position) == []
    position = position.play_all("D3 pass")
    assert shown(position) == ["pass", "D3"]
    assert shown(position.pass_()) == []


def test_the_parity_of_komi_is_shown_in_the_second_clean_up_alone() -> None:
    position = Position(5, JAPANESE, 6.5)
    values = []
    for _ in range(6):
        values.append(value(position, "parity of komi"))
        position = position.pass_()
    # 25 points: komi of 7 could draw. For Black it is -6.5, half a point above -7; for White 6.5.
    assert values == [0, 0, 0, 0, 0.5, -0.5]
