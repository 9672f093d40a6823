"""Results of searches in the format of KataGo's answers."""

from __future__ import annotations

import hashlib
import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.frontends.analysis.query import Query, QueryTurn
from tengen.frontends.katago_reports import (
    ReportFields,
    reported_uncertainty,
    sign_for,
    winrate_for,
)
from tengen.game.color import Color
from tengen.game.geometry import point_text, policy_place
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation
from tengen.search.result import Judgement, MoveResult, Ownership, SearchResult

Answer: TypeAlias = dict[str, Any]

DIGITS = 8  # of a number, as in KataGo
PLACES = 6  # of an ownership
_KO = 3  # marks a forbidden point among the stones that are hashed


def found(query: Query, turn: QueryTurn, result: SearchResult, during: bool = False) -> Answer:
    """The answer for one position, at the end or during the search."""
    include, position = query.include, result.position
    sign = sign_for(query.settings.perspective, position.to_play)
    answer: Answer = {"id": query.id, "turnNumber": turn.number, "isDuringSearch": during}
    if not result.visits:
        return answer | {"noResults": True}
    temperature = query.settings.params.policy_temperature
    people = None
    if result.human is not None:
        people = _policy(result.human.policy / temperature, position.legal_mask())
    answer |= {
        "moveInfos": [_move(move, position, sign, include, people) for move in result.moves],
        "rootInfo": _root(result, sign),
    }
    if include.ownership:
        answer["ownership"] = _owners(result.ownership, sign)
    if include.ownership_stdev:
        answer["ownershipStdev"] = _owners(result.ownership_stdev, 1)
    if include.policy:
        assert result.root_evaluation is not None
        logits = result.root_evaluation.policy / query.settings.params.policy_temperature
        chances = _policy(logits, position.legal_mask())
        answer["policy"] = [_number(chance) for chance in chances]
        if people is not None:
            answer["humanPolicy"] = [_number(chance) for chance in people]
    return answer


def _move(
    move: MoveResult,
    position: Position,
    sign: int,
    include: ReportFields,
    people: NDArray[np.float64] | None,
) -> Answer:
    lcb = move.utility_lcb if math.isfinite(move.utility_lcb) else move.utility
    edge = move.weight  # what came by this move; its position may have been reached otherwise too
    weight = edge * move.visits / move.edge_visits if move.edge_visits else edge
    info: Answer = {
        "move": point_text(move.move, position.height),
        "visits": move.visits,
        "edgeVisits": move.edge_visits,
        "weight": _number(weight),
        "edgeWeight": _number(edge),
        **_judgement(move, sign),
        "scoreMean": _number(sign * move.lead),
        "prior": _number(move.prior),
        "lcb": _number(winrate_for(sign, move.lcb)),
        "utilityLcb": _number(sign * lcb),
        "order": move.order,
        "playSelectionValue": _number(move.play_weight),
        "pv": [point_text(point, position.height) for point in move.pv],
    }
    if people is not None:
        info["humanPrior"] = _number(people[policy_place(move.move, position.size)])
    if move.symmetry_of is not None:
        info["isSymmetryOf"] = point_text(move.symmetry_of, position.height)
    if include.no_result:
        info["noResultValue"] = _number(move.no_result)
    if include.pv_visits:
        info["pvVisits"] = list(move.pv_visits)
        info["pvEdgeVisits"] = list(move.pv_edge_visits)
    if include.moves_ownership:
        info["ownership"] = _owners(move.ownership, sign)
    if include.moves_ownership_stdev:
        info["ownershipStdev"] = _owners(move.ownership_stdev, 1)
    return info


def _root(result: SearchResult, sign: int) -> Answer:
    raw, position = result.raw, result.position
    this_hash, symmetric_hash = _hashes(position)
    uncertainty = reported_uncertainty(raw.uncertainty)
    return {
        "visits": result.visits,
        "weight": _number(result.weight),
        **_judgement(result, sign),
        "lcb": _number(winrate_for(sign, result.winrate)),
        "thisHash": this_hash,
        "symHash": symmetric_hash,
        "currentPlayer": position.to_play.letter,
        "rawWinrate": _number(winrate_for(sign, raw.winrate)),
        "rawLead": _number(sign * raw.lead),
        "rawScoreSelfplay": _number(sign * raw.score),
        "rawScoreSelfplayStdev": _number(raw.spread),
        "rawNoResultProb": _number(raw.no_result),
        "rawStWrError": _number(uncertainty.value / 2),
        "rawStScoreError": _number(uncertainty.score),
        "rawVarTimeLeft": _number(uncertainty.variance_time),
        **_human(result.human, sign),
    }


def _human(human: Evaluation | None, sign: int) -> Answer:
    """What a network that imitates people thinks of the position, if one was asked."""
    if human is None:
        return {}
    win, loss = human.value[:2].tolist()
    return {
        "humanWinrate": _number(winrate_for(sign, 0.5 + 0.5 * (win - loss))),
        "humanScoreMean": _number(sign * float(human.score)),
        "humanScoreStdev": _number(float(human.spread)),
        "humanStWrError": _number(float(human.value_error) / 2),
        "humanStScoreError": _number(float(human.score_error)),
    }


def _judgement(judged: Judgement, sign: int) -> Answer:
    """The fields that positions and moves have in common."""
    return {
        "winrate": _number(winrate_for(sign, judged.winrate)),
        "scoreLead": _number(sign * judged.lead),
        "scoreSelfplay": _number(sign * judged.score),
        "scoreStdev": _number(judged.spread),
        "utility": _number(sign * judged.utility),
    }


def _policy(logits: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[area + 1] the network's own chances of each move, -1 where it is illegal."""
    policy = np.full(len(legal), -1.0)
    weights = np.exp(logits[legal].astype(np.float64) - logits[legal].max())
    policy[legal] = weights / weights.sum()
    return policy


def _owners(ownership: Ownership | None, sign: int) -> list[float]:
    """Ownership row by row from the top."""
    if ownership is None:
        return []
    owners: list[float] = np.round(sign * ownership.astype(np.float64), PLACES).ravel().tolist()
    return owners


def _hashes(position: Position) -> tuple[str, str]:
    """The hash of stones, ko and player, and one that mirror images have in common."""
    stones = position.stones
    if position.ko is not None:
        stones[position.ko.y, position.ko.x] = _KO
    images = [np.rot90(side, turns) for side in (stones, stones.T) for turns in range(4)]
    hashes = [_hash(image, position.to_play) for image in images]
    return hashes[0], min(hashes)


def _hash(stones: NDArray[np.int8], to_play: Color) -> str:
    head = f"{stones.shape} {int(to_play)} ".encode()
    return hashlib.blake2b(head + stones.tobytes(), digest_size=16).hexdigest().upper()


def _number(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") + 0.0  # which turns -0.0 into 0.0
