"""Claims: threads take what is to be done piece by piece, whoever is free the next one.

Numba gives each thread its share of a loop beforehand, and then all wait for the slowest.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic


def claim_chunk(next_chunk: Any) -> Any:
    """The number in next_chunk[0], an int64, which grows by one; no two threads get the same."""
    next_chunk[0] += 1
    return next_chunk[0] - 1


if not config.DISABLE_JIT:

    @intrinsic
    def claim_chunk(_, next_chunk):
        def build(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", data.data, ir.IntType(64)(1), "monotonic")

        return types.int64(next_chunk), build
