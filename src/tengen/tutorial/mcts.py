"""Monte Carlo tree search, one leaf at a time.

The network's first guess is improved by looking ahead. Each descent follows the most promising
moves to a position that was not seen before, asks the network about it, and tells every position
on the way back what it is worth. Moves that turn out well are visited more often, so that in the
end the numbers of visits are a better policy than the network's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point, policy_point
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator, encode, evaluate

Move = Point | None  # None is a pass


@dataclass(eq=False)
class Node:
    """A position in the tree, and what the descents through it found."""

    position: Position
    prior: float = 1.0  # how likely the network would play the move that leads here
    visits: int = 0
    total: float = 0.0  # sum of the values found, each for the side to play here
    children: dict[Move, Node] = field(default_factory=dict)  # the likeliest first

    @property
    def value(self) -> float:
        """The mean result from -1 to 1, for the side to play here."""
        return self.total / self.visits


def search(position: Position, evaluator: Evaluator, visits: int, exploration: float) -> Node:
    """Grow a tree until its root has so many visits; the first one is its own evaluation."""
    root = Node(position)
    while root.visits < visits:
        path = [root]
        while path[-1].children:
            path.append(most_promising(path[-1], exploration))
        value = expand(path[-1], evaluator)
        for node in reversed(path):
            node.visits += 1
            node.total += value
            value = -value  # what is good for one side is bad for the other
    return root


def most_promising(node: Node, exploration: float) -> Node:
    """The child to visit next (PUCT): good so far, or likely and hardly tried yet.

    A child that was never visited is taken to be as good as its parent.
    """
    tried = node.visits - 1  # one visit was the node's own
    explore = exploration * math.sqrt(tried + 0.01)

    def score(child: Node) -> float:
        value = -child.value if child.visits else node.value
        return value + explore * child.prior / (1 + child.visits)

    return max(node.children.values(), key=score)


def expand(leaf: Node, evaluator: Evaluator) -> float:
    """Add a leaf's children, unless its game is over; returns its value for the side to play."""
    position = leaf.position
    if position.is_over:
        outcome = position.outcome()
        if outcome is None or outcome.winner is None:
            return 0.0
        return 1.0 if outcome.winner is position.to_play else -1.0
    answer = evaluate(evaluator, encode(evaluator.features, [position]))
    priors = _chances(answer.policy[0], position.legal_mask())
    for place in np.argsort(-priors, kind="stable"):
        if priors[place] > 0:
            move = policy_point(int(place), position.size)
            leaf.children[move] = Node(position.play(move), float(priors[place]))
    win, loss, _ = answer.value[0]
    return float(win - loss)


def _chances(logits: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Softmax over the legal moves."""
    chances = np.where(legal, np.exp(logits - logits[legal].max(), dtype=np.float64), 0.0)
    return np.asarray(chances / chances.sum())
