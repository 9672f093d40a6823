"""Utility: what the search maximises. Winning first, then points, with less and less weight.

A score counts (2/π)·atan((score − centre)/scale), in expectation over a normal distribution around
the mean. One part is centred on an even game; another, narrower one on what the root expects, so
that there is something to gain and to lose when winning or losing is certain.
"""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.search.kernels.forest import SCORE, SCORE_SQUARE

_STEPS = 64  # of the table, in each direction
_QUADRATURE = 128  # points of the integral over the normal distribution

STATIC_SCALE = 2.0  # in square roots of the board's area


def _expected_atan() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """[_STEPS + 1, _STEPS + 1] E[(2/π) atan(m + s·Z)], by m / (1 + m) and s / (1 + s)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE)
    share = np.minimum(np.arange(_STEPS + 1) / _STEPS, 1 - 1e-6)
    grid = share / (1 - share)
    value = 2 / np.pi * np.arctan(grid[:, None, None] + grid[None, :, None] * nodes)
    return np.asarray(value @ (weights / weights.sum()), np.float32)


_TABLE = _expected_atan()


@kernel(inline=True)
def expected_atan(mean, spread):
    """E[(2/π) atan(X)] for X normal with this mean and standard deviation."""
    size = abs(mean)
    x = size / (np.float32(1) + size) * np.float32(_STEPS)
    y = spread / (np.float32(1) + spread) * np.float32(_STEPS)
    i = min(np.int64(x), _STEPS - 1)
    k = min(np.int64(y), _STEPS - 1)
    dx, dy = x - np.float32(i), y - np.float32(k)
    one = np.float32(1)
    value = (one - dx) * ((one - dy) * _TABLE[i, k] + dy * _TABLE[i, k + 1]) + dx * (
        (one - dy) * _TABLE[i + 1, k] + dy * _TABLE[i + 1, k + 1]
    )
    return value if mean >= 0 else -value


@kernel(inline=True)
def utility_of(settings, value, no_result, score, square, centre, root_area):
    """Black's utility of an evaluation, of which these are Black's value and score."""
    spread = np.sqrt(max(square - score * score, np.float32(0)))
    static_scale = np.float32(STATIC_SCALE) * root_area
    dynamic_scale = settings.score_scale * root_area
    return (
        settings.win_utility * value
        - settings.white_no_result_utility * no_result
        + settings.static_score * expected_atan(score / static_scale, spread / static_scale)
        + settings.dynamic_score
        * expected_atan((score - centre) / dynamic_scale, spread / dynamic_scale)
    )


@kernel
def score_centre(settings, expected, root_area):
    """Around which score points count most, if this one is expected."""
    reach = root_area * settings.score_scale
    centre = expected * (np.float32(1) - settings.centre_to_zero)
    return max(expected - reach, min(expected + reach, centre))


@kernel(inline=True)
def utility_of_a_point(settings, score, centre, root_area):
    """By how much the utility grows with a point more, near this score."""
    static_scale = np.float32(STATIC_SCALE) * root_area
    dynamic_scale = settings.score_scale * root_area
    static = score / static_scale
    dynamic = (score - centre) / dynamic_scale
    one = np.float32(1)
    return np.float32(2 / np.pi) * (
        settings.static_score / (static_scale * (one + static * static))
        + settings.dynamic_score / (dynamic_scale * (one + dynamic * dynamic))
    )


@kernel
def utility_of_points(settings, node, points, centre, root_area):
    """By how much so many points more for Black change his utility of a node."""
    score, square = node.means[SCORE], node.means[SCORE_SQUARE]
    zero, more = np.float32(0), score + points
    wide = square - score * score + more * more
    after = utility_of(settings, zero, zero, more, wide, centre, root_area)
    return after - utility_of(settings, zero, zero, score, square, centre, root_area)


@kernel(inline=True)
def utility_radius(settings):
    """The largest utility there is."""
    return settings.win_utility + settings.static_score + settings.dynamic_score
