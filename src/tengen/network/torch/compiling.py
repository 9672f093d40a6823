"""torch.compile where it works: it needs Triton and a C compiler."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

from tengen.user_messages import say

P = ParamSpec("P")
R = TypeVar("R")


# Shapes of inputs, and networks, that a function is compiled for. Torch's own limit of 8 is soon
# reached with several board sizes, and further ones would run uncompiled without a word.
_MOST_SHAPES = 64


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function at its first call, or warn and run it uncompiled where that fails.

    Each shape of its inputs is compiled for itself: code for shapes of any size is slower.
    """
    torch._dynamo.config.recompile_limit = _MOST_SHAPES
    # The compiler warns about its own choices, also later, when gradients are first computed.
    # The user can do nothing about these warnings.
    warnings.filterwarnings("ignore", module=r"torch\._inductor")
    chosen: Callable[P, R] = torch.compile(function, dynamic=False)
    settled = False

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal chosen, settled
        if settled:
            return chosen(*args, **kwargs)
        settled = True
        try:
            return chosen(*args, **kwargs)
        except Exception as error:  # if it is not the compiler's, the plain call raises it again
            lines = str(error).strip().splitlines() or [type(error).__name__]
            say(f"torch cannot compile here, so networks run at half the speed or less: {lines[0]}")
            chosen = function
            return function(*args, **kwargs)

    return call
