"""The choice of a move as people make it: their policy, less often where the search sees a loss."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point, policy_place, policy_point
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation
from tengen.search.human_style import HumanStyle
from tengen.search.request import RootOptions
from tengen.search.result import SearchResult
from tengen.search.root_symmetry import symmetric_moves_to_avoid


def legal_chances(
    evaluation: Evaluation, position: Position, temperature: float = 1.0
) -> NDArray[np.float64]:
    """[area + 1] the chances of the moves that a network expects, 0 where illegal; pass last.

    The evaluation is without the batch axis.
    """
    legal = position.legal_mask()
    logits = evaluation.policy.astype(np.float64) / temperature
    shares = np.where(legal, np.exp(logits - logits[legal].max()), 0.0)
    chances: NDArray[np.float64] = shares / shares.sum()
    return chances


def with_people(
    result: SearchResult,
    root: RootOptions,
    human: Evaluation | None,
    *,
    imitates: bool,
    temperature: float,
) -> SearchResult:
    """The result with what people would play, and chosen as they would where the root wants it.

    `human` is the evaluation of a second network, which imitates people. Where it is None,
    `imitates` says whether the search's own network does; if not, the moves stay as they are.
    """
    result, position = replace(result, human=human), result.position
    if not root.human.move_share or not result.visits or (human is None and not imitates):
        return result
    if human is None:
        chances = result.policy.astype(np.float64)
    else:
        chances = legal_chances(human, position, temperature)
    avoid = [*root.avoid, *symmetric_moves_to_avoid(position, root)]
    avoided = {each.move for each in avoid if each.color is position.to_play}
    return _chosen_by_people(result, chances, root.human, avoided)


def _chosen_by_people(
    result: SearchResult,
    chances: NDArray[np.float64],
    style: HumanStyle,
    avoided: Collection[Point | None],
) -> SearchResult:
    """A result whose moves are ordered, and chosen, as people would to the share of the style.

    `chances` [area + 1] are those of people's moves. As in KataGo, they may play any legal move
    that is not avoided, those that were not searched included.
    """
    size = result.position.size
    searched = {each.move: each.play_weight for each in result.moves}
    utilities = {each.move: each.utility for each in result.moves}
    of_people = {
        move: chance
        for place, chance in enumerate(chances.tolist())
        if (move := policy_point(place, size)) not in avoided and chance > 0
    }
    if not searched:  # one visit: the network's policy stands for the search
        searched = {move: float(result.policy[policy_place(move, size)]) for move in of_people}
    shown = _blended(searched, {m: of_people.get(m, 0.0) for m in searched}, utilities, style)
    others = {move: 0.0 for move in of_people if move not in searched}
    chosen = _blended({**searched, **others}, of_people, utilities, style)
    scale = 1 / min(1.0, max(shown.values(), default=1.0) or 1.0)
    moves = sorted(result.moves, key=lambda each: -shown[each.move])
    return replace(
        result,
        moves=tuple(
            replace(each, order=k, play_weight=shown[each.move] * scale)
            for k, each in enumerate(moves)
        ),
        choices=tuple(chosen.items()),
    )


def _blended(
    searched: dict[Point | None, float],
    of_people: dict[Point | None, float],
    utilities: dict[Point | None, float],
    style: HumanStyle,
) -> dict[Point | None, float]:
    """Weights of moves between the search's and people's chances, with the sum of the search's."""
    total = sum(searched.values())
    average = sum(utilities.values()) / max(1, len(utilities))
    best = max([average, *utilities.values()])
    shifted = {}
    for move in searched:
        lost = best - utilities.get(move, average)
        factor = math.exp(-lost / style.move_lambda) if style.move_lambda > 0 else float(lost == 0)
        shifted[move] = of_people.get(move, 0.0) * factor
    whole = sum(shifted.values())
    if not whole > 0 or not total > 0:
        return searched
    shifted = {move: share / whole for move, share in shifted.items()}
    if style.ignore_pass:
        on_board = sum(share for move, share in shifted.items() if move is not None)
        passing = searched.get(None, 0.0) / total
        if on_board > 0:
            scale = (1 - passing) / on_board
            shifted = {
                move: passing if move is None else share * scale for move, share in shifted.items()
            }
    share = style.move_share
    return {
        move: weight + share * (total * shifted[move] - weight) for move, weight in searched.items()
    }
