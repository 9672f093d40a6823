"""Random games as the records of self-play hold them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tengen.game.color import Color
from tengen.game.kernel_rules import terms_of
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, Tax
from tengen.replay.shard import read_or_set_aside, shard_files
from tengen.selfplay.record import (
    BY_AGREEMENT,
    BY_DECISION,
    BY_MOVE_LIMIT,
    BY_PASSES,
    FAST,
    FULL,
    GAME,
    OPENING,
    SETUP,
    TARGET,
    TURN,
    UNFINISHED,
    Games,
    joined,
)

ENDS = (BY_MOVE_LIMIT, BY_DECISION, BY_AGREEMENT, UNFINISHED)


def random_games(
    count: int,
    seed: int = 1,
    sides: Sequence[int | tuple[int, int]] = (5, 6, 7, 8, 9),
    first: int = 0,
) -> Games:
    choice = random.Random(seed)
    return joined([random_game(choice, choice.choice(sides), first + k) for k in range(count)])


def random_game(choice: random.Random, side: int | tuple[int, int], number: int) -> Games:
    """Handicap or nothing, some moves without a search, then searches short and full."""
    rules = Rules(
        choice.choice(list(KoRule)),
        choice.choice([Scoring.AREA, Scoring.TERRITORY]),
        choice.choice(list(Tax)),
        suicide=choice.random() < 0.5,
        button=choice.random() < 0.2,
        friendly_pass=choice.random() < 0.3,
    )
    komi = choice.randrange(-20, 30) / 2
    position = Position(side, rules, komi)
    width, area = position.width, position.size.area
    handicap = choice.choice([0, 0, 0, 1, 2, 3])
    opening = choice.randrange(5)
    turns: list[tuple[float, ...]] = []
    targets: list[tuple[int, int]] = []
    limit = choice.randrange(3 * area)
    while not position.is_over and len(turns) < limit:
        kind = FULL if choice.random() < 0.4 else FAST
        color = position.to_play
        if len(turns) < handicap:
            kind, color = SETUP, Color.BLACK
        elif len(turns) < handicap + opening:
            kind = OPENING
        legal = [y * width + x for x, y in position.legal_moves()]
        place = choice.choice(legal) if legal and choice.random() < 0.93 else area
        wanted = choice.sample(legal, min(len(legal), choice.randrange(12)))
        if place not in wanted:
            wanted.append(place)
        if kind == FULL:
            targets += [(wish, choice.randrange(1, 65536)) for wish in wanted]
        searched = kind in (FAST, FULL)
        no_result = choice.choice([0.0, 0.0, 0.2]) * searched
        turns.append(
            (
                place,
                int(color),
                kind,
                choice.randrange(1, 500) * searched,
                len(wanted) if kind == FULL else 0,
                choice.choice([0.0, 0.3, 1.0, 1.0, 1.7, 2.6]) if kind == FULL else 0.0,
                choice.uniform(-1, 1) * (1 - no_result) * searched,
                no_result,
                choice.gauss(0, 10) * searched,
                choice.gauss(0, 10) * searched,
            )
        )
        point = None if place == area else (place % width, place // width)
        position = position.play(point, color)
    game = np.zeros(1, GAME)
    game["number"], game["step"] = number, 10 * number
    game["width"], game["height"] = position.size
    game["terms"] = terms_of(rules, komi)
    game["move_limit"] = limit
    game["n_turns"], game["n_targets"] = len(turns), len(targets)
    game["end"] = BY_PASSES if position.is_over else choice.choice(ENDS)
    game["no_result"] = choice.random() < 0.1
    game["score"] = choice.choice([0.0, choice.randrange(-80, 80) / 2])
    owners = [choice.choice([-1, 0, 1]) for _ in range(area)]
    return Games(
        game,
        np.array(turns, TURN.descr).view(TURN),
        np.array(targets, TARGET.descr).view(TARGET),
        np.array(owners, np.int8),
    )


def read_shards(folder: Path) -> Iterator[Games]:
    """The games of all undamaged shards, the oldest first."""
    for path in shard_files(folder):
        if (games := read_or_set_aside(path)) is not None:
            yield games
