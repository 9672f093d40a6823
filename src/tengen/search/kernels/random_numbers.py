"""Kernels: random numbers of a tree's own, so that a seed decides a search."""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel

_BELOW = 1 << 31


@kernel(inline=True)
def next_random(rng, below):
    """A random number from 0 to below - 1 by xorshift64*; the state rng[0] is never zero."""
    x = rng[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    rng[0] = x
    return (np.int64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)) * below) >> 31


@kernel(inline=True)
def uniform(rng):
    """Between 0 and 1, neither included."""
    return (next_random(rng, _BELOW) + 0.5) / _BELOW


@kernel
def normal(rng):
    """Standard normal, by the polar form of Box and Muller's method."""
    while True:
        x, y = 2 * uniform(rng) - 1, 2 * uniform(rng) - 1
        square = x * x + y * y
        if 0 < square < 1:
            return x * np.sqrt(-2 * np.log(square) / square)


@kernel
def gamma(rng, shape):
    """Gamma with this shape and scale 1, by Marsaglia and Tsang's method."""
    boost = 1.0
    if shape < 1:
        boost = uniform(rng) ** (1 / shape)
        shape += 1
    d = shape - 1 / 3
    c = 1 / np.sqrt(9 * d)
    while True:
        x = normal(rng)
        v = (1 + c * x) ** 3
        if v > 0 and np.log(uniform(rng)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return boost * d * v


@kernel
def gumbel(rng):
    """Standard Gumbel."""
    return -np.log(-np.log(uniform(rng)))
