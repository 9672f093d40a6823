"""KataGo's inputs in the clean-up phases, beside the slow reference of these."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.game.rules import KoRule, Tax, parse_rules
from tests.features.samples import WITHOUT_COMPILER, encoded, marked
from tests.game.ko_fights import ko_fight
from tests.game.reference import PlayedOutGame, Points

pytestmark = pytest.mark.kernel
JAPANESE = replace(parse_rules("japanese"), played_out=True)


def seen(position: Position, plane: str) -> Points:
    return frozenset(position.point(text) for text in marked(KATAGO, position, plane))


def value(position: Position, name: str) -> float:
    return float(encoded(KATAGO, position).globals[KATAGO.globals.index(name)])


def of(points: dict[tuple[int, int], int], color: int) -> Points:
    return frozenset(point for point in points if points[point] == color)


def check(position: Position, slow: PlayedOutGame) -> None:
    me, enemy = slow.to_play, 3 - slow.to_play
    last = slow.phase == 2
    assert seen(position, "ko recapture block") == slow.blocked
    if slow.phase:
        now = frozenset(slow.stones.items())
        banned = {p for stones, mover, p in slow.taken if (stones, mover) == (now, me)}
        assert seen(position, "ko or superko ban") == banned
    owner = slow.count()[0] if last else {}
    for plane, points in {
        "own stone at the second clean-up": of(slow.start, me),
        "opponent's stone at the second clean-up": of(slow.start, enemy),
        "own area": of(owner, me),
        "opponent's area": of(owner, enemy),
    }.items():
        assert seen(position, plane) == points, plane
    assert value(position, "clean-up") == (slow.phase > 0)
    assert value(position, "second clean-up") == last
    ends = slow.passes > 0 or (
        (slow.phase > 0 or slow.ko == "simple") and slow._situation() in slow.passed
    )
    assert value(position, "a pass would end the game") == ends
    own_komi = slow.cost[enemy] - slow.cost[me]
    assert value(position, "own komi") == pytest.approx(own_komi / 20)
    # The board has an even number of points: whole odd komi are in the middle of the wave, as
    # even ones are.
    assert value(position, "parity of komi") == 0


@pytest.mark.parametrize("tax", Tax)
@pytest.mark.parametrize("ko", KoRule)
def test_inputs_of_ko_fights_are_those_of_the_reference(ko: KoRule, tax: Tax) -> None:
    phases = set()
    for seed in range(1 if WITHOUT_COMPILER else 8):
        for position, slow in ko_fight(replace(JAPANESE, ko=ko, tax=tax), seed):
            if not slow.over:
                check(position, slow)
                phases.add(slow.phase)
    assert phases == {0, 1, 2}


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
