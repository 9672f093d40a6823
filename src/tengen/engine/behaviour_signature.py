"""A signature of behaviour: a hash over fixed searches with a fixed fake network.

It changes with any change of rules, inputs or search, intended or not, and is the same on every
machine, because the fake network computes with integers and only visits and moves are hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from tengen.engine.engine import Engine
from tengen.game.position import Position
from tengen.game.rules import NAMED
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.params import SearchParams
from tengen.search.request import Limits, RootOptions, SearchRequest

# Of this version. After an intended change of behaviour: `tengen benchmark --signature`.
RELEASED = "dbfeeed1c756f79e"
SIZES = ((3, 3), (5, 5), (7, 9), (9, 9), (13, 13), (19, 19))
STAGES = 0.0, 0.3, 0.9  # moves played before, by the number of points
VISITS = 40
_OWN, _OPPONENT = 1, 2  # planes of stones


def behaviour_signature() -> str:
    """16 hexadecimal digits: a hash over the visits of all root moves of all fixed searches."""
    digest = hashlib.sha256()
    with Engine(FakeEvaluator(_scripted), params=SearchParams(), leaves=1, seed=0) as engine:
        for position in _positions():
            request = SearchRequest(position, Limits(visits=VISITS), RootOptions())
            result = engine.submit(request).result()
            line = [position.text(result.move), *map(position.text, result.pv)]
            line += [f"{position.text(each.move)}:{each.visits}" for each in result.moves]
            digest.update(f"{position.size} {position.rules} {' '.join(line)}\n".encode())
    return digest.hexdigest()[:16]


def _positions() -> Iterator[Position]:
    """Positions of random games under all rules that have a name, on boards of several sizes."""
    for number, rules in enumerate(dict.fromkeys(rules for rules, _ in NAMED.values())):
        for size in SIZES:
            for stage in STAGES:
                yield _played(Position(size, rules), int(stage * size[0] * size[1]), number)


def _played(position: Position, moves: int, seed: int) -> Position:
    draws = hashlib.shake_128(f"{position.size} {seed}".encode()).digest(4 * moves)
    for number in range(moves):
        legal = position.legal_moves()
        draw = int.from_bytes(draws[4 * number : 4 * number + 4], "little")
        position = position.play(legal[draw % len(legal)] if legal else None)
        if position.is_over:
            position = position.resumed()
    return position


def _scripted(batch: Batch) -> Evaluation:
    """Evaluations drawn from a hash of the stones; their numbers are exact in float32."""
    area = batch.planes.shape[2] * batch.planes.shape[3]
    stones = np.packbits(batch.planes[:, [_OWN, _OPPONENT]].reshape(len(batch.planes), -1) > 0, 1)
    drawn = np.stack(
        [
            np.frombuffer(hashlib.shake_128(row.tobytes()).digest(2 * area + 4), np.uint8)
            for row in stones
        ]
    ).astype(np.float32)
    win, lead = 0.25 + drawn[:, -3] / 512, drawn[:, -2] / 16 - 8
    owners = (drawn[:, area + 1 : 2 * area + 1] / 128 - 1).reshape(-1, *batch.planes.shape[2:])
    outputs = {
        "policy": drawn[:, : area + 1] / 64,
        "value": np.stack([win, 1 - win, 0 * win], 1),
        "score": lead,
        "lead": lead,
        "spread": 4 + drawn[:, -1] / 32,
        "ownership": owners,
    }
    return uniform(batch)._replace(
        **{name: values.astype(np.float32) for name, values in outputs.items()}
    )
