"""Positions as KataGo saw them: the same stones, prisoners and legal moves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tengen.game.position import Position
from tests.katago_data import answers, needs_katago_data

pytestmark = needs_katago_data
ANSWERS = answers("g170-b6c96")


def replay(answer: dict[str, Any]) -> Position:
    size = answer["boardsize"]
    position = Position(
        tuple(size) if isinstance(size, list) else size, answer["rules"], answer["komi"]
    )
    for color, move in answer["moves"]:
        position = position.play(move, color)
    return position


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["note"] for answer in ANSWERS])
def test_katago_sees_the_same_position(answer: dict[str, Any]) -> None:
    position = replay(answer)
    lines = answer["board"]
    rows = [re.sub(r"(?<=[.XO])\d", " ", line) for line in lines[2 : 2 + position.height]]
    assert Position.from_diagram("\n".join(rows)).diagram() == position.diagram()
    assert position.to_play.letter == answer["next_player"]
    assert f"B stones captured: {position.captured('black')}" in lines
    assert f"W stones captured: {position.captured('white')}" in lines
    assert position.rules.as_json() == answer["rules_json"]
    policy = [legal for row in answer["raw_nn"]["policy"] for legal in row]
    assert position.legal_mask()[:-1].tolist() == [chance is not None for chance in policy]
