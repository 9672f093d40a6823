"""An atomic counter, from which threads claim their work.

Numba's own `prange` gives each thread its share beforehand, and then all wait for the slowest.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic


def claim_next(counter: Any) -> Any:
    """Return counter[0], an int64, and add one to it; no two threads get the same number."""
    counter[0] += 1
    return counter[0] - 1


if not config.DISABLE_JIT:

    @intrinsic
    def claim_next(_, counter):
        def build(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", data.data, ir.IntType(64)(1), "monotonic")

        return types.int64(counter), build
