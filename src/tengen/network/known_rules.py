"""Networks that learned by one set of rules alone, made fit for the others.

What a network never saw change it gives any weight: rules that are new to it would turn its head.
"""

from __future__ import annotations

from dataclasses import replace

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.kernels.katago import GLOBALS, PLANES
from tengen.game.position import Position
from tengen.game.rules import Rules
from tengen.network.data import NetworkData
from tengen.network.evaluator import encode
from tengen.network.files.errors import NetworkFileError

# Those that tell rules or the purpose of a game, and stay the same throughout it.
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


def taking_all_for(data: NetworkData, rules: Rules) -> NetworkData:
    """The network as one that takes all rules for these; raises NetworkFileError.

    It says the same as before where these rules are played. What they weigh goes into the plane of
    the board, which is 1 everywhere.
    """
    features = FEATURE_SETS[data.architecture.features]
    if features.globals != GLOBALS:
        raise NetworkFileError(f"{data.name}: is shown {features.name}, which tells no rules")
    shown = encode(features, [Position(2, rules)]).globals[0]
    weights = data.weights["globals.weight"].copy()  # [channels, globals]
    told = [GLOBALS.index(name) for name in RULE_GLOBALS]
    first = data.weights["conv.weight"].copy()  # [channels, planes, height, width]
    middle = first.shape[2] // 2
    first[:, PLANES.index("on board"), middle, middle] += weights[:, told] @ shown[told]
    weights[:, told] = 0
    changed = {"conv.weight": first, "globals.weight": weights}
    provenance = {**data.provenance, "rules": str(rules)}
    return replace(data, weights={**data.weights, **changed}, provenance=provenance)
