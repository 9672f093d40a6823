"""A batch of one tree that fills the memory it is given, for long searches."""

from __future__ import annotations

from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.search.kernels.forest import HumanPolicies
from tengen.search.params import SearchParams
from tengen.search.tree_batch import TreeBatch
from tengen.search.tree_memory import bytes_per_node

_MOVES_AHEAD = 2048  # room in a history before a deep tree has to be allocated again
_SHARE_OF_LEGAL_MOVES = 0.85  # of the board's area, on average over a deep tree


def deep_tree(
    evaluator: Evaluator,
    params: SearchParams,
    position: Position,
    *,
    ownership: bool = True,
    leaves: int | None = None,
    megabytes: float | None = None,
    human: Evaluator | None = None,
    policies: HumanPolicies = HumanPolicies.ROOTS,
) -> TreeBatch:
    """A batch of one tree that fills its memory, `params.megabytes` unless given.

    Leaves in flight follow the evaluator's best batch unless given; `human` and `policies` as for
    a TreeBatch.
    """
    area, features = position.size.area, evaluator.features
    candidates = int(_SHARE_OF_LEGAL_MOVES * area) + 2
    kept = HumanPolicies.NONE if human is None else policies
    node = bytes_per_node(area, candidates, features, params, ownership=ownership, policies=kept)
    available = (params.megabytes if megabytes is None else megabytes) * 1e6
    room = max(2 * (area + 2), int(available / node))  # at least the root's moves
    return TreeBatch(
        evaluator,
        params,
        trees=1,
        area=area,
        node_room=room,
        candidate_room=room * candidates + area + 2,
        moves=position.move_number + _MOVES_AHEAD,
        ownership=ownership,
        leaves=leaves or evaluator.best_batch,
        human=human,
        policies=policies,
    )
