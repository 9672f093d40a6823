"""What the network itself says of a position, without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.frontends.gtp.position_edits import anew
from tengen.frontends.katago_reports import reported_uncertainty

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tengen.engine.engine import Engine
    from tengen.game.geometry import Symmetry
    from tengen.game.position import Position
    from tengen.network.evaluator import Evaluation


def evaluate_position(engine: Engine, position: Position) -> Evaluation:
    """The network's evaluation of one position, without the batch axis."""
    from tengen.network.evaluator import Evaluation

    return Evaluation(*(values[0] for values in engine.evaluate([position]).result()))


def raw_text(engine: Engine, position: Position, symmetry: Symmetry) -> str:
    """An opinion in the shape of KataGo's `kata-raw-nn`, all of it for White.

    The network sees the board turned by the symmetry.
    """
    import numpy as np

    from tengen.game.color import Color
    from tengen.game.geometry import symmetry_points
    from tengen.search.result import Uncertainty

    seen = evaluate_position(engine, position.transformed(symmetry))
    places = np.argsort(symmetry_points(symmetry, position.size))
    policy = _probabilities(np.append(seen.policy[:-1][places], seen.policy[-1]), position)
    sign = 1 if position.to_play is Color.WHITE else -1
    shape = position.height, position.width
    ownership = (sign * seen.ownership.ravel()[places]).reshape(shape)
    own, other, no_result = (float(chance) for chance in seen.value)
    win, loss = (own, other) if sign > 0 else (other, own)
    uncertainty = reported_uncertainty(
        Uncertainty(float(seen.value_error), float(seen.score_error), float(seen.variance_time))
    )
    return "\n".join(
        [
            f"symmetry {int(symmetry)}",
            f"whiteWin {win:.6f}",
            f"whiteLoss {loss:.6f}",
            f"noResult {no_result:.6f}",
            f"whiteLead {sign * seen.lead:.3f}",
            f"whiteScoreSelfplay {sign * seen.score:.3f}",
            f"whiteScoreSelfplaySq {seen.score**2 + seen.spread**2:.3f}",
            f"varTimeLeft {uncertainty.variance_time:.3f}",
            f"shorttermWinlossError {uncertainty.value:.3f}",
            f"shorttermScoreError {uncertainty.score:.3f}",
            "policy",
            *(" ".join(_probability(p) for p in row) for row in policy[:-1].reshape(shape)),
            f"policyPass {_probability(policy[-1])}",
            "whiteOwnership",
            *(" ".join(f"{owner:9.7f}" for owner in row) for row in ownership),
        ]
    )


def _probabilities(logits: NDArray[np.float32], position: Position) -> NDArray[np.float64]:
    """[area + 1] the policy over legal moves, not a number elsewhere."""
    import numpy as np

    legal = anew(position).legal_mask() if position.is_over else position.legal_mask()
    policy = np.where(legal, np.exp(logits.astype(np.float64) - logits[legal].max()), np.nan)
    probabilities: NDArray[np.float64] = policy / np.nansum(policy)
    return probabilities


def _probability(value: float) -> str:
    return "    NAN" if value != value else f"{value:8.6f}"
