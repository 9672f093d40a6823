"""Our rows against those that KataGo 1.17.2 wrote of the same games.

`tests/data/katago_training_rows.json` holds games that `katago runoutputtests` ("Running training
write tests", which prints every fifth row) and `katago runsekitrainwritetests g170-b6c96.bin.gz`
played: rules, moves, and of each row the planes of valueTargetsNCHW (+ own, - the opponent's; of
the last plane only what differs from ownership), the policy target, and columns of globalTargetsNC.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.game.color import BLACK, WHITE
from tengen.game.kernel_rules import terms_of
from tengen.game.position import Position
from tengen.game.rules import parse_rules
from tengen.replay.katago_rows_writer import katago_arrays
from tengen.selfplay.record import (
    BY_MOVE_LIMIT,
    BY_PASSES,
    FULL,
    GAME,
    OPENING,
    SETUP,
    TARGET,
    TURN,
    Games,
)

pytestmark = pytest.mark.kernel

DATA = Path(__file__).parents[1] / "data"
PLAYED: list[dict[str, Any]] = json.loads((DATA / "katago_training_rows.json").read_text())
NAMES = [game["name"] for game in PLAYED]


def recorded(played: dict[str, Any]) -> Games:
    """The record of a game that KataGo played; its turns become a row each, in order."""
    width, height = played["size"]
    rules = parse_rules(played["rules"])
    position = Position((width, height), rules, played["komi"])
    policies = {row["turn"]: row["policy"] for row in played["rows"]}
    first = played["rows"][0]["first"]
    turns, targets = np.zeros(len(played["moves"].split()), TURN), []
    for k, move in enumerate(played["moves"].split()):
        turns[k]["color"] = position.to_play
        after = position.play(move, strict=False)
        point = after.last_move.point if after.last_move else None
        turns[k]["move"] = width * height if point is None else point.y * width + point.x
        turns[k]["kind"] = OPENING if k < first else FULL
        turns[k]["weight"] = k >= first
        policy = policies.get(k, {})
        targets += [(int(move), weight) for move, weight in policy.items()]
        turns[k]["n_targets"] = len(policy)
        position = after
    score = position.score()
    game = np.zeros(1, GAME)
    game["width"], game["height"] = width, height
    game["terms"] = terms_of(rules, played["komi"])
    game["n_turns"], game["n_targets"] = len(turns), len(targets)
    game["end"] = BY_MOVE_LIMIT if played["rows"][0]["limit"] else BY_PASSES
    game["score"] = score.margin
    owners = np.where(score.owner == BLACK, 1, np.where(score.owner == 0, 0, -1))
    table = np.array(targets, TARGET.descr).view(TARGET)
    return Games(game, turns, table, owners.astype(np.int8).ravel())


@pytest.mark.parametrize("played", PLAYED, ids=NAMES)
def test_rows_are_those_that_katago_writes(played: dict[str, Any]) -> None:
    width, height = played["size"]
    side = max(width, height)
    arrays = katago_arrays(recorded(played), side, 1, "run")
    columns = arrays["globalTargetsNC"]
    for expected in played["rows"]:
        row = expected["turn"] - expected["first"]
        found = columns[row]
        assert found[51] == expected["turn"]
        assert found[53] == expected["first"]
        assert found[3] == found[20] == expected["score"]
        assert found[47] == expected["komi"]
        assert found[61] == expected["bonus"]
        assert found[32] == pytest.approx(expected["search_entropy"], rel=1e-4)
        assert (found[52], found[62]) == (expected["limit"], expected["finished"])
        assert [found[27], found[33], found[34], found[35]] == expected["weights"]
        planes = arrays["valueTargetsNCHW"][row, :, :height, :width].reshape(5, -1)
        signs = ["".join("-.+"[point + 1] for point in plane) for plane in planes[:4]]
        assert signs == expected["planes"]
        worth = 120 * planes[0].astype(int)
        for point, value in expected.get("taxed", {}).items():
            worth[int(point)] = value
        np.testing.assert_allclose(planes[4], worth, atol=1)  # KataGo rounds at random


def test_the_games_have_seki_and_boards_of_several_shapes() -> None:
    planes = [row["planes"] for played in PLAYED for row in played["rows"]]
    assert any("+" in seki for _, seki, *_ in planes)
    assert {len(plane) for row in planes for plane in row} == {21, 25, 169}


# The board of KataGo's own test of the group tax, and what it says each point is worth to White, in
# hundredths.
TAXED_BOARD = """
. X O . O . O . . . X X .
X O O O O O O . . . X . X
O O . . . . . . . . . X X
. . X X . . . . . . . . .
X X . . X . . . . . . . .
. X . . X . . . . . . . .
O X . . X . . . . . . . .
. X X . X . . . . . . . .
. X . X . . . . . . . . .
X X X X . . . . . . . . X
O O O X O O O . . . X X .
O . O X O . O . . . X . X
. O . O . O . . . . X X .
"""
WORTH = """
 60  60 100  60 100  60 100 0 0 0 -100 -100 0
 60 100 100 100 100 100 100 0 0 0 -100 0 -100
100 100 0 0 0 0 0 0 0 0 0 -100 -100
0 0 -100 -100 0 0 0 0 0 0 0 0 0
-100 -100 -83 -83 -100 0 0 0 0 0 0 0 0
-83 -100 -83 -83 -100 0 0 0 0 0 0 0 0
-83 -100 -83 -83 -100 0 0 0 0 0 0 0 0
-83 -100 -100 -83 -100 0 0 0 0 0 0 0 0
-83 -100 -83 -100 0 0 0 0 0 0 0 0 0
-100 -100 -100 -100 0 0 0 0 0 0 0 0 -100
100 100 100 -100 100 100 100 0 0 0 -100 -100 -33
100 60 100 -100 100 60 100 0 0 0 -100 -33 -100
60 100 60 100 60 100 0 0 0 0 -100 -100 -33
"""


def test_a_group_pays_its_tax_from_all_of_its_territory() -> None:
    position = Position.from_diagram(TAXED_BOARD, rules="koSIMPLEscoreAREAtaxNONEsui0")
    owners = position.score().owner
    stones = [(13 * y + x, int(position.stones[y, x])) for y, x in np.argwhere(position.stones)]
    turns = np.zeros(len(stones) + 1, TURN)
    turns["move"] = [*(move for move, _ in stones), 13 * 13]
    turns["color"] = [*(color for _, color in stones), WHITE]
    turns["kind"] = [*[SETUP] * len(stones), FULL]
    turns["weight"][-1] = 1
    game = np.zeros(1, GAME)
    game["width"] = game["height"] = 13
    game["terms"] = terms_of(parse_rules("koSIMPLEscoreAREAtaxALLsui0"), 7.0)
    game["n_turns"] = len(turns)
    owned = np.where(owners == BLACK, 1, np.where(owners == WHITE, -1, 0)).astype(np.int8)
    games = Games(game, turns, np.zeros(0, TARGET), owned.ravel())
    (row,) = katago_arrays(games, 13, 1, "run")["valueTargetsNCHW"]
    expected = np.array(WORTH.split(), float).reshape(13, 13)
    np.testing.assert_allclose(row[4] / 1.2, expected, atol=0.9)  # rounded there and here
