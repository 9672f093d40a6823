"""A network's estimates for the turns of recorded games: its outputs, and leads by searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.engine.engine import Engine
from tengen.game.color import BLACK, Color
from tengen.game.geometry import Point
from tengen.game.kernel_rules import rules_of
from tengen.game.position import Position
from tengen.game.rules import Scoring
from tengen.network.evaluator import Evaluation
from tengen.replay.lead import Judged, Judging, KomiSearch
from tengen.replay.rows import copies_of_turns
from tengen.search.request import Limits, SearchRequest
from tengen.selfplay.record import Games, offsets

LEAD_SHARE = 0.05  # of the turns that become rows, as in KataGo's self-play
LEAD_VISITS = 10  # of each search at another komi, as in KataGo's self-play
_TINY = 1e-30  # in logarithms
_AT_A_TIME = 512  # positions that are evaluated together


class Estimates(NamedTuple):
    """For each turn, before its move; values and points are Black's."""

    value: NDArray[np.float32]  # [turns] win minus loss, without search
    score: NDArray[np.float32]  # [turns] points at the end, without search
    policy_entropy: NDArray[np.float32]  # [turns]
    surprise: NDArray[np.float32]  # [turns] divergence of the policy target from the policy
    lead: NDArray[np.float32]  # [turns] NaN where it was not searched


def estimate_turns(
    games: Games, engine: Engine, seed: int, lead_share: float = LEAD_SHARE
) -> Estimates:
    """Evaluate all turns that become rows with this seed, and search the leads of a share."""
    estimates = Estimates(*(np.zeros(len(games.turns), np.float32) for _ in Estimates._fields))
    estimates.lead[:] = np.nan
    wanted = np.flatnonzero(copies_of_turns(games, seed))
    targets = offsets(games.turns["n_targets"])
    for turn, position, evaluation in _evaluated(_positions(games, wanted), engine):
        policy = _note_evaluation(turn, position, evaluation, estimates)
        found = games.targets[targets[turn] : targets[turn + 1]]
        estimates.surprise[turn] = _divergence(found["move"], found["weight"], policy)
    first = int(games.games["number"].min(initial=0))
    drawn = np.random.default_rng([seed, first]).random(len(wanted)) < lead_share
    counted = np.repeat(games.games["no_result"] == 0, games.games["n_turns"])
    asked = wanted[drawn & counted[wanted]]
    for turn, lead in _leads(games, asked, engine).items():
        estimates.lead[turn] = lead
    return estimates


def _positions(games: Games, turns: Iterable[int]) -> Iterator[tuple[int, Position]]:
    """The positions before some turns, which are given in order."""
    begins, game, position, reached = offsets(games.games["n_turns"]), -1, Position(1), 0
    for turn in turns:
        owner = int(np.searchsorted(begins, turn, "right")) - 1
        if owner != game:
            game, reached = owner, int(begins[owner])
            position = _start(games, game)
        position = _played(position, games, reached, turn)
        reached = turn
        yield turn, position


def _start(games: Games, game: int, komi: float | None = None) -> Position:
    record = games.games[game]
    terms, size = record["terms"], (int(record["width"]), int(record["height"]))
    return Position(size, rules_of(terms), float(terms["komi"]) if komi is None else komi)


def _played(position: Position, games: Games, begin: int, end: int) -> Position:
    """The position after these turns of a record."""
    for turn in games.turns[begin:end]:
        y, x = divmod(int(turn["move"]), position.width)
        move = None if y == position.height else Point(x, y)
        position = position.play(move, Color(int(turn["color"])), strict=False)
    return position


def _evaluated(
    positions: Iterator[tuple[int, Position]], engine: Engine
) -> Iterator[tuple[int, Position, Evaluation]]:
    """Turns, their positions, and their rows of evaluations."""
    while some := list(islice(positions, _AT_A_TIME)):
        found = engine.evaluate([position for _, position in some]).result()
        height = max(position.height for _, position in some)
        width = max(position.width for _, position in some)
        points = found.policy[:, :-1].reshape(-1, height, width)
        for k, (turn, position) in enumerate(some):
            on_board = points[k, : position.height, : position.width].reshape(-1)
            policy = np.append(on_board, found.policy[k, -1])
            yield turn, position, Evaluation(policy, *(values[k] for values in found[1:]))


def _note_evaluation(
    turn: int, position: Position, evaluation: Evaluation, estimates: Estimates
) -> NDArray[np.float64]:
    """Store the raw evaluation of a turn; returns its policy [area + 1]."""
    sign = 1 if position.to_play == BLACK else -1
    win, loss, _ = evaluation.value
    estimates.value[turn] = sign * (win - loss)
    estimates.score[turn] = sign * evaluation.score
    legal = position.legal_mask().reshape(-1)
    logits = np.where(legal, evaluation.policy.astype(np.float64), -np.inf)
    policy: NDArray[np.float64] = np.exp(logits - logits.max())
    policy /= policy.sum()
    estimates.policy_entropy[turn] = -np.sum(policy * np.log(np.maximum(policy, _TINY)))
    return policy


def _divergence(moves: NDArray[Any], weights: NDArray[Any], policy: NDArray[np.float64]) -> float:
    """The KL divergence of the moves' shares from the policy."""
    shares = weights / max(weights.sum(dtype=np.float64), 1.0)
    likelier = np.maximum(shares, _TINY) / np.maximum(policy[moves], _TINY)
    return float(np.sum(shares * np.log(likelier)))


def _leads(games: Games, turns: NDArray[Any], engine: Engine) -> dict[int, float]:
    """The leads before these turns. All are searched at a time, so that searches share batches."""
    begins = offsets(games.games["n_turns"])
    owner = {int(turn): int(np.searchsorted(begins, turn, "right")) - 1 for turn in turns}
    running: dict[int, Judging] = {}
    asked: dict[int, float] = {}
    leads: dict[int, float] = {}
    for turn, game in owner.items():
        start = _start(games, game)
        area_without_button = start.rules.scoring is Scoring.AREA and not start.rules.button
        search = KomiSearch(start.komi, start.size.area, in_steps_of_two=area_without_button)
        running[turn] = search.steps()
        asked[turn] = next(running[turn])
    while asked:
        tasks = {}
        for turn, komi in asked.items():
            begin = int(begins[owner[turn]])
            position = _played(_start(games, owner[turn], komi), games, begin, turn)
            request = SearchRequest(position, Limits(visits=LEAD_VISITS))
            tasks[turn] = position, engine.submit(request)
        for turn, (position, task) in tasks.items():
            result, sign = task.result(), 1 if position.to_play == BLACK else -1
            judged = Judged(sign * (2 * result.winrate - 1), sign * result.lead)
            try:
                asked[turn] = running[turn].send(judged)
            except StopIteration as end:
                del asked[turn]
                leads[turn] = end.value - float(games.games["terms"]["komi"][owner[turn]])
    return leads
