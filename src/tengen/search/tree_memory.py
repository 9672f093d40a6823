"""How much memory trees take: one formula for pools of small trees and for deep ones."""

from __future__ import annotations

import math

from tengen.features.feature_set import FeatureSet
from tengen.search.kernels.forest import HumanPolicies, node_bytes
from tengen.search.params import SearchParams

_SPARE_NODES = 32


def node_room(visits: int) -> int:
    """The nodes of a tree that has had so many visits, and gets as many again."""
    return 2 * (visits + _SPARE_NODES)


def tree_megabytes(
    visits: float,
    area: int,
    features: FeatureSet,
    params: SearchParams,
    *,
    ownership: bool,
    policies: HumanPolicies = HumanPolicies.NONE,
) -> float:
    """The memory that a tree of so many visits needs at most, or infinity."""
    if visits == math.inf:
        return math.inf
    node = bytes_per_node(area, area + 2, features, params, ownership=ownership, policies=policies)
    return node_room(int(visits)) * node / 1e6


def bytes_per_node(
    area: int,
    candidates: float,
    features: FeatureSet,
    params: SearchParams,
    *,
    ownership: bool,
    policies: HumanPolicies,
) -> int:
    """The memory that a node takes with so many candidates, all that belongs to it included."""
    return node_bytes(
        area,
        candidates,
        ladders=features.sees_ladders,
        ownership=ownership,
        biases=params.value_bias > 0,
        human_policies=policies,
    )
