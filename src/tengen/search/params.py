"""The parameters of the search, with their reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tengen.kernel_records import record_type
from tengen.search.kernels.backup import SHARES, shares_kept


@dataclass(frozen=True)
class SearchParams:
    """How to search. The defaults are for playing and analysis, and are KataGo's where it has them.

    Raises ValueError for what cannot be.
    """

    # Exploration: the prior's weight, times √visits, and how it grows with the logarithm of visits.
    exploration: float = 1.0
    exploration_log: float = 0.45
    exploration_base: float = 500.0
    # More exploration where the values below a node disagree; the prior is a usual spread.
    stdev_scale: float = 0.85
    stdev_prior: float = 0.4
    stdev_prior_weight: float = 2.0
    # A move not tried is worth this less than its parent, once most of the policy was tried.
    fpu_reduction: float = 0.2
    root_fpu_reduction: float = 0.1
    fpu_trusts_tried: bool = True  # before that, the parent's own evaluation stands for it
    fpu_trust_power: float = 2.0  # of the share of the policy that was tried
    # And this share of the way nearer to a loss.
    fpu_loss: float = 0.0
    root_fpu_loss: float = 0.0  # 0: the same

    # Utility: what a win counts, and points at most; see utility.py.
    win_utility: float = 1.0
    white_no_result_utility: float = 0.0  # what no result counts for White
    white_draw_wins: float = 0.5  # of a win that a draw is worth to White
    static_score: float = 0.1
    dynamic_score: float = 0.3
    score_scale: float = 0.75  # of the dynamic part, in square roots of the board's area
    centre_to_zero: float = 0.2  # its centre lies this share of the way to an even game

    # Children that look bad weigh less in their parent's value; 0: as much as their visits.
    value_weight: float = 0.25
    # Evaluations of which a network is unsure weigh less: 0.25 is an average uncertainty. 0: all
    # weigh the same.
    uncertainty: float = 0.25
    most_weight: float = 8.0
    uncertainty_exponent: float = 1.0
    # A child that looks worse than those of larger priors, and has more than twice the weight that
    # its prior is worth, loses the excess: all of it if it is much worse than this scale.
    noise_pruning: bool = True
    noise_pruning_scale: float = 0.15
    noise_pruning_cap: float = 1e50
    # Evaluations are corrected by this share of the error that was found after the same two moves
    # in the same surroundings elsewhere in the tree, where each subtree speaks with a power of its
    # weight. 0: not at all. A pass has no surroundings, and nothing is corrected after it.
    value_bias: float = 0.45
    value_bias_exponent: float = 0.85
    value_bias_freed: float = 0.8  # the share that a dropped subtree does not leave to others

    # Moves of a smaller prior are left out below the root, to save memory: before one had its turn
    # a node would need about a million visits.
    least_prior: float = 1e-4

    policy_temperature: float = 1.0  # of the network's policy, everywhere
    # The share of a network's optimistic policy, if it has one: moves that may turn out better than
    # it expects. Below the root a search soon finds out; at the root others should not be missed.
    optimism: float = 1.0
    root_optimism: float = 0.2

    virtual_loss: float = 1.0  # visits that a descent under way counts as lost
    graph: bool = False  # positions reached by several ways share their statistics

    # Passes and the end of a game: engines have other values, see katago_params.PLAYING.
    # A pass at the root never ends the game, and the network does not see that it would.
    conservative_pass: bool = False
    friendly_passes: bool = False  # nor two passes, where players then agree on what is dead
    # A side that would not win by a pass does not see that it ends the game; no pass has a prior of
    # more than 95%.
    passing_hacks: bool = False
    # Where a pass ends the game, a pass and another move are both tried, without counting a visit.
    more_passing_hacks: bool = False
    # Points off for root moves in settled areas; under territory scoring for a pass, too.
    ending_bonus: float = 0.0
    prune_useless: bool = False  # no root moves in pass-alive areas after four passes in a row
    fill_dame: bool = False  # under territory scoring, before a pass that is no better

    # Look for moves that punish an opponent who mirrors every move; see mirror_play.py.
    anti_mirror: bool = False

    # The root, where games are made for learning (tree.noisy).
    noise_share: float = 0.25
    noise_alpha: float = 0.0  # Dirichlet's; 0: by the number of legal moves
    noise_total: float = 0.0  # the sum of alphas, half of it by policy; 0: noise_alpha for each
    root_temperature: float = 1.1
    root_temperature_early: float = 1.25
    forced_playouts: float = 2.0  # each move gets √(this · prior · visits) at least

    wide_root_noise: float = 0.0  # for analysis that wants to see more moves
    per_child_visits: float = 0.0  # as forced_playouts, at every root
    futile_share: float = 0.0  # of the best move's weight; what cannot reach it is not searched
    # The move chosen: drawn by its weight at a temperature, or the best one at 0.
    temperature: float = 0.0
    temperature_early: float = 0.0
    temperature_halflife: float = 19.0  # moves on 19x19, fewer on smaller boards
    temperature_below: float = 1.0  # larger chances are left as they are
    temperature_moves: float = 0.0  # before this and the root's temperature begin to fade
    lcb_stdevs: float = 5.0  # prefer the move whose value is surest to be good; 0: the most visited
    lcb_least: float = 0.15  # if it has this share of the visits
    lcb_for_first: bool = True  # also if it was the first one tried
    # Weights below this do not count, and so much is taken off all; at most 1/64 of the best one.
    chosen_prune: float = 1.0
    chosen_subtract: float = 0.0

    megabytes: float = (
        512.0  # for a tree; when they are used up, its thinnest branches are given up
    )

    RETIRED: ClassVar[dict[str, float]] = {"score_error_weight": 0.02}

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            signed = field.name in ("white_no_result_utility", "ending_bonus")
            least = -math.inf if signed else 0
            if not math.isfinite(value) or value < least:
                raise ValueError(f"{field.name} must be a number of 0 or more, not {value!r}")
        for name in (
            "exploration_base",
            "stdev_prior",
            "score_scale",
            "temperature_halflife",
            "most_weight",
            "noise_pruning_scale",
            "policy_temperature",
        ):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} must be over 0")
        shares = "noise_share", "white_draw_wins", "optimism", "root_optimism", "temperature_below"
        for name in shares:
            if getattr(self, name) > 1:
                raise ValueError(f"{name} must be at most 1, not {getattr(self, name)}")
        for name in ("root_temperature", "root_temperature_early"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} must be over 0")


_SETTINGS = record_type(
    f"{__name__}._SETTINGS",
    [
        *(
            (field.name, "i4" if isinstance(field.default, bool) else "f4")
            for field in fields(SearchParams)
        ),
        ("shares", "f4", (SHARES,)),  # of its weight that a child keeps
    ],
)


_LARGEST = float(np.finfo(np.float32).max)


def settings_array(params: SearchParams, *, has_optimism: bool = True) -> NDArray[np.void]:
    """[1] the parameters as the kernels know them, for a network with or without optimism."""
    settings = np.zeros(1, _SETTINGS)
    for field in fields(params):
        settings[field.name] = min(getattr(params, field.name), _LARGEST)
    if not has_optimism:  # so that equal positions look alike to caches
        settings["optimism"] = settings["root_optimism"] = 0
    settings["shares"] = shares_kept(params.value_weight)
    return settings
