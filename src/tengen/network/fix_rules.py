"""Fix the rules that a network assumes, for networks trained under one set of rules alone.

Such a network gives arbitrary weight to inputs that never changed in training, so that other rules
would confuse it.
"""

from __future__ import annotations

from dataclasses import replace

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.kernels.katago import GLOBALS, PLANES
from tengen.game.position import Position
from tengen.game.rules import Rules
from tengen.network.evaluator import encode
from tengen.network.files.errors import NetworkFileError
from tengen.network.network_data import NetworkData

# Inputs that encode the rules or the purpose of a game, and stay the same throughout it.
RULE_GLOBALS = (
    "superko",
    "positional or situational",
    "suicide",
    "territory scoring",
    "tax in seki",
    "tax on groups",
    "clean-up",
    "second clean-up",
    "unequal playouts",
    "advantage in playouts",
    "button",
)


def with_fixed_rules(data: NetworkData, rules: Rules) -> NetworkData:
    """A network that evaluates under any rules as under these; raises NetworkFileError.

    Under these rules its evaluations stay the same: the weights of the rules move to the plane of
    the board, which is 1 everywhere.
    """
    features = FEATURE_SETS[data.architecture.features]
    if features.globals != GLOBALS:
        raise NetworkFileError(
            f"{data.name}: its inputs, {features.name!r}, do not include the rules"
        )
    shown = encode(features, [Position(2, rules)]).globals[0]
    weights = data.weights["globals.weight"].copy()  # [channels, globals]
    fixed = [GLOBALS.index(name) for name in RULE_GLOBALS]
    first = data.weights["conv.weight"].copy()  # [channels, planes, height, width]
    middle = first.shape[2] // 2
    first[:, PLANES.index("on board"), middle, middle] += weights[:, fixed] @ shown[fixed]
    weights[:, fixed] = 0
    changed = {"conv.weight": first, "globals.weight": weights}
    provenance = {**data.provenance, "rules": str(rules)}
    return replace(data, weights={**data.weights, **changed}, provenance=provenance)
