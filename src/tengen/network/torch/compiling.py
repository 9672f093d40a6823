"""torch.compile where it works: it needs Triton and a C compiler."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

from tengen.user_messages import say

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function at its first call, or warn and run it uncompiled where that fails."""
    # The compiler warns about its own choices, also later, when gradients are first computed.
    # The user can do nothing about these warnings.
    warnings.filterwarnings("ignore", module=r"torch\._inductor")
    chosen: Callable[P, R] = torch.compile(function)
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
